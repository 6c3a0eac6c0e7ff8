"""A node program as an ordinary program: every bit once, plus a bit for each target with a path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from bitwright.rules.algorithm import FIXED_POINT, Halt
from bitwright.rules.program import Program

Place = Literal["node", "port", "whole"]


@dataclass(frozen=True)
class NodeWord:
    """A number of every node, of every port, or of the whole graph; lowest bit first."""

    name: str
    place: Place
    bits: tuple[int, ...]  # of the schema
    signed: bool = False
    unique: bool = False  # whether the values of all nodes must differ
    also: tuple[int, ...] = ()  # bits, or targets with a path, that get the same value, if it has one bit
    where: int | None = None  # the bit that marks where an output has a value
    way: Literal["", "not", "place"] = ""  # whether the bits are complemented, or one-hot
    positive: bool = False  # whether 0 is excluded
    one: bool = False  # whether it is 1 at exactly one node

    @property
    def width(self) -> int:
        """The number of bits."""
        return len(self.bits)

    @property
    def range(self) -> tuple[int, int]:
        """The smallest and the largest value."""
        if self.way == "place":
            return 1, self.width
        if self.signed:
            return -(1 << self.width - 1), (1 << self.width - 1) - 1
        return int(self.positive), (1 << self.width) - 1


@dataclass(frozen=True, eq=False)
class Schema:
    """A node program for graphs of one size.

    The kinds of its program's cells are the kinds on every graph of its size: a target with a path is one column,
    however many bits it reaches on a graph. Nodes without neighbours, or ports without a next one, add no kind.
    """

    program: Program  # the declared bits, then the targets with a path
    places: tuple[Place, ...]  # place of each declared name
    targets: tuple[tuple[str, int], ...]  # for each bit after the declared ones: its path, and the bit that it reaches
    chains: dict[int, int]  # the bit of a port, and the bit of a node that comes after the last port
    inputs: tuple[NodeWord, ...]
    outputs: tuple[NodeWord, ...]
    start: tuple[int, ...]
    steps: int | None
    halt: Halt
    requires: frozenset[str]  # a subset of `simple`, `connected`, `directed`
    degree: int | None

    @property
    def bits(self) -> int:
        """The number of declared bits."""
        return self.program.bits - len(self.targets)

    def place_of(self, bit: int) -> Place:
        """The place of a declared bit."""
        fields = self.program.layout.fields
        return self.places[fields.index(self.program.layout.field_of(bit))]

    def name_of(self, bit: int) -> str:
        """A declared bit, or a target with its path: `level[3]`, `far.all.g[2]`."""
        path, reached = self.targets[bit - self.bits] if bit >= self.bits else ("", bit)
        return ".".join(filter(None, (path, self.program.layout.name_of(reached))))

    def text_lines(self) -> Iterator[str]:
        """Its canonical rule text; parsing it gives an equivalent node program on graphs of this size."""
        program, names = self.program, self.program.layout.names
        for declared, place in zip(program.layout.fields, self.places, strict=False):
            yield f"{'' if place == 'node' else f'{place} '}bits {declared}"
        for block in range(program.blocks):
            members = program.block_members(block).tolist()
            if members[0] < self.bits:
                yield "block " + " ".join(names[bit] for bit in members)
        for template in range(program.templates):
            when = program.template_text(template).partition(" write ")[0]
            written = sorted(program.writes(template).tolist(), key=self._target_order)
            yield f"{when} write {' '.join(map(self.name_of, written)) or 'nothing'}"
        own = set(names[: self.bits])
        yield from (line for line in program.cell_lines() if own.issuperset(line.split()[1:]))
        for link, end in sorted(self.chains.items()):
            yield f"chain {names[link]} -> {names[end]}"
        for word in self.inputs:
            yield self._line("input", word)
        for word in self.outputs:
            yield self._line("output", word)
        if self.start:
            yield f"start {' '.join(names[bit] for bit in self.start)}"
        graphs = [*sorted(self.requires), *([] if self.degree is None else [f"degree {self.degree}"])]
        if graphs:
            yield f"graph {', '.join(graphs)}"
        if self.steps is not None:
            yield f"steps {self.steps}"
        if self.halt is not None:
            yield "halt at fixed point" if self.halt == FIXED_POINT else f"halt when {names[self.halt]}"

    def _target_order(self, bit: int) -> tuple[int, str]:
        """Sorts targets by the bit that they reach, independent of their first use."""
        path, reached = self.targets[bit - self.bits] if bit >= self.bits else ("", bit)
        return reached, path

    def _line(self, kind: str, word: NodeWord) -> str:
        """`input unique id = not r[2] r[1]`: an input or output, its highest bit first."""
        words = {"signed": word.signed, "unique": word.unique, "positive": word.positive, "one": word.one}
        head = [kind, *(name for name, given in words.items() if given), word.name, "=", *([word.way] * bool(word.way))]
        line = " ".join((*head, *map(self.name_of, reversed(word.bits))))
        if word.also:
            line += ", " + " ".join(map(self.name_of, sorted(word.also, key=self._target_order)))
        return line if word.where is None else f"{line} if {self.name_of(word.where)}"
