"""What a validation has found so far; tallies of parts add up to the tally of the whole."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import inf
from typing import Any

from bitwright.theory.decisions import Triple

MOST_FAILURES = 10  # that a tally remembers, those with the smallest index; all are counted


@dataclass(frozen=True)
class Failure:
    """An input whose outputs are not those of the oracle. No expected outputs: its run should not end."""

    index: int
    inputs: dict[str, int]
    outputs: dict[str, int] | None  # None: the run did not end
    expected: dict[str, int] | None


@dataclass(frozen=True)
class Tally:
    """Counts over inputs, over runs, and over the states on their way."""

    inputs: int = 0
    wrong: int = 0
    unfinished: int = 0  # runs that did not end; wrong unless the oracle says so
    failures: tuple[Failure, ...] = ()  # by index
    evaluations: int = 0  # states that were stepped from
    steps: int = 0  # of the longest run
    wrong_steps: int = 0  # evaluations whose result was not what the rules give
    matches: frozenset[int] = frozenset()  # every n that occurred
    triples: frozenset[Triple] = frozenset()
    margin: float | None = None  # the smallest that an engine has measured

    def __add__(self, other: Tally) -> Tally:
        failures = {failure.index: failure for failure in (*self.failures, *other.failures)}
        margins = [margin for margin in (self.margin, other.margin) if margin is not None]
        return Tally(
            inputs=self.inputs + other.inputs,
            wrong=self.wrong + other.wrong,
            unfinished=self.unfinished + other.unfinished,
            failures=tuple(failures[index] for index in sorted(failures)[:MOST_FAILURES]),
            evaluations=self.evaluations + other.evaluations,
            steps=max(self.steps, other.steps),
            wrong_steps=self.wrong_steps + other.wrong_steps,
            matches=self.matches | other.matches,
            triples=self.triples | other.triples,
            margin=min(margins, default=None),
        )

    @property
    def n_max(self) -> int:
        return max(self.matches, default=0)

    def to_json(self) -> dict[str, Any]:
        """As plain lists and numbers."""
        return {
            **vars(self),
            "failures": [vars(failure) for failure in self.failures],
            "matches": sorted(self.matches),
            "triples": sorted(self.triples),
        }

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> Tally:
        """The inverse; raises TypeError, ValueError or KeyError where the document is not a tally."""
        counts = {name: _count(document[name]) for name in _COUNTS}
        failures = tuple(
            Failure(_count(f["index"]), _values(f["inputs"]) or {}, _values(f["outputs"]), _values(f["expected"]))
            for f in document["failures"]
        )
        triples = frozenset((_count(n), _count(c), _count(m)) for n, c, m in document["triples"])
        matches = frozenset(_count(n) for n in document["matches"])
        margin = document["margin"]
        if margin is not None and not (isinstance(margin, float) and 0 <= margin < inf):
            raise ValueError("margin")
        return cls(**counts, failures=failures, matches=matches, triples=triples, margin=margin)


_COUNTS = ("inputs", "wrong", "unfinished", "evaluations", "steps", "wrong_steps")


def _count(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("a count is a whole number")
    return value


def _values(value: object) -> dict[str, int] | None:
    if value is None:
        return None
    if not isinstance(value, dict) or any(type(number) is not int for number in value.values()):
        raise ValueError("values are whole numbers by name")
    return {str(name): number for name, number in value.items()}


def total(tallies: list[Tally]) -> Tally:
    return reduce(Tally.__add__, tallies, Tally())
