"""A program's cells as a diagram: a box for every kind, with its bits and what it sets, and arrows to those kinds."""

from __future__ import annotations

from dataclasses import replace

from bitwright.errors import InputError, counted
from bitwright.pages.cell_wiring import NOWHERE, SAME, DrawnKind, Wires, drawn_kinds, lines_in_words
from bitwright.pages.drawing import COLOURS, JOINT, Content, Drawing, draw, drawing_svg, text_width, wrapped
from bitwright.program import Program

MAX_KINDS = 200
_MOST_ROWS = 40  # of wires in a box
_FEW = 8  # kinds whose boxes may say everything
_WIDEST, _NARROWEST = 320, 150  # the texts of a box
_BRIEF, _BRIEF_LINES = 180, 2  # the names in a box that says no more
_COLUMN = 240  # the texts below
_HUNG = 12  # how far the lines of a row but the first are moved in

EXPLANATION = (
    "A box is a kind of cell: how many there are of it, the bits of its blocks (a bar divides blocks), and which bits "
    "of which cells it sets, by how many wires. An arrow leads to the kind of those cells; dashed, it leads back up."
)


def cell_drawing(program: Program, title: str = "", tile: int = 1) -> Drawing:
    """The layout of the diagram; `tile` neighbouring cells are taken as one."""
    kinds = drawn_kinds(program, tile)
    if len(kinds) > MAX_KINDS:
        raise InputError(f"a diagram shows at most {MAX_KINDS} kinds of cells, this program has {len(kinds):,}")
    ordered = sorted(kinds, key=lambda kind: kind.first)
    place = {kind.number: at for at, kind in enumerate(ordered)}
    links: dict[tuple[int, int], list[str]] = {}
    for kind in ordered:
        for wires in wires_of(kind):
            if wires.target != NOWHERE:
                said = f"kind {kind.number + 1}: {_words(kind, wires)}".replace(JOINT, " ")
                links.setdefault((place[kind.number], place[wires.target]), []).append(said)
    colours = [COLOURS[at % len(COLOURS)] for at in range(len(ordered))]
    contents = [_content(kind, colour, _WIDEST) for kind, colour in zip(ordered, colours, strict=True)]
    below = []
    if len(kinds) > _FEW:  # boxes are brief then, and all that is to be said stands below
        below = [_content(kind, colours[place[kind.number]], _COLUMN) for kind in kinds]
        contents = [_brief(kind, content) for kind, content in zip(ordered, contents, strict=True)]
    said_of = {link: "; ".join(said) for link, said in links.items()}
    return draw(_title(title, kinds), EXPLANATION, contents, said_of, below=below)


def cell_diagram_svg(program: Program, title: str = "", tile: int = 1) -> str:
    """The diagram of a program's kinds of cells as SVG text; `tile` neighbouring cells are taken as one."""
    return drawing_svg(cell_drawing(program, title, tile))


def wires_of(kind: DrawnKind) -> list[Wires]:
    """Its wires; what stays in the cell comes first."""
    return sorted(kind.wires, key=lambda one: (one.target != kind.number, one.relation != SAME))


def _title(name: str, kinds: list[DrawnKind]) -> str:
    wires = sum(wires.count for kind in kinds for wires in kind.wires)
    cells = counted(sum(kind.cells for kind in kinds), "cell")
    sizes = f"{cells} of {counted(len(kinds), 'kind')}, {counted(wires, 'wire')}"
    return f"{name}: {sizes}" if name else sizes


def _content(kind: DrawnKind, colour: str, widest: float) -> Content:
    head = f"kind {kind.number + 1}: {counted(kind.cells, 'cell')}" + (f", {kind.place}" if kind.place else "")
    rows = [_words(kind, wires) for wires in wires_of(kind)]
    if len(rows) > _MOST_ROWS:
        rows[_MOST_ROWS:] = [f"and {counted(len(rows) - _MOST_ROWS, 'more line')} of this sort"]
    widths = [text_width(head), *map(text_width, kind.names), *(text_width(row) + _HUNG for row in rows)]
    width = min(widest, max(_NARROWEST, *widths))
    names = [line for name in kind.names for line in wrapped(name, width)]
    notes = wrapped(lines_in_words(list(dict.fromkeys(kind.lines))), width)
    return Content(head, tuple(names), colour, tuple(line for row in rows for line in _hung(row, width)), tuple(notes))


def _brief(kind: DrawnKind, content: Content) -> Content:
    """Its heading and its first name, as much of it as a few lines hold."""
    names = wrapped(kind.names[0], _BRIEF)
    more = len(names) > _BRIEF_LINES or len(kind.names) > 1
    return replace(
        content, lines=(*names[:_BRIEF_LINES], *(["\N{HORIZONTAL ELLIPSIS}"] if more else [])), more=(), notes=()
    )


def _hung(row: str, width: float) -> list[str]:
    """Wrapped, with all lines but the first moved in."""
    first, *others = wrapped(row, width - _HUNG)
    return [first, *(2 * JOINT + other for other in others)]


def _words(kind: DrawnKind, wires: Wires) -> str:
    """`sum_c → kind 4, next cell, 17 wires`; that the same cell is of the same kind need not be said."""
    to = "cells without templates" if wires.target == NOWHERE else f"kind{JOINT}{wires.target + 1}"
    if wires.target == kind.number and wires.relation == SAME:
        to = ""
    told = [to, wires.relation, counted(wires.count, "wire").replace(" ", JOINT)]
    return f"{', '.join(wires.arrays)} → {', '.join(word for word in told if word)}"
