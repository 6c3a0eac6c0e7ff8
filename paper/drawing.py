"""Boxes of text and arrows between them as a drawing, with a title and a legend, and as SVG text.

Arrows have the colour of the box that they come from; those that lead back up are dashed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import hypot

from paper.layered import Point, layered

SIZE = 13  # of letters
JOINT = "\N{NO-BREAK SPACE}"
COLOURS = ("#0072B2", "#C04A00", "#00795A", "#A8437E", "#8A6500", "#444444", "#6A4C93", "#A52A2A")
BOLD = 1.08  # how much wider bold letters are
_MARGIN, _PAD, _LINE, _SPACE, _LOOP = 18.0, 9.0, 16.0, 5.0, 20.0
_TITLE, _NARROWEST, _PAGE = 16, 560.0, 1100.0


def svg_text(width: float, height: float, title: str, size: int, parts: Iterable[str]) -> str:
    """A picture on white."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" font-family="Helvetica, Arial, sans-serif" font-size="{size}" role="img" '
            f'aria-label="{escape(title)}">',
            f'<rect width="{width}" height="{height}" fill="white"/>',
            *parts,
            "</svg>\n",
        ]
    )


def text_width(text: str, size: float = SIZE) -> float:
    """About how wide a text is in a sans-serif font, rather too wide than too narrow."""
    wide, narrow = sum(char in "mwMW@%→■▲★" for char in text), sum(char in f"iljtfr.,:;|'[]() {JOINT}" for char in text)
    capitals = sum(char.isupper() and char not in "MW" for char in text)
    return size * (0.9 * wide + 0.33 * narrow + 0.72 * capitals + 0.58 * (len(text) - wide - narrow - capitals))


def wrapped(text: str, width: float, size: float = SIZE) -> list[str]:
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
    return [one.replace(JOINT, " ") for one in (*lines, line)]


@dataclass(frozen=True)
class Text:
    """A line of text; y is that of its base line."""

    x: float
    y: float
    text: str
    colour: str = "#111111"
    size: int = SIZE
    bold: bool = False


@dataclass(frozen=True)
class Rectangle:
    """A box, or a filled patch of a legend."""

    x: float
    y: float
    width: float
    height: float
    colour: str
    filled: bool = False


@dataclass(frozen=True)
class Arrow:
    """A curve: a point, then two handles and a point, again and again; and what it says in words."""

    route: tuple[Point, ...]
    colour: str
    words: str
    back: bool


@dataclass(frozen=True)
class Content:
    """The text in a box: a heading in its colour, lines, more of them below a space, and notes in grey."""

    heading: str
    lines: tuple[str, ...]
    colour: str
    more: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def size(self) -> Point:
        """How wide and high the text is, with the space around it."""
        texts = (*self.lines, *self.more, *self.notes)
        widest = max(text_width(self.heading, SIZE * BOLD), *map(text_width, texts), 40.0)
        spaces = _SPACE * (bool(self.more) + bool(self.notes))
        return widest + 2 * _PAD, _LINE * (1 + len(texts)) + spaces + 2 * _PAD - 3

    def texts(self, x: float, y: float) -> list[Text]:
        """Its lines, where its upper left corner is at x and y."""
        y += _PAD + 10
        found = [Text(x + _PAD, y, self.heading, self.colour, bold=True)]
        for lines, space, colour in (
            (self.lines, 0.0, "#111111"),
            (self.more, _SPACE, "#111111"),
            (self.notes, _SPACE, "#666666"),
        ):
            y += space if lines else 0
            for line in lines:
                y += _LINE
                found.append(Text(x + _PAD, y, line, colour))
        return found


@dataclass
class Drawing:
    """Everything a picture needs, in units of a point; y runs down."""

    title: str
    width: float
    height: float = 14.0
    texts: list[Text] = field(default_factory=list)
    boxes: list[Rectangle] = field(default_factory=list)  # of the contents, in their order; then those of the legend
    arrows: list[Arrow] = field(default_factory=list)


def draw(
    title: str,
    explanation: str,
    contents: Sequence[Content],
    links: Mapping[tuple[int, int], str],  # from box to box, in words
    legend: Mapping[str, str] | None = None,  # names and their colours
    below: Sequence[Content] = (),  # in columns below the boxes
) -> Drawing:
    """The drawing of boxes and arrows, with a title, a legend and columns of text below."""
    edges = [edge for edge in sorted(links) if edge[0] != edge[1]]
    sizes = [content.size for content in contents]
    placed = layered(sizes, edges, _PAGE)
    drawing = Drawing(title, max(_NARROWEST, placed.width + 2 * _MARGIN + _LOOP, _PAGE if below else 0))
    patches = _head(drawing, explanation, legend or {})
    left, top = (drawing.width - placed.width) / 2, drawing.height + 8
    for number, (content, size, (x, y)) in enumerate(zip(contents, sizes, placed.corners, strict=True)):
        box = Rectangle(left + x, top + y, *size, content.colour)
        drawing.boxes.append(box)
        drawing.texts += content.texts(box.x, box.y)
        if (number, number) in links:
            side, middle = box.x + box.width, box.y + box.height / 2
            bow = ((side, middle - 6), (side + 15, middle - 11), (side + 18, middle + 6), (side, middle + 6))
            drawing.arrows.append(Arrow(bow, content.colour, links[number, number], back=False))
    for edge, curve in zip(edges, placed.routes, strict=True):
        route = tuple((left + x, top + y) for x, y in curve)
        drawing.arrows.append(Arrow(route, contents[edge[0]].colour, links[edge], route[-1][1] < route[0][1]))
    drawing.boxes += patches
    drawing.height = top + placed.height + _MARGIN
    _columns(drawing, below)
    return drawing


def _head(drawing: Drawing, explanation: str, legend: Mapping[str, str]) -> list[Rectangle]:
    """Writes title, explanation and legend; returns the patches of the legend."""
    inner, y, patches = drawing.width - 2 * _MARGIN, drawing.height, []
    for line in wrapped(drawing.title, inner, _TITLE * BOLD) if drawing.title else ():
        y += 20
        drawing.texts.append(Text(_MARGIN, y, line, size=_TITLE, bold=True))
    y += 4
    for line in wrapped(explanation, inner):
        y += 17
        drawing.texts.append(Text(_MARGIN, y, line, "#444444"))
    x = _MARGIN
    y += 24 if legend else 0
    for name, colour in legend.items():
        needed = 18 + text_width(name, SIZE * BOLD)
        if x > _MARGIN and x + needed > drawing.width - _MARGIN:
            x, y = _MARGIN, y + 19
        patches.append(Rectangle(x, y - 10, 11, 11, colour, filled=True))
        drawing.texts.append(Text(x + 17, y, name, colour, bold=True))
        x += needed + 22
    drawing.height = y + 14
    return patches


def _columns(drawing: Drawing, below: Sequence[Content]) -> None:
    """Adds texts one under another, in columns of one width and about one height."""
    if not below:
        return
    sizes = [content.size for content in below]
    count = max(1, int((drawing.width - _MARGIN) // max(wide for wide, _ in sizes)))
    apart, high = (drawing.width - 2 * _MARGIN) / count, sum(high for _, high in sizes) / count
    top, column, y, bottom = drawing.height, 0, 0.0, 0.0
    for content, (_, own) in zip(below, sizes, strict=True):
        if column < count - 1 and y + own / 2 > high:
            column, y = column + 1, 0.0
        drawing.texts += content.texts(_MARGIN + column * apart - _PAD, top + y)
        y += own
        bottom = max(bottom, y)
    drawing.height = top + bottom + _MARGIN


def drawing_svg(drawing: Drawing) -> str:
    """The picture; pointing at an arrow shows it in words."""
    parts = [*map(_arrow, drawing.arrows), *map(_rectangle, drawing.boxes), *map(_text, drawing.texts)]
    return svg_text(round(drawing.width), round(drawing.height), drawing.title, SIZE, parts)


def tip(route: Sequence[Point], long: float = 9.0, wide: float = 4.0) -> tuple[Point, Point, Point]:
    """The arrowhead at the end of a curve: its point and the two corners behind."""
    x, y = route[-1]
    before = next(((a, b) for a, b in reversed(route[:-1]) if hypot(x - a, y - b) > 1), (x, y - 1))
    length = hypot(x - before[0], y - before[1])
    dx, dy = (x - before[0]) / length, (y - before[1]) / length
    back = (x - long * dx, y - long * dy)
    return (x, y), (back[0] - wide * dy, back[1] + wide * dx), (back[0] + wide * dy, back[1] - wide * dx)


def _arrow(arrow: Arrow) -> str:
    end, left, right = tip(arrow.route)
    (x, y), *rest = (*arrow.route[:-1], ((left[0] + right[0]) / 2, (left[1] + right[1]) / 2))
    path = f"M{x:.1f} {y:.1f}C" + " ".join(f"{a:.1f} {b:.1f}" for a, b in rest)
    head = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in (end, left, right)) + "z"
    dashes = ' stroke-dasharray="7 3"' if arrow.back else ""
    return (  # a white line below keeps crossing arrows apart
        f'<g><title>{escape(arrow.words)}</title><path d="{path}" fill="none" stroke="white" stroke-width="4"/>'
        f'<path d="{path}" fill="none" stroke="{arrow.colour}" stroke-width="1.4"{dashes}/>'
        f'<path d="{head}" fill="{arrow.colour}"/></g>'
    )


def _rectangle(box: Rectangle) -> str:
    place = f'x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}"'
    if box.filled:
        return f'<rect {place} rx="2" fill="{box.colour}"/>'
    return f'<rect {place} rx="4" fill="white" stroke="{box.colour}" stroke-width="1.6"/>'


def _text(text: Text) -> str:
    extra = (f' font-size="{text.size}"' if text.size != SIZE else "") + (' font-weight="bold"' if text.bold else "")
    return f'<text x="{text.x:.1f}" y="{text.y:.1f}" fill="{text.colour}"{extra}>{escape(text.text)}</text>'
