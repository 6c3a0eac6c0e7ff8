"""Atomic file writes: write, fsync, rename, fsync the folder."""

from __future__ import annotations

import os
import tempfile
from errno import EINVAL, ENOTSUP
from pathlib import Path
from typing import BinaryIO

from bitwright.common.errors import InputError, option, printable


def write_atomically(path: Path, data: bytes) -> None:
    """Writes `data` to `path` atomically: even after an interruption, readers see the old file or the new one."""
    temporary = ""
    try:
        path = Path(os.path.realpath(path))  # a link stays; its target is replaced
        if path.exists() and not path.is_file():
            raise InputError(f"{path} already exists and is not a file; choose another name")
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
        sync_folder(path.parent)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        if temporary and os.path.exists(temporary):
            os.unlink(temporary)


def sync_folder(folder: Path) -> None:
    """Syncs a folder to disk; without this a crash of the machine may undo a rename."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:  # the folder may be writable and not readable
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (EINVAL, ENOTSUP):  # some file systems do not support this
            raise
    finally:
        os.close(descriptor)


def open_file(path: Path, seekable: bool = False) -> BinaryIO:
    """Opens a file for reading; raises InputError for a named pipe, which could block forever, and OSError.

    With `seekable` the file must be a regular file, since devices have no end.
    """
    if path.is_fifo() and path.parts[:2] != ("/", "dev"):
        raise InputError(f"{printable(str(path))} is a pipe; give a file")
    if seekable and path.exists() and not path.is_file() and not path.is_dir():
        raise InputError(f"{printable(str(path))} is not a regular file; copy its contents into one")
    return path.open("rb")


def as_path(path: object, what: str = "a file") -> Path:
    """Returns a user's path as a Path; raises InputError for any other type and for an empty path."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"the name of {what} must be a str or a Path, got {type(path).__name__}")
    if not os.fspath(path):
        raise InputError(f"the name of {what} must not be empty")
    return Path(path)


def check_writable(path: Path) -> None:
    """Raises InputError early if `write_atomically` would fail after the work is done."""
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        raise InputError(f"{path} already exists and is not a file; choose another name")
    try:
        with tempfile.NamedTemporaryFile(prefix=f".{path.name}.", dir=path.parent):
            pass
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None


def check_output(path: Path, suffix: str, setting: str = "output") -> None:
    """Raises InputError for a file with another suffix, or one that cannot be written."""
    if path.suffix != suffix:
        raise InputError(f"{option(setting)} must be a {suffix} file, got {path}")
    check_writable(path)


def check_empty(folder: Path, what: str) -> None:
    """Raises InputError unless a folder is new or empty, so that old files do not mix with new ones."""
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{what} need a new or empty folder, but {folder} is not empty; choose another")
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror or error}") from None


def make_folder(path: Path) -> None:
    """Creates the folder and its parents if they do not exist."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {path}: {error.strerror or error}") from None


def _umask() -> int:
    """Returns the file mode mask of the process, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
