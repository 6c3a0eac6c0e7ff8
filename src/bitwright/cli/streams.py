"""Standard output and error whose readers may go away, as in `bitwright show addition --text | head -1`.

Output without a reader is dropped, and the command ends with the exit code of its answer.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO

import click


class _Pipe(io.FileIO):
    """A stream that drops everything once its reader has gone."""

    gone = False
    notes = False  # for standard error: what cannot be written there for any reason is no failure either

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
    """Inside, sys.stdout and sys.stderr are such streams, where they are the process's own."""
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
    """Whether nobody reads standard output any more."""
    return bool(getattr(getattr(getattr(sys.stdout, "buffer", None), "raw", None), "gone", False))


def print_lines(lines: Iterable[str]) -> None:
    """Prints lines as long as somebody reads them."""
    for line in lines:
        if reader_gone():
            return
        click.echo(line)
