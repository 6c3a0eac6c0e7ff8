"""What is to be validated."""

from __future__ import annotations

from dataclasses import dataclass

from bitwright.engines.protocol import Engine
from bitwright.program import Algorithm
from bitwright.validation.inputs import BLOCK, Inputs
from bitwright.validation.oracles import Oracle

_BATCH, _WORK = 1 << 18, 1 << 36  # inputs in a batch, and the most template-steps, so that a batch takes a moment


@dataclass(frozen=True)
class Task:
    """One algorithm, one engine, some inputs and an oracle; without one, the rules themselves say what is right."""

    algorithm: Algorithm
    engine: Engine
    inputs: Inputs
    oracle: Oracle | None
    limit: int
    plain: bool = False  # walk through the engine itself, even where the bit-sliced loops make the same steps

    @property
    def examples(self) -> int:
        """K: the templates, and padding if there is some."""
        return self.engine.examples or self.algorithm.program.templates

    @property
    def sliced(self) -> bool:
        """Whether the bit-sliced loops make the engine's runs."""
        return self.engine.decisions is not None and not self.plain

    @property
    def batch(self) -> int:
        """How many inputs are run at a time; it depends on the task alone, so that batches can be counted."""
        if not self.sliced:
            return BLOCK
        work = self.algorithm.program.templates * min(max(1, self.limit), 1_000)
        return max(BLOCK, min(_BATCH, _WORK // work // BLOCK * BLOCK))

    @property
    def batches(self) -> int:
        return -(-self.inputs.count // self.batch)

    def size(self, number: int) -> int:
        """How many inputs this batch has; the last one may have fewer than others."""
        return min(self.batch, self.inputs.count - number * self.batch)
