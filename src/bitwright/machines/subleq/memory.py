"""The memory of machine V: a tree that finds a word, the words, and a tree that carries what is read to the port.

A token runs down the address tree, one level a step, and takes the digit of the address that its level decides; address
and data run along beside it, gated so that they stay on its path. Three kinds of tokens: read, write and fetch; a
fetch token walks on through the two following words. Tokens one step apart never meet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bitwright.machines.sbn.parts import Wires
from bitwright.machines.subleq.timing import Timing
from bitwright.program import Bits, Builder, Ref, grid, span
from bitwright.program.layout import IntArray


@dataclass(frozen=True)
class _Level:
    """The nodes of one level: token, its kind, the address bits left, the data, and gates for both."""

    nodes: int
    token: Bits
    write: Bits
    fetch: Bits
    address: Bits  # (nodes, bits left)
    gate: Bits | None  # (nodes, bits left behind this level)
    data: Bits  # (nodes, width)
    data_gate: Bits


class Memory:
    """Declares everything, then wires it. `root` takes addresses and data, `ports` are set by what is read."""

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
        """Nodes of a level that have a word below them."""
        return -(-self.words >> self.timing.below(d))

    def _risen(self, level: int) -> int:
        return -(-self.words >> self.spans[level])

    # What others may set.

    def root_address(self, bit: int) -> Wires:
        """The bit of the address at the root; none for bits that no address has."""
        return [self.levels[0].address[1, bit]] if bit <= self.timing.shape.address_bits else []

    def root_data(self, bit: int | IntArray) -> Ref:
        return self.levels[0].data[1, bit]

    def launch(self, kind: str, d: int = 0, node: IntArray | int = 1) -> Wires:
        """The launch set F: starts a token of a kind at nodes of level d (numbered from 1), or at words, d = D."""
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
        """The nodes of a level by how many children they have (only the last can lack some), and those children."""
        digit, node = self.timing.digits[d], span(1, self.levels[d].nodes)
        held = np.minimum(1 << digit, below - ((node - 1) << digit))
        found = []
        for count in np.unique(held).tolist():
            mine = node[held == count]
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
        """u(l, k, j): where bit j of word k is on its way at a level; the port at the last one."""
        if level == self.timing.rise:
            return port[j]
        return self.rising[level - 1][((k - 1) >> self.spans[level]) + 1, j]
