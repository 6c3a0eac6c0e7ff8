"""A program as a diagram of its blocks, which arrows join.

The families of blocks that are made of the same arrays are one kind, and arrays of one family (the levels of a tree)
count as one array. Where units are given, the prefix of a name up to its first underscore says which one it belongs to,
and each unit has a colour.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from bitwright.common.errors import InputError, counted
from bitwright.rules import Program
from bitwright.rules.layout import IntArray
from paper.drawing import COLOURS, Content, Drawing, draw, wrapped

MAX_KINDS = 200
_WIDEST = 170  # the names in a box
SBN_UNITS = {"I": "Instructions", "M": "Memory", "D": "Subtraction", "B": "Branching"}


EXPLANATION = (
    "A box is a kind of block: how many there are, and their bits. An arrow leads to what its templates write; dashed, "
    "it leads back up."
)


@dataclass(frozen=True)
class BlockKind:
    """Blocks made of the same arrays."""

    names: tuple[str, ...]
    count: int

    @property
    def unit(self) -> str:
        """The prefix of its first name, if there is one."""
        head, _, rest = self.names[0].partition("_")
        return head if rest else ""


def block_kinds(program: Program) -> tuple[list[BlockKind], IntArray]:
    """The kinds of blocks in the order of their first block, and the kind of every block."""
    arrays = list(dict.fromkeys(program.array_families))  # in the order of their declaration
    sizes = [field.size for field in program.layout.fields]
    array_of = np.repeat([arrays.index(array) for array in program.array_families], sizes)  # (k,)
    family_of = program.block_families.of[program.block_of]  # (k,)
    pairs = np.unique(np.stack((family_of, array_of)), axis=1).T.tolist()
    names_of = {family: tuple(arrays[array] for _, array in own) for family, own in groupby(pairs, lambda one: one[0])}
    numbers: dict[tuple[str, ...], int] = {}
    of = np.array([numbers.setdefault(names_of[one], len(numbers)) for one in program.block_families.of.tolist()])
    return [BlockKind(names, count) for names, count in zip(numbers, np.bincount(of).tolist(), strict=True)], of


def links(program: Program, of: IntArray) -> dict[tuple[int, int], int]:
    """How many templates lead from one kind of block to another."""
    source = np.repeat(of[program.template_block], np.diff(program.write_start))
    target = of[program.block_of[program.write_bits]]
    pairs, counts = np.unique(np.stack((source, target)), axis=1, return_counts=True)
    return {(int(a), int(b)): int(n) for (a, b), n in zip(pairs.T, counts, strict=True)}


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
    units = units or {}
    colours = {unit: COLOURS[number % len(COLOURS)] for number, unit in enumerate(units)}
    contents = []
    for place, kind in enumerate(kinds):  # flags of the whole machine, such as HALT, belong to the last unit
        colour = colours.get(kind.unit, [*colours.values()][-1]) if units else COLOURS[place % len(COLOURS)]
        unit = f"{kind.unit}_" if units and kind.unit else ""  # which the colour says
        names = wrapped(" ".join(mark(name) + name.removeprefix(unit) for name in kind.names), _WIDEST)
        contents.append(Content(counted(kind.count, "block"), tuple(names), colour))
    words = {
        (a, b): f"{' '.join(kinds[a].names)} \N{RIGHTWARDS ARROW} {' '.join(kinds[b].names)}: {counted(n, 'write')}"
        for (a, b), n in links(program, of).items()
    }
    legend = {units[unit]: colour for unit, colour in colours.items()}
    return draw(title, f"{EXPLANATION} {note}".strip(), contents, words, legend)
