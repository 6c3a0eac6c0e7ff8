"""Figure 4: how the limit gets from one input to a prediction: kernel, inverse, weights, labels, mean, sign."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.errors import InputError, counted
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.kernels import ntk
from paper.dense import Predictor
from paper.figures import Figure, Setting, Tables
from paper.style import CENTRE, RIGHT, number
from paper.table import Row, Table
from paper.worked import CELL, Worked, block_colours, frame, left_out, short, worked_example

COLUMNS = ("part", "row", "row_name", "column", "column_name", "matched", "colour", "value")


def tables(setting: Setting) -> Tables:
    return {"predictor": Table.of(COLUMNS, _rows(worked_example(setting)))}


def _rows(worked: Worked) -> list[Row]:
    """The factors of mu = Y' Theta^-1 f by dense linear algebra, Eq. (3), and the bits they are to give."""
    program, examples = worked.algorithm.program, worked.examples
    matched = np.zeros(program.templates, dtype=bool)
    matched[program.match(worked.state)] = True
    if not matched.any():
        raise InputError(f"{worked.title} matches no template, so there is nothing to predict; give other inputs")
    inputs, labels = examples.inputs().toarray(), examples.labels().toarray()
    test = examples.encode(worked.state[None])
    theta, f = ntk(inputs, inputs), ntk(test, inputs)[0]
    inverse = np.linalg.inv(theta)
    w = inverse @ f
    mean = Predictor(inputs, labels).mean(test)[0]
    truth = labels[matched].max(axis=0)
    sign = (mean > 1e-12).astype(float)
    shown, shown_bits = worked.window.templates.tolist(), worked.window.bits.tolist()
    names = [program.template_text(t).removeprefix("when ") for t in shown]
    colours = [block_colours(program)[block] for block in program.template_block[shown]]
    bits = [program.layout.name_of(bit) for bit in shown_bits]
    owner = [block_colours(program)[block] for block in program.block_of[shown_bits]]
    rows: list[Row] = []
    for part, vector in (("f", f), ("w", w)):
        rows += [
            (part, row, names[row], 0, worked.title, int(matched[t]), colours[row], float(vector[t]))
            for row, t in enumerate(shown)
        ]
    for part, matrix in (("Theta", theta), ("inverse", inverse)):
        rows += [
            (part, a, names[a], b, names[b], int(matched[s] and matched[t]), colours[b], float(matrix[s, t]))
            for a, s in enumerate(shown)
            for b, t in enumerate(shown)
        ]
    rows += [
        ("Y'", a, bits[a], b, names[b], int(matched[t]), colours[b], float(labels[t, i]))
        for a, i in enumerate(shown_bits)
        for b, t in enumerate(shown)
    ]
    for part, vector in (("mean", mean), ("sign", sign), ("truth", truth)):
        rows += [
            (part, row, bits[row], 0, worked.title, int(truth[i]), owner[row], float(vector[i]))
            for row, i in enumerate(shown_bits)
        ]
    # What the caption says is of the whole program, whatever the picture shows of it.
    facts: dict[str, float] = {**worked.counts, "right signs": int((sign == truth).sum())}
    facts |= {"f matched": f[matched].max(), "w matched": w[matched].max(), "least set": mean[truth > 0].min()}
    if not matched.all():
        facts |= {"f elsewhere": f[~matched].max(), "w elsewhere": w[~matched].max(), "off": inverse[0, -1]}
    elif program.templates > 1:
        facts |= {"off": inverse[0, -1]}
    if (truth == 0).any():
        facts |= {"most other": mean[truth == 0].max()}
    facts |= {"diagonal": inverse[0, 0]}
    rows += [("fact", at, name, 0, "", 0, "", float(value)) for at, (name, value) in enumerate(facts.items())]
    return rows


def matrix(table: Table, part: str) -> FloatArray:
    cells = table.where(part=part)
    shape = [int(max(cells.numbers(name))) + 1 for name in ("row", "column")]
    values = np.zeros(shape)
    values[cells.numbers("row").astype(int), cells.numbers("column").astype(int)] = cells.numbers("value")
    return values


def draw(pyplot: Any, given: Tables) -> Any:
    """From left to right: f, Theta^-1, w, Y', mu, bits. Matched examples in colour, the others in grey."""
    table = given["predictor"]
    K, k = len(matrix(table, "f")), len(matrix(table, "mean"))
    names = [short(str(name)) for name in table.where(part="f").column("row_name")]
    bits = [str(name) for name in table.where(part="mean").column("row_name")]
    colours = [
        str(colour) if matched else "#888888"
        for colour, matched in zip(*(table.where(part="f").column(c) for c in ("colour", "matched")), strict=True)
    ]
    text, word = 0.075 * max(map(len, names)) + 0.1, 0.065 * max(map(len, bits)) + 0.15
    rows, gap = max(K, k), 2.2
    size = (text + word + CELL * (2 * K + 17.6 + 4 * gap) + 0.2, CELL * (rows + 4.4))
    figure = pyplot.figure(figsize=size)
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, size[0] / CELL), ylim=(size[1] / CELL, 0))
    axes.axis("off")
    at, top = text / CELL + 0.5, 3.6
    for row, name in enumerate(names):
        ink = "#777777" if colours[row] == "#888888" else "black"
        axes.text(at - 0.5, top + row + 0.55, name, fontsize=7.5, color=ink, **RIGHT)
    f, w, inverse = matrix(table, "f"), matrix(table, "w"), matrix(table, "inverse")
    _heading(axes, at, top, "test kernel", r"$f=\Theta(\hat{x}, X)$")
    _numbers(axes, at, top, f[:, 0] / f.max(), [number(v, 3) for v in f[:, 0]], colours)
    at += 2.6 + gap
    _sign(axes, at - gap / 2, top + K / 2, r"$\rightarrow$")
    _heading(axes, at, top, "inverse train kernel", r"$\tilde{\Theta}^{-1}$")
    strength = np.abs(inverse) / np.abs(inverse).max()
    _square(axes, at, top, np.where(np.eye(K, dtype=bool), strength, 0.04 + strength), np.eye(K, dtype=bool), colours)
    at += K + gap
    _sign(axes, at - gap / 2, top + K / 2, "=")
    _heading(axes, at, top, "weights", r"$w=\tilde{\Theta}^{-1}f$")
    _numbers(axes, at, top, np.abs(w[:, 0]) / np.abs(w).max(), [number(v, 3, plus=True) for v in w[:, 0]], colours)
    at += 2.6 + gap + word / CELL
    labels = matrix(table, "Y'")
    middle = top + (K - k) / 2 if k < K else top
    _heading(axes, at, top, "labels", "$Y'$")
    for row, name in enumerate(bits):
        axes.text(at - 0.4, middle + row + 0.55, name, ha="right", va="center", fontsize=8)
    _square(axes, at, middle, labels, labels > 0, colours)
    at += K + gap + 0.4
    _sign(axes, at - gap / 2 - 0.4, top + K / 2, "=")
    _heading(axes, at - 0.6, top, "mean of the limit", r"$\mu=Y'w$")
    _bars(axes, at, middle, table)
    axes.text(size[0] / CELL - 0.5, 0.7, _left_out(table).strip(), ha="right", fontsize=9)
    return figure


def _heading(axes: Any, at: float, top: float, title: str, formula: str) -> None:
    axes.text(at, top - 1.6, title, fontsize=9, va="bottom")
    axes.text(at, top - 0.35, formula, fontsize=10, va="bottom")


def _sign(axes: Any, x: float, y: float, text: str) -> None:
    axes.text(x, y, text, fontsize=14, **CENTRE)


def _rectangle(axes: Any, x: float, y: float, width: float, colour: str, shade: float) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((x, y), width, 1, facecolor=colour, alpha=min(1.0, shade), edgecolor="none"))


def _numbers(axes: Any, at: float, top: float, shades: FloatArray, texts: list[str], colours: list[str]) -> None:
    for row, (shade, text, colour) in enumerate(zip(shades, texts, colours, strict=True)):
        _rectangle(axes, at, top + row, 2.6, colour, 0.15 + 0.85 * float(shade))
        ink = "white" if shade > 0.5 else "black"
        axes.text(at + 1.3, top + row + 0.55, text, fontsize=7, color=ink, **CENTRE)


def _square(axes: Any, at: float, top: float, strength: FloatArray, coloured: BoolArray, colours: list[str]) -> None:
    """Cells in their column's colour where `coloured`, else pale: the rank-one noise, which the paper draws black."""
    for row, column in np.argwhere(strength > 0):
        colour = colours[column] if coloured[row, column] else "#000000"
        _rectangle(axes, at + column, top + row, 1, colour, float(strength[row, column]))
    from matplotlib.transforms import Affine2D

    rows, columns = strength.shape
    before = len(axes.lines)
    frame(axes, rows, columns)
    for line in axes.lines[before:]:
        line.set_transform(Affine2D().translate(at, top) + axes.transData)


def _bars(axes: Any, at: float, top: float, table: Table) -> None:
    """The mean of every bit as a bar from 0, its sign rounded to a bit, and the true bit."""
    mean, owner = matrix(table, "mean")[:, 0], [str(c) for c in table.where(part="mean").column("colour")]
    truth, sign = matrix(table, "truth")[:, 0], matrix(table, "sign")[:, 0]
    zero, reach = at + 2.6, 3.4
    for row, value in enumerate(mean):
        colour = owner[row] if truth[row] else "#888888"
        long = reach * value / np.abs(mean).max()
        _rectangle(axes, zero + min(0.0, long), top + row + 0.15, max(abs(long), 0.06), colour, 1.0)
        axes.patches[-1].set_height(0.7)
        axes.text(at - 0.6, top + row + 0.55, number(value, 3, plus=True), va="center", fontsize=7)
        for place, bit in ((at + 7.3, sign[row]), (at + 10.0, truth[row])):
            _rectangle(axes, place, top + row + 0.05, 0.9, owner[row], 0.9 if bit else 0.15)
            axes.patches[-1].set_height(0.9)
            ink = "white" if bit else "#555555"
            axes.text(place + 0.45, top + row + 0.55, f"{bit:.0f}", fontsize=8, color=ink, **CENTRE)
    axes.plot([zero, zero], [top, top + len(mean)], color="black", linewidth=0.8)
    axes.text(at + 7.75, top - 0.35, "sign", ha="center", va="bottom", fontsize=9)
    axes.text(at + 10.45, top - 0.35, "truth", ha="center", va="bottom", fontsize=9)


def facts(table: Table) -> dict[str, float]:
    """Numbers of the whole program, whatever is shown of it."""
    part = table.where(part="fact")
    return {str(name): value for name, value in zip(part.column("row_name"), part.numbers("value"), strict=True)}


def _left_out(table: Table) -> str:
    there = {name: int(facts(table)[name]) for name in ("templates", "blocks", "bits", "shown blocks")}
    K, k = len(matrix(table, "f")), len(matrix(table, "mean"))
    return left_out(there, {"templates": K, "blocks": there["shown blocks"], "bits": k})


def caption(given: Tables) -> str:
    table = given["predictor"]
    fact = facts(table)
    there = {
        name: int(fact[name]) for name in ("templates", "blocks", "bits", "shown blocks", "matched", "right signs")
    }
    examples = counted(there["matched"], "matched example")
    if "f elsewhere" in fact:
        at, elsewhere = number(fact["f matched"], 4), number(fact["f elsewhere"], 4)
        values = f"two values, {at} at the {examples} (coloured) and {elsewhere} elsewhere (grey)"
        weights = f"the weights are {number(fact['w matched'], 4)} and {number(fact['w elsewhere'], 4)}"
    else:
        values = f"one value, {number(fact['f matched'], 4)}: all {examples} (coloured)"
        weights = f"all weights are {number(fact['w matched'], 4)}"
    off = f", {number(fact['off'], 3)} off it (pale squares)" if "off" in fact else ""
    others = f", the others of at most {number(fact['most other'], 4)}" if "most other" in fact else ""
    return (
        f"**Figure 4, predictor structure** for {table.column('column_name')[0]}.{_left_out(table)} The test "
        f"kernel takes {values}. The inverse train kernel is a multiple of the identity plus a constant: "
        f"{number(fact['diagonal'], 3)} on the diagonal{off}. So {weights}. Bits that should be set have means "
        f"of at least {number(fact['least set'], 4)}{others}; {there['right signs']:,} of {there['bits']:,} signs are "
        "right. NTK of Eq. (1), dense linear algebra."
    )


FIGURE = Figure("Figure 4: from one input to a prediction", tables, {"predictor": draw}, caption, True)
