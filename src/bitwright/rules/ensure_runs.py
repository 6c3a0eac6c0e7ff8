"""The `ensure` lines of an algorithm on whole arrays of runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray
from bitwright.rules.ensures import EnsureLine
from bitwright.rules.expressions import Constant, Expression, Named, Negation

Arrays = Mapping[str, NDArray[Any]]
_MOST_BITS = 62  # that an int64 holds with room for a sum of two


class Runs:
    """The inputs of many runs, and the outputs of those that ended, by name.

    >>> from bitwright.rules.ensure_text import read
    >>> runs = Runs(4, {"x": np.arange(4)}, {"y": np.array([0, 1, 2, 2])})
    >>> runs.broken(read("y == x and y != 1"))
    array([False,  True, False,  True])
    """

    def __init__(self, count: int, inputs: Arrays, outputs: Arrays) -> None:
        self._count, self._inputs, self._outputs = count, inputs, outputs
        self._most: dict[str, int] = {}  # the largest absolute value under a name
        for name, numbers in (*inputs.items(), *outputs.items()):
            largest = max(abs(int(numbers.max(initial=0))), abs(int(numbers.min(initial=0))))
            self._most[name] = max(largest, self._most.get(name, 0))

    def broken(self, line: EnsureLine) -> BoolArray:  # (count,)
        """The runs of which the line is false."""
        broken = np.zeros(self._count, dtype=bool)
        for row in line.rows():
            broken |= np.asarray(self.value(line, line.truth, row) == 0, dtype=bool)
        return broken

    def all_hold(self, lines: Iterable[EnsureLine]) -> BoolArray:  # (count,)
        """The runs of which all of these lines are true."""
        allowed = np.ones(self._count, dtype=bool)
        for line in lines:
            allowed &= ~self.broken(line)
        return allowed

    def value(self, line: EnsureLine, part: Expression, row: Mapping[str, int] | None = None) -> Any:
        """The exact value of an expression: in machine words where all of it fits, else in Python's integers."""
        known = {**line.lets, **self._most, **(row or {})}
        fits = _sizes(line, part, known, row or {})[1] >> _MOST_BITS == 0
        return line.value(part, *((self._inputs, self._outputs) if fits else self._exact), row)

    @cached_property
    def _exact(self) -> tuple[Arrays, Arrays]:
        inputs, outputs = (
            {name: numbers.astype(object) for name, numbers in named.items()} for named in (self._inputs, self._outputs)
        )
        return inputs, outputs


def _sizes(line: EnsureLine, part: Expression, known: Mapping[str, int], row: Mapping[str, int]) -> tuple[int, int]:
    """Bounds on the absolute value of an expression, and on all values that come up in it."""
    if isinstance(part, Constant):
        return abs(part.value), abs(part.value)
    if isinstance(part, Named):
        most = abs(known[part.text])
        return (most if part.index is None else 1), most
    if isinstance(part, Negation):
        return 1, _sizes(line, part.body, known, row)[1]
    if part.sign == "^":  # of constants
        power = abs(line.value(part, {}, {}, row))
        return power, power
    (left, most), (right, more) = (_sizes(line, side, known, row) for side in (part.left, part.right))
    own = {"+": left + right, "-": left + right, "*": left * right, "//": left + 1, "%": max(left, right)}
    bound = own.get(part.sign, 1)
    return bound, max(bound, most, more)
