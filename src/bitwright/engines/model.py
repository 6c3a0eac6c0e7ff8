"""The `network` engine for networks of whole states that were made elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bitwright.bits import BoolArray
from bitwright.engines.cells.engine import CellBatch
from bitwright.engines.foreign import FittedModel
from bitwright.engines.protocol import Batch
from bitwright.networks.foreign import HeldModel
from bitwright.networks.foreign.model import Reads
from bitwright.program import Program
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.encoding.packed import PackedRules
from bitwright.theory.rounding import Rounding
from bitwright.theory.scales import Scale


class ModelEngine:
    """Steps states by the outputs of a network that reads them, or the templates that they match."""

    name = "network"
    kind: Scale = "ntk"
    rounding: Rounding | None = None
    closed_form = False
    cell_facts = None
    fallible = True
    costly = True
    decisions = None
    examples: int | None = None
    seed: int | None = None
    networks: int | None = 1
    chunk = 1 << 12

    def __init__(self, program: Program, model: HeldModel, reads: Reads) -> None:
        self.program, self._model, self._reads = program, model, reads
        self._fitted = FittedModel.of(model, reads, program)
        self._rules = PackedRules(self._fitted.columns.program)
        self.digests: Sequence[str] = [model.digest]

    def __reduce__(self) -> tuple[type[ModelEngine], tuple[Program, HeldModel, Reads]]:
        return ModelEngine, (self.program, self._model, self._reads)

    def describe(self) -> dict[str, object]:
        """All that its steps depend on beside the program."""
        return {"engine": self.name, "trained networks": list(self.digests), "model": self._fitted.about()}

    def begin(self, states: BoolArray, long: bool = False) -> Batch:  # noqa: ARG002
        """Takes in states."""
        return CellBatch(self, states)

    def following(self, states: BoolArray) -> tuple[BoolArray, FloatArray]:  # (batch, k), (batch,)
        """The next states as the network decides on them, and the smallest margin in each."""
        outputs = self._fitted.decide(self._rules.matched(states)).outputs
        over = outputs - self._model.threshold
        return over > 0, np.asarray(np.abs(over).min(axis=1, initial=np.inf))
