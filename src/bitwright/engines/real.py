"""What engines with real-valued outputs share: states are plain arrays, and every step rounds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.bits import BoolArray
from bitwright.engines.protocol import ArrayBatch, Batch, Engine
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.rounding import Rounding, round_outputs

Decided = tuple[BoolArray, FloatArray, FloatArray]  # next states, the margin of each, and the outputs


class RealEngine(Engine):
    """An engine whose outputs are real numbers, rounded with what is known about the training set."""

    examples: int
    rounding: Rounding
    tolerance = 0.0

    def __init__(self, program: Program, examples: int, rounding: Rounding) -> None:
        self.program, self.examples, self.rounding = program, examples, rounding

    def begin(self, states: BoolArray, long: bool = False) -> Batch:  # noqa: ARG002
        return RealBatch(self, states)

    @abstractmethod
    def outputs(self, states: BoolArray) -> tuple[FloatArray, IntArray]:  # (batch, k), (batch,)
        """The real outputs for these states, and the number of examples each matches."""

    def decided(self, states: BoolArray) -> Decided:
        """What follows these states."""
        return self.rounded(*self.outputs(states))

    def rounded(self, outputs: FloatArray, n: IntArray) -> Decided:
        """What follows states with these outputs and numbers of matches."""
        settings = (self.program.writers, self.examples, self.rounding, self.kind, self.tolerance)
        return *round_outputs(outputs, n, *settings), outputs


def each_once(
    states: BoolArray, evaluate: Callable[[BoolArray], tuple[NDArray[Any], IntArray]]
) -> tuple[NDArray[Any], IntArray]:
    """What `evaluate` gives for every state; equal states have equal outputs, so each different one is taken once."""
    packed = np.packbits(states, axis=1)
    rows = packed.view(np.dtype((np.void, packed.shape[1])))[:, 0]
    _, first, place_of = np.unique(rows, return_index=True, return_inverse=True)
    outputs, n = evaluate(states[first])
    return outputs[place_of], n[place_of]


class RealBatch(ArrayBatch):
    """The states of runs by such an engine, and the outputs of the last step."""

    _rounded: FloatArray | None = None

    def step(self) -> None:
        self._before = self._now
        self._now, self._margin, self._rounded = self.decided()

    def decided(self) -> Decided:
        """What follows the states as they are now."""
        found: Decided = self._engine.decided(self._now)
        return found

    def keep(self, rows: BoolArray) -> None:
        super().keep(rows)
        self._rounded = None if self._rounded is None else self._rounded[rows]

    def rounded(self) -> FloatArray | None:
        return self._rounded
