"""Templates as literals: which bits each one looks at, and whether it wants them on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bitwright.bits import BoolArray
from bitwright.program import Program
from bitwright.program.layout import IntArray


@dataclass(frozen=True)
class Literals:
    """Template t looks at the bits bit[start[t]:start[t + 1]] and matches where each is as `on` says."""

    start: IntArray  # (K + 1,)
    bit: IntArray  # (literals,)
    on: BoolArray  # (literals,)

    @property
    def template(self) -> IntArray:  # (literals,)
        """The template of each literal."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))


def literals_of(program: Program) -> Literals:
    """The literals of every template, in order."""
    sizes = np.diff(program.block_start)[program.template_block]  # (K,)
    start = np.concatenate(([0], np.cumsum(sizes)))
    place = np.arange(start[-1]) - np.repeat(start[:-1], sizes)
    bit = program.block_bits[np.repeat(program.block_start[program.template_block], sizes) + place]
    on = (np.repeat(program.template_config, sizes) >> place & 1) == 1
    return Literals(start, bit, on)
