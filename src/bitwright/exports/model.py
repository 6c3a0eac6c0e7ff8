"""Builds the tables for all source languages: the network with its kinds of cells, and a program's wiring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bitwright.common.errors import InputError
from bitwright.engines.cells.network import network_of_kind
from bitwright.engines.cells.wiring import Wiring
from bitwright.networks import IntegerNetwork
from bitwright.networks.integer import Int8, check_belongs, checked_bounds, columns_of
from bitwright.rules import Algorithm
from bitwright.rules.layout import IntArray
from bitwright.rules.pattern import Pattern

MOST_NUMBERS = 20_000_000  # in a text file


@dataclass(frozen=True, eq=False)
class Core:
    """The network, and for each kind of cell its blocks, their configurations and its ports."""

    first: Int8  # (width, examples) A
    last: Int8  # (width, ports) B, for the bits that are ports
    thresholds: IntArray  # (largest n, columns) T
    column: IntArray  # (ports,) the column of T for each port
    kind_block: IntArray  # (kinds + 1,) the first block of each kind
    kind_port: IntArray  # (kinds + 1,) the first port of each kind
    block_bits: IntArray  # (blocks,) the number of bits
    block_example: IntArray  # (blocks + 1,) the first example of each block; examples are sorted by configuration
    configuration: IntArray  # (examples,)
    largest: int  # bound on all hidden values, thresholds and sums, in any order of addition

    @property
    def bits(self) -> int:
        """The number of bits of an integer that can represent every sum: 32 or 64."""
        return 32 if self.largest < 1 << 31 else 64

    @property
    def numbers(self) -> int:
        """The approximate number of table entries."""
        return int(self.first.size + self.last.size + self.thresholds.size)


@dataclass(frozen=True, eq=False)
class WiresOut:
    """The cells of a program in order, with the bits that each reads and the bits that its ports set."""

    algorithm: Algorithm
    cell_kind: IntArray  # (cells,)
    cell_bit: IntArray  # the bits of each cell block by block, lowest bit of the configuration first
    wire_start: IntArray  # (ports of all cells + 1,) the first wire of each port
    wire_bit: IntArray  # (wires,)

    @property
    def numbers(self) -> int:
        """The number of table entries."""
        return len(self.cell_kind) + len(self.cell_bit) + len(self.wire_start) + len(self.wire_bit)


@dataclass(frozen=True, eq=False)
class Exported:
    """The input for every function that writes source text."""

    network: IntegerNetwork
    pattern: Pattern
    core: Core
    wires: WiresOut | None  # None for a network of cells without a program


def exported_cells(network: IntegerNetwork, pattern: Pattern, algorithm: Algorithm | None) -> Exported:
    """Builds the tables for a network of cells, with or without a program; raises InputError for an unknown kind.

    A whole-state network counts as a single cell that contains all blocks and whose ports are all bits.
    """
    program, kinds = pattern.program, range(len(pattern.kinds))
    check_belongs(network, program)
    blocks = np.unique(program.template_block)  # in order over all kinds; ports have no templates
    ports = [pattern.port_bits(kind) for kind in kinds]
    bits = np.concatenate([np.arange(part.start, part.stop) for part in ports])
    parts = (network_of_kind(network, pattern, kind) for kind in kinds)
    bounds = [checked_bounds(part, alone.program) for part, alone in parts]  # for a single cell
    extremes = [
        max(kind.sums, kind.thresholds, -kind.lowest, int(kind.hidden.max(initial=0)), 127 * 128)  # a product of bytes
        for kind in bounds
    ]
    core = Core(
        network.first,
        np.ascontiguousarray(network.last[bits].T),
        network.thresholds,
        columns_of(network, program)[bits],
        _starts([len(kind.blocks) for kind in pattern.kinds]),
        _starts([part.stop - part.start for part in ports]),
        np.diff(program.block_start)[blocks],
        np.append(np.searchsorted(program.template_block, blocks), program.templates),
        program.template_config,
        max(extremes),
    )
    wires = None if algorithm is None else _wires(algorithm, pattern)
    if algorithm is not None and not len(core.configuration):
        raise InputError(f"{algorithm.name} has no templates, and therefore no network to export")
    numbers = core.numbers + (0 if wires is None else wires.numbers)
    if numbers > MOST_NUMBERS:
        raise InputError(
            f"source text can contain at most {MOST_NUMBERS:,} numbers, but this network and its program have "
            f"{numbers:,}; use a narrower network, a network of cells, or a smaller program"
        )
    return Exported(network, pattern, core, wires)


def _wires(algorithm: Algorithm, pattern: Pattern) -> WiresOut:
    program = algorithm.program
    wiring = Wiring(program, pattern)
    places = program.cells.tiled(wiring.tile).bit_place
    kinds, bits, starts, wired_bits = [], [], [0], []
    for wired in wiring.kinds:
        kinds += [wired.kind] * len(wired.blocks)
        for block in wired.blocks.ravel().tolist():
            members = program.block_members(block)
            bits.append(members if places is None else members[np.argsort(places[members])])
        ports = len(pattern.kinds[wired.kind].ports)
        port = wired.wire_cell * ports + wired.wire_port
        order = np.lexsort((wired.wire_bit, port))
        counts = np.bincount(port, minlength=len(wired.blocks) * ports)
        starts += (starts[-1] + np.cumsum(counts)).tolist()
        wired_bits.append(wired.wire_bit[order])
    return WiresOut(algorithm, np.array(kinds, dtype=np.int64), _joined(bits), np.array(starts), _joined(wired_bits))


def _starts(lengths: Sequence[int]) -> IntArray:
    return np.cumsum([0, *lengths])


def _joined(parts: Sequence[IntArray]) -> IntArray:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)
