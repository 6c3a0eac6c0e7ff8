"""The `kernel` engine: the same mean as `limit`, by a dense solve with the general kernel. It is the check.

It also takes training sets of states of executions, for which there is no closed form.
"""

from __future__ import annotations

import numpy as np

from bitwright.bits import BoolArray
from bitwright.engines.real import RealEngine
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.encoding.state_set import StateSet
from bitwright.theory.encoding.training_set import TrainingSet
from bitwright.theory.predictor import Predictor, check_size
from bitwright.theory.rounding import Rounding, check_states_rounding
from bitwright.workers.linear_algebra import NUMPY


class KernelEngine(RealEngine):
    """Theorem 3.1 taken at its word: kernels of the encoded inputs, Eq. (1), and a linear solve, Eq. (3)."""

    name = "kernel"
    library = NUMPY
    fallible = False
    tolerance = 1e-9  # at n = 1 unset bits have mean 0 exactly, which a solve turns into some 1e-16

    def __init__(
        self, program: Program, examples: int, rounding: Rounding, training_set: TrainingSet | StateSet | None = None
    ) -> None:
        super().__init__(program, examples, rounding)
        check_size(examples)
        if isinstance(training_set, StateSet):
            check_states_rounding(rounding)
            self.kind = training_set.labelled
            self._set = TrainingSet(program, examples - program.templates)
            inputs = np.pad(training_set.inputs(), ((0, 0), (0, self._set.padding)))
            self.predictor = Predictor(inputs, training_set.labels())
            return
        self._set = training_set or TrainingSet(program, examples - program.templates)
        self.predictor = Predictor(self._set.inputs().toarray(), self._set.labels().toarray())

    def outputs(self, states: BoolArray) -> tuple[FloatArray, IntArray]:
        return self.predictor.mean(self._set.encode(states)), self._set.matches(states)[1]
