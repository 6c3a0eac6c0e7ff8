"""When a run is done: at a halt bit, at a fixed point, after a number of steps, or when a function says so."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping

from bitwright.bits import BoolArray, whole_number
from bitwright.errors import InputError
from bitwright.program import FIXED_POINT, Algorithm
from bitwright.running.observers import View

DEFAULT_LIMIT = 1_000_000  # steps, for algorithms that declare none
ENDLESS = 1 << 62  # steps: more than any run makes


class Ending(ABC):
    """Says which states of a batch are done."""

    stops: tuple[int, ...] = ()  # bits at which a leap must stop, so that no ending is passed over
    extra_steps = 0  # that it takes, beyond the limit, to see that a run was done by then
    ends_at_rest = False  # whether runs in which nothing moves any more are done

    def at_start(self, view: View) -> BoolArray | None:  # noqa: ARG002
        """Which states are done before any step, (batch,); None: none is."""
        return None

    @abstractmethod
    def reached(self, view: View) -> BoolArray | None:
        """Which states are done after the step just made, (batch,); None: none is."""

    def most_steps(self, view: View) -> int:  # noqa: ARG002
        """How many steps can be made at once from here without passing over an end at which no leap stops."""
        return ENDLESS

    def at_limit(self, limit: int) -> bool:  # noqa: ARG002
        """Whether runs that have made as many steps as they may are done."""
        return False


class HaltBit(Ending):
    """Done when a bit is on; without `at_start`, only if it is so after a step."""

    def __init__(self, bit: int, at_start: bool = True) -> None:
        self._bit, self._at_start, self.stops = bit, at_start, (bit,)

    def at_start(self, view: View) -> BoolArray | None:
        return self.reached(view) if self._at_start else None

    def reached(self, view: View) -> BoolArray:
        return view.batch.bit(self._bit)


class FixedPoint(Ending):
    """Done when a step changes nothing; that step does not count, and a run may make it beyond its limit."""

    extra_steps = 1
    ends_at_rest = True

    def reached(self, view: View) -> BoolArray:
        return view.batch.unchanged()


class Stuck(Ending):
    """Given up when a step changes nothing and no host has answered since; that step counts.

    Looking costs about a fifth of a step of many states, so it may be done only once in `every` steps.
    """

    ends_at_rest = True

    def __init__(self, every: int = 1) -> None:
        self._every = every

    def reached(self, view: View) -> BoolArray | None:
        if view.step % self._every:
            return None
        still = view.batch.unchanged()
        return still if view.answered is None else still & ~view.answered


class When(Ending):
    """Done, all runs at once, when a function says so after a leap."""

    def __init__(self, said: Callable[[], bool]) -> None:
        self._said = said

    def reached(self, view: View) -> BoolArray | None:
        return view.running if self._said() else None


class FirstOf(Ending):
    """Done when one of several endings is: the first in their order, where two come at once.

    An ending after one that ends all runs is not asked.
    """

    def __init__(self, endings: Mapping[str, Ending]) -> None:
        self._endings = dict(endings)
        self.stops = tuple(bit for ending in endings.values() for bit in ending.stops)
        self.ends_at_rest = any(ending.ends_at_rest for ending in endings.values())
        self.reason: dict[int, str] = {}  # by run

    def at_start(self, view: View) -> BoolArray | None:
        return self._first(view, ((name, ending.at_start(view)) for name, ending in self._endings.items()))

    def reached(self, view: View) -> BoolArray | None:
        return self._first(view, ((name, ending.reached(view)) for name, ending in self._endings.items()))

    def most_steps(self, view: View) -> int:
        return min(ending.most_steps(view) for ending in self._endings.values())

    def _first(self, view: View, answers: Iterable[tuple[str, BoolArray | None]]) -> BoolArray | None:
        going = view.running
        for name, ended in answers:
            if ended is None or not (ended := ended & going).any():
                continue
            self.reason.update(dict.fromkeys(view.rows[ended].tolist(), name))
            going = going & ~ended
            if not going.any():
                break
        return None if going is view.running else view.running & ~going


class StepCount(Ending):
    """Done after exactly this many steps."""

    def __init__(self, steps: int) -> None:
        self._steps = steps

    def reached(self, view: View) -> BoolArray | None:  # noqa: ARG002
        return None

    def at_limit(self, limit: int) -> bool:
        return limit == self._steps


def ending_of(algorithm: Algorithm) -> Ending:
    """How runs of this algorithm end."""
    if algorithm.halt == FIXED_POINT:
        return FixedPoint()
    if algorithm.halt is not None:
        return HaltBit(algorithm.halt)
    assert algorithm.steps is not None
    return StepCount(algorithm.steps)


def step_limit(algorithm: Algorithm, limit: int | None) -> int:
    """The most steps a run may make: what is asked for, but no more than the algorithm declares."""
    if limit is not None and whole_number(limit, "the step limit") < 0:
        raise InputError(f"the step limit must be 0 or more, got {limit}")
    declared = DEFAULT_LIMIT if algorithm.steps is None else algorithm.steps
    if limit is None:
        return declared
    return limit if algorithm.steps is None else min(limit, declared)
