"""What a validation has found so far; tallies of parts add up to the tally of the whole."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from bitwright.files.documents import Check, check_fields, each, optional, real, table, text, whole
from bitwright.theory.decisions import Triple

MOST_FAILURES = 10  # that a tally remembers, those with the smallest index; all are counted


@dataclass(frozen=True)
class Failure:
    """An input whose run ended otherwise than the oracle says, or so that an `ensure` line is false."""

    index: int
    inputs: dict[str, int]
    outputs: dict[str, int]
    expected: dict[str, int] | None  # None: it should not have ended; empty where the oracle does not know
    line: str | None = None  # the first `ensure` line that is false


@dataclass(frozen=True)
class BrokenBound:
    """An input whose run met a state with more matches than are declared."""

    index: int
    inputs: dict[str, int]


@dataclass(frozen=True)
class Tally:
    """Counts over inputs, over runs, and over the states on their way."""

    inputs: int = 0
    wrong: int = 0  # runs that ended otherwise than the oracle says, or so that an `ensure` line is false
    unfinished: int = 0  # runs that the step limit cut off; what they would give is not known
    endless: int = 0  # of these, the ones of which the oracle says that they never end
    unjudged: int = 0  # runs that ended, but of which the oracle does not know what is right
    failures: tuple[Failure, ...] = ()  # by index
    evaluations: int = 0  # states that were stepped from
    steps: int = 0  # of the longest run
    wrong_steps: int = 0  # evaluations whose result was not what the rules give
    matches: frozenset[int] = frozenset()  # every n that occurred
    beyond: int = 0  # runs that met more matches than are declared
    first_beyond: BrokenBound | None = None  # the one of these with the smallest index
    triples: frozenset[Triple] = frozenset()
    margin: float | None = None  # the smallest that an engine has measured

    def __add__(self, other: Tally) -> Tally:
        failures = {failure.index: failure for failure in (*self.failures, *other.failures)}
        bounds = [first_beyond for first_beyond in (self.first_beyond, other.first_beyond) if first_beyond is not None]
        margins = [margin for margin in (self.margin, other.margin) if margin is not None]
        return Tally(
            **{name: getattr(self, name) + getattr(other, name) for name in _COUNTS},
            failures=tuple(failures[index] for index in sorted(failures)[:MOST_FAILURES]),
            steps=max(self.steps, other.steps),
            matches=self.matches | other.matches,
            first_beyond=min(bounds, key=lambda first_beyond: first_beyond.index, default=None),
            triples=self.triples | other.triples,
            margin=min(margins, default=None),
        )

    @property
    def undecided(self) -> int:
        """Runs of which it is not known whether they are right."""
        return self.unfinished - self.endless + self.unjudged

    @property
    def n_max(self) -> int:
        return max(self.matches, default=0)

    def to_json(self) -> dict[str, Any]:
        """As plain lists and numbers; values of any length as text, in base 16."""
        return {
            **vars(self),
            "failures": [_to_text(failure) for failure in self.failures],
            "matches": sorted(self.matches),
            "first_beyond": None if self.first_beyond is None else _to_text(self.first_beyond),
            "triples": sorted(self.triples),
        }

    @classmethod
    def from_json(cls, document: dict[str, Any], source: object) -> Tally:
        """The inverse; raises InputError where the document is not a tally."""
        what = "a validation file"
        check_fields(document, source, what, _FIELDS)
        for failure in document["failures"]:
            check_fields(failure, source, what, _FAILURE)
        if document["first_beyond"] is not None:
            check_fields(document["first_beyond"], source, what, _CROWD)
        return cls(
            **{
                **document,
                "failures": tuple(Failure(**_from_text(failure)) for failure in document["failures"]),
                "matches": frozenset(document["matches"]),
                "first_beyond": None
                if document["first_beyond"] is None
                else BrokenBound(**_from_text(document["first_beyond"])),
                "triples": frozenset((n, c, m) for n, c, m in document["triples"]),
                "margin": None if document["margin"] is None else float(document["margin"]),
            }
        )


def _to_text(case: Failure | BrokenBound) -> dict[str, Any]:
    """Its numbers in base 16, which Python reads and writes at any length."""
    return {name: value if name == "line" else _each_number(hex, value) for name, value in vars(case).items()}


def _from_text(document: dict[str, Any]) -> dict[str, Any]:
    line = {"line": document["line"]} if "line" in document else {}
    numbers = {name: value for name, value in document.items() if name != "line"}
    return {name: _each_number(lambda text: int(text, 16), value) for name, value in numbers.items()} | line


def _each_number(convert: Callable[[Any], Any], value: Any) -> Any:
    """A number, a table of numbers, or None, converted."""
    if isinstance(value, dict):
        return {name: convert(number) for name, number in value.items()}
    return None if value is None else convert(value)


def _number(value: object) -> str | None:
    return None if isinstance(value, str) and re.fullmatch("-?0x[0-9a-f]+", value) else "a number in base 16"


_COUNTS = ("inputs", "wrong", "unfinished", "endless", "unjudged", "evaluations", "wrong_steps", "beyond")
_COUNT = whole(0, 2**200)
_VALUES, ANY_TABLE = table(_number), table(lambda _: None)
_CROWD: dict[str, Check] = {"index": _number, "inputs": _VALUES}
_FAILURE: dict[str, Check] = {**_CROWD, "outputs": _VALUES, "expected": optional(_VALUES), "line": optional(text())}
_FIELDS: dict[str, Check] = {
    **dict.fromkeys((*_COUNTS, "steps"), _COUNT),
    "failures": each(ANY_TABLE, most=MOST_FAILURES),
    "matches": each(_COUNT),
    "first_beyond": optional(ANY_TABLE),
    "triples": each(each(_COUNT, least=3, most=3)),
    "margin": optional(real(-1e300, 1e300)),
}
assert set(_FIELDS) == {field.name for field in fields(Tally)}
