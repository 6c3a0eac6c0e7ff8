"""Journals: whole lines or none, whatever happened; one writer at a time; no file of another kind or other work."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from cases import for_each

from bitwright.common.errors import InputError
from bitwright.common.files import journal
from bitwright.common.files.journal import Journal, add_results

WORK = {"program": "three", "seed": 3}
SEVERAL = 10**5000, 7, -1


@dataclass(frozen=True)
class Total:
    value: int

    def __add__(self, other: "Total") -> "Total":
        return Total(self.value + other.value)

    def to_json(self) -> list[int]:
        return [self.value]

    @classmethod
    def from_json(cls, document: list[int]) -> "Total":
        return cls(*document)


def add(path: Path, values: tuple[int, ...] = SEVERAL) -> tuple[Total, list[int]]:
    """The sum of these values, and which of them were not yet in the file."""
    fresh: list[int] = []

    def work(jobs: Iterator[int]) -> Iterator[Total]:
        for job in jobs:
            fresh.append(job)
            yield Total(values[job])

    found = add_results(Total(0), len(values), work, lambda *_: None, Journal(path, WORK))  # type: ignore[arg-type]
    return found, fresh


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line for every result, however soon it comes."""
    monkeypatch.setattr(journal, "_EVERY", -1)


def test_cut_anywhere_it_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    """A kill can leave any prefix of the file; what is taken up from there ends as if nothing had happened."""
    path, wanted = tmp_path / "j", Total(sum(SEVERAL))
    assert add(path) == (wanted, [0, 1, 2])
    assert add(path) == (wanted, [])
    data = path.read_bytes()
    assert data.count(b"\n") == 4
    ends = [at for at in range(len(data)) if data[at : at + 1] == b"\n"]
    for length in [*range(200), *range(ends[1] - 3, len(data) + 1)]:
        path.write_bytes(data[:length])
        done = max(0, data[:length].count(b"\n") - 1)
        assert add(path) == (wanted, [0, 1, 2][done:])
        assert path.read_bytes() == data, length


def test_results_share_a_line_unless_time_has_passed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "_EVERY", 1e9)
    assert add(tmp_path / "j") == (Total(sum(SEVERAL)), [0, 1, 2])
    assert (tmp_path / "j").read_bytes().count(b"\n") == 3  # of the work, the first result, the others
    assert add(tmp_path / "j") == (Total(sum(SEVERAL)), [])


def test_a_last_line_that_is_wrong_is_cut_off_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "j"
    add(path)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"[-1]", b"[-2]"))
    assert add(path)[1] == [2]
    assert path.read_bytes() == data
    path.write_bytes(data.replace(b"[7]", b"[8]"))
    with pytest.raises(InputError, match=r"line 3 of .* is damaged"):
        add(path)


def test_a_file_of_other_work_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "j"
    add(path)
    before = path.read_bytes()
    with pytest.raises(InputError, match="holds work on another program"):
        Journal(path, {**WORK, "seed": 4})
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"hello\n", b"h", b"\x00\xff" * 50, b"{}\n" * 100, b"9" * 2_000_000])
def test_a_file_of_another_kind_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "j"
    path.write_bytes(content)
    with pytest.raises(InputError, match="is not a journal"):
        add(path)
    assert path.read_bytes() == content


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with Journal(path, WORK), pytest.raises(InputError, match="another process is writing"):
        Journal(path, WORK)
    assert add(path)[1] == [0, 1, 2]


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "no" / "such", tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(InputError, match=f"{path}"):
            Journal(path, WORK)


def test_ctrl_c_says_where_finished_work_is(tmp_path: Path) -> None:
    with (
        pytest.raises(KeyboardInterrupt, match=r"finished work is in .*j; the same command"),
        Journal(tmp_path / "j", WORK),
    ):
        raise KeyboardInterrupt


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """As on a disk that is full: the system writes what still fits, and refuses the rest."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@for_each("room", [0, 100, 200, 5300])
def test_a_full_disk_names_the_file_and_loses_nothing_before(tmp_path: Path, room: int) -> None:
    path = tmp_path / "j"
    with files_of_at_most(room), pytest.raises(InputError, match=f"cannot write {path}: File too large"):
        add(path)
    assert add(path)[0] == Total(sum(SEVERAL))
    assert path.read_bytes().count(b"\n") == 4
