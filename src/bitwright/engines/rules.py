"""Engines that decide by the rules' counts: `templates`, the rules themselves, and `limit`, the closed-form mean of the
infinitely wide trained network, rounded to bits.

In the limit mu_i = w0 c_i + (w1 - w0) m_i, so after rounding a bit depends on three integers: n, c_i and m_i. A table
of proved decisions lists the triples that set a bit. Where one match suffices, a step provably equals a step of the
templates and is computed as such.
"""

from __future__ import annotations

import sys
from functools import cached_property
from itertools import count

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.engines.protocol import Batch, Engine
from bitwright.engines.table import PackedCells, pack_rules
from bitwright.rules import Program
from bitwright.rules.layout import IntArray
from bitwright.theory.closed_form import FloatArray, Kind, weights
from bitwright.theory.decisions import Decisions, decide
from bitwright.theory.encoding import PackedRules, Words, count_rows, largest, pack, unpack, with_complements
from bitwright.theory.rounding import Rounding

_LOOK = 64  # steps for measuring how many cells change
_CACHE = 1 << 20  # bytes of a chunk of states, so that it stays in a core's cache
_MANY, _runs = 16, count()  # single runs of a process after which the loops are loaded, and runs so far
LARGE = 4_000  # templates; smaller programs begin in packed words, without starting the compiler


class RuleEngine(Engine):
    """Steps states by matching templates (Eq. 5-6) and a table of decisions.

    A single run uses compiled loops, which only visit cells that change, once they are loaded or worth loading; a
    program with at least `large` templates uses them immediately.
    """

    name = "templates"
    kind: Kind = "ntk"
    closed_form = True
    fallible = False
    costly = False

    def __init__(self, program: Program, large: int = LARGE) -> None:
        self.program, self._large = program, large

    @cached_property
    def decisions(self) -> Decisions:
        return decide(self.program, self.examples or self.program.templates, self.rounding)

    @cached_property
    def rules(self) -> PackedRules:
        """The packed rules for a step in packed words, which long runs of large programs do not need."""
        return PackedRules(self.program)

    @cached_property
    def packed(self) -> PackedCells:
        """The rules' outputs, packed for the compiled loop."""
        return pack_rules(self.program)

    @property
    def chunk(self) -> int:
        """The number of states that fit the cache, but enough to fill the words."""
        rows = 4 * self.program.bits + 2 * self.program.templates
        return max(1024, 64 * (_CACHE // (8 * rows)))

    def together(self, states: BoolArray) -> int:
        """The number of states to step at once: enough to fill the words, or 1 where updates alone are faster."""
        return 1 if one_by_one(self.program, states) else self.chunk

    def __getstate__(self) -> dict[str, object]:
        """Pickles without the data that other processes can compute again."""
        kept = ("program", "examples", "rounding", "_large")
        return {name: value for name, value in vars(self).items() if name in kept}

    def begin(self, states: BoolArray, long: bool = False) -> Batch:
        single = len(states) == 1
        soon = long or self.program.templates >= self._large or (self._large <= LARGE and single and loops_pay())
        return self._follow(states) if single and soon else PackedBatch(self, states)

    def _follow(self, states: BoolArray) -> Batch:
        """Returns a batch of one state that only visits cells that change."""
        from bitwright.engines.table.batch import TableBatch  # compiled loops, imported only when used

        return TableBatch(self.packed, states[0], None if self.rounding is None else self.packed.margins_of_limit)

    def decide(self, matches: Words, bits: Words) -> None:  # (K, words) -> (k, words)
        """Writes the next bits: those set by the matches and allowed by the decisions."""
        rules = self.rules
        rules.write(matches, bits)
        fails_from = self.decisions.fails_from if self.rounding == "sign" else None
        if fails_from is None or np.count_nonzero(matches.any(axis=1)) < fails_from:
            return  # second condition: no state matches more templates than all states together
        if largest(count_rows(matches)) >= fails_from:
            n, m = rules.counts(matches, matches.shape[1] * matches.dtype.itemsize * 8)
            column = np.searchsorted(self.decisions.writers, rules.writers)
            bits[rules.targets] &= pack(m >= self.decisions.needed[n][:, column])

    def margins(self, matches: Words, count: int) -> FloatArray | None:  # noqa: ARG002  # (K, words) -> (batch,)
        """Returns the margins of states with these matches."""
        return None


class LimitEngine(RuleEngine):
    """Steps states by the limit's mean and a rounding."""

    name = "limit"

    def __init__(self, program: Program, examples: int, rounding: Rounding, large: int = LARGE) -> None:
        super().__init__(program, large)
        self.examples, self.rounding = examples, rounding

    def _follow(self, states: BoolArray) -> Batch:
        if self.rounding != "sign":
            return super()._follow(states)
        from bitwright.engines.table.batch import SignBatch

        return SignBatch(self, states[0])

    def one_step(self, states: BoolArray) -> tuple[BoolArray, float]:
        """Returns the successor of a single state, and the margin of the step."""
        batch = PackedBatch(self, states)
        batch.step()
        return batch.states(), float(self.margins(batch.last_matches, 1)[0])

    @cached_property
    def least_means(self) -> FloatArray:  # by n
        """A lower bound of a step's margin under `sign`, by n; -inf where the step may differ from the rules.

        The means closest to 0 are those with 0 or 1 matching writers. n <= 1 has no margin.
        """
        n = np.arange(self.decisions.n_max + 1)
        means = [np.abs(self._means(n, np.full((len(n), 1), m), self.decisions.writers)) for m in (0, 1)]
        bounds = np.where(n > 1, np.minimum(*means).min(axis=1, initial=np.inf), np.inf)
        bounds[self.decisions.fails_from or len(n) :] = -np.inf
        return bounds

    def means(self, matches: Words, count: int) -> FloatArray:  # (K, words) -> (batch, k)
        """Returns mu of every bit; bits that nothing writes have mean 0."""
        n, m = self.rules.counts(matches, count)
        full = np.zeros((count, self.program.bits))
        full[:, self.rules.targets] = self._means(n, m, self.rules.writers)
        return full

    def _means(self, n: IntArray, m: IntArray, writers: IntArray) -> FloatArray:  # (batch,), (batch, bits), (bits,)
        assert self.examples is not None
        return weights(n, self.examples).mean(writers, m)

    def margins(self, matches: Words, count: int) -> FloatArray:
        """Returns margins as in `round_outputs`: the distance from 1/2 (calibrated) or 0 (sign), where there is one."""
        if self.rounding == "calibrated":  # zhat is an integer, so it is never closer than this to 1/2
            matched = np.bitwise_or.reduce(matches, axis=0)[np.newaxis]
            return np.where(unpack(matched, count)[:, 0], 0.5, np.inf)
        n, m = self.rules.counts(matches, count)
        return np.where(n > 1, np.abs(self._means(n, m, self.rules.writers)).min(axis=1, initial=np.inf), np.inf)


def one_by_one(program: Program, states: BoolArray) -> bool:
    """Whether runs from these states are faster one by one.

    A step in words looks at all templates, for up to 64 states at once; one from a table looks at the cells that move.
    The first run shows how many cells move.
    """
    few, words = len(states), program.templates * -(-len(states) // 64)
    if few < 2 or words < 64 * few or not (program.templates >= LARGE or loops_loaded()):
        return False
    from bitwright.engines.table.batch import TableBatch

    first = TableBatch(pack_rules(program), states[0])
    first.leap(_LOOK)
    return 2 * few * first.moving <= words


def loops_loaded() -> bool:
    """Whether this process has the compiled loops."""
    return "bitwright.engines.table.batch" in sys.modules


def loops_pay() -> bool:
    """Whether the compiled loops are loaded, or this process makes enough single runs for loading them to pay.

    Loading takes half a second. Every call counts as one more run."""
    return next(_runs) >= _MANY or loops_loaded()


class PackedBatch(Batch):
    """States in packed form: rows 0..k-1 hold the bits, rows k..2k-1 their complements."""

    last_matches: Words  # (K, words) which templates matched in the last step

    def __init__(self, engine: RuleEngine, states: BoolArray) -> None:
        self._engine = engine
        self.load(states)

    def load(self, states: BoolArray) -> None:
        self._count = len(states)
        self._now = with_complements(pack(states))
        self._before = self._now.copy()

    def match(self) -> Words:  # (K, words)
        """Which templates the states match as they are now."""
        k = self._engine.program.bits
        np.invert(self._now[:k], out=self._now[k:])
        return self._engine.rules.match(self._now)

    def step(self) -> None:
        self.last_matches = self.match()
        self._now, self._before = self._before, self._now
        self._engine.decide(self.last_matches, self._now[: self._engine.program.bits])

    def keep(self, rows: BoolArray) -> None:
        self.load(self.states()[rows])

    def states(self) -> BoolArray:
        return unpack(self._now[: self._engine.program.bits], self._count)

    def bit(self, bit: int) -> BoolArray:
        return unpack(self._now[bit : bit + 1], self._count)[:, 0]

    def unchanged(self) -> BoolArray:
        k = self._engine.program.bits
        differing = np.bitwise_or.reduce(self._now[:k] ^ self._before[:k], axis=0)
        return ~unpack(differing[np.newaxis], self._count)[:, 0]

    def margin(self) -> FloatArray | None:
        return self._engine.margins(self.last_matches, self._count)
