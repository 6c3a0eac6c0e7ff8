"""The `limit` engine: the mean of the infinitely wide trained network, in closed form, rounded back to bits.

mu_i = w0 c_i + (w1 - w0) m_i, so after rounding a bit depends on three whole numbers: n, c_i and m_i. Which triples
round to 1 is settled beforehand, ties by interval arithmetic. If it is m_i >= 1 for every triple that can occur, a step
is provably the same as a step of the templates, and is made as one.
"""

from __future__ import annotations

import numpy as np

from bitwright.bits import BoolArray
from bitwright.execution.templates import TemplatesBatch, TemplatesEngine, Words, pack, unpack
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray, Weights, weights
from bitwright.theory.rounding import Rounding, round_outputs
from bitwright.theory.signs import SignRule


class LimitEngine(TemplatesEngine):
    """Steps states by the limit's mean and a rounding."""

    name = "limit"

    def __init__(self, program: Program, examples: int, rounding: Rounding) -> None:
        super().__init__(program)
        self.examples, self.rounding = examples, rounding
        most = len(np.unique(program.template_block))  # one match a block, and only where there are templates
        self.by_matches: Weights = weights(np.arange(most + 1), examples)
        self._sign = SignRule(examples)
        self.same_as_templates = rounding == "calibrated" or self._sign.safe(int(program.writers.max()), most)

    def begin(self, states: BoolArray) -> LimitBatch:
        return LimitBatch(self, states)

    def write(self, matches: Words, bits: Words) -> None:
        super().write(matches, bits)
        if not self.same_as_templates:
            count = matches.shape[1] * matches.dtype.itemsize * 8
            n, m = self.counts(matches, count)
            bits[...] &= pack(self._sign.above_zero(n[:, None], self.program.writers, m))

    def counts(self, matches: Words, count: int) -> tuple[IntArray, IntArray]:  # (batch,), (batch, k)
        """n, and m for every bit: how many templates match, and how many of those write it."""
        matched = unpack(matches, count)  # (batch, K) in the order of the match rows
        rows = np.zeros((count, self.program.bits), dtype=np.int64)
        cumulated = np.zeros((count, len(self._writer) + 1), dtype=np.int64)
        np.cumsum(matched[:, self._writer], axis=1, out=cumulated[:, 1:])
        ends = np.append(self._firsts[1:], len(self._writer))
        rows[:, self._targets] = cumulated[:, ends] - cumulated[:, self._firsts]
        return matched.sum(axis=1), rows

    def means(self, n: IntArray, m: IntArray) -> FloatArray:  # (batch,), (batch, k) -> (batch, k)
        """mu for every state and bit."""
        w = self.by_matches
        return w.unmatched[n][:, None] * self.program.writers + w.gap[n][:, None] * m


class LimitBatch(TemplatesBatch):
    """States on their way through the limit; remembers the last matches, from which outputs and margins follow."""

    _engine: LimitEngine

    def outputs(self) -> FloatArray:  # (batch, k)
        """The means that the last step rounded."""
        n, m = self._counts()
        return self._engine.means(n, m)

    def margin(self) -> FloatArray:  # (batch,)
        n, m = self._counts()
        engine = self._engine
        if engine.rounding == "calibrated":  # zhat is m itself
            return np.where(n > 0, np.abs(m - 0.5).min(axis=1), np.inf)
        return round_outputs(engine.means(n, m), n, engine.program.writers, engine.examples, "sign")[1]

    def _counts(self) -> tuple[IntArray, IntArray]:
        return self._engine.counts(self._engine.match(self._before), self._count)
