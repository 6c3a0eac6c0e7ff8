"""Selects what the page of a graph shows: the values that colour nodes and emphasize edges.

The colours remain distinct for colour-blind readers and in greyscale print.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.errors import InputError, counted, printable
from bitwright.pages.layout import GraphLayout, edge_bends, graph_layout, on_grid
from bitwright.rules import GraphAlgorithm
from bitwright.rules.graph.schema import NodeWord, Schema, Topology
from bitwright.rules.graph.wiring import GraphWiring
from bitwright.rules.trace import Trace
from bitwright.runs.run import Run
from bitwright.theory.closed_form import FloatArray

MAX_NODES, MAX_EDGES = 5_000, 100_000  # limits for graphs
MAX_CELLS, MAX_CELL_EDGES = 40_000, 400_000  # limits for grids, whose edges are not drawn
MAX_STEPS, MAX_BYTES = 100_000, 1 << 27
Sort = Literal["number", "flag", "set"]


@dataclass(frozen=True)
class Choice:
    """A value of every node or port: a number, a flag, or a set of flags (bit i for the i-th flag)."""

    name: str
    group: Literal["outputs", "bits", "some port"]
    sort: Sort
    place: Literal["node", "port"]
    bits: tuple[int, ...]  # of the schema
    inverted: tuple[bool, ...]
    signed: bool = False
    where: int | None = None
    way: str = ""  # the encoding of the word
    flags: tuple[str, ...] = ()  # the names in a set
    first: Choice | None = None  # the input to show instead before the first step


class DrawnGraph:
    """A program on a graph, with its layout and the values to show. Raises InputError if the graph is too large."""

    def __init__(self, algorithm: GraphAlgorithm) -> None:
        self.algorithm = algorithm
        self.wiring: GraphWiring = algorithm.wiring
        self.schema: Schema = self.wiring.schema
        self.topology: Topology = self.wiring.topology
        self.names = tuple(printable(str(name)) for name in self.algorithm.names)
        grid = on_grid(self.names)
        what, nodes, edges = ("grid", MAX_CELLS, MAX_CELL_EDGES) if grid else ("graph", MAX_NODES, MAX_EDGES)
        for size, most, parts in (self.topology.nodes, nodes, "nodes"), (self.topology.edges, edges, "edges"):
            if size > most:
                raise InputError(
                    f"a {what} of at most {most:,} {parts} can be drawn, this has {size:,}; take a smaller one"
                )
        self.layout: GraphLayout = graph_layout(self.topology, self.names)

    @property
    def title(self) -> str:
        size = f"{counted(self.topology.nodes, 'node')}, {counted(self.topology.edges, 'edge')}"
        return printable(f"{self.algorithm.name}: {size}")

    @cached_property
    def bends(self) -> FloatArray:  # (edges,)
        return edge_bends(self.topology)

    # Choices.

    @cached_property
    def colours(self) -> list[Choice]:
        """The values that can colour nodes; the first is the default."""
        outputs, bits = self._words("node"), self._bits("node")
        flags = _flags(outputs)
        if 2 <= len(flags) <= 3:
            outputs = [_together(flags), *outputs]
        of_words, of_bits = (
            [replace(choice, group="some port", first=None) for choice in _flags(choices)]
            for choices in (self._words("port"), self._bits("port"))
        )
        if not outputs:  # the result of the program is an output of ports
            return [*of_words, *bits, *of_bits]
        return [*outputs, *bits, *of_words, *of_bits]

    @cached_property
    def marks(self) -> list[Choice]:
        """The flags of ports that can emphasize an edge."""
        return [choice for choice in (*self._words("port"), *self._bits("port")) if choice.sort == "flag"]

    def _words(self, place: Literal["node", "port"]) -> list[Choice]:
        return [self._of_word(word, place) for word in self.schema.outputs if word.place == place]

    def _of_word(self, word: NodeWord, place: Literal["node", "port"]) -> Choice:
        """Returns the choice of an output; an array of one bit is a number, as on a larger graph."""
        flag = word.width == 1 and not self.schema.program.layout.field_of(word.bits[0]).shape
        given, inverted = self._given(word), (word.way == "not",) * word.width
        choice = Choice(word.name, "outputs", "flag" if flag else "number", place, word.bits, inverted, word.signed)
        first = None if given is None else self._of_word(given, place)
        return replace(choice, where=word.where, way=word.way, first=first)

    def _given(self, word: NodeWord) -> NodeWord | None:
        """Returns the input of an output, by name or the only input if both are flags; None if it has the same bits."""
        inputs = [one for one in self.schema.inputs if one.place == word.place]
        alike = [one for one in inputs if one.name == word.name]
        plain_flag = word.width == 1 and not word.way and word.where is None
        if not alike and len(inputs) == 1 and inputs[0].width == 1 and plain_flag:
            alike = inputs
        return alike[0] if alike and word in self.schema.outputs and alike[0].bits != word.bits else None

    def _bits(self, place: Literal["node", "port"]) -> list[Choice]:
        """Returns single bits, except those that an output with the same name shows."""
        shown = {(choice.name, choice.bits, choice.where) for choice in self._words(place)}
        name_of = self.schema.program.layout.name_of
        return [
            Choice(name_of(bit), "bits", "flag", place, (bit,), (False,))
            for bit in range(self.schema.bits)
            if self.wiring.places[bit] == place and (name_of(bit), (bit,), None) not in shown
        ]


class GraphView(DrawnGraph):
    """A recorded run on a graph. Raises InputError if it was not recorded or is too large to draw."""

    def __init__(self, run: Run) -> None:
        algorithm, self.trace = _checked(run)
        super().__init__(algorithm)
        self.run = run

    @cached_property
    def given(self) -> list[tuple[str, list[int]]]:
        """Input flags that no output shows, such as the source of a search, with the nodes that have them."""
        nodes, start = np.arange(self.topology.nodes), self.trace.state(0)
        shown = {word.bits for output in self.schema.outputs for word in (output, self._given(output)) if word}
        flags = [one for one in self.schema.inputs if one.place == "node" and one.width == 1 and one.bits not in shown]
        return [
            (flag.name, np.flatnonzero(start[self.wiring.bits(flag.bits[0], nodes)] != (flag.way == "not")).tolist())
            for flag in flags
        ]

    def values(self, choice: Choice, step: int) -> tuple[FloatArray, BoolArray]:  # (nodes or ports,)
        """Returns the value of each node or port after a step, and whether it has one; rounds above 2^53."""
        if step == 0 and choice.first is not None:
            return self.values(choice.first, 0)
        state = self.trace.state(step)
        at = np.arange(self.wiring.count(choice.place))
        total: FloatArray = np.zeros(len(at))
        for place, (bit, inverted) in enumerate(zip(choice.bits, choice.inverted, strict=True)):
            is_on = (state[self.wiring.bits(bit, at)] ^ inverted).astype(np.float64)
            total += is_on * (place + 1 if choice.way == "place" else 2.0**place)
            if choice.signed and place == len(choice.bits) - 1:
                total -= is_on * 2.0 ** (place + 1)
        has = np.ones(len(at), dtype=bool) if choice.where is None else state[self.wiring.bits(choice.where, at)]
        return total, np.asarray(has)

    def range(self, choice: Choice) -> tuple[float, float] | None:
        """Returns the smallest and largest number in the run; None if no node ever has one."""
        steps = (self.values(choice, step) for step in range(len(self.trace)))
        ends = [(float(values[has].min()), float(values[has].max())) for values, has in steps if has.any()]
        return (min(low for low, _ in ends), max(high for _, high in ends)) if ends else None

    def sets(self, choice: Choice) -> list[int]:
        """Returns the sets of flags that occur in the run."""
        return sorted({int(one) for step in range(len(self.trace)) for one in np.unique(self.values(choice, step)[0])})


def _flags(choices: Sequence[Choice]) -> list[Choice]:
    return [choice for choice in choices if choice.sort == "flag" and choice.where is None]


def _together(flags: Sequence[Choice]) -> Choice:
    names = tuple(choice.name for choice in flags)
    bits, inverted = tuple(c.bits[0] for c in flags), tuple(c.inverted[0] for c in flags)
    starts = [replace(c.first or c, name=c.name, first=None) for c in flags]
    first = _together(starts) if any(c.first for c in flags) else None
    return Choice(", ".join(names), "outputs", "set", "node", bits, inverted, flags=names, first=first)


def _checked(run: Run) -> tuple[GraphAlgorithm, Trace]:
    algorithm, trace = run.algorithm, run.trace
    if not isinstance(algorithm, GraphAlgorithm):
        raise InputError(f"{algorithm.name} does not run on a graph; trace_page shows its run")
    if trace is None:
        raise InputError("this run was not recorded; run it with record=True to see its trace")
    for size, most, what in (trace.steps, MAX_STEPS, "steps"), (trace.packed.nbytes, MAX_BYTES, "bytes of states"):
        if size > most:
            raise InputError(f"at most {most:,} {what} can be drawn, this run has {size:,}; let it run for fewer steps")
    return algorithm, trace


# Nine colours of Matplotlib's viridis (CC0), without the dark end, on which dark lines would not be visible.
SCALE = ("#46327e", "#3b528b", "#2c728e", "#21918c", "#27ad81", "#5ec962", "#a0da39", "#d0e11c", "#fde725")
# The colours of Okabe and Ito for nonempty sets of flags; a single flag has the first colour.
SETS = ("#0072b2", "#e69f00", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#555555")
