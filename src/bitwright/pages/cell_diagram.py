"""A program's cells as a diagram: a box for every kind, with its bits and writes, and arrows to their kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bitwright.common.errors import InputError, counted
from bitwright.pages.drawing import COLOURS, JOINT, Content, draw, drawing_svg, text_width, wrapped
from bitwright.rules import Program
from bitwright.rules.cells import CellKinds, Cells, cell_kinds
from bitwright.rules.layout import IntArray
from bitwright.rules.text.parser import COMPASS

MAX_KINDS = 200
_MOST_ROWS = 40  # of wires in a box
_FEW = 8  # kinds whose boxes may say everything
_WIDEST, _NARROWEST = 320, 150  # the texts of a box
_BRIEF, _BRIEF_LINES = 180, 2  # the names in a box that says no more
_COLUMN = 240  # the texts below
_HUNG = 12  # how far the lines of a row but the first are moved in
_LETTERS = "ijklmnuvwxyz"
_NAMED = 3  # ways in which cells of one kind are named, and lines that they come from; the others are counted
NOWHERE = -1  # in place of a kind: cells without templates
SAME = "same cell"
_PATHS = {  # of node programs: where a bit with this in front of its name is, seen from a node or port
    "far": "over the edge",
    "all": "all ports",
    "far.all": "all ports over the edge",
    "back": "against the edges",
    "next": "next port",
    "every": "everywhere",
    **{".".join(way): f"to the {'-'.join(way)}" for way in COMPASS},
}
EXPLANATION = (
    "A box is a kind of cell: how many there are of it, the bits of its blocks (a bar divides blocks), and which bits "
    "of which cells it sets, by how many wires. An arrow leads to the kind of those cells; dashed, it leads back up."
)


@dataclass(frozen=True)
class Wires:
    """Similar wires from one kind to another."""

    target: int  # a kind, from 0; or NOWHERE
    arrays: tuple[str, ...]  # the arrays whose bits they set
    relation: str  # which cell they lead to, seen from their own: `same cell`, `next cell`, ...
    count: int


@dataclass(frozen=True)
class DrawnKind:
    """A kind as a diagram shows it."""

    number: int  # from 0, as `show --tile 1` counts from 1
    cells: int
    first: int  # its first cell
    place: str  # which cells of its line these are: `first`, `cells 2 to 9`; empty where all are, or none is known
    names: tuple[str, ...]  # the bits of its blocks: `p[i] q[i] | c[i]`
    lines: tuple[tuple[str, str], ...]  # the families it comes from: how written, and where
    wires: tuple[Wires, ...]  # those that stay in the cell first


def cell_diagram_svg(program: Program, title: str = "", tile: int = 1) -> str:
    """The diagram of a program's kinds of cells as SVG text; `tile` neighbouring cells are taken as one."""
    kinds = drawn_kinds(program, tile)
    if len(kinds) > MAX_KINDS:
        raise InputError(f"a diagram shows at most {MAX_KINDS} kinds of cells, this program has {len(kinds):,}")
    ordered = sorted(kinds, key=lambda kind: kind.first)
    place = {kind.number: at for at, kind in enumerate(ordered)}
    links: dict[tuple[int, int], str] = {}
    for kind in ordered:
        for wires in kind.wires:
            if wires.target != NOWHERE:
                words = f"kind {kind.number + 1}: {_words(kind, wires)}".replace(JOINT, " ")
                link = place[kind.number], place[wires.target]
                links[link] = f"{links[link]}; {words}" if link in links else words
    colours = {kind.number: COLOURS[at % len(COLOURS)] for at, kind in enumerate(ordered)}
    brief = len(kinds) > _FEW  # everything stands below then
    contents = [_content(kind, colours[kind.number], _WIDEST, brief) for kind in ordered]
    below = [_content(kind, colours[kind.number], _COLUMN) for kind in kinds] if brief else []
    cells = counted(sum(kind.cells for kind in kinds), "cell")
    total = counted(sum(wires.count for kind in kinds for wires in kind.wires), "wire")
    title = (f"{title}: " if title else "") + f"{cells} of {counted(len(kinds), 'kind')}, {total}"
    return drawing_svg(draw(title, EXPLANATION, contents, links, below=below))


def _content(kind: DrawnKind, colour: str, widest: float, brief: bool = False) -> Content:
    """The text of a kind; or, in `brief`, its heading and its first name, as much of it as a few lines hold."""
    head = f"kind {kind.number + 1}: {counted(kind.cells, 'cell')}" + (f", {kind.place}" if kind.place else "")
    if brief:
        names = wrapped(kind.names[0], _BRIEF)
        more = len(names) > _BRIEF_LINES or len(kind.names) > 1
        return Content(head, (*names[:_BRIEF_LINES], *["\N{HORIZONTAL ELLIPSIS}"] * more), colour)
    rows = [_words(kind, wires) for wires in kind.wires]
    if len(rows) > _MOST_ROWS:
        rows[_MOST_ROWS:] = [f"and {counted(len(rows) - _MOST_ROWS, 'more line')} of this sort"]
    widths = [text_width(head), *map(text_width, kind.names), *(text_width(row) + _HUNG for row in rows)]
    width = min(widest, max(_NARROWEST, *widths))
    names = [line for name in kind.names for line in wrapped(name, width)]
    hung = [wrapped(row, width - _HUNG) for row in rows]
    lines = [line for first, *others in hung for line in (first, *(2 * JOINT + other for other in others))]
    return Content(head, tuple(names), colour, tuple(lines), tuple(wrapped(_lines_in_words(kind.lines), width)))


def _words(kind: DrawnKind, wires: Wires) -> str:
    """`sum_c → kind 4, next cell, 17 wires`; the kind is omitted for the same cell."""
    to = "cells without templates" if wires.target == NOWHERE else f"kind{JOINT}{wires.target + 1}"
    if wires.target == kind.number and wires.relation == SAME:
        to = ""
    words = [to, wires.relation, counted(wires.count, "wire").replace(" ", JOINT)]
    return f"{', '.join(wires.arrays)} → {', '.join(word for word in words if word)}"


def _lines_in_words(lines: Sequence[tuple[str, str]]) -> str:
    """`cell p c (addition.py:23)`: the lines that kinds come from; of those written at one place, the first."""
    texts: dict[str, list[str]] = {}
    for text, where in lines:
        texts.setdefault(f" ({where})" if where else "", []).append(text)
    words = [own[0] + (f" and {len(own) - 1:,} more" if len(own) > 1 else "") + where for where, own in texts.items()]
    return "; ".join(_some(words, "line"))


def drawn_kinds(program: Program, tile: int = 1) -> list[DrawnKind]:
    """The kinds of a program's cells, in the order of their content."""
    cells = program.cells.tiled(tile)
    found = program.kinds if tile == 1 else cell_kinds(program, cells)
    families = cells.families
    wires: dict[int, list[Wires]] = {}
    for kind, wire in _wires(program, cells, found):
        wires.setdefault(kind, []).append(wire)
    drawn = []
    for number in range(len(found.kinds)):
        own = np.flatnonzero(found.of == number)
        own = own[np.lexsort((families.index[own], families.of[own]))]
        starts = np.flatnonzero(np.diff(families.of[own], prepend=-1))
        names: Counter[str] = Counter()
        for members in np.split(own, starts[1:]):
            names[_names(program, cells, members)] += len(members)
        from_ = families.of[own[starts]].tolist()
        size = int(families.sizes[from_[0]])
        drawn.append(
            DrawnKind(
                number,
                len(own),
                int(own.min()),
                _place(families.index[own], size) if len(from_) == 1 and size > len(own) else "",
                _some([name for name, _ in names.most_common()], "name"),
                tuple(dict.fromkeys((families.labels[one], families.places[one]) for one in from_)),
                tuple(sorted(wires.get(number, ()), key=lambda one: (one.target != number, one.relation != SAME))),
            )
        )
    return drawn


def _some(texts: list[str], what: str) -> tuple[str, ...]:
    more = len(texts) - _NAMED
    return (*texts[:_NAMED], f"and {counted(more, f'other {what}')}") if more > 0 else tuple(texts)


def _place(index: IntArray, size: int) -> str:
    first, last = int(index[0]), int(index[-1])
    if first == last:
        return {0: "first", size - 1: "last"}.get(first, f"cell {first + 1:,}") + f" of {size:,}"
    whole = last - first + 1 == len(index)
    return (f"{first + 1:,} to {last + 1:,}" if whole else f"{len(index):,}") + f" of {size:,}"


def _names(program: Program, cells: Cells, members: IntArray) -> str:
    """The bits of cells of one family, blocks divided by bars; indices that differ are letters."""
    lengths, blocks = np.diff(program.block_start), np.diff(cells.start)[members]
    alike = bool(np.all(blocks == blocks[0]))
    table = cells.blocks[cells.start[members if alike else members[:1]][:, None] + np.arange(blocks[0])]
    if not alike or np.any(lengths[table] != lengths[table[0]]):  # blocks without templates may differ
        alike, table = False, table[:1]
    letters: list[IntArray] = []
    texts = []
    for column in table.T:
        bits = program.block_bits[program.block_start[column][:, None] + np.arange(lengths[column[0]])]
        if cells.bit_place is not None:
            bits = np.take_along_axis(bits, np.argsort(cells.bit_place[bits], axis=1), axis=1)
        texts.append(" ".join(_name(program, own, letters) for own in bits.T))
    return ("" if alike else "such as ") + " | ".join(texts)


def _name(program: Program, bits: IntArray, letters: list[IntArray]) -> str:
    """One name for these bits, each of another cell: `p[i]`, `m[2*i-1,3]`; of pieces of one thing, the thing's name."""
    fields = program.layout.fields
    of = np.searchsorted([field.offset for field in fields], bits, side="right") - 1
    field = fields[int(of[0])]
    if np.any(of != of[0]):
        return "/".join(list(dict.fromkeys(program.array_families[one] for one in np.unique(of).tolist()))[:_NAMED])
    if not field.shape:
        return field.name
    at = np.unravel_index(bits - field.offset, field.shape)
    return f"{field.name}[{','.join(_index(np.asarray(axis, dtype=np.int64) + 1, letters) for axis in at)}]"


def _index(values: IntArray, letters: list[IntArray]) -> str:
    """A number, or a letter or an expression in one, that gives an index in every cell."""
    if np.all(values == values[0]):
        return str(int(values[0]))
    for letter, known in zip(_LETTERS, letters, strict=False):
        change = int(np.argmax(known != known[0]))
        factor, rest = divmod(int(values[change] - values[0]), int(known[change] - known[0]))
        offset = int(values[0]) - factor * int(known[0])
        if factor and not rest and np.array_equal(values, factor * known + offset):
            head = {1: letter, -1: f"-{letter}"}.get(factor, f"{factor}*{letter}")
            return f"{offset}{head}" if factor < 0 < offset else f"{head}{offset:+d}" if offset else head
    if len(letters) == len(_LETTERS):
        return "*"
    letters.append(values)
    return _LETTERS[len(letters) - 1]


def _wires(program: Program, cells: Cells, found: CellKinds) -> Iterator[tuple[int, Wires]]:
    """All wires by kind and target; those that lead to several arrays in the same way are one."""
    arrays = list(dict.fromkeys(program.array_families))
    numbers = {array: number for number, array in enumerate(arrays)}
    sizes = [field.size for field in program.layout.fields]
    array = np.repeat([numbers[name] for name in program.array_families], sizes)[found.wire_bit]
    here, paths = np.arange(program.bits), dict[str, str]()  # of a bit at another place, the bit that it is
    for field in program.layout.fields:
        path, _, name = field.name.rpartition(".")
        if path in _PATHS and name in program.layout:
            near = program.layout[name]
            here[field.offset : field.offset + field.size] = near.offset + np.arange(field.size) % near.size
            paths[field.name] = _PATHS[path]
    target = cells.of_block[program.block_of[here[found.wire_bit]]]
    columns = (array, found.of[target], found.wire_port, found.of[found.wire_cell])
    order = np.lexsort(columns)
    rows = np.stack(columns)[:, order]
    begins = np.flatnonzero(np.any(np.diff(rows, axis=1, prepend=-2) != 0, axis=0))
    alike: dict[tuple[int, int, str], list[tuple[str, int]]] = {}
    for wires in np.split(order, begins[1:]) if len(order) else []:
        a, b = found.wire_cell[wires], target[wires]
        kind, to, name = int(found.of[a[0]]), int(found.of[b[0]]), arrays[int(array[wires[0]])]
        reached = int(found.counts[to]) if to != NOWHERE else int((found.of == NOWHERE).sum())
        relation = paths.get(name) or _relation(cells, a, b, reached)
        alike.setdefault((kind, to, relation), []).append((name, len(wires)))
    for (kind, to, relation), parts in alike.items():
        yield kind, Wires(to, tuple(dict(parts)), relation, sum(count for _, count in parts))


def _relation(cells: Cells, a: IntArray, b: IntArray, reached: int) -> str:
    """Which cells `b` are, seen from the cells `a` wire by wire; `reached` is how many there are of their kind."""
    families = cells.families
    steps: list[int] = []
    if np.array_equal(families.of[a], families.of[b]):
        steps = sorted(np.unique(families.index[b] - families.index[a]).tolist(), key=abs)
        one_line = len(steps) == 2 and len(np.unique(families.of[a])) == 1
        if one_line and abs(steps[1] - steps[0]) == int(families.sizes[families.of[a[0]]]):
            return f"{_step(steps[0])}, in a ring"
    if len(steps) == 1 and abs(steps[0]) <= 1:
        return _step(steps[0])
    sources, targets = len(np.unique(a)), len(np.unique(b))
    pairs = len(np.unique(np.stack((a, b)), axis=1).T)
    if pairs == sources * targets and targets == reached > 1:
        return "all cells"
    if 1 <= len(steps) <= 2 and sources > 1:
        return " or ".join(map(_step, steps))
    if pairs == sources == targets:
        return "one to one" if pairs > 1 else ""
    return "many to one" if pairs == sources else "one to many" if pairs == targets else "many to many"


def _step(distance: int) -> str:
    near = {0: SAME, 1: "next cell", -1: "previous cell"}
    return near.get(distance) or f"{abs(distance):,} cells {'on' if distance > 0 else 'back'}"
