"""Draws the cells of a program: a box for each kind with its bits and writes, and arrows to the kinds it writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape

import numpy as np

from bitwright.common.errors import InputError, counted
from bitwright.rules import Program
from bitwright.rules.cells import CellKinds, Cells, cell_kinds
from bitwright.rules.layout import IntArray
from bitwright.rules.text.parser import COMPASS

MAX_KINDS = 200
SIZE = 13  # font size
_LINE, _PAD, _GAP, _ROWS, _MARGIN, _PAGE = 16.0, 9.0, 30.0, 60.0, 18.0, 1100.0
_WIDEST = 320  # width of the text in a box
_COLOURS = ("#0072B2", "#C04A00", "#00795A", "#A8437E", "#8A6500", "#444444", "#6A4C93", "#A52A2A")
_JOINT = "\N{NO-BREAK SPACE}"
_LETTERS = "ijklmnuvwxyz"
_NAMED = 3  # names listed for cells of one kind; further names are counted
NOWHERE = -1  # the kind of cells without templates
SAME = "same cell"
_PATHS = {  # prefix of a bit in a node program: position of that bit relative to the node or port
    "far": "over the edge",
    "all": "all ports",
    "far.all": "all ports over the edge",
    "back": "against the edges",
    "next": "next port",
    "every": "everywhere",
    **{".".join(way): f"to the {'-'.join(way)}" for way in COMPASS},
}
_EXPLANATION = (
    "Each box shows one kind of cell: the number of its cells, the bits of its blocks (separated by bars), and the "
    "bits that it sets, with the number of wires. Arrows lead to the kinds that contain these bits; arrows back up "
    "are dashed."
)


@dataclass(frozen=True)
class Wires:
    """Wires from one kind to another that lead to the same relative position."""

    target: int  # a kind, from 0; or NOWHERE
    arrays: tuple[str, ...]  # the arrays whose bits the wires set
    relation: str  # position of the target relative to the cell: `same cell`, `next cell`, ...
    count: int

    def text(self, kind: int) -> str:
        """Formats the wires: `sum_c → kind 4, next cell, 17 wires`, without the kind if they stay in the cell."""
        to = "cells without templates" if self.target == NOWHERE else f"kind{_JOINT}{self.target + 1}"
        if self.target == kind and self.relation == SAME:
            to = ""
        words = [to, self.relation, counted(self.count, "wire").replace(" ", _JOINT)]
        return f"{', '.join(self.arrays)} → {', '.join(word for word in words if word)}"


@dataclass(frozen=True)
class DrawnKind:
    """A kind of cell in a diagram."""

    number: int  # from 0; `show --tile 1` counts from 1
    cells: int
    first: int  # its first cell
    place: str  # position of these cells in their line: `first of 9`, `2 to 8 of 9`; empty for the entire line
    names: tuple[str, ...]  # the bits of its blocks: `p[i] q[i] | c[i]`
    wires: tuple[Wires, ...]  # wires within the cell come first


@dataclass
class _Box:
    """A box with its text and position."""

    lines: list[str]  # the first is its heading
    colour: str
    x: float = 0.0
    y: float = 0.0

    @property
    def width(self) -> float:
        return max(text_width(self.lines[0]) * 1.08, *map(text_width, self.lines[1:]), 40.0) + 2 * _PAD

    @property
    def height(self) -> float:
        return _LINE * len(self.lines) + 2 * _PAD - 3


def cell_diagram_svg(program: Program, title: str = "", tile: int = 1) -> str:
    """Returns the diagram of a program's kinds of cells as SVG; `tile` neighbouring cells count as one cell."""
    kinds = sorted(drawn_kinds(program, tile), key=lambda kind: kind.first)
    if len(kinds) > MAX_KINDS:
        raise InputError(f"a diagram shows at most {MAX_KINDS} kinds of cells, this program has {len(kinds):,}")
    at = {kind.number: place for place, kind in enumerate(kinds)}
    links: dict[tuple[int, int], list[str]] = {}  # from box to box, in words
    for kind in kinds:
        for wires in kind.wires:
            if wires.target != NOWHERE:
                words = f"kind {kind.number + 1}: {wires.text(kind.number)}".replace(_JOINT, " ")
                links.setdefault((at[kind.number], at[wires.target]), []).append(words)
    boxes = [_Box(_lines(kind), _COLOURS[place % len(_COLOURS)]) for place, kind in enumerate(kinds)]
    cells = counted(sum(kind.cells for kind in kinds), "cell")
    total = counted(sum(wires.count for kind in kinds for wires in kind.wires), "wire")
    title = (f"{title}: " if title else "") + f"{cells} of {counted(len(kinds), 'kind')}, {total}"
    return _drawing(title, boxes, links)


def _lines(kind: DrawnKind) -> list[str]:
    """Returns the text of a box: the heading, names and wires of a kind."""
    head = f"kind {kind.number + 1}: {counted(kind.cells, 'cell')}" + (f", {kind.place}" if kind.place else "")
    wires = [wrapped(wires.text(kind.number), _WIDEST - 12) for wires in kind.wires]
    hung = [line for first, *more in wires for line in (first, *(2 * _JOINT + one for one in more))]
    return [head, *(line for name in kind.names for line in wrapped(name, _WIDEST)), *hung]


def _drawing(title: str, boxes: list[_Box], links: Mapping[tuple[int, int], list[str]]) -> str:
    """Draws the boxes in rows below a title, so that most arrows lead down; an arrow's tooltip describes its wires."""
    import networkx

    down = networkx.DiGraph((a, b) for a, b in links if a < b)
    down.add_nodes_from(range(len(boxes)))
    rows: list[list[_Box]] = []
    for generation in networkx.topological_generations(down):
        wide = _PAGE
        for box in (boxes[number] for number in sorted(generation)):
            if wide + box.width > _PAGE:
                rows.append([])
                wide = 0.0
            rows[-1].append(box)
            wide += box.width + _GAP
    widths = [sum(box.width + _GAP for box in row) for row in rows]
    width = max(560.0, *widths) + 2 * _MARGIN
    head = [*wrapped(title, width - 2 * _MARGIN, 17), *wrapped(_EXPLANATION, width - 2 * _MARGIN)]
    y = _MARGIN + 18.0 * len(head) + 22
    for row, wide in zip(rows, widths, strict=True):
        x = (width - wide + _GAP) / 2
        for box in row:
            box.x, box.y = x, y
            x += box.width + _GAP
        y += max(box.height for box in row) + _ROWS
    texts = [
        _text(_MARGIN, _MARGIN + 18.0 * number, line, "#111111" if number == 0 else "#444444", number == 0)
        for number, line in enumerate(head, 1)
    ]
    for box in boxes:
        texts.append(
            f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="4" '
            f'fill="white" stroke="{box.colour}" stroke-width="1.6"/>'
        )
        for number, line in enumerate(box.lines):
            y_text = box.y + _PAD + 10 + _LINE * number
            texts.append(_text(box.x + _PAD, y_text, line, "#111111" if number else box.colour, number == 0))
    arrows = [_arrow(boxes, edge, links) for edge in sorted(links)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {y:.0f}" width="{width:.0f}" '
        f'height="{y:.0f}" font-family="Helvetica, Arial, sans-serif" font-size="{SIZE}" role="img" '
        f'aria-label="{escape(title)}">\n<defs>{"".join(map(_marker, _COLOURS))}</defs>\n'
        + "\n".join([f'<rect width="{width:.0f}" height="{y:.0f}" fill="white"/>', *arrows, *texts, "</svg>\n"])
    )


def _arrow(boxes: list[_Box], edge: tuple[int, int], links: Mapping[tuple[int, int], list[str]]) -> str:
    """Draws an arrow between two boxes; arrows of the same box leave and arrive side by side."""
    source, target = (boxes[number] for number in edge)
    leaving, arriving = ([one for one in sorted(links) if one[end] == edge[end]] for end in (0, 1))
    x = source.x + source.width * (1 + leaving.index(edge)) / (1 + len(leaving))
    end = target.x + target.width * (1 + arriving.index(edge)) / (1 + len(arriving))
    back = target.y <= source.y
    if source is target:
        side, middle = source.x + source.width, source.y + source.height / 2
        path = f"M{side:.1f} {middle - 6:.1f}c18 -8 18 20 0 12"
    elif target.y == source.y:
        path = f"M{x:.1f} {source.y:.1f}c0 -30 {end - x:.1f} -30 {end - x:.1f} 0"
    else:
        y, low = (source.y, target.y + target.height) if back else (source.y + source.height, target.y)
        path = f"M{x:.1f} {y:.1f}C{x:.1f} {(y + low) / 2:.1f} {end:.1f} {(y + low) / 2:.1f} {end:.1f} {low:.1f}"
    dashes = ' stroke-dasharray="7 3"' if back and source is not target else ""
    return (
        f'<g><title>{escape("; ".join(links[edge]))}</title><path d="{path}" fill="none" stroke="{source.colour}" '
        f'stroke-width="1.4" marker-end="url(#arrow{source.colour[1:]})"{dashes}/></g>'
    )


def _marker(colour: str) -> str:
    return (
        f'<marker id="arrow{colour[1:]}" viewBox="0 0 9 8" refX="9" refY="4" markerWidth="9" markerHeight="8" '
        f'markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L9 4L0 8z" fill="{colour}"/></marker>'
    )


def _text(x: float, y: float, text: str, colour: str, bold: bool) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}"{weight}>{escape(text)}</text>'


def text_width(text: str, size: float = SIZE) -> float:
    """Estimates the width of a text in a sans-serif font, from above."""
    wide, narrow = sum(char in "mwMW@%→" for char in text), sum(char in f"iljtfr.,:;|'[]() {_JOINT}" for char in text)
    capitals = sum(char.isupper() and char not in "MW" for char in text)
    return size * (0.9 * wide + 0.33 * narrow + 0.72 * capitals + 0.58 * (len(text) - wide - narrow - capitals))


def wrapped(text: str, width: float, size: float = SIZE) -> list[str]:
    """Wraps text to a width and breaks words that are too long; no-break spaces become spaces."""
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        if line and text_width(f"{line} {word}", size) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
        while text_width(line, size) > width and len(line) > 1:
            fits = max(n for n in range(1, len(line)) if n == 1 or text_width(line[:n], size) <= width)
            lines.append(line[:fits])
            line = line[fits:]
    return [one.replace(_JOINT, " ") for one in (*lines, line)]


def drawn_kinds(program: Program, tile: int = 1) -> list[DrawnKind]:
    """Returns the kinds of a program's cells, ordered by their contents."""
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
                _first_few([name for name, _ in names.most_common()]),
                tuple(sorted(wires.get(number, ()), key=lambda one: (one.target != number, one.relation != SAME))),
            )
        )
    return drawn


def _first_few(names: list[str]) -> tuple[str, ...]:
    more = len(names) - _NAMED
    return (*names[:_NAMED], f"and {counted(more, 'other name')}") if more > 0 else tuple(names)


def _place(index: IntArray, size: int) -> str:
    first, last = int(index[0]), int(index[-1])
    if first == last:
        return {0: "first", size - 1: "last"}.get(first, f"cell {first + 1:,}") + f" of {size:,}"
    whole = last - first + 1 == len(index)
    return (f"{first + 1:,} to {last + 1:,}" if whole else f"{len(index):,}") + f" of {size:,}"


def _names(program: Program, cells: Cells, members: IntArray) -> str:
    """Names the bits of cells of one family, with bars between blocks and letters for indices that vary."""
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
    """Names one bit of each cell together: `p[i]`, `m[2*i-1,3]`, or the name of the family if the arrays differ."""
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
    """Yields the wires of each kind; wires to several arrays with the same relation are merged."""
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
    """Describes the targets `b` of wires from cells `a`; `reached` is the number of cells of the targets' kind."""
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
