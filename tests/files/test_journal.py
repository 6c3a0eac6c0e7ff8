"""Journals: complete records or none, whatever happened; one writer at a time; nothing of another kind."""

import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cases import for_each

from bitwright.common.errors import InputError
from bitwright.common.files.journal import Journal

HEADER = {"format": "test 1", "seed": 3}
RECORDS = [b"", b"one", bytes(range(256)) * 5]


def write(path: Path, records: list[bytes]) -> None:
    with Journal(path, HEADER) as journal:
        assert list(journal.records()) == []
        for record in records:
            journal.append(record)


def read(path: Path) -> list[bytes]:
    with Journal(path, HEADER) as journal:
        return list(journal.records())


def test_records_come_back(tmp_path: Path) -> None:
    write(tmp_path / "j", RECORDS)
    assert read(tmp_path / "j") == RECORDS


def test_cut_anywhere_it_resumes_to_the_same_bytes(tmp_path: Path) -> None:
    """A kill can leave any prefix of the file; what is taken up from there ends as if nothing had happened."""
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    write(whole, RECORDS)
    data = whole.read_bytes()
    for length in range(len(data) + 1):
        cut.write_bytes(data[:length])
        with Journal(cut, HEADER) as journal:
            known = list(journal.records())
            assert known == RECORDS[: len(known)]
            for record in RECORDS[len(known) :]:
                journal.append(record)
        assert cut.read_bytes() == data, length


def test_a_torn_last_record_is_cut_off_even_if_its_length_fits(tmp_path: Path) -> None:
    path = tmp_path / "j"
    write(path, RECORDS)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert read(path) == RECORDS[:-1]
    assert bytes(data).startswith(path.read_bytes())
    assert path.stat().st_size < len(data)  # it is gone from the file, not only passed over


def test_damage_in_the_middle_is_not_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "j"
    write(path, RECORDS)
    data = bytearray(path.read_bytes())
    data[data.index(b"one")] ^= 1
    path.write_bytes(data)
    with pytest.raises(InputError, match=r"damaged.*byte"):
        read(path)


def test_another_header_says_what_differs(tmp_path: Path) -> None:
    path = tmp_path / "j"
    write(path, RECORDS)
    with pytest.raises(InputError, match=r"started.*3.*4"):
        Journal(path, {**HEADER, "seed": 4})
    before = path.read_bytes()
    with pytest.raises(InputError, match="not a test 2 file"):
        Journal(path, {**HEADER, "format": "test 2"})
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"hello\n", b"\x00\xff" * 50, b"[1, 2]\n", b"{}\n"])
def test_a_file_of_another_kind_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "j"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"not a test 1 file"):
        Journal(path, HEADER)
    assert path.read_bytes() == content


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with Journal(path, HEADER), pytest.raises(InputError, match=r"another.*process"):
        Journal(path, HEADER)
    assert read(path) == []


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "no" / "such"):
        with pytest.raises(InputError, match="cannot write"):
            Journal(path, HEADER)
    os.mkfifo(tmp_path / "pipe")
    for odd in (tmp_path / "pipe", Path("/dev/zero")):  # a file that grows is a regular one
        with pytest.raises(InputError, match="not a file"):
            Journal(odd, HEADER)


@for_each(
    ("first_line", "message"),
    [
        (b'{"format":"test 1","seed":3}', "was modified"),
        (b'{"format": "test 1", "seed": 3.0}', "was started with seed 3.0, which is now 3;"),
        (b'{"format": "test 1", "seed": 4, "seed": 3}', "is not a test 1 file"),
        (b'{"format": "test 1", "seed": NaN}', "is not a test 1 file"),
        (b"[" * 200_000, "is not a test 1 file"),
        (b"9" * 2_000_000, "is not a test 1 file"),
    ],
)
def test_a_header_that_we_did_not_write_is_refused_in_one_line(tmp_path: Path, first_line: bytes, message: str) -> None:
    path = tmp_path / "j"
    path.write_bytes(first_line + b"\n" + b"rest")
    with pytest.raises(InputError, match=message) as caught:
        Journal(path, HEADER)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 400
    assert path.read_bytes() == first_line + b"\nrest"


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """As on a disk that is full: the system writes what still fits, and refuses the rest."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("record", [b"x" * 100, b"x" * 1_000_000])
def test_a_full_disk_names_the_file_and_leaves_no_part(tmp_path: Path, record: bytes) -> None:
    path = tmp_path / "j"
    write(path, RECORDS)
    before = path.read_bytes()

    def fill() -> None:
        with Journal(path, HEADER) as journal:
            list(journal.records())
            journal.append(record)

    with files_of_at_most(len(before) + 50), pytest.raises(InputError, match=f"cannot write {path}: File too large"):
        fill()
    assert path.read_bytes() == before
    fill()
    assert read(path) == [*RECORDS, record]
