"""Which templates match, by the definition: what engines are compared with, so it shares nothing with any of them."""

from __future__ import annotations

import numpy as np

from bitwright.bits import BoolArray
from bitwright.program import Program


class Definition:
    """Eq. (5) taken at its word: the bits of a block are a number, and the template with that configuration matches."""

    def __init__(self, program: Program) -> None:
        self._program = program
        sizes = np.diff(program.block_start)
        self._weight = 1 << (np.arange(len(program.block_bits)) - np.repeat(program.block_start[:-1], sizes))

    def matched(self, states: BoolArray) -> BoolArray:  # (batch, k) -> (batch, K)
        program = self._program
        held = np.add.reduceat(states[:, program.block_bits] * self._weight, program.block_start[:-1], axis=1)
        return np.asarray(held[:, program.template_block] == program.template_config)
