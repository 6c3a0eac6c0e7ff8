"""A program's cells as a diagram: a box for every kind, with its ports, and lines to the kinds that they are wired to.

Kinds that come from one line, such as the ends of a chain and what lies between, stand together under that line. Where
there are many kinds, lines would cross too often: boxes then stand in two columns, and wires are told in words alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from itertools import chain

from bitwright.errors import InputError, counted
from bitwright.program import Program
from bitwright.viewer.cell_wiring import NOWHERE, SAME, DrawnKind, Wires, drawn_kinds, lines_in_words

MAX_KINDS = 200
_WIRED_KINDS = 8  # more kinds than these are not wired by lines
_MOST_ROWS = 40  # of ports in a box
_COLOURS = ("#0072B2", "#C04A00", "#00795A", "#A8437E", "#8A6500", "#444444", "#6A4C93", "#A52A2A")
_MARGIN, _PAD, _LINE, _SMALL_GAP, _GAP, _LANE = 16, 10, 17, 8, 26, 13
_WIDEST, _WIDEST_OF_MANY, _NARROWEST = 430, 340, 250  # a box
_TAB = 50  # where the text of its ports begins
_SIZE = 13
_JOINT = "\N{NO-BREAK SPACE}"

EXPLANATION = (
    "A box is a kind of cell: how many there are of it, the bits of its blocks (a bar divides blocks), and what its "
    "ports set, in which cells, by how many wires."
)


def text_width(text: str, size: float = _SIZE) -> float:
    """About how wide a text is in a sans-serif font, rather too wide than too narrow."""
    wide, narrow = sum(char in "mwMW@%→" for char in text), sum(char in f"iljtfr.,:;|'[]() {_JOINT}" for char in text)
    capitals = sum(char.isupper() and char not in "MW" for char in text)
    return size * (0.9 * wide + 0.33 * narrow + 0.72 * capitals + 0.58 * (len(text) - wide - narrow - capitals))


def wrapped(text: str, width: float, size: float = _SIZE) -> list[str]:
    """The text in lines that are not wider; joints become spaces; a word that is too long for a line is broken."""
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


@dataclass(frozen=True)
class _Box:
    """A kind and its lines of text, from the top of its rectangle."""

    kind: DrawnKind
    names: tuple[str, ...]
    ports: tuple[tuple[Wires | None, str, str], ...]  # the wires that begin in this line, `port 2`, the text

    @property
    def height(self) -> int:
        return _LINE * (1 + len(self.names) + len(self.ports)) + 2 * _PAD


@dataclass(frozen=True)
class _Group:
    """The kinds of one line, under that line."""

    heading: tuple[str, ...]
    boxes: tuple[_Box, ...]

    @property
    def height(self) -> int:
        return _LINE * len(self.heading) + sum(box.height + _SMALL_GAP for box in self.boxes)


def cell_diagram_svg(program: Program, title: str = "", tile: int = 1) -> str:
    """The diagram of a program's kinds of cells as SVG text; `tile` neighbouring cells are taken as one."""
    kinds = drawn_kinds(program, tile)
    if len(kinds) > MAX_KINDS:
        raise InputError(f"a diagram shows at most {MAX_KINDS} kinds of cells, this program has {len(kinds):,}")
    many = len(kinds) > _WIRED_KINDS
    together = _together(kinds, by_number=many)
    lanes = {} if many else {kind.number: lane for lane, kind in enumerate(chain(*together))}
    across = 2 if many else 1
    title = _title(title, kinds)
    inner = _inner_width(kinds, title, _WIDEST_OF_MANY if many else _WIDEST)
    groups = [_group(members, inner) for members in together]
    column = inner + 2 * _PAD
    width = round(2 * _MARGIN + across * column + (across - 1) * _GAP + (_LANE * (len(lanes) + 1) if lanes else 0))

    out: list[str] = []
    top = 30
    for line in wrapped(title, width - 2 * _MARGIN, 16 * 1.08):  # bold letters are wider
        out.append(_text(_MARGIN, top, line, size=16, bold=True))
        top += 21
    for line in wrapped(EXPLANATION, width - 2 * _MARGIN):
        out.append(_text(_MARGIN, top, line, fill="#444"))
        top += _LINE
    top += 6
    bottoms = [top] * across
    drawn: dict[int, tuple[_Box, int, int]] = {}  # by kind: its box and where it stands
    for group in groups:
        at = bottoms.index(min(bottoms))
        x, y = round(_MARGIN + at * (column + _GAP)), bottoms[at] + _LINE
        for line in group.heading:
            out.append(_text(x, y, line, fill="#444"))
            y += _LINE
        y -= 8
        if len(group.boxes) > 1:
            height = group.height - _LINE * len(group.heading) - _SMALL_GAP
            out.append(f'<rect x="{x - 8}" y="{y}" width="3" height="{height}" fill="#888"/>')
        for box in group.boxes:
            drawn[box.kind.number] = box, x, y
            y += box.height + _SMALL_GAP
        bottoms[at] = y + _GAP - _LINE - _SMALL_GAP
    if lanes:
        out += _lines(drawn, lanes, round(column))
    for box, x, y in drawn.values():
        out.append(_box_svg(box, x, y, round(column), _colour(box.kind.number if lanes else 0)))
    height = max(bottoms) - _GAP + _LINE + _MARGIN
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="Helvetica, Arial, sans-serif" font-size="{_SIZE}" role="img" aria-label="{escape(title)}">'
    )
    return "\n".join([head, f'<rect width="{width}" height="{height}" fill="white"/>', *out, "</svg>"]) + "\n"


def _together(kinds: list[DrawnKind], by_number: bool) -> list[list[DrawnKind]]:
    """Kinds of one line together, in the order of their cells; groups in the order of the lines, or of their kinds."""
    groups: dict[object, list[DrawnKind]] = {}
    for kind in kinds:
        groups.setdefault(("row", kind.row) if kind.row is not None else kind.number, []).append(kind)
    ordered = [sorted(members, key=lambda kind: kind.first) for members in groups.values()]
    return ordered if by_number else sorted(ordered, key=lambda members: members[0].first)


def _title(name: str, kinds: list[DrawnKind]) -> str:
    wires = sum(wires.count for kind in kinds for wires in kind.wires)
    cells = counted(sum(kind.cells for kind in kinds), "cell")
    sizes = f"{cells} of {counted(len(kinds), 'kind')}, {counted(wires, 'wire')}"
    return f"{name}: {sizes}" if name else sizes


def _inner_width(kinds: list[DrawnKind], title: str, most: int) -> float:
    """As wide as the widest text, within bounds."""
    texts = [text_width(title, 16)]
    for kind in kinds:
        texts += [text_width(_head(kind), _SIZE * 1.08), *map(text_width, kind.names), text_width(_origin([kind]))]
        texts += [_TAB + text_width(_words(kind, wires)) for wires in kind.wires]
    return min(most, max(_NARROWEST, *texts) + 2 * _PAD) - 2 * _PAD


def _group(members: list[DrawnKind], inner: float) -> _Group:
    return _Group(tuple(wrapped(_origin(members), inner + 2 * _PAD)), tuple(_box(kind, inner) for kind in members))


def _origin(members: list[DrawnKind]) -> str:
    return lines_in_words(list(dict.fromkeys(line for kind in members for line in kind.lines)))


def _box(kind: DrawnKind, inner: float) -> _Box:
    ports: list[tuple[Wires | None, str, str]] = []
    before = None
    for wires in kind.wires[:_MOST_ROWS]:
        lines = wrapped(_words(kind, wires), inner - _TAB)
        ports.append((wires, "" if wires.port == before else f"port {wires.port + 1}", lines[0]))
        ports += [(None, "", line) for line in lines[1:]]
        before = wires.port
    if len(kind.wires) > _MOST_ROWS:
        ports.append((None, "", f"and {counted(len(kind.wires) - _MOST_ROWS, 'more line')} of this sort"))
    names = [line for name in kind.names for line in wrapped(name, inner)]
    return _Box(kind, tuple(names), tuple(ports))


def _head(kind: DrawnKind) -> str:
    return f"kind {kind.number + 1}: {counted(kind.cells, 'cell')}" + (f", {kind.place}" if kind.place else "")


def _words(kind: DrawnKind, wires: Wires) -> str:
    """`sum_c → kind 4, next cell, 17 wires`; that the same cell is of the same kind need not be said."""
    to = "cells without templates" if wires.target == NOWHERE else f"kind{_JOINT}{wires.target + 1}"
    if wires.target == kind.number and wires.relation == SAME:
        to = ""
    told = [to, wires.relation, counted(wires.count, "wire").replace(" ", _JOINT)]
    return f"{', '.join(wires.arrays)} → {', '.join(word for word in told if word)}"


def _colour(kind: int) -> str:
    return _COLOURS[kind % len(_COLOURS)]


def _text(x: float, y: float, text: str, *, fill: str = "#111", size: int = 0, bold: bool = False) -> str:
    extra = (f' font-size="{size}"' if size else "") + (' font-weight="bold"' if bold else "")
    return f'<text x="{x:g}" y="{y:g}" fill="{fill}"{extra}>{escape(text)}</text>'


def _box_svg(box: _Box, x: int, y: int, width: int, colour: str) -> str:
    parts = [
        f'<rect x="{x}" y="{y}" width="{width}" height="{box.height}" rx="4" fill="white" stroke="{colour}" '
        'stroke-width="1.6"/>'
    ]
    at = y + _PAD + 12
    parts.append(_text(x + _PAD, at, _head(box.kind), fill=colour, bold=True))
    for name in box.names:
        at += _LINE
        parts.append(_text(x + _PAD, at, name))
    for _, port, text in box.ports:
        at += _LINE
        if port:
            parts.append(_text(x + _PAD, at, port, fill="#444"))
        parts.append(_text(x + _PAD + _TAB, at, text))
    return "\n".join(parts)


def _lines(drawn: dict[int, tuple[_Box, int, int]], lanes: dict[int, int], width: int) -> Iterable[str]:
    """From every row of wires to the lane of its target, which leads to the target's first line."""
    ends: dict[int, list[int]] = {}
    for number, (box, x, y) in drawn.items():
        right = x + width
        for row, (wires, _, _) in enumerate(box.ports):
            if wires is None or wires.target == NOWHERE:
                continue
            at = y + _PAD + 8 + _LINE * (1 + len(box.names) + row)
            colour = _colour(wires.target)
            if wires.target == number and wires.relation == SAME:
                yield f'<path d="M{right} {at - 4}a4 4 0 0 1 0 8" fill="none" stroke="{colour}" stroke-width="1.6"/>'
                continue
            lane = right + _LANE * (1 + lanes[wires.target])
            yield f'<path d="M{right} {at}H{lane}" stroke="{colour}" stroke-width="1.4"/>'
            yield f'<circle cx="{lane}" cy="{at}" r="2.6" fill="{colour}"/>'
            ends.setdefault(wires.target, []).append(at)
    for target, rows in ends.items():
        _, x, y = drawn[target]
        right, head, colour = x + width, y + _PAD + 8, _colour(target)
        lane = right + _LANE * (1 + lanes[target])
        low, high = min(*rows, head), max(*rows, head)
        path = f"M{lane} {low}V{high}M{lane} {head}H{right + 6}"
        yield f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.4"/>'
        yield f'<path d="M{right + 1} {head}l8 -4v8z" fill="{colour}"/>'
