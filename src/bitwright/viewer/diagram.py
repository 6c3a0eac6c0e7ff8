"""A program as a diagram: every kind of block with its bits, and arrows to the blocks that its templates write to.

Drawn from the program itself. Blocks whose bits have the same names are one kind. Where units are given, the prefix of
a name up to its first underscore says which one it belongs to, and units stand side by side.
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
_WIDTH, _GAP, _LINE, _SPACE, _TOP = 190, 120, 14, 12, 92
MAX_KINDS = 200


@dataclass(frozen=True)
class Kind:
    """Blocks with bits of the same names."""

    unit: str
    names: tuple[str, ...]
    count: int


def block_kinds(program: Program) -> tuple[list[Kind], IntArray]:
    """The kinds of blocks in the order of their first block, and the kind of every block."""
    owner = np.repeat(np.arange(len(program.layout.fields)), [field.size for field in program.layout.fields])
    fields = owner[program.block_bits]
    seen: dict[tuple[int, ...], int] = {}
    of = np.empty(program.blocks, dtype=np.int64)
    for block in range(program.blocks):
        key = tuple(sorted(set(fields[program.block_start[block] : program.block_start[block + 1]].tolist())))
        of[block] = seen.setdefault(_family(program, key), len(seen))
    counts = np.bincount(of)
    kinds = []
    for key, count in zip(seen, counts.tolist(), strict=True):
        names = tuple(dict.fromkeys(_stem(program.layout.fields[number].name) for number in key))
        kinds.append(Kind(_unit(names[0]), names, count))
    return kinds, of


def links(program: Program, of: IntArray) -> dict[tuple[int, int], int]:
    """How many templates lead from one kind of block to another."""
    source = np.repeat(of[program.template_block], np.diff(program.write_start))
    target = of[program.block_of[program.write_bits]]
    pairs, counts = np.unique(np.stack((source, target)), axis=1, return_counts=True)
    return {(int(a), int(b)): int(n) for (a, b), n in zip(pairs.T, counts, strict=True)}


def diagram_svg(program: Program, title: str = "", units: Mapping[str, str] | None = None) -> str:
    """The diagram as SVG text; `units` gives units their names, in the order in which they shall stand."""
    kinds, of = block_kinds(program)
    if len(kinds) > MAX_KINDS:
        raise InputError(f"a diagram shows at most {MAX_KINDS} kinds of blocks, this program has {len(kinds)}")
    named = dict(units or {"": ""})
    last = list(named)[-1]  # flags of the whole machine, such as HALT, stand with the last unit
    kinds = [kind if kind.unit in named else replace(kind, unit=last) for kind in kinds]
    columns = list(named)
    boxes, bottom = _place(kinds, columns)
    width = max(760, len(columns) * (_WIDTH + _GAP))
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {bottom + 20}" width="{width}" '
        f'height="{bottom + 20}" font-family="Helvetica, Arial, sans-serif" font-size="11" role="img" '
        f'aria-label="{escape(title)}">',
        f'<rect width="{width}" height="{bottom + 20}" fill="white"/>',
        f'<text x="{_GAP // 2}" y="28" font-size="16" font-weight="bold" fill="#222">{escape(title)}</text>',
        f'<text x="{_GAP // 2}" y="48" fill="#666">A box is a kind of block with its bits; an arrow leads to what its '
        "templates write. A dot: it also writes to itself.</text>",
    ]
    for number, unit in enumerate(columns):
        x = _GAP // 2 + number * (_WIDTH + _GAP)
        label = named.get(unit, unit)
        out.append(
            f'<text x="{x}" y="{_TOP - 14}" font-size="13" font-weight="bold" fill="{_colour(number)}">'
            f"{escape(label)}</text>"
        )
    for (a, b), _ in sorted(links(program, of).items()):
        out.append(_arrow(boxes[a], boxes[b], _colour(columns.index(kinds[a].unit)), a == b))
    for kind, box in zip(kinds, boxes, strict=True):
        out.append(_box(kind, box, _colour(columns.index(kind.unit))))
    return "\n".join([*out, "</svg>"]) + "\n"


@dataclass(frozen=True)
class _Box:
    x: int
    y: int
    height: int


def _place(kinds: list[Kind], columns: list[str]) -> tuple[list[_Box], int]:
    tops = dict.fromkeys(columns, _TOP)
    boxes = []
    for kind in kinds:
        height = _LINE * len(kind.names) + 10
        x = _GAP // 2 + columns.index(kind.unit) * (_WIDTH + _GAP)
        boxes.append(_Box(x, tops[kind.unit], height))
        tops[kind.unit] += height + _SPACE
    return boxes, max(tops.values())


def _box(kind: Kind, box: _Box, colour: str) -> str:
    parts = [
        f'<rect x="{box.x}" y="{box.y}" width="{_WIDTH}" height="{box.height}" rx="4" fill="white" fill-opacity="0.92" '
        f'stroke="{colour}" stroke-width="1.5"/>',
        f'<text x="{box.x + _WIDTH - 6}" y="{box.y + 15}" text-anchor="end" font-size="10" fill="#888">'
        f"{kind.count:,} &#215;</text>",
    ]
    for line, name in enumerate(kind.names):
        shown = name.removeprefix(f"{kind.unit}_") if kind.unit else name
        parts.append(f'<text x="{box.x + 8}" y="{box.y + 15 + _LINE * line}" fill="#222">{escape(shown)}</text>')
    return "".join(parts)


def _arrow(a: _Box, b: _Box, colour: str, itself: bool) -> str:
    y1, y2 = a.y + a.height // 2, b.y + b.height // 2
    if itself:
        return f'<circle cx="{a.x}" cy="{y1}" r="4" fill="{colour}"/>'
    if b.x > a.x:
        x1, x2, bend = a.x + _WIDTH, b.x, (b.x - a.x - _WIDTH) // 2
        path = f"M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2 - 5} {y2}"
        tip = f"M{x2} {y2}l-7 -3.5v7z"
    elif b.x < a.x:
        x1, x2 = a.x, b.x + _WIDTH
        bend = max(40, (x1 - x2) // 2)
        path = f"M{x1} {y1}C{x1 - bend} {y1} {x2 + bend} {y2} {x2 + 5} {y2}"
        tip = f"M{x2} {y2}l7 -3.5v7z"
    else:
        x = a.x + _WIDTH
        bend = min(50, 14 + abs(y2 - y1) // 8)
        path = f"M{x} {y1}C{x + bend} {y1} {x + bend} {y2} {x + 5} {y2}"
        tip = f"M{x} {y2}l7 -3.5v7z"
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-opacity="0.55" stroke-width="1.2"/>'
        f'<path d="{tip}" fill="{colour}"/>'
    )


def _colour(number: int) -> str:
    return _COLOURS[number % len(_COLOURS)]


def _unit(name: str) -> str:
    head, _, rest = name.partition("_")
    return head if rest else ""


def _stem(name: str) -> str:
    """A name without the numbers by which generated parts differ: I_tree_a_2 and I_tree_a_1 are one."""
    return name.rstrip("0123456789_") or name


def _family(program: Program, key: tuple[int, ...]) -> tuple[int, ...]:
    """Fields whose names differ only by numbers are taken as the first of them."""
    firsts: dict[str, int] = {}
    for number, field in enumerate(program.layout.fields):
        firsts.setdefault(_stem(field.name), number)
    return tuple(sorted({firsts[_stem(program.layout.fields[number].name)] for number in key}))
