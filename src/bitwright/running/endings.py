"""When a run is done: at a halt bit, at a fixed point, or after the declared number of steps."""

from __future__ import annotations

from abc import ABC, abstractmethod

from bitwright.bits import BoolArray
from bitwright.engines.protocol import Batch
from bitwright.errors import InputError
from bitwright.program import FIXED_POINT, Algorithm

DEFAULT_LIMIT = 1_000_000  # steps, for algorithms that declare none


class Ending(ABC):
    """Says which states of a batch are done."""

    stops: tuple[int, ...] = ()  # bits at which a leap must stop, so that no ending is passed over
    extra_steps = 0  # that it takes, beyond the limit, to see that a run was done by then

    def at_start(self, batch: Batch) -> BoolArray | None:  # noqa: ARG002
        """Which states are done before any step, (batch,); None: none is."""
        return None

    @abstractmethod
    def reached(self, batch: Batch) -> BoolArray | None:
        """Which states are done after the step just made, (batch,); None: none is."""

    def at_limit(self, limit: int) -> bool:  # noqa: ARG002
        """Whether runs that have made as many steps as they may are done."""
        return False


class HaltBit(Ending):
    """Done when a bit is on."""

    def __init__(self, bit: int) -> None:
        self._bit, self.stops = bit, (bit,)

    def at_start(self, batch: Batch) -> BoolArray:
        return batch.bit(self._bit)

    def reached(self, batch: Batch) -> BoolArray:
        return batch.bit(self._bit)


class FixedPoint(Ending):
    """Done when a step changes nothing; that step does not count, and a run may make it beyond its limit."""

    extra_steps = 1

    def reached(self, batch: Batch) -> BoolArray:
        return batch.unchanged()


class StepCount(Ending):
    """Done after exactly so many steps."""

    def __init__(self, steps: int) -> None:
        self._steps = steps

    def reached(self, batch: Batch) -> BoolArray | None:  # noqa: ARG002
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
    if limit is not None and limit < 0:
        raise InputError(f"the step limit must be 0 or more, got {limit}")
    declared = DEFAULT_LIMIT if algorithm.steps is None else algorithm.steps
    if limit is None:
        return declared
    return limit if algorithm.steps is None else min(limit, declared)
