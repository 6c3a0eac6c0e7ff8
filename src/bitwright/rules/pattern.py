"""The pattern: one cell of each kind side by side, which is a small ordinary program that networks are trained on.

It contains the bits of the cells' blocks and one bit for every port; ports are blocks without templates. Bit names
contain the number of the kind, so that a pattern can be recovered from its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray
from bitwright.common.errors import BitwrightError, InputError, option
from bitwright.common.frozen import frozen
from bitwright.rules.cells import CellKinds, Cells, Kind, LocalStates, Tile, cell_kinds
from bitwright.rules.layout import IntArray
from bitwright.rules.program import Program
from bitwright.rules.tables import layout_of_names

_BIT = re.compile(r"kind(\d{1,9})_(?:block\d{1,9}|port)\[\d{1,9}\]", re.ASCII)
_EXAMPLE = re.compile(r"when( [a-z0-9_]+\[\d+\]=[01])+ write( [a-z0-9_]+\[\d+\]| nothing)+", re.ASCII)
_MOST_COMPLETED = 1 << 16  # most templates of a completed pattern


@dataclass(frozen=True)
class Pattern:
    """A set of kinds, sorted by content.

    >>> from bitwright import addition
    >>> pattern = Pattern.of(addition(8).program.kinds.kinds)
    >>> pattern.program
    <Program: 11 bits, 9 blocks, 8 templates>
    """

    kinds: tuple[Kind, ...]
    whole: Program | None = None  # the program of a single cell that covers the entire state; its bits are the ports

    @classmethod
    def of(cls, kinds: Iterable[Kind]) -> Pattern:
        """Builds the pattern of these kinds, without duplicates."""
        return cls(tuple(sorted(set(kinds))))

    @classmethod
    def of_state(cls, program: Program) -> Pattern:
        """Builds a pattern with a single cell that contains all blocks of a program; its program is this program.

        >>> from bitwright import addition
        >>> pattern = Pattern.of_state(addition(8).program)
        >>> pattern.program == addition(8).program, pattern.local_states
        (True, 16777216)
        """
        return cls((whole_kind(program),), program)

    @cached_property
    def program(self) -> Program:
        """The program of all cells side by side."""
        return self.whole or self._side_by_side(range(len(self.kinds)))

    def alone(self, kind: int) -> Program:
        """Returns the program of a single kind, with the pattern's bit names."""
        return self.whole or self._side_by_side([kind])

    def _side_by_side(self, kinds: Iterable[int]) -> Program:
        names: list[str] = []
        blocks: list[list[str]] = []
        templates: list[tuple[int, int, list[str] | None]] = []
        for place in kinds:
            number, kind = place + 1, self.kinds[place]
            ports = [f"kind{number}_port[{port}]" for port in range(1, len(kind.ports) + 1)]
            local = 0
            for at, (bits, configurations) in enumerate(kind.blocks, 1):
                block = [f"kind{number}_block{at}[{bit}]" for bit in range(1, bits + 1)]
                names += block
                blocks.append(block)
                for configuration in configurations:
                    writes = [port for port, of in zip(ports, kind.ports, strict=True) if local in of]
                    templates.append((len(blocks) - 1, configuration, writes or None))
                    local += 1
            names += ports
            blocks += [[port] for port in ports]
        return Program.from_tables(names, blocks, templates)

    @cached_property
    def first_template(self) -> IntArray:  # (kinds + 1,)
        """The first template of each kind in the pattern's program; the last entry is the number of templates."""
        return frozen(np.cumsum([0, *(kind.templates for kind in self.kinds)]))

    @cached_property
    def local(self) -> list[LocalStates]:
        """The local states of every kind."""
        return [LocalStates(kind) for kind in self.kinds]

    def templates_of(self, kind: int) -> slice:
        """Returns the templates of a kind as a slice."""
        return slice(*self.first_template[kind : kind + 2].tolist())

    def matched(self, kind: int, numbers: NDArray[Any]) -> BoolArray:  # (states,) -> (states, K)
        """Returns which templates of the pattern match in local states of a kind."""
        matched = np.zeros((len(numbers), int(self.first_template[-1])), dtype=bool)
        matched[:, self.templates_of(kind)] = self.local[kind].matched(numbers)
        return matched

    def port_bits(self, kind: int) -> slice:
        """Returns the bits of the ports of a kind as a slice."""
        if self.whole is not None:
            return slice(0, self.whole.bits)
        before = sum(sum(bits for bits, _ in other.blocks) + len(other.ports) for other in self.kinds[:kind])
        first = before + sum(bits for bits, _ in self.kinds[kind].blocks)
        return slice(first, first + len(self.kinds[kind].ports))

    @property
    def local_states(self) -> int:
        """The total number of local states of all kinds."""
        return sum(kind.local_states for kind in self.kinds)

    def place_of(self, kind: Kind) -> int | None:
        """Returns the number of a kind in the pattern, or None if the pattern does not contain it."""
        return self._places.get(kind)

    @cached_property
    def _places(self) -> dict[Kind, int]:
        return {kind: number for number, kind in enumerate(self.kinds)}


def whole_kind(program: Program) -> Kind:
    """Combines all live blocks of a program into one kind, with a port for the templates that write each bit."""
    counts = np.bincount(program.template_block, minlength=program.blocks)
    configs = program.template_config.tolist()
    first, blocks = 0, []
    for bits, count in zip(np.diff(program.block_start).tolist(), counts.tolist(), strict=True):
        if count:
            blocks.append((bits, tuple(configs[first : first + count])))
        first += count
    order = np.argsort(program.write_bits, kind="stable")
    writer = np.repeat(np.arange(program.templates), np.diff(program.write_start))[order].tolist()
    start = np.searchsorted(program.write_bits[order], np.arange(program.bits + 1)).tolist()
    return Kind(tuple(blocks), tuple(tuple(writer[begin:end]) for begin, end in pairwise(start)))


def pattern_of(programs: Sequence[Program], tile: Tile = 1) -> Pattern:
    """Builds the pattern of several programs, with `tile` neighbouring cells (or "all") combined into one."""
    if tile == "all":
        if len(programs) != 1:
            raise InputError(
                f"{option('tile')} all puts the entire state into one cell and requires a single program, got "
                f"{len(programs):,}"
            )
        return Pattern.of_state(programs[0])
    kinds: set[Kind] = set()
    for program in programs:
        cells = program.cells.tiled(tile)
        kinds.update((program.kinds if tile == 1 else cell_kinds(program, cells)).kinds)
    return Pattern.of(kinds)


def pattern_of_program(program: Program) -> Pattern | None:
    """Returns the pattern that a program represents; None for other programs."""
    if not _BIT.fullmatch(program.layout.name_of(0)):
        return None
    named = [_BIT.fullmatch(name) for name in program.layout.names]
    if None in named:
        return None
    kind = np.array([int(match[1]) for match in named if match], dtype=np.int64)[program.block_bits]
    order = np.argsort(kind[program.block_start[:-1]], kind="stable")
    start = np.flatnonzero(np.diff(kind[program.block_start[:-1]][order], prepend=-1))
    cells = Cells(np.append(start, program.blocks), order, program.block_families)
    pattern = Pattern.of(cell_kinds(program, cells).kinds)
    same = pattern.program == program and pattern.program.layout == program.layout
    return pattern if same else None


def every_cell(program: Program) -> Pattern:
    """Returns the pattern that networks of a program use: its own cells if it is a pattern, otherwise a single cell."""
    return pattern_of_program(program) or Pattern.of_state(program)


def is_pattern(program: Program) -> bool:
    """Returns whether a program is a pattern, in which case its networks work on cells."""
    return pattern_of_program(program) is not None


def read_pattern(bits: Sequence[str], examples: Sequence[str]) -> Pattern | None:
    """Returns the pattern whose program has these bits and templates, or None."""
    from bitwright.rules.text import parse

    if not all(map(_BIT.fullmatch, bits)) or not all(map(_EXAMPLE.fullmatch, examples)):
        return None
    try:
        fields = layout_of_names(bits).fields
        lines = [f"bits {field}" for field in fields]
        for field in fields:
            ports = field.name.endswith("port")
            lines.append(f"block {field.name}[{'i' if ports else '*'}]" + f" for i in 1..{field.size}" * ports)
        program = parse("\n".join((*lines, *examples)), "a pattern").program
    except BitwrightError:
        return None
    same = [program.template_text(template) for template in range(program.templates)] == list(examples)
    return pattern_of_program(program) if same else None


def completed(program: Program) -> Program:
    """Adds templates that write nothing for all other configurations of every block.

    A network that reads bits distinguishes all configurations, including those without a template.

    >>> from bitwright import addition
    >>> addition(2).program, completed(addition(2).program)
    (<Program: 6 bits, 4 blocks, 8 templates>, <Program: 6 bits, 4 blocks, 12 templates>)
    """
    members = [program.block_members(block).tolist() for block in range(program.blocks)]
    _check_few(sum(1 << len(bits) for bits in members))
    pairs = zip(program.template_block.tolist(), program.template_config.tolist(), strict=True)
    written = {place: program.writes(template).tolist() for template, place in enumerate(pairs)}
    templates = [
        (block, config, written.get((block, config)) or None)
        for block, bits in enumerate(members)
        for config in range(1 << len(bits))
    ]
    return Program.from_tables(program.layout, members, templates)


def completed_pattern(pattern: Pattern) -> Pattern:
    """Completes the kinds of a pattern with templates for all configurations of their blocks; keeps their order.

    >>> from bitwright import addition
    >>> pattern = Pattern.of(addition(8).program.kinds.kinds)
    >>> pattern.program.templates, completed_pattern(pattern).program.templates
    (8, 12)
    """
    _check_few(sum(1 << bits for kind in pattern.kinds for bits, _ in kind.blocks))
    if pattern.whole is not None:
        return Pattern.of_state(completed(pattern.whole))
    return Pattern(tuple(_completed_kind(kind) for kind in pattern.kinds))


def _completed_kind(kind: Kind) -> Kind:
    place, first = [], 0
    for bits, configurations in kind.blocks:
        place += [first + config for config in configurations]
        first += 1 << bits
    blocks = tuple((bits, tuple(range(1 << bits))) for bits, _ in kind.blocks)
    return Kind(blocks, tuple(tuple(place[template] for template in port) for port in kind.ports))


def _check_few(templates: int) -> None:
    if templates > _MOST_COMPLETED:
        raise InputError(
            f"networks that read bits support at most {_MOST_COMPLETED:,} configurations, but the blocks have "
            f"{templates:,}; let the network read templates"
        )


BitNames = dict[str, tuple[str, ...]]  # by pattern bit: the name of a bit of a block, or all targets of a port


@dataclass(frozen=True)
class FirstCell:
    """The first cell of a kind: its bits, block by block in the order of the kind, and the bits that each port sets."""

    blocks: tuple[tuple[str, ...], ...]
    ports: tuple[tuple[str, ...], ...]


def first_cells(program: Program, cells: Cells, kinds: CellKinds) -> list[FirstCell]:
    """Returns the first cell of every kind.

    >>> from bitwright import addition
    >>> adder = addition(4).program
    >>> first_cells(adder, adder.cells, adder.kinds)[0].ports
    (('p[1]',), ('c[1]',), ('q[2]',))
    """
    occupied = np.bincount(program.template_block, minlength=program.blocks) > 0
    name_of = program.layout.name_of
    firsts = []
    for number, kind in enumerate(kinds.kinds):
        cell = int(np.flatnonzero(kinds.of == number)[0])
        blocks = [
            tuple(map(name_of, cells.bits_in(block, program)))
            for block in cells.members(cell).tolist()
            if occupied[block]
        ]
        ports: list[list[str]] = [[] for _ in kind.ports]
        for wire in range(*np.searchsorted(kinds.wire_cell, [cell, cell + 1]).tolist()):
            ports[int(kinds.wire_port[wire])].append(name_of(int(kinds.wire_bit[wire])))
        firsts.append(FirstCell(tuple(blocks), tuple(map(tuple, ports))))
    return firsts


def bit_names(pattern: Pattern, programs: Iterable[tuple[Program, Cells]]) -> BitNames:
    """Returns names for the bits of a pattern, from the first program that has a cell of each kind.

    >>> from bitwright import addition
    >>> adder = addition(4).program
    >>> bit_names(Pattern.of(adder.kinds.kinds), [(adder, adder.cells)])["kind1_port[3]"]
    ('q[2]',)
    """
    names: BitNames = {}
    named: set[int] = set()
    for program, cells in programs:
        kinds = program.kinds if cells is program.cells else cell_kinds(program, cells)
        places = [pattern.place_of(kind) for kind in kinds.kinds]
        if named.issuperset(place for place in places if place is not None):
            continue
        for place, cell in zip(places, first_cells(program, cells, kinds), strict=True):
            if place is None or place in named:
                continue
            named.add(place)
            for at, block in enumerate(cell.blocks, 1):
                names |= {f"kind{place + 1}_block{at}[{bit}]": (name,) for bit, name in enumerate(block, 1)}
            names |= {f"kind{place + 1}_port[{port}]": set_by for port, set_by in enumerate(cell.ports, 1)}
    return names
