"""The `templates` engine: the rules themselves, Eq. (5)-(6), on up to 64 states at once in every machine word.

Bit i of all states is row i of an array of words; a template's match is then the AND of a few rows, and the next
value of a bit the OR of the matches that write it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bitwright.bits import BoolArray
from bitwright.execution import events
from bitwright.execution.changes import ChangeBatch
from bitwright.execution.engine import Batch
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.rounding import Rounding

Words = NDArray[np.uint8] | NDArray[np.uint64]

_CACHE = 1 << 20  # bytes that a chunk of states may take, so that it stays in a core's own cache
_MAX_LAYERS = 16  # past this many writers of one bit, a single reduction is faster than a pass for each


@dataclass(frozen=True)
class _Group:
    """Templates of blocks of one size: rows first..last of the matches, and the literals of each (size, count)."""

    first: int
    last: int
    literals: IntArray


@dataclass(frozen=True)
class Plan:
    """Which rows to AND for the matches, and which matches to OR for the bits."""

    groups: list[_Group]
    row_of: IntArray  # (K,) each template's row among the matches
    writer: IntArray  # (nnz,) match rows, by the bit they write
    targets: IntArray  # the bits that are written at all
    firsts: IntArray  # where the writers of each target begin
    layers: list[tuple[IntArray, IntArray]]  # targets and their first writers, their second ones, ...


class TemplatesEngine:
    """Steps states by matching templates."""

    name = "templates"
    rounding: Rounding | None = None

    def __init__(self, program: Program) -> None:
        self.program = program

    @cached_property
    def plan(self) -> Plan:
        """What stepping in packed words takes; long runs of large programs go without."""
        return _plan(self.program)

    @cached_property
    def tables(self) -> events.Tables:
        """What following changes takes."""
        return events.Tables(self.program)

    @property
    def chunk(self) -> int:
        """As many states as fit the cache, but enough of them to fill the words."""
        rows = 4 * self.program.bits + 2 * self.program.templates
        return max(1024, 64 * (_CACHE // (8 * rows)))

    def begin(self, states: BoolArray) -> Batch:
        large = self.program.templates >= events.WORTHWHILE
        return self.begin_long(states) if large and len(states) == 1 else TemplatesBatch(self, states)

    def begin_long(self, states: BoolArray) -> Batch:
        """For a single run that will take many steps: follows changes, where that is possible."""
        if not events.AVAILABLE:
            return TemplatesBatch(self, states)
        if self.tables.restless:
            return ChangeBatch(self.program, states)
        return events.EventBatch(self.program, states, tables=self.tables)

    def match(self, literals: Words) -> Words:  # (2k, words) -> (K, words)
        """Which templates match: the AND of their literals (Eq. 5)."""
        matches = np.empty((self.program.templates, literals.shape[1]), dtype=literals.dtype)
        for group in self.plan.groups:
            rows = matches[group.first : group.last]
            literals.take(group.literals[0], axis=0, out=rows, mode="clip")
            for literal in group.literals[1:]:
                rows &= literals.take(literal, axis=0, mode="clip")
        return matches

    def match_in_order(self, literals: Words) -> Words:  # (2k, words) -> (K, words)
        """The same, with rows in the program's order of templates."""
        return self.match(literals).take(self.plan.row_of, axis=0)

    def matched(self, states: BoolArray) -> BoolArray:  # (batch, k) -> (batch, K)
        """Which templates each state matches, in the program's order of templates."""
        bits = pack(states)
        literals: Words = np.empty((2 * len(bits), bits.shape[1]), dtype=bits.dtype)
        literals[: len(bits)], literals[len(bits) :] = bits, ~bits
        return unpack(self.match_in_order(literals), len(states))

    def write(self, matches: Words, bits: Words) -> None:  # (K, words) -> (k, words)
        """What the matches set: for every bit the OR over its writers (Eq. 6)."""
        bits[...] = 0
        plan = self.plan
        if plan.layers:
            for targets, writers in plan.layers:
                bits[targets] |= matches.take(writers, axis=0, mode="clip")
        elif len(plan.targets):
            chosen = matches.take(plan.writer, axis=0, mode="clip")
            bits[plan.targets] = np.bitwise_or.reduceat(chosen, plan.firsts, axis=0)


class TemplatesBatch:
    """States in packed form: rows 0..k-1 hold the bits, rows k..2k-1 their complements."""

    def __init__(self, engine: TemplatesEngine, states: BoolArray) -> None:
        self._engine, self._count = engine, len(states)
        packed = pack(states)
        self._now = np.empty((2 * len(packed), packed.shape[1]), dtype=packed.dtype)
        self._now[: len(packed)] = packed
        self._before = self._now.copy()

    def step(self) -> None:
        matches = self.match()
        self._now, self._before = self._before, self._now
        self._engine.write(matches, self._now[: self._engine.program.bits])

    def leap(self, most: int, stops: tuple[int, ...]) -> int:  # noqa: ARG002
        self.step()
        return 1

    def match(self) -> Words:  # (K, words)
        """Which templates the states match as they are now."""
        k = self._engine.program.bits
        np.invert(self._now[:k], out=self._now[k:])
        return self._engine.match(self._now)

    def keep(self, rows: BoolArray) -> None:
        self.__init__(self._engine, self.states()[rows])  # type: ignore[misc]

    def states(self) -> BoolArray:
        return unpack(self._now[: self._engine.program.bits], self._count)

    def bit(self, bit: int) -> BoolArray:
        return unpack(self._now[bit : bit + 1], self._count)[:, 0]

    def unchanged(self) -> BoolArray:
        k = self._engine.program.bits
        differing = np.bitwise_or.reduce(self._now[:k] ^ self._before[:k], axis=0)
        return ~unpack(differing[np.newaxis], self._count)[:, 0]

    def margin(self) -> FloatArray | None:
        return None


def pack(states: BoolArray) -> Words:  # (batch, k) -> (k, words)
    """States to words: state s is bit s of its row; one byte a row for up to 8 states, else 64-bit words."""
    octets = np.packbits(states.T, axis=1, bitorder="little")
    if len(states) <= 8:
        return octets
    padded = np.zeros((octets.shape[0], -(-octets.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : octets.shape[1]] = octets
    return padded.view(np.uint64)


def unpack(words: Words, count: int) -> BoolArray:  # (k, words) -> (count, k)
    """The inverse of `pack`."""
    octets = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(octets, axis=1, bitorder="little", count=count).T.astype(bool)


def _plan(program: Program) -> Plan:
    groups, row_of = _literals(program)
    order = np.argsort(program.write_bits, kind="stable")
    written = program.write_bits[order]
    writer = np.repeat(row_of, np.diff(program.write_start))[order]
    targets, firsts = np.unique(written, return_index=True)
    layer = np.arange(len(order)) - np.repeat(firsts, np.diff(np.append(firsts, len(order))))
    deepest = int(layer.max()) + 1 if len(layer) else 0
    chosen = [layer == depth for depth in range(deepest)] if deepest <= _MAX_LAYERS else []
    return Plan(groups, row_of, writer, targets, firsts, [(written[rows], writer[rows]) for rows in chosen])


def _literals(program: Program) -> tuple[list[_Group], IntArray]:
    """For every template the rows it ANDs, grouped by block size; and each template's row among the matches."""
    sizes = np.diff(program.block_start)[program.template_block]  # (K,)
    groups: list[_Group] = []
    row_of = np.empty(program.templates, dtype=np.int64)
    first = 0
    for size in np.unique(sizes).tolist():
        members = np.flatnonzero(sizes == size)
        places = np.arange(size)[:, np.newaxis]
        bits = program.block_bits[program.block_start[program.template_block[members]] + places]
        off = 1 - (program.template_config[members] >> places & 1)
        last = first + len(members)
        groups.append(_Group(first, last, bits + off * program.bits))
        row_of[members] = np.arange(first, last)
        first = last
    return groups, row_of
