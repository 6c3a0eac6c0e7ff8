"""What a function of the small language says, once it has been read: sums, conditions and statements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


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
        """The variable that this sum is, if it is nothing else."""
        return next(iter(self.factors)) if self.constant == 0 and list(self.factors.values()) == [1] else None


# Conditions.


@dataclass(frozen=True)
class Negative:
    """The sum is below zero."""

    sum: Sum

    @staticmethod
    def holds(value: int) -> bool:
        return value < 0


@dataclass(frozen=True)
class Positive:
    """The sum is above zero."""

    sum: Sum

    @staticmethod
    def holds(value: int) -> bool:
        return value > 0


@dataclass(frozen=True)
class Zero:
    """The sum is zero."""

    sum: Sum

    @staticmethod
    def holds(value: int) -> bool:
        return value == 0


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
    """What the condition says once the statements are done; none of the statements leads away."""

    statements: tuple[Statement, ...]
    condition: Condition


Condition = Negative | Positive | Zero | Not | Both | Always | After


def either(first: Condition, second: Condition) -> Condition:
    return Not(Both(Not(first), Not(second)))


# Statements, each with the line it stands on.


@dataclass(frozen=True)
class Assign:
    line: int
    target: str
    value: Sum


@dataclass(frozen=True)
class While:
    line: int
    condition: Condition
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class If:
    line: int
    condition: Condition
    body: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


@dataclass(frozen=True)
class Leave:
    """break, or continue with `again`."""

    line: int
    again: bool


# Statements that need a stored program.


@dataclass(frozen=True)
class Fill:
    """An array gets all its entries: one value for each, or the same value in all of them."""

    line: int
    array: str
    size: int
    values: tuple[Sum, ...]


@dataclass(frozen=True)
class Load:
    line: int
    target: str
    array: str
    index: Sum


@dataclass(frozen=True)
class Store:
    line: int
    array: str
    index: Sum
    value: Sum


@dataclass(frozen=True)
class Call:
    """Arguments are numbers or, by their names, arrays."""

    line: int
    targets: tuple[str | None, ...]  # None for a result that nobody wants
    function: str
    arguments: tuple[Sum | str, ...]


@dataclass(frozen=True)
class Return:
    line: int
    values: tuple[Sum, ...]
    names: tuple[str | None, ...]  # of the values that are variables as they stand


@dataclass(frozen=True)
class Put:
    line: int
    value: Sum


@dataclass(frozen=True)
class Get:
    line: int
    target: str


Statement = Assign | While | If | Leave | Fill | Load | Store | Call | Return | Put | Get


@dataclass(frozen=True)
class Routine:
    """A function: its arrays with their sizes, None for those that it is given."""

    name: str
    line: int
    parameters: tuple[str, ...]
    arrays: Mapping[str, int | None]
    body: tuple[Statement, ...]
    results: int
    description: str = ""
