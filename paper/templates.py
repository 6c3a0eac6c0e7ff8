"""Figures 1-3: blocks and templates, the training set they become, one input, and the run that it starts."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.errors import counted
from bitwright.theory.closed_form import FloatArray
from paper.figures import Figure, Setting, Tables
from paper.style import COLOURS, RIGHT
from paper.table import Row, Table
from paper.worked import (
    CELL,
    Worked,
    bare,
    bit_colours,
    block_colours,
    draw_cells,
    frame,
    left_out,
    run_states,
    short,
    shown_order,
    worked_example,
)

COLUMNS = ("part", "row", "row_name", "column", "column_name", "block", "colour", "value")


def tables(setting: Setting) -> Tables:
    return {"templates": Table.of(COLUMNS, _rows(worked_example(setting)))}


def _rows(worked: Worked) -> list[Row]:
    """Every matrix of the picture, cell by cell, as far as its window goes.

    X_init: the configuration of each template in its own block (Figure 3), X its orthonormal encoding, Y its label;
    state, encoded and output: the same three for the test input; run: the states that follow; ending: why no more do;
    count: how much there is of everything, shown or not.
    """
    program, examples, shown = worked.algorithm.program, worked.examples, worked.window
    order = shown_order(program)[0]
    order = order[np.isin(order, shown.bits)]
    bits, names = bit_colours(program, order), [program.layout.name_of(int(bit)) for bit in order]
    labels = examples.labels().tocsr()
    configured = np.full((len(shown.templates), program.bits), np.nan)
    for row, template in enumerate(shown.templates.tolist()):
        members = program.block_members(int(program.template_block[template]))
        configured[row, members] = int(program.template_config[template]) >> np.arange(len(members)) & 1
    matched = program.match(worked.state)
    rules = [
        "when " + program.template_text(t).removeprefix("when ") + (" *" if t in matched else "")
        for t in shown.templates.tolist()
    ]
    owners = program.template_block[shown.templates]
    across = [block_colours(program)[block] for block in owners]
    blocks = program.block_of[order].tolist()
    states, ending = run_states(worked)
    steps = [f"step {step}{_reading(worked, state)}" for step, state in enumerate(states)]
    output = labels[matched].toarray().max(axis=0) if len(matched) else np.zeros(program.bits)
    inputs = examples.inputs().tocsr()[shown.templates][:, shown.templates].toarray()
    encoded = examples.encode(worked.state[None])[:, shown.templates]
    parts: list[tuple[str, FloatArray, list[str], list[str], list[str], list[int]]] = [
        ("X_init", configured[:, order], rules, names, bits, blocks),
        ("X", inputs, rules, rules, across, owners.tolist()),
        ("Y", labels[shown.templates].toarray()[:, order], rules, names, bits, blocks),
        ("state", worked.state[None, order].astype(float), [worked.title], names, bits, blocks),
        ("encoded", encoded, ["x"], rules, across, owners.tolist()),
        ("output", output[None, order], ["f(x)"], names, bits, blocks),
        ("run", states[:, order].astype(float), steps, names, bits, blocks),
        ("ending", np.zeros((1, 1)), [ending], [""], [""], [0]),
        *(("count", np.array([[float(n)]]), [what], [""], [""], [0]) for what, n in worked.counts.items()),
    ]
    return [
        (part, row, down[row], column, heads[column], owners[column], colours[column], float(values[row, column]))
        for part, values, down, heads, colours, owners in parts
        for row in range(len(values))
        for column in range(values.shape[1])
        if not np.isnan(values[row, column])
    ]


def counts(table: Table) -> dict[str, int]:
    """How much there is of everything, shown or not."""
    part = table.where(part="count")
    return {str(name): int(value) for name, value in zip(part.column("row_name"), part.numbers("value"), strict=True)}


def _reading(worked: Worked, state: BoolArray) -> str:
    """What the algorithm's output stands at, where it has just one."""
    found = list(worked.algorithm.read(state).items())
    return f": {found[0][0]} = {found[0][1]}" if len(found) == 1 else ""


def matrix(table: Table, part: str) -> tuple[FloatArray, list[list[str]], list[str], list[str], list[int]]:
    """A part of the table as a matrix, the colours of its cells, its row and column names, and where blocks begin."""
    cells = table.where(part=part)
    heads = table.where(part="state") if part == "X_init" else cells  # a block without templates has columns there too
    rows, columns = int(max(cells.numbers("row"))) + 1, int(max(heads.numbers("column"))) + 1
    values = np.full((rows, columns), np.nan)
    colours = [["#999999"] * columns for _ in range(rows)]
    down, across, owner = [""] * rows, [""] * columns, [-1] * columns
    for _, _, _, column, column_name, block, _, _ in heads.rows:
        across[int(column or 0)], owner[int(column or 0)] = str(column_name), int(block or 0)
    for _, row, row_name, column, _, _, colour, value in cells.rows:
        r, c = int(row or 0), int(column or 0)
        values[r, c], colours[r][c], down[r] = float(value or 0), str(colour), str(row_name)
    return values, colours, down, across, [c for c in range(columns) if c == 0 or owner[c] != owner[c - 1]]


def draw(pyplot: Any, given: Tables) -> Any:
    table = given["templates"]
    init, _, rules, names, _ = matrix(table, "X_init")
    rules = [short(rule.removesuffix(" *")) + " *" * rule.endswith("*") for rule in rules]
    K, k = init.shape
    steps = len(matrix(table, "run")[0])
    text = 0.078 * max(len(rule) for rule in rules)
    after = 0.07 * max(len(name) for name in matrix(table, "run")[2])  # inches that the names of steps take
    top = 0.8 + 0.23 * max(len(name) for name in names)  # below the names of bits, in cells
    tops = (top, top + 2.4)
    height = max(tops[1] + K, top + steps) + 0.4
    size = (text + after + CELL * (3 * k + K + 7), CELL * height + 0.7)
    figure = pyplot.figure(figsize=size)
    figure.set_layout_engine("none")
    left, bottom = 0.15 + text, size[1] - 0.62

    def panel(at: float, columns: int) -> Any:
        width = (columns + 0.2) * CELL
        axes = figure.add_axes((at / size[0], 0, width / size[0], bottom / size[1]))
        bare(axes, bottom / CELL, columns)
        return axes

    parts = (
        ("state", "X_init", r"state $\hat{x}$ and templates", True),
        ("encoded", "X", r"encoded: inputs $X$", False),
        ("output", "Y", r"next state $f(\hat{x})$ and labels $Y$", True),
    )
    at, panels = left, []
    for test, train, title, named in parts:
        columns = len(matrix(table, train)[3])
        axes = panel(at, columns)
        panels.append((axes, columns))
        for part, start in ((test, tops[0]), (train, tops[1])):
            values, colours, _, heads, breaks = matrix(table, part)
            if part == "X":  # a row is zero outside its block; show only the block
                block = np.searchsorted(breaks, np.arange(len(values)), side="right")
                values[(block[:, None] != block) & (values == 0)] = np.nan
            draw_cells(axes, values, colours, start)
            frame(axes, len(values), columns, start, breaks)
            if named and part == train:
                for column, name in enumerate(heads):
                    axes.text(column + 0.5, tops[0] - 0.2, name, rotation=90, ha="center", va="bottom", fontsize=7)
        axes.text(0, -0.35, title, fontsize=10, va="bottom")
        if train == "X_init":
            _rule_names(axes, rules, tops)
        elif train == "X":
            n = counts(table)["matched"]
            said = rf"the {n} matched row{'s' * (n != 1)} $/\sqrt{{{n}}}$" if n else "no row matches"
            axes.text(0, tops[0] - 0.2, rf"$\hat{{x}}$: {said}", fontsize=8, va="bottom")
        at += (columns + 1.6) * CELL
    _loop(figure, panels, top)
    _run(panel(at + after, k), table, top)
    title = f"{table.where(part='state').column('row_name')[0]}"
    shown = {"templates": K, "blocks": counts(table)["shown blocks"], "bits": k}
    figure.text(0.12 / size[0], 1 - 0.3 / size[1], title, fontsize=12)
    figure.text(0.99, 1 - 0.3 / size[1], left_out(counts(table), shown).strip(), fontsize=9, ha="right")
    return figure


def _loop(figure: Any, panels: list[tuple[Any, int]], top: float) -> None:
    """The arrows of Figure 1: from the state through encoding and network to the next state, and back."""
    from matplotlib.patches import ConnectionPatch

    def arrow(one: int, start: tuple[float, float], two: int, end: tuple[float, float], bend: float = 0.0) -> None:
        sides = {"coordsA": panels[one][0].transData, "coordsB": panels[two][0].transData}
        style = {"arrowstyle": "-|>", "mutation_scale": 9, "linewidth": 1.0, "color": "#333333"}
        figure.add_artist(ConnectionPatch(start, end, connectionstyle=f"arc3,rad={bend}", **sides, **style))

    middle = top + 0.5
    for at, said in ((0, ("encode", "")), (1, ("predict,", "round"))):
        axes, columns = panels[at]
        arrow(at, (columns + 0.15, middle), at + 1, (-0.15, middle))
        for text, below in zip(said, (-0.12, 0.45), strict=True):
            axes.text(
                columns + 0.8, middle + below, text, fontsize=6, ha="center", va="bottom" if below < 0 else "center"
            )
    (_, first), (axes, second), (_, third) = panels
    across = first / 2 + second + third / 2 + 3.2  # cells
    arrow(2, (third / 2, top + 1.1), 0, (first / 2, top + 1.1), -2.0 / across)
    axes.text(second / 2, top + 1.5, "next step", fontsize=7, ha="center", va="center")


def _rule_names(axes: Any, rules: list[str], tops: tuple[float, float]) -> None:
    axes.text(-0.5, tops[0] + 0.55, "test input", ha="right", va="center", fontsize=8, weight="bold")
    axes.text(-0.5, tops[1] - 0.45, "templates, * matched", ha="right", va="center", fontsize=8, weight="bold")
    for row, rule in enumerate(rules):
        look = {"color": "black", "weight": "bold"} if rule.endswith("*") else {"color": COLOURS[6]}
        axes.text(-0.5, tops[1] + row + 0.55, rule, fontsize=7.5, family="monospace", **look, **RIGHT)


def _run(axes: Any, table: Table, top: float) -> None:
    values, colours, down, heads, breaks = matrix(table, "run")
    draw_cells(axes, values, colours, top)
    frame(axes, len(values), len(heads), top, breaks)
    for row, name in enumerate(down):
        axes.text(-0.4, top + row + 0.55, name, ha="right", va="center", fontsize=8)
    for column, name in enumerate(heads):
        axes.text(column + 0.5, top - 0.2, name, rotation=90, ha="center", va="bottom", fontsize=7)
    axes.text(0, -0.35, "the run, step by step", fontsize=10, va="bottom")


def caption(given: Tables) -> str:
    table = given["templates"]
    there, init = counts(table), matrix(table, "X_init")[0]
    used = there["blocks with templates"]  # a block without templates has no example
    blocks = counted(there["blocks"], "block")
    blocks = blocks if used == there["blocks"] else f"{used:,} of {blocks}"
    n = there["matched"]
    encoded = (
        f"the sum of its {counted(n, 'matched row')} (marked *) over the root of {n:,}" if n else "zero: no row matches"
    )
    steps = counted(len(matrix(table, "run")[0]) - 1, "step")
    ending = {"steady": f"steady after {steps}", "done": f"done after {steps}", "cut": f"its first {steps}"}
    shown = {"templates": len(init), "blocks": there["shown blocks"], "bits": init.shape[1]}
    return (
        f"**Figures 1-3, templates and encoding** of {table.where(part='state').column('row_name')[0]}. "
        f"{counted(there['templates'], 'template')} in {blocks} (heavier "
        f"lines; blocks of one kind share a colour) over {counted(there['bits'], 'bit')}."
        f"{left_out(there, shown)} Left: the state before encoding, and each template's configuration of its own "
        f"block. Middle: their encoding, an orthonormal set; the input is {encoded}. Right: what each template writes; "
        "the next state is the union of the matched rows. Arrows: the loop of Figure 1. Far right: the run, "
        f"{ending[str(table.where(part='ending').column('row_name')[0])]}. All from the program itself; no number is "
        "drawn by hand."
    )


FIGURE = Figure("Figures 1-3: blocks, templates and training set", tables, {"templates": draw}, caption, True)
