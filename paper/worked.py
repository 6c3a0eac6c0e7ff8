"""The worked example that the pictures of a program show, and its matrices as cells in the colours of their blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.errors import InputError
from bitwright.rules import Algorithm, Program
from bitwright.rules.algorithms import addition
from bitwright.rules.layout import IntArray
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.encoding.training_set import TrainingSet
from paper.blocks import block_kinds
from paper.figures import Setting
from paper.style import CENTRE, COLOURS

MAX_TEMPLATES, MAX_BITS = 2_048, 4_096  # of the program: there are matrices of such sizes
SHOWN_TEMPLATES, SHOWN_BITS = 16, 12  # of a larger program a picture shows a window
_LETTERS = 60  # of a name in a picture


@dataclass(frozen=True)
class Window:
    """What a picture shows of a program: blocks that write to each other, their templates and their bits."""

    blocks: tuple[int, ...]
    templates: IntArray
    bits: IntArray


@dataclass(frozen=True)
class Worked:
    """An algorithm, its training set, the state from which the picture starts, and what the picture shows."""

    algorithm: Algorithm
    values: Mapping[str, int]
    state: BoolArray  # (k,)
    examples: TrainingSet
    window: Window

    @property
    def counts(self) -> dict[str, int]:
        """What there is, shown or not."""
        program = self.algorithm.program
        return {
            "templates": program.templates,
            "blocks": program.blocks,
            "blocks with templates": len(np.unique(program.template_block)),
            "bits": program.bits,
            "matched": len(program.match(self.state)),
            "shown blocks": len(self.window.blocks),
        }

    @property
    def title(self) -> str:
        given = ", ".join(f"{name} = {value}" for name, value in self.values.items())
        return f"{self.algorithm.name}{': ' if given else ''}{given}"


def worked_example(setting: Setting) -> Worked:
    """The paper's p = 2, q = 3 with two bits each; or the program and inputs that are asked for."""
    algorithm, values = setting.algorithm, dict(setting.values)
    if algorithm is None:
        algorithm, values = addition(2), {"p": 2, "q": 3}
    program = algorithm.program
    if program.templates > MAX_TEMPLATES or program.bits > MAX_BITS:
        raise InputError(
            f"a picture is of programs of at most {MAX_TEMPLATES:,} templates and {MAX_BITS:,} bits; {algorithm.name} "
            f"has {program.templates:,} and {program.bits:,}; choose fewer --bits"
        )
    if not values:  # any input shows the program; all ones match the most
        values = {word.name: (1 << (len(word.bits) - word.signed)) - 1 for word in algorithm.inputs}
    state = algorithm.state(values)
    return Worked(algorithm, values, state, TrainingSet(program), window_of(program, state))


def window_of(program: Program, state: BoolArray) -> Window:
    """The whole program where it fits; else blocks that do, as they write to each other, from one that matches."""
    matched = program.match(state)
    first = int(program.template_block[matched[0]]) if len(matched) else 0
    sizes, members = np.bincount(program.template_block, minlength=program.blocks), np.diff(program.block_start)
    writers = np.repeat(program.template_block, np.diff(program.write_start))
    written = program.block_of[program.write_bits]
    blocks: list[int] = []
    templates = bits = 0
    todo, seen = [first], {first}
    for block in todo:  # grows as it goes
        if not blocks or (templates + sizes[block] <= SHOWN_TEMPLATES and bits + members[block] <= SHOWN_BITS):
            blocks.append(block)
            templates, bits = templates + sizes[block], bits + members[block]
            new = [other for other in np.unique(written[writers == block]).tolist() if other not in seen]
            todo += new
            seen.update(new)
        if block == todo[-1] and len(seen) < program.blocks:
            todo.append(next(other for other in range(program.blocks) if other not in seen))
            seen.add(todo[-1])
    blocks.sort()
    own = np.flatnonzero(np.isin(program.template_block, blocks))
    best = own[np.argsort(~np.isin(own, matched), kind="stable")][:SHOWN_TEMPLATES]  # of one large block, what matches
    return Window(tuple(blocks), np.sort(best), np.flatnonzero(np.isin(program.block_of, blocks))[:SHOWN_BITS])


def left_out(counts: Mapping[str, int], shown: Mapping[str, int]) -> str:
    """What a picture does not show, as a sentence; nothing where it shows everything."""
    parts = [
        f"{shown[what]:,} of {counts[what]:,} {what}"
        for what in ("templates", "blocks", "bits")
        if shown[what] < counts[what]
    ]
    return f" Shown is a window of {', '.join(parts)}; the rest is left out." if parts else ""


def short(name: str) -> str:
    """A name as a picture shows it; the table has all of it."""
    return name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}\N{HORIZONTAL ELLIPSIS}"


def run_states(worked: Worked, most: int = 12) -> tuple[BoolArray, str]:  # (steps + 1, k)
    """The states of the run, and how it ends: `steady` (nothing changes any more), `done`, or `cut` after `most`."""
    algorithm, program, states = worked.algorithm, worked.algorithm.program, [worked.state]
    while True:
        now, made = states[-1], len(states) - 1
        if made == algorithm.steps or (isinstance(algorithm.halt, int) and now[algorithm.halt]):
            return np.array(states), "done"
        after = np.zeros(program.bits, dtype=bool)
        for template in program.match(now).tolist():
            after[program.writes(template)] = True
        if np.array_equal(after, now):
            return np.array(states), "steady"
        if made == most:
            return np.array(states), "cut"
        states.append(after)


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
