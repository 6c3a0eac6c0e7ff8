"""What engines with real-valued outputs share: states are plain arrays, and every step rounds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.bits import BoolArray
from bitwright.engines.protocol import ArrayBatch, Batch
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.rounding import Rounding, round_outputs
from bitwright.theory.scales import Scale


class RealEngine(ABC):
    """An engine whose outputs are real numbers, rounded with what is known about the training set."""

    name: str
    tolerance = 0.0
    kind: Scale = "ntk"
    seed: int | None = None
    networks: int | None = None
    digests: Sequence[str] = ()
    closed_form = False
    cell_facts = None
    fallible = True
    costly = True
    decisions = None

    def __init__(self, program: Program, examples: int, rounding: Rounding) -> None:
        self.program, self.examples, self.rounding = program, examples, rounding

    @property
    def chunk(self) -> int:
        return 1024

    def describe(self) -> dict[str, object]:
        return {"engine": self.name, "rounding": self.rounding, "examples": self.examples}

    def begin(self, states: BoolArray, long: bool = False) -> Batch:  # noqa: ARG002
        return RealBatch(self, states)

    @abstractmethod
    def outputs(self, states: BoolArray) -> tuple[FloatArray, IntArray]:  # (batch, k), (batch,)
        """The real outputs for these states, and the number of examples each matches."""


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
    """States on their way through such an engine."""

    def __init__(self, engine: RealEngine, states: BoolArray) -> None:
        super().__init__(states)
        self._engine = engine
        self._rounded: FloatArray | None = None

    def step(self) -> None:
        engine = self._engine
        outputs, n = self.outputs()
        self._before, self._rounded = self._now, outputs
        self._now, self._margin = round_outputs(
            outputs, n, engine.program.writers, engine.examples, engine.rounding, engine.kind, engine.tolerance
        )

    def outputs(self) -> tuple[FloatArray, IntArray]:
        """What the engine says about the states as they are now."""
        return self._engine.outputs(self._now)

    def keep(self, rows: BoolArray) -> None:
        super().keep(rows)
        self._rounded = None if self._rounded is None else self._rounded[rows]

    def rounded(self) -> FloatArray | None:
        return self._rounded
