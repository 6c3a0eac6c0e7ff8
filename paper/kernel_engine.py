"""The NTK predictor as an engine, computed by the dense linear algebra of Eq. (1) and (3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray
from bitwright.engines.protocol import ArrayBatch, Engine
from bitwright.rules import Program
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.encoding.training_set import TrainingSet
from bitwright.theory.rounding import Rounding, round_outputs
from paper.dense import Predictor


class KernelEngine(Engine):
    """The limit of networks for the whole state, from a dense solve with the general kernel (Theorem 3.1)."""

    name = "kernel"
    examples: int
    rounding: Rounding

    def __init__(self, program: Program, examples: int, rounding: Rounding) -> None:
        self.program, self.examples, self.rounding = program, examples, rounding
        self._set = TrainingSet(program, examples - program.templates)
        self._limit = Predictor(self._set.inputs().toarray(), self._set.labels().toarray())

    def begin(self, states: BoolArray, long: bool = False) -> ArrayBatch:  # noqa: ARG002
        return ArrayBatch(self, states)

    def outputs(self, states: BoolArray) -> tuple[FloatArray, NDArray[np.int64]]:
        """Returns the real outputs, and n."""
        return self._limit.mean(self._set.encode(states)), self._set.matches(states)[1]

    def following(self, states: BoolArray) -> tuple[BoolArray, FloatArray]:
        outputs, n = self.outputs(states)
        # at n = 1 unset bits have mean exactly 0, which a solve turns into about 1e-16
        return round_outputs(outputs, n, self.program.writers, self.examples, self.rounding, tolerance=1e-9)
