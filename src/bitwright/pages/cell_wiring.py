"""The contents of a diagram of cells: the kinds of a program's cells in words, and where their ports are wired to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bitwright.errors import counted
from bitwright.program import Program
from bitwright.program.cells import CellKinds, Cells, cell_kinds
from bitwright.program.layout import IntArray
from bitwright.program.text.parser import COMPASS

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


@dataclass(frozen=True)
class Wires:
    """All wires from one kind to one kind that are alike."""

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
    wires: tuple[Wires, ...]


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
        alone = len(from_) == 1 and int(families.sizes[from_[0]]) > len(own)
        drawn.append(
            DrawnKind(
                number,
                len(own),
                int(own.min()),
                _place(families.index[own], int(families.sizes[from_[0]])) if alone else "",
                _some([name for name, _ in names.most_common()], "name"),
                tuple(dict.fromkeys((families.labels[one], families.places[one]) for one in from_)),
                tuple(wires.get(number, ())),
            )
        )
    return drawn


def _some(texts: list[str], what: str) -> tuple[str, ...]:
    more = len(texts) - _NAMED
    return (*texts[:_NAMED], f"and {counted(more, f'other {what}')}") if more > 0 else tuple(texts)


def lines_in_words(lines: Sequence[tuple[str, str]]) -> str:
    """`cell p c (addition.py:23)`: the lines that kinds come from; of those written at one place, the first."""
    texts: dict[str, list[str]] = {}
    for text, where in lines:
        texts.setdefault(f" ({where})" if where else "", []).append(text)
    told = []
    for where, own in texts.items():
        told.append(own[0] + (f" and {len(own) - 1:,} more" if len(own) > 1 else "") + where)
    return "; ".join(_some(told, "line"))


def _place(index: IntArray, size: int) -> str:
    first, last = int(index[0]), int(index[-1])
    if first == last:
        return {0: "first", size - 1: "last"}.get(first, f"cell {first + 1:,}") + f" of {size:,}"
    if last - first + 1 == len(index):
        return f"{first + 1:,} to {last + 1:,} of {size:,}"
    return f"{len(index):,} of {size:,}"


def _names(program: Program, cells: Cells, members: IntArray) -> str:
    """The bits of cells of one family, blocks divided by bars; indices that differ are letters."""
    lengths, blocks = np.diff(program.block_start), np.diff(cells.start)[members]
    alike = bool(np.all(blocks == blocks[0]))
    table = cells.blocks[cells.start[members if alike else members[:1]][:, None] + np.arange(blocks[0])]
    if not alike or np.any(lengths[table] != lengths[table[0]]):  # blocks without templates may differ
        return "such as " + _table_names(program, cells, table[:1])
    return _table_names(program, cells, table)


def _table_names(program: Program, cells: Cells, table: IntArray) -> str:  # (cells, blocks of each)
    lengths = np.diff(program.block_start)
    letters: list[IntArray] = []
    texts = []
    for column in table.T:
        bits = program.block_bits[program.block_start[column][:, None] + np.arange(lengths[column[0]])]
        if cells.bit_place is not None:
            bits = np.take_along_axis(bits, np.argsort(cells.bit_place[bits], axis=1), axis=1)
        texts.append(" ".join(_name(program, own, letters) for own in bits.T))
    return " | ".join(texts)


def _name(program: Program, bits: IntArray, letters: list[IntArray]) -> str:
    """One name for these bits, each of another cell: `p[i]`, `m[2*i-1,3]`; of pieces of one thing, the thing's name."""
    fields = program.layout.fields
    of = np.searchsorted([field.offset for field in fields], bits, side="right") - 1
    field = fields[int(of[0])]
    if np.any(of != of[0]):
        things = dict.fromkeys(program.array_families[one] for one in np.unique(of).tolist())
        return "/".join(list(things)[:_NAMED])
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
    bits, paths = _bits_meant(program)
    target = cells.of_block[program.block_of[bits[found.wire_bit]]]
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


def _bits_meant(program: Program) -> tuple[IntArray, dict[str, str]]:
    """Of every bit, the bit that it is at another place, else itself; and of arrays at other places, where that is."""
    bits = np.arange(program.bits)
    paths = {}
    for field in program.layout.fields:
        path, _, name = field.name.rpartition(".")
        if path in _PATHS and name in program.layout:
            here = program.layout[name]
            bits[field.offset : field.offset + field.size] = here.offset + np.arange(field.size) % here.size
            paths[field.name] = _PATHS[path]
    return bits, paths


def _relation(cells: Cells, a: IntArray, b: IntArray, reached: int) -> str:
    """Which cells `b` are, seen from the cells `a` wire by wire; `reached` is how many there are of their kind."""
    families = cells.families
    steps: list[int] = []
    if np.array_equal(families.of[a], families.of[b]):
        distance = families.index[b] - families.index[a]
        steps = np.unique(distance).tolist()
        if len(steps) == 2 and len(np.unique(families.of[a])) == 1:
            size = int(families.sizes[families.of[a[0]]])
            if steps[1] - steps[0] == size:
                return f"{_step(min(steps, key=abs))}, in a ring"
    if len(steps) == 1 and abs(steps[0]) <= 1:
        return _step(steps[0])
    sources, targets = len(np.unique(a)), len(np.unique(b))
    pairs = len(np.unique(np.stack((a, b)), axis=1).T)
    if pairs == sources * targets and targets == reached > 1:
        return "all cells"
    if 1 <= len(steps) <= 2 and sources > 1:
        return " or ".join(_step(step) for step in sorted(steps, key=abs))
    if pairs == sources == targets:
        return "one to one" if pairs > 1 else ""
    if pairs == sources:
        return "many to one"
    return "one to many" if pairs == targets else "many to many"


def _step(distance: int) -> str:
    near = {0: SAME, 1: "next cell", -1: "previous cell"}
    return near.get(distance) or f"{abs(distance):,} cells {'on' if distance > 0 else 'back'}"
