"""Files that only grow: a header that says what they hold, then records, each complete or not there.

A process killed at any moment leaves at most one torn record at the end, which the next one cuts off; so work that is
interrupted and taken up again ends with the same bytes as work that was not.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from bitwright.bits import shorten
from bitwright.errors import InputError

_FRAME = struct.Struct("<QI")  # length and checksum of a record
_MAX_HEADER = 1 << 20


class Journal:
    """An append-only file, held by one process at a time."""

    def __init__(self, path: Path, header: Mapping[str, object]) -> None:
        """Opens the file, or makes it. Raises InputError if it holds something else or another process writes it."""
        self.path = path
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror or error}") from None
        self._file: BinaryIO = os.fdopen(descriptor, "r+b")
        try:
            self._lock()
            self._check_header(dict(header))
            self._begin = self._file.tell()
            self._end = self._begin
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def records(self) -> Iterator[bytes]:
        """What earlier work has left, in order; a torn end is cut off. To be read to its end before appending."""
        self._file.seek(self._begin)
        size = os.fstat(self._file.fileno()).st_size
        self._end = self._begin
        while True:
            frame = self._file.read(_FRAME.size)
            length, checksum = _FRAME.unpack(frame) if len(frame) == _FRAME.size else (-1, 0)
            after = self._end + _FRAME.size + length
            if length < 0 or after > size:
                break
            record = self._file.read(length)
            if zlib.crc32(record) != checksum:
                if after < size:
                    raise InputError(f"{self.path} is damaged at byte {self._end:,}; delete it to begin anew")
                break
            self._end = after
            yield record
        self._file.truncate(self._end)

    def append(self, record: bytes) -> None:
        """Adds a record; once this returns it survives whatever happens to the process or the machine."""
        self._file.seek(self._end)
        self._file.write(_FRAME.pack(len(record), zlib.crc32(record)) + record)
        self._sync()
        self._end = self._file.tell()

    def _sync(self) -> None:
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise InputError(f"cannot write {self.path}: {error.strerror or error}") from None

    def _lock(self) -> None:
        try:
            import fcntl
        except ImportError:  # not a POSIX system: there is no such lock
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"another process is writing {self.path}; wait for it, or choose another file") from None

    def _check_header(self, header: dict[str, object]) -> None:
        line = (json.dumps(header, sort_keys=True) + "\n").encode()
        found = self._file.readline(_MAX_HEADER)
        if found == line:
            return
        if line.startswith(found) and not self._file.read(1):  # empty, or killed while writing this very line
            self._file.seek(0)
            self._file.write(line)
            self._sync()
            return
        try:
            other = json.loads(found)
        except ValueError:
            other = None
        if not isinstance(other, dict) or other.get("format") != header.get("format"):
            raise InputError(f"{self.path} is there already and does not hold {header.get('format')}")
        key = next(key for key in sorted({*header, *other}) if header.get(key) != other.get(key))
        raise InputError(
            f"{self.path} was begun with {key} {shorten(json.dumps(other.get(key)), 60)}, now it is "
            f"{shorten(json.dumps(header.get(key)), 60)}; choose another file"
        )
