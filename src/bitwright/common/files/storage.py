"""Files that are either complete or absent: write, fsync, rename, fsync of the folder."""

from __future__ import annotations

import os
import tempfile
from errno import EINVAL, ENOTSUP
from pathlib import Path
from typing import BinaryIO

from bitwright.common.errors import InputError, option, printable


def write_atomically(path: Path, data: bytes) -> None:
    """Writes `data` to `path`; a reader sees the old file or the new one, never a part, whatever interrupts us."""
    temporary = ""
    try:
        path = Path(os.path.realpath(path))  # behind a link, the file it leads to is replaced and not the link
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is there already and is not a file; choose another name")
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
    """Brings a folder to the disk: until then a crash of the machine may take back a file's new name."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:  # one may write there and not read
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (EINVAL, ENOTSUP):  # some file systems have nothing to sync
            raise
    finally:
        os.close(descriptor)


def open_file(path: Path, seekable: bool = False) -> BinaryIO:
    """Opens a file to be read; raises InputError for a named pipe, whose writer may never come, and OSError.

    A file that must be `seekable` is a regular one: devices have no end.
    """
    if path.is_fifo() and path.parts[:2] != ("/", "dev"):
        raise InputError(f"{printable(str(path))} is a pipe; give a file")
    if seekable and path.exists() and not path.is_file() and not path.is_dir():
        raise InputError(f"{printable(str(path))} is not a regular file; copy what it holds into one")
    return path.open("rb")


def as_path(path: object, what: str = "a file") -> Path:
    """A path that a user gave; raises InputError for anything else, and for an empty one, the current folder."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"the name of {what} is a str or a Path, got {type(path).__name__}")
    if not os.fspath(path):
        raise InputError(f"the name of {what} is empty; give one")
    return Path(path)


def check_writable(path: Path) -> None:
    """Raises InputError now where `write_atomically` would do so later, after work that would then be lost."""
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is there already and is not a file; choose another name")
    try:
        with tempfile.NamedTemporaryFile(prefix=f".{path.name}.", dir=path.parent):
            pass
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None


def check_output(path: Path, suffix: str, setting: str = "output") -> None:
    """Raises InputError for a file whose name ends otherwise, or that cannot be written."""
    if path.suffix != suffix:
        raise InputError(f"{option(setting)} takes a {suffix} file, got {path}")
    check_writable(path)


def check_empty(folder: Path, what: str) -> None:
    """Raises InputError unless a folder is new or empty, for files of which older ones would be taken for a part."""
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{what} are written into a folder that is new or empty, and {folder} is not")
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror or error}") from None


def make_folder(path: Path) -> None:
    """Makes the folder and its parents if they do not exist."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {path}: {error.strerror or error}") from None


def _umask() -> int:
    """The process's file mode mask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
