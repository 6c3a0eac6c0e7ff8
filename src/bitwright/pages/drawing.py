"""Boxes of text and arrows between them as a drawing, with a title and a legend, and as SVG text.

Arrows have the colour of the box that they come from; those that lead back up are dashed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import hypot

from bitwright.pages.layout import Point, layered

SIZE = 13  # of letters
JOINT = "\N{NO-BREAK SPACE}"


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


COLOURS = ("#0072B2", "#C04A00", "#00795A", "#A8437E", "#8A6500", "#444444", "#6A4C93", "#A52A2A")
BOLD = 1.08  # how much wider bold letters are
_MARGIN, _PAD, _LINE, _SPACE, _LOOP = 18.0, 9.0, 16.0, 5.0, 20.0
_TITLE, _NARROWEST, _PAGE = 16, 560.0, 1100.0


@dataclass(frozen=True)
class Text:
    x: float
    y: float  # of its base line
    text: str
    colour: str = "#111111"
    size: int = SIZE
    bold: bool = False


@dataclass(frozen=True)
class Rectangle:
    x: float
    y: float
    width: float
    height: float
    colour: str
    filled: bool = False


@dataclass(frozen=True)
class Arrow:
    route: tuple[Point, ...]  # a point, then two handles and a point, again and again
    colour: str
    said: str  # in words
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
    def texts(self) -> tuple[str, ...]:
        return (*self.lines, *self.more, *self.notes)


@dataclass(frozen=True)
class Drawing:
    """Everything a picture needs, in units of a point; y runs down."""

    title: str
    width: float
    height: float
    texts: tuple[Text, ...]
    boxes: tuple[Rectangle, ...]  # of the contents, in their order; then the patches of the legend
    arrows: tuple[Arrow, ...]


@dataclass
class _Page:
    texts: list[Text] = field(default_factory=list)
    patches: list[Rectangle] = field(default_factory=list)
    y: float = 14.0


def draw(
    title: str,
    explanation: str,
    contents: Sequence[Content],
    links: Mapping[tuple[int, int], str],  # from box to box, in words
    legend: Mapping[str, str] | None = None,  # names and their colours
    below: Sequence[Content] = (),  # what is told in columns below the boxes
) -> Drawing:
    """The drawing of boxes and arrows, with a title, a legend and columns of text below."""
    loops = {a for a, b in links if a == b}
    edges = [edge for edge in sorted(links) if edge[0] != edge[1]]
    sizes = [_size(content) for content in contents]
    placed = layered(sizes, edges, _PAGE)
    width = max(_NARROWEST, placed.width + 2 * _MARGIN + _LOOP, _PAGE if below else 0)
    page = _Page()
    _head(page, title, explanation, legend or {}, width)
    left, top = (width - placed.width) / 2, page.y + 8
    boxes, arrows = [], []
    for box, content in enumerate(contents):
        x, y = left + placed.corners[box][0], top + placed.corners[box][1]
        boxes.append(Rectangle(x, y, *sizes[box], content.colour))
        page.texts += _texts(content, x, y)
        if box in loops:
            side, middle = x + sizes[box][0], y + sizes[box][1] / 2
            bow = ((side, middle - 6), (side + 15, middle - 11), (side + 18, middle + 6), (side, middle + 6))
            arrows.append(Arrow(bow, content.colour, links[box, box], back=False))
    for edge, curve in zip(edges, placed.routes, strict=True):
        route = tuple((left + x, top + y) for x, y in curve)
        arrows.append(Arrow(route, contents[edge[0]].colour, links[edge], route[-1][1] < route[0][1]))
    height = _columns(page, below, top + placed.height + _MARGIN, width)
    return Drawing(title, width, height, tuple(page.texts), (*boxes, *page.patches), tuple(arrows))


def _head(page: _Page, title: str, explanation: str, legend: Mapping[str, str], width: float) -> None:
    inner = width - 2 * _MARGIN
    for line in wrapped(title, inner, _TITLE * BOLD) if title else ():
        page.y += 20
        page.texts.append(Text(_MARGIN, page.y, line, size=_TITLE, bold=True))
    page.y += 4
    for line in wrapped(explanation, inner):
        page.y += 17
        page.texts.append(Text(_MARGIN, page.y, line, "#444444"))
    x = _MARGIN
    page.y += 24 if legend else 0
    for name, colour in legend.items():
        needed = 18 + text_width(name, SIZE * BOLD)
        if x > _MARGIN and x + needed > width - _MARGIN:
            x, page.y = _MARGIN, page.y + 19
        page.patches.append(Rectangle(x, page.y - 10, 11, 11, colour, filled=True))
        page.texts.append(Text(x + 17, page.y, name, colour, bold=True))
        x += needed + 22
    page.y += 14


def _size(content: Content) -> Point:
    widest = max(text_width(content.heading, SIZE * BOLD), *map(text_width, content.texts), 40.0)
    spaces = _SPACE * (bool(content.more) + bool(content.notes))
    return widest + 2 * _PAD, _LINE * (1 + len(content.texts)) + spaces + 2 * _PAD - 3


def _texts(content: Content, x: float, y: float) -> list[Text]:
    y += _PAD + 10
    found = [Text(x + _PAD, y, content.heading, content.colour, bold=True)]
    for lines, space, colour in (
        (content.lines, 0.0, "#111111"),
        (content.more, _SPACE, "#111111"),
        (content.notes, _SPACE, "#666666"),
    ):
        y += space if lines else 0
        for line in lines:
            y += _LINE
            found.append(Text(x + _PAD, y, line, colour))
    return found


def _columns(page: _Page, below: Sequence[Content], top: float, width: float) -> float:
    """Texts one under another in columns of one width and about one height; gives where the page ends."""
    if not below:
        return top
    sizes = [_size(content) for content in below]
    count = max(1, int((width - _MARGIN) // max(wide for wide, _ in sizes)))
    apart, high = (width - 2 * _MARGIN) / count, sum(high for _, high in sizes) / count
    column, y, bottom = 0, 0.0, 0.0
    for content, (_, own) in zip(below, sizes, strict=True):
        if column < count - 1 and y + own / 2 > high:
            column, y = column + 1, 0.0
        page.texts += _texts(content, _MARGIN + column * apart - _PAD, top + y)
        y += own
        bottom = max(bottom, y)
    return top + bottom + _MARGIN


def drawing_svg(drawing: Drawing) -> str:
    """The picture; pointing at an arrow shows it in words."""
    width, height = round(drawing.width), round(drawing.height)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="Helvetica, Arial, sans-serif" font-size="{SIZE}" role="img" '
        f'aria-label="{escape(drawing.title)}">'
    )
    parts = [head, f'<rect width="{width}" height="{height}" fill="white"/>']
    parts += map(_arrow, drawing.arrows)
    parts += map(_rectangle, drawing.boxes)
    parts += map(_text, drawing.texts)
    return "\n".join([*parts, "</svg>"]) + "\n"


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
        f'<g><title>{escape(arrow.said)}</title><path d="{path}" fill="none" stroke="white" stroke-width="4"/>'
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
