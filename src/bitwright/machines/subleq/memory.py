"""Builds the memory of machine V, two trees around its words, and computes its timing from its shape.

The address tree finds a word, and the reading tree carries its value to the port. A token moves down the address tree,
one level per step, and follows the digit of the address that its level decides; address and data move beside it, gated
to stay on its path. There are three kinds of tokens: read, write and fetch; a fetch token continues through the two
following words. Tokens one step apart never meet.

The address tree has D levels. The reading tree has D levels and some pad levels, which delay the answer until the
checks and the counter are done. An answer takes T1 steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bitwright.machines.sbn.parts import Wires
from bitwright.machines.subleq.images import Shape
from bitwright.rules import Bits, Builder, Ref, grid, span
from bitwright.rules.layout import IntArray


def halvings(n: int) -> int:
    """Returns ceil(log2 n)."""
    return (n - 1).bit_length()


Terms = list[list[int]]  # an OR of ANDs of bits, by their numbers from 1


def terms_above(bound: int, width: int) -> Terms:
    """Returns terms for x > bound: x has a bit that `bound` lacks, and all higher bits of `bound`."""
    ones = [i for i in range(1, width + 1) if bound >> (i - 1) & 1]
    return [[i, *(h for h in ones if h > i)] for i in range(1, width + 1) if i not in ones]


def check_levels(terms: Terms) -> tuple[int, int]:
    """Returns the levels of AND blocks and of OR nodes in a check, at least one in total."""
    ands, ors = halvings(max(len(term) for term in terms)), halvings(len(terms))
    return ands, ors if ands or ors else 1


@dataclass(frozen=True)
class Timing:
    """The timing of a shape; its letters are explained in docs/explanation/machines.md."""

    shape: Shape

    @cached_property
    def digits(self) -> tuple[int, ...]:
        """s_d: how many address bits each level of the tree decides, from the top; two, and one first if A is odd."""
        bits = self.shape.address_bits
        return (1,) * (bits % 2) + (2,) * (bits // 2)

    @property
    def depth(self) -> int:
        """D: levels of the address tree."""
        return len(self.digits)

    def below(self, level: int) -> int:
        """rho_d: address bits still undecided at a level."""
        return self.shape.address_bits - sum(self.digits[:level])

    @cached_property
    def counter_terms(self) -> Terms:
        """The condition on the program counter under which no further instruction begins."""
        if self.shape.dialect.halt == "top":
            return [[self.shape.width]]
        return terms_above(self.shape.words - 3, self.shape.width)

    @cached_property
    def operand_terms(self) -> Terms | None:
        """The condition under which an operand is special: beyond the last word, or all ones; None if there is none."""
        if self.shape.dialect.strict:
            return terms_above(self.shape.words - 1, self.shape.width)
        return [list(range(1, self.shape.width + 1))] if self.shape.dialect.io else None

    @property
    def counter_check(self) -> int:
        """Dp: steps from the counter's bits to the verdict."""
        return sum(check_levels(self.counter_terms))

    @property
    def operand_check(self) -> int:
        """Lc: the same for an operand; 0 without such a check."""
        return 0 if self.operand_terms is None else sum(check_levels(self.operand_terms))

    @property
    def prefix(self) -> int:
        """L: levels of the subtractor's carry prefix."""
        return max(1, halvings(self.shape.width))

    @cached_property
    def pad(self) -> int:
        """The smallest number of extra levels with which every signal arrives in time."""
        pad = 0
        while not self._in_time(self.depth + self.depth + pad):
            pad += 1
        return pad

    def _in_time(self, answer: int) -> bool:
        dialect, carried = self.shape.dialect, self.counter_check + 1 + self.shape.width
        limits = [2 * answer + 5 + self.prefix >= carried]  # the counter's + 3 has propagated
        if self.operand_terms is None:
            limits.append(self.counter_check < 2 * answer + 1)
        else:
            limits.append(self.counter_check < answer + 1 + self.operand_check)
        if dialect.strict:
            limits.append(answer + 2 + self.operand_check < 2 * answer + 3 + self.prefix)
        if dialect.io:
            limits += [answer >= self.operand_check + 3, 2 * answer + 4 >= carried]
        return all(limits)

    @property
    def rise(self) -> int:
        """Du: levels of the reading tree."""
        return self.depth + self.pad

    @property
    def answer(self) -> int:
        """T1: steps from a memory request to its answer."""
        return self.depth + self.rise

    @property
    def subtract(self) -> int:
        """tau: when the carry enters the subtractor."""
        return 2 * self.answer + 3

    @property
    def last(self) -> int:
        """When the sequencer ends."""
        return self.subtract + self.prefix + self.shape.dialect.saturate

    @property
    def wait_for_input(self) -> int:
        """rq: the delay of an input request, until the counter is ready."""
        return max(0, self.counter_check + 1 + self.shape.width - (self.answer + 4 + self.operand_check))

    @property
    def steps(self) -> int:
        """Steps per instruction, always the same."""
        return 2 * self.answer + 7 + self.prefix

    @property
    def steps_of_input(self) -> int:
        """Steps of an instruction that reads input, without the steps spent waiting for the host."""
        return self.answer + 6 + self.operand_check + self.wait_for_input

    @property
    def steps_of_output(self) -> int:
        return 2 * self.answer + 6


@dataclass(frozen=True)
class _Level:
    """The nodes of one level, with tokens, their kinds, the remaining address bits, the data, and gates."""

    nodes: int
    token: Bits
    write: Bits
    fetch: Bits
    address: Bits  # (nodes, bits left)
    gate: Bits | None  # (nodes, bits left after this level)
    data: Bits  # (nodes, width)
    data_gate: Bits


class Memory:
    """Declares the bits of memory and connects them; addresses and data enter at the root of the address tree."""

    def __init__(self, b: Builder, timing: Timing) -> None:
        self.b, self.timing = b, timing
        self.words, self.width, self.depth = timing.shape.words, timing.shape.width, timing.depth
        self.levels = [self._level(d) for d in range(self.depth)]
        words, width = self.words, self.width
        self.cell, self.read, self.erase = (b.bits(f"M_{x}", words, width) for x in ("word", "read", "erase"))
        self.store, self.data = b.bits("M_store", words, width), b.bits("M_data", words, width)
        self.second, self.third = b.bits("M_second", words), b.bits("M_third", words)
        self.spans = [sum(timing.digits[max(0, self.depth - level) :]) for level in range(timing.rise + 1)]  # h_l
        risen = range(1, timing.rise)
        self.rising = [b.bits(f"R_rising_{level}", self._risen(level), width, family="R_rising") for level in risen]

    def _level(self, d: int) -> _Level:
        nodes, left, behind = self._count(d), self.timing.below(d), self.timing.below(d + 1)

        def tree(name: str, *shape: int) -> Bits:
            return self.b.bits(f"T_{name}_{d}", *shape, family=f"T_{name}")

        return _Level(
            nodes=nodes,
            token=tree("token", nodes),
            write=tree("write", nodes),
            fetch=tree("fetch", nodes),
            address=tree("address", nodes, left),
            gate=tree("gate", nodes, behind) if behind else None,
            data=tree("data", nodes, self.width),
            data_gate=tree("data_gate", nodes, self.width),
        )

    def _count(self, d: int) -> int:
        """Returns the number of nodes of a level with a word below them."""
        return -(-self.words >> self.timing.below(d))

    def _risen(self, level: int) -> int:
        return -(-self.words >> self.spans[level])

    # Bits that other units may set.

    def root_address(self, bit: int) -> Wires:
        """Returns the bit of the address at the root; empty for bits beyond the address width."""
        return [self.levels[0].address[1, bit]] if bit <= self.timing.shape.address_bits else []

    def root_data(self, bit: int | IntArray) -> Ref:
        return self.levels[0].data[1, bit]

    def launch(self, kind: str, d: int = 0, node: IntArray | int = 1) -> Wires:
        """Returns the launch set F, which starts a token at nodes of level d (from 1), or at words if d = D."""
        if d < self.depth:
            level = self.levels[d]
            outs = [level.token[node]]
            outs += [level.gate[node, :]] if level.gate else []
            outs += [level.write[node], level.data_gate[node, :]] if kind == "write" else []
            return [*outs, *([level.fetch[node]] if kind == "fetch" else [])]
        if kind == "write":
            return [self.erase[node, :], self.store[node, :]]
        return [self.read[node, :], *([self.second[np.asarray(node) % self.words + 1]] if kind == "fetch" else [])]

    # Wires.

    def connect(self, port: Bits) -> None:
        for d in range(self.depth):
            self._descend(d)
        self._cells(port)
        self._rise(port)

    def _descend(self, d: int) -> None:
        b, level, digit = self.b, self.levels[d], self.timing.digits[d]
        left, behind = self.timing.below(d), self.timing.below(d + 1)
        all_nodes = span(1, level.nodes)
        decided = [level.address[all_nodes, bit] for bit in range(behind + 1, left + 1)]
        b.block(level.token[all_nodes], *decided, level.write[all_nodes], level.fetch[all_nodes])
        below = self._count(d + 1)  # at the last level these are the words
        for value in range(1 << digit):
            node = span(1, level.nodes)
            child = ((node - 1) << digit) + value + 1
            node, child = node[child <= below], child[child <= below]
            if not len(node):
                continue
            on_path = [level.token[node] == 1]
            on_path += [level.address[node, behind + 1 + i] == (value >> i & 1) for i in range(digit)]
            b.when(*on_path).write(*self.launch("read", d + 1, child))
            b.when(*on_path, level.write[node] == 1).write(*self.launch("write", d + 1, child))
            b.when(*on_path, level.fetch[node] == 1).write(*self.launch("fetch", d + 1, child))

        following = self.levels[d + 1] if d + 1 < self.depth else None
        bits = span(1, self.width)
        for node, children in self._families(d, below):
            if level.gate and following:
                at, i = (part.ravel() for part in np.meshgrid(np.arange(len(node)), span(1, behind), indexing="ij"))
                b.block(level.gate[node[at], i], level.address[node[at], i])
                copies = [following.address[one[at], i] for one in children]
                b.when(level.gate[node[at], i] == 1, level.address[node[at], i] == 1).write(*copies)
            at, j = (part.ravel() for part in np.meshgrid(np.arange(len(node)), bits, indexing="ij"))
            b.block(level.data_gate[node[at], j], level.data[node[at], j])
            target = following.data if following else self.data
            both = level.data_gate[node[at], j] == 1, level.data[node[at], j] == 1
            b.when(*both).write(*(target[one[at], j] for one in children))

    def _families(self, d: int, below: int) -> list[tuple[IntArray, list[IntArray]]]:
        """Groups the nodes of a level by their number of children (only the last can lack some)."""
        digit, node = self.timing.digits[d], span(1, self.levels[d].nodes)
        children = np.minimum(1 << digit, below - ((node - 1) << digit))
        found = []
        for count in np.unique(children).tolist():
            mine = node[children == count]
            found.append((mine, [((mine - 1) << digit) + value + 1 for value in range(count)]))
        return found

    def _cells(self, port: Bits) -> None:
        b = self.b
        k = span(1, self.words)
        b.block(self.second[k])
        b.block(self.third[k])
        b.cell(self.second[k], self.third[k])
        b.when(self.second[k] == 1).write(self.read[k, :], self.third[k % self.words + 1])
        b.when(self.third[k] == 1).write(self.read[k, :])
        k, j = grid((1, self.words), (1, self.width))
        b.block(self.cell[k, j], self.read[k, j], self.erase[k, j])
        b.when(self.cell[k, j] == 1).write(self.cell[k, j])
        b.when(self.cell[k, j] == 1, self.read[k, j] == 1).write(self.cell[k, j], self._risen_bit(1, k, j, port))
        b.block(self.store[k, j], self.data[k, j])
        b.cell(self.cell[k, j], self.store[k, j])
        b.when(self.store[k, j] == 1, self.data[k, j] == 1).write(self.cell[k, j])

    def _rise(self, port: Bits) -> None:
        for level, bits in enumerate(self.rising, start=1):
            q, j = grid((1, self._risen(level)), (1, self.width))
            self.b.block(bits[q, j])
            first = ((q - 1) << self.spans[level]) + 1
            self.b.when(bits[q, j] == 1).write(self._risen_bit(level + 1, first, j, port))

    def _risen_bit(self, level: int, k: IntArray, j: IntArray, port: Bits) -> Ref:
        """Returns u(l, k, j), bit j of word k in transit at a level; the last level is the port."""
        if level == self.timing.rise:
            return port[j]
        return self.rising[level - 1][((k - 1) >> self.spans[level]) + 1, j]
