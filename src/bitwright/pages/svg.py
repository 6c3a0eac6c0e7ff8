"""A trace as an SVG picture, whose time runs down."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import ceil

import numpy as np

from bitwright.common.errors import InputError
from bitwright.pages.drawing import BOLD, svg_text, text_width
from bitwright.pages.text import choose_columns
from bitwright.rules.trace import Trace

_CELL, _GAP, _LEFT, _TOP = 12, 14, 46, 64
_MAX_CELLS = 1_000_000
# Okabe and Ito's colours, which stay apart for colour-blind readers and in print; yellow is left out.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#555555")


def trace_svg(
    trace: Trace, title: str = "", names: Sequence[str] = (), reading: str = "", readings: Sequence[str] = ()
) -> str:
    """The picture as one SVG text; `readings`, under the heading `reading`, describe each row."""
    columns = choose_columns(trace.layout, names)
    cells = sum(len(column.bits) for column in columns) * len(trace)
    if cells > _MAX_CELLS:
        raise InputError(
            f"a picture holds at most {_MAX_CELLS:,} cells, this one would have {cells:,}; show fewer names or steps"
        )
    lefts, left = [], _LEFT
    for column in columns:
        lefts.append(left)
        left += max(_CELL * len(column.bits), 7 * len(column.heading)) + _GAP
    width = left + (max(map(len, [reading, *readings])) * 7 + _GAP if readings else 0)
    width = max(width, _LEFT + ceil(text_width(title, 15 * BOLD)) + _GAP)
    height = _TOP + _CELL * len(trace) + 16
    states = trace.states()

    out = [
        f'<text x="{_LEFT}" y="22" font-size="15" font-weight="bold" fill="#222">{escape(title)}</text>',
        f'<text x="{_LEFT - 8}" y="{_TOP - 8}" text-anchor="end" fill="#666">step</text>',
    ]
    every = max(1, len(trace) // 40)
    for step in range(0, len(trace), every):
        y = _TOP + _CELL * step + 10
        out.append(f'<text x="{_LEFT - 8}" y="{y}" text-anchor="end" fill="#666">{step}</text>')
    for column, x in zip(columns, lefts, strict=True):
        field = trace.layout.field_of(column.bits[0])
        colour = _COLOURS[trace.layout.fields.index(field) % len(_COLOURS)]
        span = _CELL * len(column.bits)
        out.append(f'<text x="{x}" y="{_TOP - 8}" font-weight="bold" fill="{colour}">{escape(column.heading)}</text>')
        out.append(f'<rect x="{x}" y="{_TOP}" width="{span}" height="{_CELL * len(trace)}" fill="#f3f3f3"/>')
        on = states[:, list(column.bits)]
        path = "".join(f"M{x + _CELL * place} {_TOP + _CELL * step}h11v11h-11z" for step, place in np.argwhere(on))
        if path:
            out.append(f'<path fill="{colour}" d="{path}"/>')
    if readings:
        out.append(f'<text x="{left}" y="{_TOP - 8}" font-weight="bold" fill="#222">{escape(reading)}</text>')
        for step in range(0, len(trace), every):
            same = step > 0 and readings[step] == readings[step - every]
            y = _TOP + _CELL * step + 10
            out.append(f'<text x="{left}" y="{y}" fill="{"#bbb" if same else "#222"}">{escape(readings[step])}</text>')
    return svg_text(width, height, title, 11, out)
