"""Tables of numbers: what every figure is drawn from, what its CSV file holds, and means of several trials."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError
from bitwright.theory.closed_form import FloatArray

Value = str | int | float | None  # None: there is no such number, an empty cell
Row = tuple[Value, ...]
MAX_BYTES = 64 << 20


@dataclass(frozen=True)
class Table:
    """Named columns and rows; the same table comes back from its CSV text."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]

    @classmethod
    def of(cls, columns: Iterable[str], rows: Iterable[Sequence[Value]]) -> Table:
        return cls(tuple(columns), tuple(tuple(map(_plain, row)) for row in rows))

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> list[Value]:
        at = self.columns.index(name)
        return [row[at] for row in self.rows]

    def numbers(self, name: str) -> FloatArray:
        """A column as floats; empty cells are NaN."""
        return np.array([np.nan if value is None else float(value) for value in self.column(name)])

    def where(self, **wanted: Value) -> Table:
        """The rows that have these values."""
        places = [(self.columns.index(name), value) for name, value in wanted.items()]
        return Table(self.columns, tuple(row for row in self.rows if all(row[at] == value for at, value in places)))

    def values(self, name: str) -> list[Value]:
        """The different values of a column, in order of appearance."""
        return list(dict.fromkeys(self.column(name)))

    def csv(self) -> bytes:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows(self.rows)
        return text.getvalue().encode()


def _plain(value: Value) -> Value:
    return value + 0.0 if isinstance(value, float) else value  # a zero without a sign


def load_table(path: Path, columns: Sequence[str]) -> Table:
    """The table in a CSV file, after checking its columns; an empty one where there is no file."""
    try:
        if not path.exists():
            return Table.of(columns, ())
        if not path.is_file():
            raise InputError(f"{path} is there already and is not a file; move it away")
        if path.stat().st_size > MAX_BYTES:
            raise InputError(f"{path} is larger than {MAX_BYTES >> 20} MiB, the most a table may have")
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"cannot read the table {path}: {shorten(str(error))}") from None
    if not lines or tuple(lines[0]) != tuple(columns):
        raise InputError(f"{path} is not a table with the columns {', '.join(columns)}; move it away")
    for number, line in enumerate(lines[1:], 2):
        if len(line) != len(columns):
            raise InputError(f"{path}, line {number}: {len(line)} cells instead of {len(columns)}; move the file away")
    return Table.of(columns, ([_value(cell) for cell in line] for line in lines[1:]))


def _value(cell: str) -> Value:
    if cell == "":
        return None
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    return cell


def interval(values: ArrayLike, confidence: float = 0.95) -> tuple[float, float, float]:
    """The mean, and the ends of Student's interval for it; a single value has no interval (NaN ends).

    >>> [round(x, 3) for x in interval([1, 2, 3])]
    [2.0, -0.484, 4.484]
    """
    found = np.asarray(values, dtype=np.float64)
    mean = float(found.mean())
    if len(found) < 2:
        return mean, float("nan"), float("nan")
    half = float(stdtrit(len(found) - 1, (1 + confidence) / 2) * found.std(ddof=1) / np.sqrt(len(found)))
    return mean, mean - half, mean + half


def geometric(values: ArrayLike) -> tuple[float, float, float]:
    """The geometric mean with its interval: for counts that vary by factors, and are never below 0.

    >>> [round(x, 2) for x in geometric([10, 10, 10])]
    [10.0, 10.0, 10.0]
    """
    mean, low, high = (float(np.exp(end)) for end in interval(np.log(np.asarray(values, dtype=np.float64))))
    return mean, low, high
