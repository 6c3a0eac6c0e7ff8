"""Builds a Program from a node program and a graph: every rule at every node, with targets resolved along paths.

Templates are only expanded on demand, because a step only needs the kinds of cells and their wiring, while a board may
have 100 templates for each of a million cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.errors import InputError
from bitwright.common.frozen import frozen
from bitwright.rules.cells import CellKinds, Cells
from bitwright.rules.families import Families
from bitwright.rules.graph.schema import Place, Schema, Topology
from bitwright.rules.layout import IntArray, Layout, spread
from bitwright.rules.program import Program

MAX_BITS = 1 << 31
_SMALL = 1 << 12  # most ports of a small graph


@dataclass(frozen=True, eq=False)
class GraphWiring:
    """Maps each bit of the program on a graph to a bit of the schema at a node or port.

    A declared name is an array of the program whose first index is the node or the port, node by node. Blocks,
    templates and cells are copies of those in the schema: one for every node or port, or a single copy.
    """

    schema: Schema
    topology: Topology

    # Positions.

    def count(self, place: Place) -> int:
        """Returns the number of nodes or ports, or 1 for the whole graph."""
        return {"node": self.topology.nodes, "port": self.topology.ports, "whole": 1}[place]

    @cached_property
    def layout(self) -> Layout:
        shapes = []
        for field, place in zip(self.schema.program.layout.fields, self.schema.places, strict=False):
            if place == "whole":
                shapes.append((field.name, field.shape))
            elif self.count(place):
                shapes.append((field.name, (self.count(place), *field.shape)))
        return Layout.of(shapes)

    @cached_property
    def places(self) -> tuple[Place, ...]:  # (declared bits,)
        """The place of each declared bit."""
        fields = zip(self.schema.program.layout.fields, self.schema.places, strict=False)
        return tuple(place for field, place in fields for _ in range(field.size))

    @cached_property
    def _first(self) -> tuple[IntArray, IntArray]:  # (declared bits,), (declared bits,)
        """The number of each declared bit at the first node or port, and the stride to the next node or port."""
        base = np.zeros(self.schema.bits, dtype=np.int64)
        stride = np.zeros(self.schema.bits, dtype=np.int64)
        for field, place in zip(self.schema.program.layout.fields, self.schema.places, strict=False):
            if self.count(place):
                bits = slice(field.offset, field.offset + field.size)
                base[bits] = self.layout[field.name].offset + np.arange(field.size)
                stride[bits] = field.size
        return base, stride

    def bits(self, bit: int, at: IntArray) -> IntArray:
        """Returns the numbers of a declared bit at these nodes or ports."""
        base, stride = self._first
        return np.asarray(base[bit] + at * stride[bit])

    # Targets.

    def reached(self, start: Place, target: int) -> tuple[IntArray, IntArray]:
        """Returns pairs of a node or port where a rule applies, and the bit that is its target there."""
        if self.topology.ports > _SMALL:
            return self._reached(start, target)
        if (start, target) not in self._targets:
            self._targets[start, target] = self._reached(start, target)
        return self._targets[start, target]

    @cached_property
    def _targets(self) -> dict[tuple[Place, int], tuple[IntArray, IntArray]]:
        """A cache of targets for small graphs, where recomputation costs more than memory."""
        return {}

    def _reached(self, start: Place, target: int) -> tuple[IntArray, IntArray]:
        declared = self.schema.bits
        path, bit = self.schema.targets[target - declared] if target >= declared else ("", target)
        at, ends = self._paths(start, path, self.places[bit])
        bits = self.bits(bit, ends)
        if path == "next" and bit in self.schema.chains:
            last, nodes = self._chain_ends(start)
            at = np.concatenate((at, last))
            bits = np.concatenate((bits, self.bits(self.schema.chains[bit], nodes)))
        return at, bits

    def _paths(self, start: Place, path: str, end: Place) -> tuple[IntArray, IntArray]:
        """Returns pairs of the start and the end of a path."""
        graph, here = self.topology, np.arange(self.count(start))
        if end == "whole":
            return here, np.zeros_like(here)
        ports = np.arange(graph.ports)
        match path, start, end:
            case ("", "port", "node"):
                return ports, graph.port_node
            case ("", _, _):
                return here, here
            case ("far", "node", "node"):
                return graph.port_node, graph.port_far
            case ("far", "port", "node"):
                return ports, graph.port_far
            case ("far", _, "port"):
                assert graph.opposite is not None
                return (ports if start == "port" else graph.port_node), graph.opposite
            case ("back", "node", "node"):
                return graph.port_far, graph.port_node
            case ("back", "node", _):
                return graph.port_far, ports
            case ("all", "node", _):
                return graph.port_node, ports
            case ("all", "port", _):
                return self._ports_of(graph.port_node)
            case ("far.all", "port", _):
                return self._ports_of(graph.port_far)
            case ("far.all", "node", _):
                from_port, reached = self._ports_of(graph.port_far)
                return graph.port_node[from_port], reached
            case ("next", "node", _):
                has = np.flatnonzero(graph.degrees)
                return has, graph.first_port[has]
            case ("next", "port", _):
                has = ports[:-1][graph.port_node[1:] == graph.port_node[:-1]]
                return has, has + 1
            case ("every", _, _):
                ends = np.arange(self.count(end))
                return np.zeros_like(ends), ends
        assert graph.board is not None
        ends = graph.board.beside(path)
        return here[ends >= 0], ends[ends >= 0]

    def _ports_of(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Returns all ports of these nodes, as pairs of an index in `nodes` and a port."""
        entry, place = spread(self.topology.degrees[nodes])
        return entry, self.topology.first_port[nodes[entry]] + place

    def _chain_ends(self, start: Place) -> tuple[IntArray, IntArray]:
        """Returns the last ports, or the nodes without ports, where `next` ends, and the node of each."""
        graph = self.topology
        if start == "node":
            isolated = np.flatnonzero(graph.degrees == 0)
            return isolated, isolated
        last = graph.first_port[1:][graph.degrees > 0] - 1
        return last, graph.port_node[last]

    # The program.

    @cached_property
    def _blocks(self) -> tuple[list[int], list[IntArray], IntArray, IntArray]:
        """The declared blocks of the schema; the number of each at every node or port; and, for each block of the
        program, its block in the schema and its node or port.
        """
        schema = self.schema.program
        declared = [block for block in range(schema.blocks) if int(schema.block_members(block)[0]) < self.schema.bits]
        counts = [self.count(self.places[int(schema.block_members(block)[0])]) for block in declared]
        firsts = [
            self.bits(int(schema.block_members(block)[0]), np.arange(count))
            for block, count in zip(declared, counts, strict=True)
        ]
        order = np.argsort(np.concatenate(firsts), kind="stable")  # canonical order: by first bit
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.arange(len(order))
        ranks = np.split(number, np.cumsum(counts)[:-1])
        which = np.repeat(np.arange(len(declared)), counts)[order]
        where = np.concatenate([np.arange(count) for count in counts])[order]
        return declared, ranks, which, where

    @cached_property
    def program(self) -> Program:
        """The rules at every node; cells and kinds come from the schema."""
        schema, layout = self.schema.program, self.layout
        if layout.size >= MAX_BITS:
            raise InputError(f"a program on a graph must have fewer than 2^31 bits, got {layout.size:,}")
        declared, ranks, which, where = self._blocks
        sizes = np.diff(schema.block_start)[declared]
        block_start = np.concatenate(([0], np.cumsum(sizes[which])))
        block_bits = np.empty(layout.size, dtype=np.int64)
        for block, rank in zip(declared, ranks, strict=True):
            for place, bit in enumerate(schema.block_members(block).tolist()):
                block_bits[block_start[rank] + place] = self.bits(bit, np.arange(len(rank)))
        return GraphProgram.of(
            layout=layout,
            block_start=block_start,
            block_bits=block_bits,
            block_families=_repeated(schema.block_families, np.array(declared)[which], where),
            array_families=tuple(field.name for field in layout.fields),
            grouped=self._cells(),
            wired=self,
        )

    @cached_property
    def _templates(self) -> IntArray:  # (declared blocks of the schema,)
        schema, (declared, _, _, _) = self.schema.program, self._blocks
        return np.asarray(np.bincount(schema.template_block, minlength=schema.blocks)[declared])

    def templates(self) -> int:
        """Returns the number of templates."""
        return int(self._templates[self._blocks[2]].sum())

    def live(self) -> BoolArray:  # (b,)
        """Returns which blocks have templates."""
        return np.asarray((self._templates > 0)[self._blocks[2]])

    def template_arrays(self) -> dict[str, Any]:
        """Returns the arrays of a Program that have an entry per template."""
        schema, (declared, _, which, where) = self.schema.program, self._blocks
        first = self._first_template()
        template_block = np.repeat(np.arange(len(which)), self._templates[which])
        number = np.arange(len(template_block)) - first[template_block]  # number within its block
        of_schema = np.searchsorted(schema.template_block, declared)[which[template_block]] + number
        write_start, write_bits = self._writes(first, self.layout.size)
        return {
            "template_block": template_block,
            "template_config": schema.template_config[of_schema],
            "write_start": write_start,
            "write_bits": write_bits,
            "rule_families": _repeated(schema.rule_families, of_schema, where[template_block]),
        }

    def _first_template(self) -> IntArray:  # (b + 1,)
        return np.concatenate(([0], np.cumsum(self._templates[self._blocks[2]])))

    def _writes(self, first: IntArray, bits: int) -> tuple[IntArray, IntArray]:
        """Returns the writes of all templates, as offsets and bits."""
        schema, (declared, ranks, _, _) = self.schema.program, self._blocks
        keys = [np.zeros(0, dtype=np.int64)]
        for block, rank in zip(declared, ranks, strict=True):
            start = self.places[int(schema.block_members(block)[0])]
            begin, end = np.searchsorted(schema.template_block, [block, block + 1]).tolist()
            reached = {
                target: self.reached(start, target)
                for target in np.unique(schema.write_bits[schema.write_start[begin] : schema.write_start[end]]).tolist()
            }
            for template in range(begin, end):
                for target in schema.writes(template).tolist():
                    at, written = reached[target]
                    keys.append((first[rank[at]] + template - begin) * bits + written)
        pairs = np.concatenate(keys)
        pairs.sort(kind="stable")  # stable sort is fast on long ascending runs
        fresh = np.ones(len(pairs), dtype=bool)
        fresh[1:] = pairs[1:] != pairs[:-1]  # loops and parallel edges lead to the same bit
        pairs = pairs[fresh]
        return np.searchsorted(pairs, np.arange(first[-1] + 1) * bits), pairs % bits

    # Cells.

    def _cells(self) -> Cells | None:
        """Returns the cells of the schema at every node; None if each block is a cell."""
        grouped = self.schema.program.grouped
        if grouped is None:
            return None
        blocks, starts, of, index = [], [0], [], []
        for cell, _, rows in self._cell_blocks(grouped):
            blocks.append(rows.ravel())
            starts += [rows.shape[1]] * len(rows)
            of.append(np.full(len(rows), grouped.families.of[cell]))
            size = int(grouped.families.sizes[grouped.families.of[cell]])
            index.append(np.arange(len(rows)) * size + grouped.families.index[cell])
        families = Families(np.concatenate(of), np.concatenate(index), grouped.families.labels, grouped.families.places)
        place = None
        if grouped.bit_place is not None:
            place = np.empty(self.layout.size, dtype=np.int64)
            for bit in range(self.schema.bits):
                place[self.bits(bit, np.arange(self.count(self.places[bit])))] = grouped.bit_place[bit]
        return Cells(np.cumsum(starts), np.concatenate(blocks), families, place)

    def _cell_blocks(self, cells: Cells) -> Iterator[tuple[int, Place, IntArray]]:
        """Yields the cells of the schema with their blocks in the program, (nodes or ports, blocks of the cell)."""
        declared, ranks, _, _ = self._blocks
        number = dict(zip(declared, ranks, strict=True))
        for cell in range(len(cells)):
            members = cells.members(cell).tolist()
            if members[0] in number:  # otherwise it is a target with a path
                bit = int(self.schema.program.block_members(members[0])[0])
                yield cell, self.places[bit], np.stack([number[block] for block in members], axis=1)

    def kinds(self, program: Program) -> CellKinds:
        """Returns the kinds of the schema, with their ports wired along the graph."""
        schema, cells = self.schema.program, program.cells
        kinds = schema.kinds
        of = np.full(len(cells), -1, dtype=np.int64)
        wires: list[tuple[IntArray, IntArray, IntArray]] = []
        for cell, place, rows in self._cell_blocks(schema.cells):
            copies = cells.of_block[rows[:, 0]]
            of[copies] = kinds.of[cell]
            first_wire, last_wire = np.searchsorted(kinds.wire_cell, [cell, cell + 1]).tolist()
            for wire in range(first_wire, last_wire):
                at, bits = self.reached(place, int(kinds.wire_bit[wire]))
                wires.append((copies[at], np.full(len(at), kinds.wire_port[wire]), bits))
        wire_cell, wire_port, wire_bit = (
            np.concatenate([np.zeros(0, dtype=np.int64), *(wire[part] for wire in wires)]) for part in range(3)
        )
        by_cell = np.argsort(wire_cell, kind="stable")
        return GraphKinds.of_wires(
            kinds=kinds.kinds,
            of=of,
            wire_cell=wire_cell[by_cell],
            wire_port=wire_port[by_cell],
            wire_bit=wire_bit[by_cell],
            program=program,
        )

    def template_numbers(self, program: Program) -> dict[str, Any]:
        """Returns the arrays of CellKinds that have an entry per template."""
        schema, cells, kinds = self.schema.program, program.cells, self.schema.program.kinds
        first_of = self._first_template()
        first_in_schema = np.searchsorted(schema.template_block, np.arange(schema.blocks))
        template = np.zeros(program.templates, dtype=np.int64)
        for cell, _, rows in self._cell_blocks(schema.cells):
            members = schema.cells.members(cell).tolist()
            members_of_cell = kinds.order[kinds.first_template[cell] : kinds.first_template[cell + 1]]
            blocks = schema.template_block[members_of_cell]
            column = [members.index(block) for block in blocks.tolist()]
            offset = members_of_cell - first_in_schema[blocks]
            template[first_of[rows[:, column]] + offset] = np.arange(len(members_of_cell))
        owner = cells.of_block[program.template_block]
        order = np.lexsort((template, owner))
        first = np.searchsorted(owner[order], np.arange(len(cells) + 1))
        return {"template": template, "first_template": first, "order": order}


def _repeated(families: Families, which: IntArray, where: IntArray) -> Families:
    """Returns the families of the schema with a row for every node or port."""
    of = families.of[which]
    return Families(of, where * families.sizes[of] + families.index[which], families.labels, families.places)


_OF_TEMPLATES = ("template_block", "template_config", "write_start", "write_bits", "rule_families")
_OF_CELLS = ("template", "first_template", "order")


class GraphProgram(Program):
    """A program built from a node program and a graph, which creates its templates on demand."""

    @classmethod
    def of(cls, **fields: Any) -> GraphProgram:
        """Builds the program without its templates."""
        program = object.__new__(cls)
        program.__setstate__(fields)
        return program

    def __getattr__(self, name: str) -> Any:
        if name not in _OF_TEMPLATES or "wired" not in self.__dict__:
            raise AttributeError(name)
        self.__setstate__(self._wiring.template_arrays())
        return self.__dict__[name]

    @property
    def _wiring(self) -> GraphWiring:
        return self.__dict__["wired"]  # type: ignore[no-any-return]

    @property
    def templates(self) -> int:
        return self._wiring.templates()

    @cached_property
    def live(self) -> BoolArray:
        return frozen(self._wiring.live())


class GraphKinds(CellKinds):
    """The kinds of cells of a GraphProgram, which computes the numbers of their templates on demand."""

    program: Program

    @classmethod
    def of_wires(cls, **fields: Any) -> GraphKinds:
        """Builds the kinds and wires without the templates."""
        kinds = object.__new__(cls)
        kinds.__setstate__(fields)
        return kinds

    def __getattr__(self, name: str) -> Any:
        if name not in _OF_CELLS or "program" not in self.__dict__:
            raise AttributeError(name)
        program = self.__dict__["program"]
        self.__setstate__(program.wired.template_numbers(program))
        return self.__dict__[name]
