"""Standard output and error that tolerate a closed pipe, as in `bitwright show addition --text | head -1`.

Output without a reader is dropped, and the command keeps its exit code.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO

import click


class _Pipe(io.FileIO):
    """A stream that drops its output once the reader has closed the pipe."""

    gone = False
    notes = False  # for standard error, where any failed write is ignored

    def write(self, data: object) -> int:
        try:
            return self._length(data) if self.gone else super().write(data)  # type: ignore[arg-type]
        except OSError as error:
            if not self.notes and not isinstance(error, BrokenPipeError):
                raise
            self.gone = True
            return self._length(data)

    @staticmethod
    def _length(data: object) -> int:
        return memoryview(data).nbytes  # type: ignore[arg-type]


@contextmanager
def patient_streams() -> Iterator[None]:
    """Replaces sys.stdout and sys.stderr by such streams, unless Python code has replaced them already."""
    before = sys.stdout, sys.stderr
    out, err = sys.__stdout__, sys.__stderr__
    if out is not None and sys.stdout is out:
        sys.stdout = _patient(out)
    if err is not None and sys.stderr is err:
        sys.stderr = _patient(err, notes=True)
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()
    finally:
        sys.stdout, sys.stderr = before


def _patient(stream: TextIO, notes: bool = False) -> TextIO:
    stream.flush()
    pipe = _Pipe(stream.fileno(), "wb", closefd=False)
    pipe.notes = notes
    lines = stream.isatty() or notes
    return io.TextIOWrapper(io.BufferedWriter(pipe), stream.encoding, stream.errors, line_buffering=lines)


def reader_gone() -> bool:
    """Whether the reader of standard output has closed the pipe."""
    return bool(getattr(getattr(getattr(sys.stdout, "buffer", None), "raw", None), "gone", False))


def print_lines(lines: Iterable[str]) -> None:
    """Prints lines until the reader closes the pipe."""
    for line in lines:
        if reader_gone():
            return
        click.echo(line)
