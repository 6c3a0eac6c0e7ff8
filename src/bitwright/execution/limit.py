"""The `limit` engine: the mean of the infinitely wide trained network, in closed form, rounded back to bits.

mu_i = w0 c_i + (w1 - w0) m_i, so after rounding a bit depends on three whole numbers: n, c_i and m_i. Which triples
round to 1 is settled beforehand, ties by interval arithmetic. Where it is m_i >= 1 for every triple that can occur, a
step is provably the same as a step of the templates, and is made as one.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from bitwright.bits import BoolArray
from bitwright.execution import events
from bitwright.execution.changes import ChangeBatch
from bitwright.execution.counting import count_rows, largest
from bitwright.execution.engine import Batch
from bitwright.execution.templates import TemplatesBatch, TemplatesEngine, Words, pack, unpack
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray, weights
from bitwright.theory.rounding import Rounding
from bitwright.theory.signs import matches_needed


class LimitEngine(TemplatesEngine):
    """Steps states by the limit's mean and a rounding."""

    name = "limit"

    def __init__(self, program: Program, examples: int, rounding: Rounding) -> None:
        super().__init__(program)
        self.examples, self.rounding = examples, rounding
        self._most = len(np.unique(program.template_block))  # one match a block, and only where there are templates
        self._weights = weights(np.arange(self._most + 1), examples)
        self.fails_from: int | None = None  # the first n to look after: there some bit may need more than one match
        if rounding == "sign":  # the more writers, the more matches are needed
            danger = np.flatnonzero(matches_needed(self._most, program.writers.max(keepdims=True), examples) > 1)
            self.fails_from = int(danger[0]) if len(danger) else None

    @cached_property
    def _crowds(self) -> tuple[IntArray, IntArray]:  # (written bits,), (most + 1, written bits or fewer)
        """For every written bit its column of the table, and the table: how many matches it needs, by n."""
        crowds, column = np.unique(self._writers, return_inverse=True)
        return column, matches_needed(self._most, crowds, self.examples)

    @cached_property
    def _writers(self) -> IntArray:  # (written bits,)
        return self.program.writers[self.plan.targets]

    def begin(self, states: BoolArray) -> Batch:
        large = self.program.templates >= events.WORTHWHILE
        return self.begin_long(states) if large and len(states) == 1 else LimitBatch(self, states)

    def begin_long(self, states: BoolArray) -> Batch:
        restless = events.AVAILABLE and self.tables.restless
        if not events.AVAILABLE or (restless and self.rounding == "sign"):
            return LimitBatch(self, states)
        if restless:
            return ChangeBatch(self.program, states, rounded=True)
        return events.EventBatch(self.program, states, rounded=True, sign=self.sign_rule, tables=self.tables)

    @property
    def sign_rule(self) -> events.SignRule | None:
        """What the event loop must know to round by sign."""
        if self.rounding != "sign":
            return None
        return events.SignRule(self._weights, self.fails_from, self._one_step)

    def _one_step(self, states: BoolArray) -> tuple[BoolArray, float, int]:
        """One step of one state, its margin and its n."""
        batch = LimitBatch(self, states)
        batch.step()
        return batch.states(), float(batch.margin()[0]), int(self.counts(batch._matches, 1)[0][0])

    def write(self, matches: Words, bits: Words) -> None:
        super().write(matches, bits)
        if self.fails_from is None or np.count_nonzero(matches.any(axis=1)) < self.fails_from:
            return  # the second: no state can match more templates than are matched by any
        if largest(count_rows(matches)) >= self.fails_from:
            n, m = self.counts(matches, matches.shape[1] * matches.dtype.itemsize * 8)
            column, needed = self._crowds
            bits[self.plan.targets] &= pack(m >= needed[n][:, column])

    def counts(self, matches: Words, count: int) -> tuple[IntArray, IntArray]:  # (batch,), (batch, written bits)
        """n, and m for every bit that is written at all: how many templates match, and how many of those write it."""
        matched = unpack(matches, count)  # (batch, K) in the order of the match rows
        written = np.add.reduceat(matched[:, self.plan.writer], self.plan.firsts, axis=1, dtype=np.int64)
        return np.count_nonzero(matched, axis=1), written

    def means(self, n: IntArray, m: IntArray) -> FloatArray:  # (batch,), (batch, written bits) -> the same shape
        """mu of every written bit; the others have mean 0."""
        w = self._weights
        return w.unmatched[n][:, None] * self._writers + w.gap[n][:, None] * m


class LimitBatch(TemplatesBatch):
    """States on their way through the limit; remembers the last matches, from which outputs and margins follow."""

    _engine: LimitEngine
    _matches: Words

    def match(self) -> Words:
        self._matches = super().match()
        return self._matches

    def outputs(self) -> FloatArray:  # (batch, k)
        """The means that the last step rounded."""
        engine = self._engine
        full = np.zeros((self._count, engine.program.bits))
        full[:, engine.plan.targets] = engine.means(*engine.counts(self._matches, self._count))
        return full

    def margin(self) -> FloatArray:  # (batch,)
        """As in `round_outputs`: the distance from 1/2 (calibrated) or from 0 (sign) where anything is at stake."""
        engine = self._engine
        if engine.rounding == "calibrated":  # zhat is a whole number, so it is never closer than this to 1/2
            matched = np.bitwise_or.reduce(self._matches, axis=0)[np.newaxis]
            return np.where(unpack(matched, self._count)[:, 0], 0.5, np.inf)
        n, m = engine.counts(self._matches, self._count)
        return np.where(n > 1, np.abs(engine.means(n, m)).min(axis=1), np.inf)
