"""States of a run on a graph as one SVG picture: nodes in colours, the marked edges strong, a legend below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

import numpy as np

from bitwright.common.errors import InputError
from bitwright.pages.drawing import svg_text
from bitwright.pages.graph.view import OFF, SETS, STRONG, UNSET, Choice, GraphView, ink_on, scale_colour
from bitwright.runs.run import Run
from bitwright.theory.closed_form import FloatArray

_WIDTH, _HIGH, _MARGIN = 600, 430, 24  # of the picture; of a single panel at most; around nodes
_TITLE, _LABEL, _LEGEND, _LETTERS = 38, 26, 24, 15
_SMALL = 11  # letters of names under nodes
_MOST_NAMED = 8  # nodes that were given a flag and have its name beside them
_EMPTY = "#eceef1"  # a cell of a grid that is off


def graph_svg(
    run: Run, step: int | None = None, colour: str | None = None, *, edges: str | None = None, title: str = ""
) -> str:
    """The state after a step, by default the last, as one SVG text.

    `colour` names an output or a bit of nodes, `edges` one of ports; by default the first outputs, as in `graph_page`.
    """
    view = GraphView(run)
    steps = {view.trace.steps: ""} if step is None else {step: f"step {step}"}
    return _picture(view, steps, title or view.title, view.colour(colour), view.mark(edges))


def graph_steps_svg(
    run: Run, steps: Mapping[int, str], colour: str | None = None, *, edges: str | None = None, title: str = ""
) -> str:
    """Several states side by side, each under its label."""
    view = GraphView(run)
    return _picture(view, steps, title or view.title, view.colour(colour), view.mark(edges))


def _picture(view: GraphView, steps: Mapping[int, str], title: str, colour: Choice | None, mark: Choice | None) -> str:
    if not steps or not all(0 <= step <= view.trace.steps for step in steps):
        raise InputError(
            f"this run has steps from 0 to {view.trace.steps:,}, got {', '.join(map(str, steps)) or 'none'}"
        )
    columns = min(len(steps), 3)
    wide = (_WIDTH - 2 * _MARGIN - (columns - 1) * _MARGIN) / columns
    panel = Panel.fitting(view, wide, _HIGH if columns == 1 else wide)
    labels = _LABEL if any(steps.values()) else 0
    rows = -(-len(steps) // columns)
    paint = Paint(view, colour)
    legend = paint.legend(mark)
    top = _TITLE + labels
    low = round(top + rows * panel.height + (rows - 1) * (labels + _MARGIN / 2))
    out = [f'<text x="{_MARGIN}" y="27" font-size="18" font-weight="bold" fill="#222">{escape(title)}</text>']
    for number, (step, label) in enumerate(steps.items()):
        x = _MARGIN + number % columns * (wide + _MARGIN) + (wide - panel.width) / 2
        y = top + number // columns * (panel.height + labels + _MARGIN / 2)
        if label:
            out.append(f'<text x="{x:.1f}" y="{y - 8:.1f}" fill="#444">{escape(label)}</text>')
        out += [f'<g transform="translate({x:.1f} {y:.1f})">', *panel.drawing(step, paint, mark), "</g>"]
    for number, line in enumerate(legend, start=1):
        out.append(f'<g transform="translate({_MARGIN} {low + _LEGEND * number})">{line}</g>')
    return svg_text(_WIDTH, low + 10 + _LEGEND * len(legend), title, _LETTERS, out)


@dataclass(frozen=True)
class Panel:
    """One state of the graph at some size."""

    view: GraphView
    scale: float  # from the layout to the picture
    places: FloatArray  # (nodes, 2) in the picture
    radius: float
    width: float
    height: float

    @classmethod
    def fitting(cls, view: GraphView, wide: float, high: float) -> Panel:
        """As large as fits."""
        grid, places = view.layout.grid, view.layout.places
        around, margin = (0.5, 0.0) if grid else (0.0, 24.0)
        span = places.max(axis=0) - places.min(axis=0) + 2 * around
        room = np.array([wide, high]) - 2 * margin
        scale = float(min(np.min(room / np.maximum(span, 1e-9)), 60 if grid else 100))
        width, height = (span * scale + 2 * margin).tolist()
        radius = scale / 2 if grid else max(1.6, min(16, view.layout.spacing * scale * 0.36))
        moved = (places - places.min(axis=0) + around) * scale + margin
        return cls(view, scale, moved, radius, width, height)

    def drawing(self, step: int, paint: Paint, mark: Choice | None) -> list[str]:
        """The parts of the picture, from the back to the front."""
        hues, numbers = paint.nodes(step)
        if self.view.layout.grid:
            return [*self._cells(hues), *self._marked(step, mark), *self._given()]
        names = self.view.names if self.view.layout.spacing * self.scale >= 20 else ()
        texts = numbers or names
        out, labels = [*self._edges(), *self._marked(step, mark)], list[str]()
        for node, ((x, y), hue) in enumerate(zip(self.places.tolist(), hues, strict=True)):
            out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{self.radius:.1f}" fill="{hue}" stroke="#555"/>')
            text = texts[node] if texts else ""
            letters = min(14.0, self.radius, 3.1 * self.radius / max(1, len(text)))
            inside = bool(text) and letters >= 6
            if inside:
                out.append(
                    f'<text x="{x:.1f}" y="{y + letters * 0.36:.1f}" font-size="{letters:.1f}" font-weight="bold" '
                    f'text-anchor="middle" fill="{ink_on(hue)}">{escape(text)}</text>'
                )
            if names and (numbers or not inside):
                labels.append(self._label(names[node], x, y))
        return [*out, *labels, *self._given()]

    def _given(self) -> list[str]:
        """A ring around nodes that were given a flag, such as the source of a search; its name where there are few."""
        out = list[str]()
        r, corner = (self.radius, 0.0) if self.view.layout.grid else (self.radius + 3, self.radius + 3)
        for name, nodes in self.view.given:
            for x, y in self.places[nodes].tolist():
                out.append(
                    f'<rect x="{x - r:.1f}" y="{y - r:.1f}" width="{2 * r:.1f}" height="{2 * r:.1f}" rx="{corner:.1f}" '
                    'fill="none" stroke="#222" stroke-width="2.5" class="given"/>'
                )
                if len(nodes) <= _MOST_NAMED and self.radius >= 7:
                    out.append(self._label(name, x, y - 2 * self.radius - _SMALL - 7))
        return out

    def _label(self, name: str, x: float, y: float) -> str:
        """A name under its node, inside the picture."""
        half = 0.29 * _SMALL * len(name)
        x = min(max(x, half), max(half, self.width - half))
        return (
            f'<text x="{x:.1f}" y="{y + self.radius + _SMALL:.1f}" font-size="{_SMALL}" text-anchor="middle" '
            f'fill="#444" stroke="white" stroke-width="2.5" paint-order="stroke">{escape(name)}</text>'
        )

    def _cells(self, hues: list[str]) -> list[str]:
        """Squares of one colour as one path each; small empty ones of a grid without holes as one square."""
        side = self.scale - (1.0 if self.scale >= 8 else 0.4 if self.scale >= 4 else 0.0)
        whole = self.scale < 8 and len(hues) * self.scale**2 > self.width * self.height * 0.999
        paths: dict[str, str] = {}
        for (x, y), hue in zip((self.places - self.scale / 2).tolist(), hues, strict=True):
            if not (whole and hue == _EMPTY):
                paths[hue] = f"{paths.get(hue, '')}M{x:.2f} {y:.2f}h{side:.2f}v{side:.2f}h{-side:.2f}z"
        square = f'<rect width="{self.width:.2f}" height="{self.height:.2f}" fill="{_EMPTY}"/>'
        return [square] * whole + [f'<path fill="{hue}" d="{path}"/>' for hue, path in sorted(paths.items())]

    def _edges(self) -> list[str]:
        graph = self.view.topology
        if not graph.edges:
            return []
        lines, tips = zip(*(self._line(edge) for edge in range(graph.edges)), strict=True)
        thin = "0.6" if graph.edges > 1000 else "1.2"
        out = [f'<path fill="none" stroke="#8a94a0" stroke-width="{thin}" d="{"".join(lines)}"/>']
        return out + [f'<path fill="#8a94a0" d="{"".join(tips)}"/>'] * (graph.directed and self.radius >= 3)

    def _marked(self, step: int, mark: Choice | None) -> list[str]:
        if mark is None:
            return []
        values, has = self.view.values(mark, step)
        found = np.unique(self.view.topology.port_edge[(values > 0) & has])
        wide = max(1.6, min(3.6, self.radius * 0.3))
        line = "".join(self._line(edge)[0] for edge in found.tolist())
        return [f'<path fill="none" stroke="{STRONG}" stroke-width="{wide:.1f}" d="{line}"/>'] if line else []

    def _line(self, edge: int) -> tuple[str, str]:
        """The line of an edge, and its arrowhead, where it meets the circle of its node."""
        ends, bend = self.view.topology.edge_ends[edge], float(self.view.bends[edge])
        (ax, ay), (bx, by) = self.places[ends].tolist()
        if (ax, ay) == (bx, by):
            r = max(4.0, self.radius * 0.75) * (1 + 0.5 * bend)
            return f"M{ax:.1f} {ay - self.radius:.1f}a{r:.1f} {r:.1f} 0 1 1 0.1 0", ""
        if self.view.layout.grid and max(abs(ax - bx), abs(ay - by)) > 1.5 * self.scale:
            return "", ""  # over the border of a torus
        length = float(np.hypot(bx - ax, by - ay)) or 1.0
        aside = bend * min(34.0, 0.5 * length) / length * (1 if ends[0] <= ends[1] else -1)
        mx, my = (ax + bx) / 2 - (by - ay) * aside, (ay + by) / 2 + (bx - ax) * aside  # where it bends
        line = f"Q{mx:.1f} {my:.1f} {bx:.1f} {by:.1f}" if bend else f"L{bx:.1f} {by:.1f}"
        dx, dy = bx - mx, by - my
        length = float(np.hypot(dx, dy)) or 1.0
        dx, dy, long = dx / length, dy / length, max(5.0, min(9.0, self.radius * 0.7))
        x, y = bx - dx * (self.radius + 1), by - dy * (self.radius + 1)
        left, top, over, down = x - dx * long, y - dy * long, dy * long / 2, dx * long / 2
        tip = f"M{x:.1f} {y:.1f}L{left - over:.1f} {top + down:.1f}L{left + over:.1f} {top - down:.1f}z"
        return f"M{ax:.1f} {ay:.1f}{line}", tip


class Paint:
    """Which colour means what."""

    def __init__(self, view: GraphView, colour: Choice | None) -> None:
        self.view, self.colour = view, colour
        self.empty = _EMPTY if view.layout.grid else OFF
        self.range = view.range(colour) if colour is not None and colour.sort == "number" else None
        self.sets = view.sets(colour) if colour is not None and colour.sort == "set" else []

    def hue(self, value: float) -> str:
        """The colour of a value."""
        if self.range is not None:
            low, high = self.range
            return scale_colour((value - low) / (high - low) if high > low else 0.5)
        if self.sets and value:
            return SETS[[one for one in self.sets if one].index(int(value))]
        return SETS[0] if value else self.empty

    def nodes(self, step: int) -> tuple[list[str], list[str]]:
        """The colour of each node, and what is written into it where that is a number."""
        if self.colour is None:
            return [self.empty] * self.view.topology.nodes, []
        values, has = (found.tolist() for found in self.view.shades(self.colour, step))
        hues = [self.hue(value) if there else UNSET for value, there in zip(values, has, strict=True)]
        texts = [f"{value:.15g}" if there else "" for value, there in zip(values, has, strict=True)]
        return hues, texts if self.colour.sort == "number" else []

    def legend(self, mark: Choice | None) -> list[str]:
        """Lines: what nodes are coloured by, what the colours are, and which edges are strong."""
        shape = f'y="-12" width="14" height="14" rx="{2 if self.view.layout.grid else 7}"'
        entries = list[tuple[str, str, str]]()  # a drawing, words, and their weight
        if self.colour is not None:
            some = "some port: " if self.colour.group == "some port" else ""
            entries.append(("", some + self.colour.name, "bold"))
            for hue, words in self._keys(self.colour):
                entries.append((f'<rect {shape} fill="{hue}" stroke="#555"/>', words, "normal"))
        if mark is not None:
            entries.append((f'<path d="M0 -5h14" stroke="{STRONG}" stroke-width="3.6"/>', mark.name, "normal"))
        lines, x = [""], 0.0
        for drawing, words, weight in entries:
            width = 8.0 * len(words) + (36 if drawing else 16)
            if x > 0 and x + width > _WIDTH - 2 * _MARGIN:
                lines, x = [*lines, ""], 0.0
            text = f'<text x="{20 if drawing else 0}" fill="#222" font-weight="{weight}">{escape(words)}</text>'
            lines[-1] += f'<g transform="translate({x:.0f} 0)">{drawing}{text}</g>'
            x += width
        return lines

    def _keys(self, colour: Choice) -> list[tuple[str, str]]:
        unset = [(UNSET, "no value")] if colour.where is not None else []
        if colour.sort == "number":
            low, high = self.range or (0.0, -1.0)
            some = np.arange(low, high + 1) if high - low < 8 else np.linspace(low, high, 4).round()
            return [(self.hue(value), f"{value:.15g}") for value in some.tolist()] + unset
        if colour.sort == "set":
            names = {one: [name for place, name in enumerate(colour.flags) if one >> place & 1] for one in self.sets}
            return [(self.hue(one), ", ".join(own) or "none") for one, own in names.items()]
        return [(self.hue(1), "on"), (self.hue(0), "off"), *unset]
