"""Sums of results in a file, from which long work continues after an interruption.

The file is text: a line that names the work, then a line for each sum, which begins with a digest of everything before
it. A process killed at any moment leaves at most one incomplete line at the end, which the next process cuts off.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, nullcontext
from hashlib import sha256
from math import inf
from pathlib import Path
from stat import S_ISREG
from typing import Any, Protocol, Self, TypeVar

from bitwright.common.bits import any_digits
from bitwright.common.errors import InputError
from bitwright.common.files.storage import sync_folder
from bitwright.version import __version__

_FORMAT = "bitwright journal 1"
_EVERY = 1.0  # seconds between two lines


class Sum(Protocol):
    """Results of jobs, which add up to the same total in any order."""

    def __add__(self, other: Self, /) -> Self: ...
    def to_json(self) -> Any: ...
    @classmethod
    def from_json(cls, document: Any, /) -> Self: ...


class Journal:
    """The file for a piece of work, open in one process at a time; raises InputError if it holds other work."""

    def __init__(self, path: Path, work: Mapping[str, object]) -> None:
        digest = sha256(json.dumps({**work, "version": __version__}, sort_keys=True).encode()).hexdigest()
        self.path, self._digest, self.records = path, sha256(digest.encode()), list[tuple[int, Any]]()
        try:
            self._file = path.open("a+b", buffering=0)
            try:
                self._read(f"{_FORMAT} {digest}\n".encode())
            except BaseException:
                self._file.close()
                raise
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror or error}") from None

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self._file.close()
        if kind is KeyboardInterrupt:
            raise KeyboardInterrupt(f"finished work is in {self.path}; the same command continues from there") from None

    def append(self, jobs: int, document: Any) -> None:
        """Appends the sum of the next jobs; once this returns, it survives a crash of the process or the machine."""
        with any_digits():
            text = json.dumps([jobs, document]).encode()
        self._digest.update(text)
        self._write(f"{self._digest.hexdigest()} ".encode() + text + b"\n")

    def _write(self, data: bytes) -> None:
        try:
            while data:
                data = data[self._file.write(data) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            raise InputError(f"cannot write {self.path}: {error.strerror or error}") from None

    def _read(self, header: bytes) -> None:
        """Reads all complete lines and cuts off an incomplete one; a new file gets the header."""
        if not S_ISREG(os.fstat(self._file.fileno()).st_mode):
            raise InputError(f"{self.path} is not a file; choose another name")
        self._lock()
        self._file.seek(0)
        found = self._file.read(len(header))
        if len(found) < len(header) and header.startswith(found):  # new, or killed while it wrote the header
            self._file.truncate(0)
            self._write(header)
            sync_folder(self.path.resolve().parent)
        elif found != header:
            ours = found.startswith(_FORMAT.encode())
            what = "holds work on another program, network, setting or version" if ours else "is not a journal"
            raise InputError(f"{self.path} {what}; choose another file" + ", or delete this one" * ours)
        *lines, torn = self._file.readall().split(b"\n")
        end = len(header)
        for number, line in enumerate(lines, 1):
            given, _, text = line.partition(b" ")
            digest = self._digest.copy()
            digest.update(text)
            if given != digest.hexdigest().encode():
                if torn or number < len(lines):
                    raise InputError(f"line {number + 1:,} of {self.path} is damaged; delete the file to start over")
                break
            with any_digits():
                self.records.append(json.loads(text))
            self._digest, end = digest, end + len(line) + 1
        self._file.truncate(end)

    def _lock(self) -> None:
        try:
            import fcntl
        except ImportError:  # not a POSIX system: no such lock exists
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(f"another process is writing {self.path}; wait for it, or choose another file") from None


Result = TypeVar("Result", bound=Sum)


def add_results(
    zero: Result,
    jobs: int,
    work: Callable[[Iterator[int]], Generator[Result]],
    look: Callable[[int, Result], None],
    journal: Journal | None = None,
) -> Result:
    """Adds up the results of all jobs; `work` yields them in order, except those that the journal already holds.

    `look` receives the number of jobs done and the sum of their results.
    """
    done, total = 0, zero
    for count, document in journal.records if journal else ():
        done, total = done + count, total + zero.from_json(document)
    first, new, saved = done, zero, -inf
    with journal or nullcontext(), closing(work(iter(range(done, jobs)))) as results:
        look(done, total)
        for result in results:
            done, total, new = done + 1, total + result, new + result
            if journal and (done == jobs or time.monotonic() - saved > _EVERY):
                journal.append(done - first, new.to_json())
                first, new, saved = done, zero, time.monotonic()
            look(done, total)
    return total
