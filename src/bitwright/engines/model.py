"""The `network` engine for networks of whole states that were made elsewhere."""

from __future__ import annotations

import numpy as np

from bitwright.bits import BoolArray
from bitwright.engines.foreign import FittedModel
from bitwright.engines.protocol import ArrayBatch, Batch, Engine
from bitwright.networks.foreign import HeldModel
from bitwright.networks.foreign.model import Reads
from bitwright.program import Program
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.encoding.packed import PackedRules


class ModelEngine(Engine):
    """Steps states by a network that reads their bits, or the templates that they match."""

    name = "network"
    networks = 1
    chunk = 1 << 12

    def __init__(self, program: Program, model: HeldModel, reads: Reads) -> None:
        self.program, self._model, self._reads = program, model, reads
        self._fitted = FittedModel.of(model, reads, program)
        self._rules = PackedRules(self._fitted.columns.program)
        self.digests = [model.digest]

    def __reduce__(self) -> tuple[type[ModelEngine], tuple[Program, HeldModel, Reads]]:
        return ModelEngine, (self.program, self._model, self._reads)

    def describe(self) -> dict[str, object]:
        return {"engine": self.name, "trained networks": list(self.digests), "model": self._fitted.about()}

    def begin(self, states: BoolArray, long: bool = False) -> Batch:  # noqa: ARG002
        return ArrayBatch(self, states)

    def following(self, states: BoolArray) -> tuple[BoolArray, FloatArray]:  # (batch, k), (batch,)
        """The next states as the network decides on them, and the smallest margin in each."""
        outputs = self._fitted.decide(self._rules.matched(states)).outputs
        over = outputs - self._model.threshold
        return over > 0, np.asarray(np.abs(over).min(axis=1, initial=np.inf))
