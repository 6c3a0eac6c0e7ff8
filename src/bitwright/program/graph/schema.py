"""A node program as an ordinary program: every bit once, and a bit for each target with a path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bitwright.program.algorithm import Halt
from bitwright.program.program import Program

Place = Literal["node", "port", "whole"]


@dataclass(frozen=True)
class NodeWord:
    """A number that every node has, or every port, or the graph as a whole; its lowest bit first."""

    name: str
    place: Place
    bits: tuple[int, ...]  # of the schema
    signed: bool = False
    unique: bool = False  # whether no two nodes may have the same
    also: tuple[int, ...] = ()  # bits, or targets with a path, that get the same value, if it has one bit
    where: int | None = None  # the bit that says where an output has a value
    way: Literal["", "not", "place"] = ""  # whether the bits are the complement, or one of them is on at its place

    @property
    def width(self) -> int:
        return len(self.bits)

    @property
    def range(self) -> tuple[int, int]:
        """The smallest and the largest value."""
        if self.way == "place":
            return 1, self.width
        return (-(1 << self.width - 1), (1 << self.width - 1) - 1) if self.signed else (0, (1 << self.width) - 1)


@dataclass(frozen=True, eq=False)
class Schema:
    """What a node program says, for graphs of some size.

    The kinds of its program's cells are those of every graph: a target with a path is one column, however many bits
    it reaches on a graph. That some nodes have no neighbour, or some port no next one, makes no further kind.
    """

    program: Program  # the declared bits, then the targets with a path
    places: tuple[Place, ...]  # of each declared name
    targets: tuple[tuple[str, int], ...]  # of each bit behind the declared ones: its path, and the bit that it reaches
    chains: dict[int, int]  # the bit of a port, and the bit of a node that comes after the last port
    inputs: tuple[NodeWord, ...]
    outputs: tuple[NodeWord, ...]
    start: tuple[int, ...]
    steps: int | None
    halt: Halt
    requires: frozenset[str]  # of `simple`, `connected`, `directed`
    degree: int | None

    @property
    def bits(self) -> int:
        """How many are declared."""
        return self.program.bits - len(self.targets)

    def place_of(self, bit: int) -> Place:
        """Where a declared bit is."""
        fields = self.program.layout.fields
        return self.places[fields.index(self.program.layout.field_of(bit))]
