"""What a validation has found so far; tallies of parts add up to the tally of the whole."""

from __future__ import annotations

from dataclasses import dataclass

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


_COUNTS = ("inputs", "wrong", "unfinished", "endless", "unjudged", "evaluations", "wrong_steps", "beyond")
