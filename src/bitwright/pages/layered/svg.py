"""A drawing as SVG text."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import hypot

from bitwright.pages.layered.drawing import SIZE, Arrow, Drawing, Rectangle, Text
from bitwright.pages.layered.place import Point


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
