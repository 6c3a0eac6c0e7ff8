"""The layout of Graphviz's `dot`, where it is installed: it is told sizes and arrows, and says places and curves."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence

from bitwright.pages.layered.layers import Edge
from bitwright.pages.layered.place import Placed, Point

_SECONDS = 30  # what takes longer is laid out by our own hand
_INCH = 72.0


def place_by_graphviz(sizes: Sequence[Point], edges: Sequence[Edge]) -> Placed | None:
    """What `dot` says; None where it is not installed, fails, or takes too long."""
    program = shutil.which("dot")
    if program is None or not sizes:
        return None
    lines = ["digraph {", "graph [nodesep=0.5, ranksep=0.55]", 'node [shape=box, fixedsize=true, label=""]']
    lines += [f"{n} [width={width / _INCH:.4f}, height={high / _INCH:.4f}]" for n, (width, high) in enumerate(sizes)]
    lines += [f"{a} -> {b} [dir=none]" for a, b in edges]
    try:
        done = subprocess.run(
            [program, "-Tplain"], input="\n".join([*lines, "}"]), capture_output=True, text=True, timeout=_SECONDS
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    try:
        return None if done.returncode else _read(done.stdout, sizes, edges)
    except (ValueError, IndexError, KeyError):
        return None


def _read(text: str, sizes: Sequence[Point], edges: Sequence[Edge]) -> Placed:
    """Lines of the plain format: `graph scale width height`, `node name x y ...`, `edge tail head n x1 y1 ...`."""
    width = height = 0.0
    corners: dict[int, Point] = {}
    routes: dict[Edge, list[tuple[Point, ...]]] = {}
    for words in (line.split() for line in text.splitlines()):
        if words[0] == "graph":
            width, height = float(words[2]) * _INCH, float(words[3]) * _INCH
        elif words[0] == "node":
            wide, high = sizes[int(words[1])]
            x, y = float(words[2]) * _INCH, height - float(words[3]) * _INCH
            corners[int(words[1])] = (x - wide / 2, y - high / 2)
        elif words[0] == "edge":
            numbers = [float(word) * _INCH for word in words[4 : 4 + 2 * int(words[3])]]
            curve = tuple((x, height - y) for x, y in zip(numbers[::2], numbers[1::2], strict=True))
            routes.setdefault((int(words[1]), int(words[2])), []).append(curve)
    if not width > 0 < height:
        raise ValueError("no size")
    return Placed(
        tuple(corners[node] for node in range(len(sizes))),
        tuple(routes[edge].pop(0) for edge in edges),
        width,
        height,
    )
