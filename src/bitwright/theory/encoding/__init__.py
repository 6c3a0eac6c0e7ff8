"""Computes which examples a state matches, Eq. (5), and what these examples write, Eq. (6).

A machine word contains a bit of up to 64 states; row i of an array of words is bit i of all states. The match of a
template is the AND of a few rows, and the next value of a bit is the OR of the matches that write it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray
from bitwright.rules import Program
from bitwright.rules.layout import IntArray


@dataclass(frozen=True)
class Literals:
    """Template t reads the bits bit[start[t]:start[t + 1]] and matches if each equals its entry in `on`."""

    start: IntArray  # (K + 1,)
    bit: IntArray  # (literals,)
    on: BoolArray  # (literals,)

    @property
    def template(self) -> IntArray:  # (literals,)
        """The template of each literal."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))


def literals_of(program: Program) -> Literals:
    """Returns the literals of every template, in order."""
    sizes = np.diff(program.block_start)[program.template_block]  # (K,)
    start = np.concatenate(([0], np.cumsum(sizes)))
    place = np.arange(start[-1]) - np.repeat(start[:-1], sizes)
    bit = program.block_bits[np.repeat(program.block_start[program.template_block], sizes) + place]
    on = (np.repeat(program.template_config, sizes) >> place & 1) == 1
    return Literals(start, bit, on)


Words = NDArray[np.uint8] | NDArray[np.uint64]
_MAX_LAYERS = 16  # with more writers of one bit, a single reduction is faster than a pass for each


def pack(states: BoolArray) -> Words:  # (batch, k) -> (k, words)
    """Packs states into words: state s is bit s of each row; one byte for up to 8 states, otherwise 64-bit words."""
    return np.packbits(states.T, axis=1, bitorder="little") if len(states) <= 8 else pack_words(states)


def pack_words(states: BoolArray) -> NDArray[np.uint64]:  # (batch, k) -> (k, words)
    """Packs states into 64-bit words, at least one for each row; positions beyond the last state are 0."""
    octets = np.packbits(states.T, axis=1, bitorder="little")
    padded = np.zeros((len(octets), 8 * max(1, -(-len(states) // 64))), dtype=np.uint8)
    padded[:, : octets.shape[1]] = octets
    return padded.view(np.uint64)


def unpack(words: Words, count: int) -> BoolArray:  # (k, words) -> (count, k)
    """Inverts `pack`."""
    octets = np.ascontiguousarray(words).view(np.uint8)
    return np.unpackbits(octets, axis=1, bitorder="little", count=count).T.astype(bool)


def with_complements(bits: Words) -> Words:  # (k, words) -> (2k, words)
    """Returns the rows that templates are matched against: the bits, followed by their complements."""
    rows: Words = np.empty((2 * len(bits), bits.shape[1]), dtype=bits.dtype)
    rows[: len(bits)] = bits
    np.invert(bits, out=rows[len(bits) :])
    return rows


@dataclass(frozen=True)
class _Group:
    """Templates of blocks of one size: rows first..last of the matches, and the rows that each match ANDs."""

    first: int
    last: int
    rows: IntArray  # (size, count)


class PackedRules:
    """A program's templates, prepared for matching and writing packed words."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._groups, self.row_of = _groups(program)  # row_of: (K,) each template's row among the matches
        order = np.argsort(program.write_bits, kind="stable")
        written = program.write_bits[order]
        self.writer = np.repeat(self.row_of, np.diff(program.write_start))[order]  # (nnz,) match rows, by written bit
        self.targets, self.firsts = np.unique(
            written, return_index=True
        )  # written bits, and the index of each bit's first writer
        layer = np.arange(len(order)) - np.repeat(self.firsts, np.diff(np.append(self.firsts, len(order))))
        deepest = int(layer.max()) + 1 if len(layer) else 0
        chosen = [layer == depth for depth in range(deepest)] if deepest <= _MAX_LAYERS else []
        self._layers = [(written[rows], self.writer[rows]) for rows in chosen]  # first writers, second ones, ...

    def match(self, rows: Words) -> Words:  # (2k, words) -> (K, words)
        """Returns which templates match, in the order of match rows: the AND of their literals (Eq. 5)."""
        matches = np.empty((self.program.templates, rows.shape[1]), dtype=rows.dtype)
        for group in self._groups:
            found = matches[group.first : group.last]
            rows.take(group.rows[0], axis=0, out=found, mode="clip")
            for literal in group.rows[1:]:
                found &= rows.take(literal, axis=0, mode="clip")
        return matches

    def write(self, matches: Words, bits: Words) -> None:  # (K, words) -> (k, words)
        """Sets every bit to the OR over its writers (Eq. 6)."""
        bits[...] = 0
        if self._layers:
            for targets, writers in self._layers:
                bits[targets] |= matches.take(writers, axis=0, mode="clip")
        elif len(self.targets):
            chosen = matches.take(self.writer, axis=0, mode="clip")
            bits[self.targets] = np.bitwise_or.reduceat(chosen, self.firsts, axis=0)

    def counts(self, matches: Words, count: int) -> tuple[IntArray, IntArray]:  # (batch,), (batch, targets)
        """Returns n, the number of matching templates, and m, how many of them write each written bit."""
        matched = unpack(matches, count)  # (batch, K) in the order of the match rows
        if not len(self.targets):
            return np.count_nonzero(matched, axis=1), np.zeros((count, 0), dtype=np.int64)
        written = np.add.reduceat(matched[:, self.writer], self.firsts, axis=1, dtype=np.int64)
        return np.count_nonzero(matched, axis=1), written

    def matched(self, states: BoolArray) -> BoolArray:  # (batch, k) -> (batch, K)
        """Returns which templates each state matches, in the program's order."""
        matches = self.match(with_complements(pack(states)))
        return unpack(matches.take(self.row_of, axis=0), len(states))

    @cached_property
    def writers(self) -> IntArray:  # (targets,)
        """The number of templates that write each written bit."""
        return self.program.writers[self.targets]


def _groups(program: Program) -> tuple[list[_Group], IntArray]:
    """Groups the templates by block size; also returns each template's row among the matches."""
    literals = literals_of(program)
    sizes = np.diff(literals.start)  # (K,)
    groups: list[_Group] = []
    row_of = np.empty(program.templates, dtype=np.int64)
    first = 0
    for size in np.unique(sizes).tolist():
        members = np.flatnonzero(sizes == size)
        places = literals.start[members] + np.arange(size)[:, np.newaxis]
        last = first + len(members)
        groups.append(_Group(first, last, literals.bit[places] + ~literals.on[places] * program.bits))
        row_of[members] = np.arange(first, last)
        first = last
    return groups, row_of


def count_rows(rows: Words) -> list[Words]:  # (rows, words) -> planes of shape (words,)
    """Returns the column sums of `rows` as binary planes: plane j holds bit j of each state's sum."""
    planes: list[Words] = []
    level: NDArray[Any] = rows
    while len(level):
        carries: list[NDArray[Any]] = []
        while len(level) > 1:
            third = len(level) // 3
            if third:
                a, b, c = level[:third], level[third : 2 * third], level[2 * third : 3 * third]
                half = a ^ b
                carries.append((a & b) | (half & c))
                level = np.concatenate((half ^ c, level[3 * third :]))
            else:  # two rows left: a half adder
                carries.append(level[:1] & level[1:])
                level = level[:1] ^ level[1:]
        planes.append(level[0])
        level = np.concatenate(carries) if carries else level[:0]
    return planes


def largest(planes: list[Words]) -> int:
    """Returns the largest count in the planes."""
    value, candidates = 0, None
    for place in reversed(range(len(planes))):
        here = planes[place] if candidates is None else planes[place] & candidates
        if here.any():
            value |= 1 << place
            candidates = here
    return value
