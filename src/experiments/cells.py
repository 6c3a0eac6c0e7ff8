"""Matrices as pictures: a cell for every entry, in the colour of its block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bitwright.pages.diagram import block_kinds
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray
from experiments.style import CENTRE, COLOURS

CELL = 0.24  # inches


def block_colours(program: Program) -> list[str]:
    """A colour for every block; blocks of one kind, such as all carries, share theirs."""
    _, kind = block_kinds(program)
    return [COLOURS[int(number) % len(COLOURS)] for number in kind]


def bit_colours(program: Program, order: IntArray) -> list[str]:
    """The colours of bits, in the order in which they are shown."""
    colours = block_colours(program)
    return [colours[block] for block in program.block_of[order]]


def draw_cells(
    axes: Any,
    values: FloatArray,  # (rows, columns); NaN draws nothing
    colours: Sequence[Sequence[str]],  # of each cell
    top: float = 0.0,
) -> None:
    """Cells of side 1 with their upper left corner at (column, top + row): 1 solid, 0 pale, others faded."""
    from matplotlib.patches import Rectangle

    for row, column in np.argwhere(~np.isnan(values)):
        value = float(values[row, column])
        shade = 0.12 + 0.88 * min(1.0, abs(value))
        place = (column, top + row)
        axes.add_patch(Rectangle(place, 1, 1, facecolor=colours[row][column], alpha=shade, edgecolor="none"))
        if value in (0.0, 1.0):
            ink = "white" if value else "#777777"
            axes.text(column + 0.5, top + row + 0.53, f"{value:.0f}", fontsize=7, color=ink, **CENTRE)


def frame(axes: Any, rows: int, columns: int, top: float = 0.0, breaks: Sequence[int] = ()) -> None:
    """A thin grid around cells, with a heavier line before each of the columns `breaks`."""
    for column in range(columns + 1):
        heavy = column in (0, columns) or column in breaks
        axes.plot([column, column], [top, top + rows], color="#999999", linewidth=0.9 if heavy else 0.25)
    for row in range(rows + 1):
        heavy = row in (0, rows)
        axes.plot([0, columns], [top + row, top + row], color="#999999", linewidth=0.9 if heavy else 0.25)


def bare(axes: Any, rows: float, columns: float, first: float = 0.0) -> None:
    """Axes that only hold cells: row 0 on top, cells square, no ticks."""
    axes.set(xlim=(-0.1, columns + 0.1), ylim=(rows + 0.1, first - 0.1))
    axes.set_aspect("equal", anchor="NW")
    axes.axis("off")


def shown_order(program: Program) -> tuple[IntArray, list[int]]:
    """Bits block by block from the last block to the first, the highest bit first; and where blocks begin."""
    order: list[int] = []
    breaks = []
    for block in reversed(range(program.blocks)):
        breaks.append(len(order))
        order.extend(reversed(program.block_members(block).tolist()))
    return np.array(order, dtype=np.int64), breaks
