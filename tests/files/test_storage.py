"""Files are complete or not there."""

import os
import resource
from pathlib import Path
from stat import S_ISDIR

import pytest

from bitwright import InputError
from bitwright.common.files.storage import write_atomically


def test_replaces_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for data in (b"one", b"two"):
        write_atomically(path, data)
        assert path.read_bytes() == data
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    write_atomically(path, b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"space.*device"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_folder_is_synced_after_the_file_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[tuple[bool, list[str]]] = []

    def sync(descriptor: int) -> None:
        synced.append((S_ISDIR(os.fstat(descriptor).st_mode), [path.name for path in tmp_path.iterdir()]))

    monkeypatch.setattr(os, "fsync", sync)
    write_atomically(tmp_path / "x", b"new")
    assert [folder for folder, _ in synced] == [False, True]
    assert synced[1][1] == ["x"]


def test_an_interruption_leaves_no_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "x", b"data")
    assert list(tmp_path.iterdir()) == []


def test_links_modes_and_things_that_are_no_files(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_bytes(b"old")
    real.chmod(0o600)
    link.symlink_to(real)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"
    assert real.stat().st_mode & 0o777 == 0o600
    os.mkfifo(tmp_path / "pipe")
    for odd in (tmp_path / "pipe", tmp_path):
        with pytest.raises(InputError, match="not a file"):
            write_atomically(odd, b"x")


def test_a_disk_that_is_full(tmp_path: Path) -> None:
    path = tmp_path / "x"
    write_atomically(path, b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for size in (1_000, 10_000_000):  # what a buffer holds, and more
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, hard))
        try:
            with pytest.raises(InputError, match=f"cannot write {path}: File too large"):
                write_atomically(path, b"n" * size)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
