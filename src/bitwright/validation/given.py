"""From what a person gives as an oracle to one that is asked: an oracle, a callable, or the name of a function."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bitwright.errors import InputError
from bitwright.program import Algorithm
from bitwright.validation.functions import ArrayFunction, Function, answer_about_arrays, answer_about_one
from bitwright.validation.oracles import Oracle, Values, is_wide

Given = Oracle | Callable[..., Any] | str


@dataclass(frozen=True, eq=False)
class HeldFunction:
    """A callable of this process, asked as `Function` is; it does not travel, and no file says what it was."""

    function: Callable[..., Any]
    outputs: tuple[str, ...]
    arrays: bool = False
    wide: bool = False

    @property
    def name(self) -> str:
        inner = getattr(self.function, "func", self.function)  # of functools.partial
        return str(getattr(inner, "__name__", type(inner).__name__))

    def __call__(self, values: Values) -> Mapping[str, Any] | None:
        if self.arrays:
            return answer_about_arrays(self.function, self.name, self.outputs, values, self.wide)
        return answer_about_one(self.function, self.name, self.outputs, values)

    def check_stays_here(self, shared: bool, resumed: bool) -> None:
        """Raises InputError where it would have to travel to other processes, or be the same tomorrow."""
        if shared or resumed:
            what = "workers cannot share it" if shared else "a file to resume from cannot say whether it is the same"
            raise InputError(
                f"{self.name} is a function of this process, so {what}; put it into a file and name it, "
                "oracle='MODULE:FUNCTION'"
            )


def given_oracle(algorithm: Algorithm, given: Given, arrays: bool = False) -> Oracle:
    """The oracle that is meant; functions in files are read now, so that what is wrong with them is said at once.

    >>> from bitwright import addition
    >>> given_oracle(addition(2), lambda p, q: p + q)({"p": 1, "q": 2})
    {'sum': 3}
    """
    outputs, wide = tuple(word.name for word in algorithm.outputs), is_wide(algorithm)
    if isinstance(given, str):
        if not arrays:
            return Function(given, os.getcwd(), outputs).read()
        return ArrayFunction(given, os.getcwd(), outputs, wide=wide).read()
    if not callable(given):
        raise InputError(
            f"an oracle is a function of the inputs, or its name MODULE:FUNCTION, got a {type(given).__name__}"
        )
    if hasattr(given, "arrays") and hasattr(given, "name"):
        return given
    return HeldFunction(given, outputs, arrays, wide)
