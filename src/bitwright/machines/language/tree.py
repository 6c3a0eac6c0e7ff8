"""The tree of a function of the small language: sums, conditions and statements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Sum:
    """A sum of variables, each with a factor, and a constant: every expression of the language is one."""

    factors: Mapping[str, int] = field(default_factory=dict)  # none is zero
    constant: int = 0

    def plus(self, other: Sum, times: int = 1) -> Sum:
        factors = dict(self.factors)
        for name, factor in other.factors.items():
            factors[name] = factors.get(name, 0) + times * factor
        return Sum({name: f for name, f in factors.items() if f}, self.constant + times * other.constant)

    def times(self, number: int) -> Sum:
        return Sum().plus(self, number)

    @property
    def opposite(self) -> Sum:
        """Negative exactly where this sum is not: -1 - x, which fits a word whenever x does."""
        return Sum({}, -1).plus(self, -1)

    @property
    def positive(self) -> dict[str, int]:
        return {name: factor for name, factor in self.factors.items() if factor > 0}

    @property
    def negative(self) -> dict[str, int]:
        return {name: -factor for name, factor in self.factors.items() if factor < 0}

    @property
    def variable(self) -> str | None:
        """The variable, if the sum is a single variable."""
        return next(iter(self.factors)) if self.constant == 0 and list(self.factors.values()) == [1] else None


# Conditions.


@dataclass(frozen=True)
class Compared:
    """The sum is below zero, above it, or zero."""

    sign: Literal["<", ">", "="]
    sum: Sum


@dataclass(frozen=True)
class Not:
    condition: Condition


@dataclass(frozen=True)
class Both:
    first: Condition
    second: Condition


@dataclass(frozen=True)
class Always:
    """True or False, without looking at any variable."""

    value: bool


@dataclass(frozen=True)
class After:
    """The condition, evaluated after the statements; none of them jumps."""

    statements: tuple[LanguageStatement, ...]
    condition: Condition


Condition = Compared | Not | Both | Always | After


def either(first: Condition, second: Condition) -> Condition:
    return Not(Both(Not(first), Not(second)))


# Statements.


@dataclass(frozen=True)
class LanguageStatement:
    line: int  # of the source


@dataclass(frozen=True)
class Assign(LanguageStatement):
    target: str
    value: Sum


@dataclass(frozen=True)
class While(LanguageStatement):
    condition: Condition
    body: tuple[LanguageStatement, ...]


@dataclass(frozen=True)
class If(LanguageStatement):
    condition: Condition
    body: tuple[LanguageStatement, ...]
    otherwise: tuple[LanguageStatement, ...]


@dataclass(frozen=True)
class Leave(LanguageStatement):
    """break, or continue."""

    to_next_round: bool


@dataclass(frozen=True)
class Fill(LanguageStatement):
    """An array gets all its entries: one value for each, or the same value in all of them."""

    array: str
    size: int
    values: tuple[Sum, ...]


@dataclass(frozen=True)
class Load(LanguageStatement):
    target: str
    array: str
    index: Sum


@dataclass(frozen=True)
class Store(LanguageStatement):
    array: str
    index: Sum
    value: Sum


@dataclass(frozen=True)
class Call(LanguageStatement):
    """Arguments are numbers or, by their names, arrays."""

    targets: tuple[str | None, ...]  # None for a result that is not used
    function: str
    arguments: tuple[Sum | str, ...]


@dataclass(frozen=True)
class Return(LanguageStatement):
    values: tuple[Sum, ...]
    names: tuple[str | None, ...]  # of the values that are variables as they stand


@dataclass(frozen=True)
class Put(LanguageStatement):
    value: Sum


@dataclass(frozen=True)
class Get(LanguageStatement):
    target: str


@dataclass(frozen=True)
class Routine:
    """A function: its arrays with their sizes, None for those that it is given."""

    name: str
    line: int
    parameters: tuple[str, ...]
    arrays: Mapping[str, int | None]
    body: tuple[LanguageStatement, ...]
    results: int
    description: str = ""
