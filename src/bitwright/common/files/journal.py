"""Append-only files: a header that describes the contents, then records, each complete or absent.

A process killed at any moment leaves at most one incomplete record at the end, which the next process cuts off. Work
that is interrupted and resumed therefore produces the same bytes as uninterrupted work.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError
from bitwright.common.files.documents import parse
from bitwright.common.files.storage import sync_folder

_FRAME = struct.Struct("<QI")  # length and checksum of a record
_MAX_HEADER = 1 << 20


class Journal:
    """An append-only file, locked by one process at a time."""

    def __init__(self, path: Path, header: Mapping[str, object]) -> None:
        """Opens or creates the file; raises InputError if it has another header or another process is writing it."""
        self.path = path
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise self._cannot("write", error) from None
        # For reading only: writes go straight to the descriptor, so closing has nothing to flush.
        self._file: BinaryIO = os.fdopen(descriptor, "rb")
        try:
            if not S_ISREG(os.fstat(descriptor).st_mode):
                raise InputError(f"{path} already exists and is not a file; choose another name")
            self._lock()
            self._begin = self._end = self._check_header(dict(header))
        except OSError as error:
            self._file.close()
            raise self._cannot("read", error) from None
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def records(self) -> Iterator[bytes]:
        """Yields existing records in order and cuts off an incomplete one; read all of them before appending."""
        try:
            yield from self._records()
            os.ftruncate(self._file.fileno(), self._end)
        except OSError as error:
            raise self._cannot("read", error) from None

    def _records(self) -> Iterator[bytes]:
        self._file.seek(self._begin)
        size = os.fstat(self._file.fileno()).st_size
        self._end = self._begin
        while True:
            frame = self._file.read(_FRAME.size)
            length, checksum = _FRAME.unpack(frame) if len(frame) == _FRAME.size else (-1, 0)
            after = self._end + _FRAME.size + length
            if length < 0 or after > size:
                return
            record = self._file.read(length)
            if zlib.crc32(record) != checksum:
                if after < size:
                    raise InputError(f"{self.path} is damaged at byte {self._end:,}; delete it to start over")
                return
            self._end = after
            yield record

    def append(self, record: bytes) -> None:
        """Appends a record; once this returns, the record survives a crash of the process or the machine."""
        self._end = self._write(self._end, _FRAME.pack(len(record), zlib.crc32(record)) + record)

    def _write(self, at: int, data: bytes) -> int:
        """Writes and syncs data at an offset and returns the offset after it; a failure leaves nothing behind."""
        descriptor, rest = self._file.fileno(), memoryview(data)
        try:
            while rest:
                rest = rest[os.pwrite(descriptor, rest, at + len(data) - len(rest)) :]
            os.fsync(descriptor)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(descriptor, at)
            raise self._cannot("write", error) from None
        return at + len(data)

    def _cannot(self, do: str, error: OSError) -> InputError:
        return InputError(f"cannot {do} {self.path}: {error.strerror or error}")

    def _lock(self) -> None:
        try:
            import fcntl
        except ImportError:  # not a POSIX system: no such lock exists
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"another process is writing {self.path}; wait for it, or choose another file") from None

    def _check_header(self, header: dict[str, object]) -> int:
        """Returns the offset after the header, which a new file gets now; raises InputError for another header."""
        line = (json.dumps(header, sort_keys=True) + "\n").encode()
        found = self._file.readline(_MAX_HEADER)
        if found == line:
            return len(line)
        if line.startswith(found) and not self._file.read(
            1
        ):  # empty, or the process was killed while writing this line
            sync_folder(Path(os.path.realpath(self.path)).parent)
            return self._write(0, line)
        try:
            other = parse(found, self.path, "a journal")
        except InputError:
            other = {}
        if other.get("format") != header.get("format"):
            raise InputError(
                f"{self.path} already exists and is not a {header.get('format')} file; choose another file"
            )
        unlike = [key for key in sorted({*header, *other}) if _text(header.get(key)) != _text(other.get(key))]
        if not unlike:
            raise InputError(f"the header of {self.path} was modified; choose another file")
        key = unlike[0]
        raise InputError(
            f"{self.path} was started with {key} {shorten(_text(other.get(key)), 60)}, which is now "
            f"{shorten(_text(header.get(key)), 60)}; choose another file"
        )


def _text(value: object) -> str:
    return json.dumps(value, sort_keys=True)
