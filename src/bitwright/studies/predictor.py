"""Figure 4: how the limit gets from one input to a prediction: kernel, inverse, weights, labels, mean, sign."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitwright.bits import BoolArray
from bitwright.errors import InputError, counted
from bitwright.studies.cells import CELL, block_colours, frame
from bitwright.studies.figure import Figure, Setting, Tables
from bitwright.studies.table import Row, Table
from bitwright.studies.worked import Worked, worked_example
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.kernels import ntk
from bitwright.theory.predictor import Predictor

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
    mean = Predictor(inputs, labels).mean(test)[0]
    truth = labels[matched].max(axis=0)
    names = [program.template_text(t).removeprefix("when ") for t in range(program.templates)]
    colours = [block_colours(program)[block] for block in program.template_block]
    bits = program.layout.names
    owner = [block_colours(program)[block] for block in program.block_of]
    rows: list[Row] = []
    for part, vector in (("f", f), ("w", inverse @ f)):
        rows += [
            (part, t, names[t], 0, worked.title, int(matched[t]), colours[t], float(vector[t]))
            for t in range(program.templates)
        ]
    for part, matrix in (("Theta", theta), ("inverse", inverse)):
        rows += [
            (part, s, names[s], t, names[t], int(matched[s] and matched[t]), colours[t], float(matrix[s, t]))
            for s in range(program.templates)
            for t in range(program.templates)
        ]
    rows += [
        ("Y'", i, bits[i], t, names[t], int(matched[t]), colours[t], float(labels[t, i]))
        for i in range(program.bits)
        for t in range(program.templates)
    ]
    for part, vector in (("mean", mean), ("sign", (mean > 1e-12).astype(float)), ("truth", truth)):
        rows += [
            (part, i, bits[i], 0, worked.title, int(truth[i]), owner[i], float(vector[i])) for i in range(program.bits)
        ]
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
    names = [str(name) for name in table.where(part="f").column("row_name")]
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
    axes.set_xlim(0, size[0] / CELL)
    axes.set_ylim(size[1] / CELL, 0)
    axes.axis("off")
    at, top = text / CELL + 0.5, 3.6
    for row, name in enumerate(names):
        axes.text(at - 0.5, top + row + 0.55, name, ha="right", va="center", fontsize=7.5, color=_ink(colours[row]))
    f, w, inverse = matrix(table, "f"), matrix(table, "w"), matrix(table, "inverse")
    _heading(axes, at, top, "test kernel", r"$f=\Theta(\hat{x}, X)$")
    _numbers(axes, at, top, f[:, 0] / f.max(), [f"{v:.3f}" for v in f[:, 0]], colours)
    at += 2.6 + gap
    _sign(axes, at - gap / 2, top + K / 2, r"$\rightarrow$")
    _heading(axes, at, top, "inverse train kernel", r"$\tilde{\Theta}^{-1}$")
    strength = np.abs(inverse) / np.abs(inverse).max()
    _square(axes, at, top, np.where(np.eye(K, dtype=bool), strength, 0.04 + strength), np.eye(K, dtype=bool), colours)
    at += K + gap
    _sign(axes, at - gap / 2, top + K / 2, "=")
    _heading(axes, at, top, "weights", r"$w=\tilde{\Theta}^{-1}f$")
    _numbers(axes, at, top, np.abs(w[:, 0]) / np.abs(w).max(), [f"{v:+.3f}" for v in w[:, 0]], colours)
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
    return figure


def _ink(colour: str) -> str:
    return "#777777" if colour == "#888888" else "black"


def _heading(axes: Any, at: float, top: float, title: str, formula: str) -> None:
    axes.text(at, top - 1.6, title, fontsize=9, va="bottom")
    axes.text(at, top - 0.35, formula, fontsize=10, va="bottom")


def _sign(axes: Any, x: float, y: float, text: str) -> None:
    axes.text(x, y, text, ha="center", va="center", fontsize=14)


def _rectangle(axes: Any, x: float, y: float, width: float, colour: str, shade: float) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((x, y), width, 1, facecolor=colour, alpha=min(1.0, shade), edgecolor="none"))


def _numbers(axes: Any, at: float, top: float, shades: FloatArray, texts: list[str], colours: list[str]) -> None:
    for row, (shade, text, colour) in enumerate(zip(shades, texts, colours, strict=True)):
        _rectangle(axes, at, top + row, 2.6, colour, 0.15 + 0.85 * float(shade))
        dark = shade > 0.5
        axes.text(
            at + 1.3, top + row + 0.55, text, ha="center", va="center", fontsize=7, color="white" if dark else "black"
        )


def _square(axes: Any, at: float, top: float, strength: FloatArray, coloured: BoolArray, colours: list[str]) -> None:
    """Cells in their column's colour where `coloured`, else black and faint: the rank-one noise."""
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
        axes.text(at - 0.6, top + row + 0.55, f"{value:+.3f}", va="center", fontsize=7)
        for place, bit in ((at + 7.3, sign[row]), (at + 10.0, truth[row])):
            _rectangle(axes, place, top + row + 0.05, 0.9, owner[row], 0.9 if bit else 0.15)
            axes.patches[-1].set_height(0.9)
            axes.text(
                place + 0.45,
                top + row + 0.55,
                f"{bit:.0f}",
                ha="center",
                va="center",
                fontsize=8,
                color="white" if bit else "#555555",
            )
    axes.plot([zero, zero], [top, top + len(mean)], color="black", linewidth=0.8)
    axes.text(at + 7.75, top - 0.35, "sign", ha="center", va="bottom", fontsize=9)
    axes.text(at + 10.45, top - 0.35, "truth", ha="center", va="bottom", fontsize=9)


def caption(given: Tables) -> str:
    table = given["predictor"]
    f, w, inverse = (matrix(table, part) for part in ("f", "w", "inverse"))
    mean, truth = matrix(table, "mean")[:, 0], matrix(table, "truth")[:, 0]
    matched = table.where(part="f").numbers("matched") > 0
    n, K = int(matched.sum()), len(matched)
    examples = counted(n, "matched example")
    if n < K:
        at, elsewhere = f[matched].max(), f[~matched].max()
        values = f"two values, {at:.4f} at the {examples} (coloured) and {elsewhere:.4f} elsewhere (grey)"
        weights = f"the weights are {w[matched].max():.4f} and {w[~matched].max():.4f}"
    else:
        values, weights = f"one value, {f.max():.4f}: all {examples} (coloured)", f"all weights are {w.max():.4f}"
    off = f", {inverse[0, -1]:.3f} off it" if K > 1 else ""
    others = f", the others of at most {mean[truth == 0].max() + 0:.4f}" if (truth == 0).any() else ""
    agree = int((matrix(table, "sign")[:, 0] == truth).sum())
    return (
        f"**Figure 4, predictor structure** for {table.column('column_name')[0]}. The test kernel takes {values}. The "
        f"inverse train kernel is a multiple of the identity plus a constant: {inverse[0, 0]:.3f} on the diagonal{off} "
        f"(black). So {weights}. Bits that should be set have means of at least {mean[truth > 0].min():.4f}{others}; "
        f"{agree} of {len(truth)} signs are right. NTK of Eq. (1), dense linear algebra."
    )


FIGURE = Figure("Figure 4: from one input to a prediction", tables, {"predictor": draw}, caption, True)
