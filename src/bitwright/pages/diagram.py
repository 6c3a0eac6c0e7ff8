"""A program as a diagram: every kind of block with its bits, and arrows to the blocks that its templates write to.

Drawn from the program itself. The families of blocks that are made of the same arrays are one kind, and arrays of one
family (the levels of a tree) count as one array. Where units are given, the prefix of a name up to its first underscore
says which one it belongs to, and each unit has a colour.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from bitwright.errors import InputError, counted
from bitwright.pages.drawing import COLOURS, Content, Drawing, draw, drawing_svg, wrapped
from bitwright.program import Program
from bitwright.program.layout import IntArray

MAX_KINDS = 200
_WIDEST = 170  # the names in a box
SBN_UNITS = {"I": "Instructions", "M": "Memory", "D": "Subtraction", "B": "Branching"}


@dataclass(frozen=True)
class BlockKind:
    """Blocks made of the same arrays."""

    unit: str
    names: tuple[str, ...]
    count: int


def block_kinds(program: Program) -> tuple[list[BlockKind], IntArray]:
    """The kinds of blocks in the order of their first block, and the kind of every block."""
    arrays = dict.fromkeys(program.array_families)  # in the order of their declaration
    number = {array: place for place, array in enumerate(arrays)}
    sizes = [field.size for field in program.layout.fields]
    array_of = np.repeat([number[array] for array in program.array_families], sizes)  # (k,)
    family_of = program.block_families.of[program.block_of]  # (k,)
    pairs = np.unique(family_of * len(arrays) + array_of)
    arrays_of: dict[int, list[int]] = {}
    for family, array in zip((pairs // len(arrays)).tolist(), (pairs % len(arrays)).tolist(), strict=True):
        arrays_of.setdefault(family, []).append(array)
    present, first = np.unique(program.block_families.of, return_index=True)
    kinds: dict[tuple[int, ...], int] = {}
    kind_of_family = np.zeros(len(program.block_families), dtype=np.int64)
    for family in present[np.argsort(first)].tolist():
        kind_of_family[family] = kinds.setdefault(tuple(arrays_of[family]), len(kinds))
    of = kind_of_family[program.block_families.of]
    named = list(arrays)
    found = []
    for key, count in zip(kinds, np.bincount(of).tolist(), strict=True):
        names = tuple(named[array] for array in key)
        found.append(BlockKind(_unit(names[0]), names, count))
    return found, of


def links(program: Program, of: IntArray) -> dict[tuple[int, int], int]:
    """How many templates lead from one kind of block to another."""
    source = np.repeat(of[program.template_block], np.diff(program.write_start))
    target = of[program.block_of[program.write_bits]]
    pairs, counts = np.unique(np.stack((source, target)), axis=1, return_counts=True)
    return {(int(a), int(b)): int(n) for (a, b), n in zip(pairs.T, counts, strict=True)}


EXPLANATION = (
    "A box is a kind of block: how many there are, and their bits. An arrow leads to what its templates write; dashed, "
    "it leads back up."
)


def block_drawing(
    program: Program,
    title: str = "",
    units: Mapping[str, str] | None = None,
    mark: Callable[[str], str] = lambda _: "",
    note: str = "",
) -> Drawing:
    """The layout of the diagram; `units` maps prefixes of names to the names of units.

    `mark` gives what stands before the name of an array, and `note` is added to the explanation.
    """
    kinds, of = block_kinds(program)
    if len(kinds) > MAX_KINDS:
        raise InputError(f"a diagram shows at most {MAX_KINDS} kinds of blocks, this program has {len(kinds)}")
    # Flags of the whole machine, such as HALT, belong to the last unit.
    unit_of = [kind.unit if kind.unit in (units or {}) else list(units or [""])[-1] for kind in kinds]
    numbers = {unit: number for number, unit in enumerate(units or {})}
    colour_of = [COLOURS[numbers.get(unit, place) % len(COLOURS)] for place, unit in enumerate(unit_of)]
    contents = [
        Content(counted(kind.count, "block"), tuple(_names(kind, bool(units), mark)), colour)
        for kind, colour in zip(kinds, colour_of, strict=True)
    ]
    said = {
        (a, b): f"{' '.join(kinds[a].names)} \N{RIGHTWARDS ARROW} {' '.join(kinds[b].names)}: {counted(n, 'write')}"
        for (a, b), n in links(program, of).items()
    }
    legend = {name: COLOURS[number % len(COLOURS)] for number, name in enumerate((units or {}).values())}
    return draw(title, f"{EXPLANATION} {note}".strip(), contents, said, legend)


def diagram_svg(program: Program, title: str = "", units: Mapping[str, str] | None = None) -> str:
    """The diagram as SVG text."""
    return drawing_svg(block_drawing(program, title, units))


def _names(kind: BlockKind, by_unit: bool, mark: Callable[[str], str]) -> list[str]:
    """The names of its bits, without the unit where its colour says it."""
    unit = f"{kind.unit}_" if by_unit and kind.unit else ""
    return wrapped(" ".join(mark(name) + name.removeprefix(unit) for name in kind.names), _WIDEST)


def _unit(name: str) -> str:
    head, _, rest = name.partition("_")
    return head if rest else ""
