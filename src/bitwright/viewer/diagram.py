"""A program as a diagram: every kind of block with its bits, and arrows to the blocks that its templates write to.

Drawn from the program itself. The families of blocks that are made of the same arrays are one kind, and arrays of one
family (the levels of a tree) count as one array. Where units are given, the prefix of a name up to its first underscore
says which one it belongs to, and units stand side by side, many of them in two rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape

import numpy as np

from bitwright.errors import InputError
from bitwright.program import Program
from bitwright.program.layout import IntArray

_COLOURS = ("#0072B2", "#009E73", "#D55E00", "#CC79A7", "#E69F00", "#555555")
WIDTH, GAP, LINE, SPACE, TOP = 190, 120, 14, 12, 92
MAX_KINDS = 200
_MOST_IN_A_ROW = 5  # units; more of them would be too wide to read on a page
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


@dataclass(frozen=True)
class Box:
    """A kind of block, with the corner and height of its rectangle."""

    kind: BlockKind
    x: int
    y: int
    height: int
    colour: str

    @property
    def middle(self) -> int:
        return self.y + self.height // 2

    def lines(self) -> list[tuple[int, str]]:
        """The names of its bits without the unit, and their baselines."""
        unit = f"{self.kind.unit}_" if self.kind.unit else ""
        return [(self.y + 15 + LINE * line, name.removeprefix(unit)) for line, name in enumerate(self.kind.names)]


@dataclass(frozen=True)
class Arrow:
    """A curve from a box to another with a tip at its end; without points, a dot: the box writes to itself."""

    colour: str
    points: tuple[tuple[int, int], ...]  # start, two control points, end
    ahead: int = 0  # where the tip points: 1 to the right, -1 to the left
    dot: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Diagram:
    """Everything a picture needs, in units of a point; y runs down."""

    title: str
    width: int
    height: int
    headings: tuple[tuple[int, int, str, str], ...]  # x, y, text, colour
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


EXPLANATION = (
    "A box is a kind of block with its bits; an arrow leads to what its templates write. "
    "A dot: it also writes to itself."
)


def lay_out(program: Program, title: str = "", units: Mapping[str, str] | None = None) -> Diagram:
    """Where everything stands; `units` gives units their names, in the order in which they shall stand."""
    kinds, of = block_kinds(program)
    if len(kinds) > MAX_KINDS:
        raise InputError(f"a diagram shows at most {MAX_KINDS} kinds of blocks, this program has {len(kinds)}")
    named = dict(units or {"": ""})
    columns = list(named)
    # Flags of the whole machine, such as HALT, stand with the last unit.
    kinds = [kind if kind.unit in named else replace(kind, unit=columns[-1]) for kind in kinds]
    across = len(columns) if len(columns) <= _MOST_IN_A_ROW else -(-len(columns) // 2)
    left = {unit: GAP // 2 + number % across * (WIDTH + GAP) for number, unit in enumerate(columns)}
    colour = {unit: _COLOURS[number % len(_COLOURS)] for number, unit in enumerate(columns)}
    heights = {unit: sum(_height(kind) + SPACE for kind in kinds if kind.unit == unit) for unit in columns}
    second = TOP + max(heights[unit] for unit in columns[:across]) + 3 * SPACE
    first = {unit: TOP if number < across else second for number, unit in enumerate(columns)}
    tops, boxes = dict(first), []
    for kind in kinds:
        boxes.append(Box(kind, left[kind.unit], tops[kind.unit], _height(kind), colour[kind.unit]))
        tops[kind.unit] += _height(kind) + SPACE
    return Diagram(
        title,
        max(760, across * (WIDTH + GAP)),
        max(tops.values()) + 20,
        tuple((left[unit], first[unit] - 14, named[unit], colour[unit]) for unit in columns),
        tuple(boxes),
        tuple(_arrow(boxes[a], boxes[b]) for a, b in sorted(links(program, of))),
    )


def diagram_svg(program: Program, title: str = "", units: Mapping[str, str] | None = None) -> str:
    """The diagram as SVG text."""
    diagram = lay_out(program, title, units)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {diagram.width} {diagram.height}" '
        f'width="{diagram.width}" height="{diagram.height}" font-family="Helvetica, Arial, sans-serif" '
        f'font-size="11" role="img" aria-label="{escape(title)}">',
        f'<rect width="{diagram.width}" height="{diagram.height}" fill="white"/>',
        f'<text x="{GAP // 2}" y="28" font-size="16" font-weight="bold" fill="#222">{escape(title)}</text>',
        f'<text x="{GAP // 2}" y="48" fill="#666">{EXPLANATION}</text>',
    ]
    for x, y, label, colour in diagram.headings:
        out.append(f'<text x="{x}" y="{y}" font-size="13" font-weight="bold" fill="{colour}">{escape(label)}</text>')
    out += [_arrow_svg(arrow) for arrow in diagram.arrows]
    out += [_box_svg(box) for box in diagram.boxes]
    return "\n".join([*out, "</svg>"]) + "\n"


def _height(kind: BlockKind) -> int:
    return LINE * len(kind.names) + 10


def _box_svg(box: Box) -> str:
    parts = [
        f'<rect x="{box.x}" y="{box.y}" width="{WIDTH}" height="{box.height}" rx="4" fill="white" fill-opacity="0.92" '
        f'stroke="{box.colour}" stroke-width="1.5"/>',
        f'<text x="{box.x + WIDTH - 6}" y="{box.y + 15}" text-anchor="end" font-size="10" fill="#888">'
        f"{box.kind.count:,} &#215;</text>",
    ]
    for y, name in box.lines():
        parts.append(f'<text x="{box.x + 8}" y="{y}" fill="#222">{escape(name)}</text>')
    return "".join(parts)


def _arrow_svg(arrow: Arrow) -> str:
    if not arrow.points:
        return f'<circle cx="{arrow.dot[0]}" cy="{arrow.dot[1]}" r="4" fill="{arrow.colour}"/>'
    (x1, y1), *curve, (x2, y2) = arrow.points
    path = f"M{x1} {y1}C" + " ".join(f"{x} {y}" for x, y in (*curve, (x2 - 5 * arrow.ahead, y2)))
    return (
        f'<path d="{path}" fill="none" stroke="{arrow.colour}" stroke-opacity="0.55" stroke-width="1.2"/>'
        f'<path d="M{x2} {y2}l{-7 * arrow.ahead} -3.5v7z" fill="{arrow.colour}"/>'
    )


def _arrow(a: Box, b: Box) -> Arrow:
    y1, y2 = a.middle, b.middle
    if a == b:
        return Arrow(a.colour, (), dot=(a.x, y1))
    if b.x > a.x:
        x1, x2, bend = a.x + WIDTH, b.x, (b.x - a.x - WIDTH) // 2
        return Arrow(a.colour, ((x1, y1), (x1 + bend, y1), (x2 - bend, y2), (x2, y2)), 1)
    if b.x < a.x:
        x1, x2 = a.x, b.x + WIDTH
        bend = max(40, (x1 - x2) // 2)
        return Arrow(a.colour, ((x1, y1), (x1 - bend, y1), (x2 + bend, y2), (x2, y2)), -1)
    x = a.x + WIDTH
    bend = min(50, 14 + abs(y2 - y1) // 8)
    return Arrow(a.colour, ((x, y1), (x + bend, y1), (x + bend, y2), (x, y2)), -1)


def _unit(name: str) -> str:
    head, _, rest = name.partition("_")
    return head if rest else ""
