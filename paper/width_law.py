"""The width law against trained networks: spread and smallest exact width, predicted without a fitted number."""

from __future__ import annotations

from typing import Any

import numpy as np

from paper.figures import Figure, Setting, Tables, collect
from paper.style import COLOURS, MARKERS, label
from paper.table import Table, geometric
from paper.width_law_measure import (
    PROGRAMS,
    SPREADS,
    WIDTHS,
    ExactJob,
    SpreadJob,
    exact_rows,
    regions_of,
    spread_rows,
)

_EXACT = tuple(name for name in PROGRAMS if name not in ("multiplication 2", "SBN 2"))  # few enough states to try all
_PER_EXAMPLE = 16  # hidden units; with fewer, some networks do not learn their training set to 1e-4


def train(setting: Setting) -> Tables:
    """Networks of 2^8 to 2^13 hidden units, with `full` to 2^17; and ten seeds of each program, ever wider."""
    last, members = (17, 200) if setting.full else (13, 60)
    spreads = [
        SpreadJob(name, 1 << power, members, 100, 0, setting.device)
        for power in range(8, last + 1)
        for name in PROGRAMS
        if 1 << power >= _PER_EXAMPLE * regions_of(name)[0].program.templates
        and (setting.full or name != "SBN 2" or power <= 11)
    ]
    exact = [
        ExactJob(name, quantity, seed)
        for name in _EXACT
        for quantity in ("predicted", "measured")
        for seed in range(40 if setting.full else 10)
    ]
    return {
        "width-law": collect(setting, setting.folder / "width-law.csv", SPREADS, spreads, spread_rows, None),
        "width-law-exact": collect(setting, setting.folder / "width-law-exact.csv", WIDTHS, exact, exact_rows, None),
    }


def draw(pyplot: Any, given: Tables) -> Any:
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11.0, 4.6))
    _spreads(left, given["width-law"])
    _widths(right, given["width-law-exact"])
    return figure


def _spreads(axes: Any, table: Table) -> None:
    axes.axhline(1, color="black", linewidth=0.8)
    axes.axhspan(0.95, 1.05, color="#000000", alpha=0.06, linewidth=0)
    for name in _names(table):
        part = table.where(program=name)
        number = PROGRAMS.index(name)
        K, look = part.numbers("K"), {"fmt": MARKERS[number] + "-", "color": COLOURS[number]}
        named, errors = f"{name}, $K={int(K[0])}$", 1.96 * part.numbers("error")
        axes.errorbar(
            part.numbers("width") / K, part.numbers("ratio"), errors, linewidth=1, capsize=2, label=named, **look
        )
    axes.axvline(200, color="black", linestyle=":", linewidth=0.8)
    axes.set_xscale("log", base=2)
    x, y = "hidden units for each example, $h/K$", "measured spread over predicted"
    label(axes, "Spread of trained networks", x, y)
    axes.legend(loc="lower right")


def _widths(axes: Any, table: Table) -> None:
    ends = []
    for name in _compared(table):
        number = PROGRAMS.index(name)
        (x, *wide), (y, *high) = (
            geometric(table.where(program=name, quantity=quantity).numbers("width"))
            for quantity in ("predicted", "measured")
        )
        ends += [*wide, *high]
        errors = [[y - high[0]], [high[1] - y]], [[x - wide[0]], [wide[1] - x]]
        axes.errorbar(x, y, *errors, fmt=MARKERS[number], color=COLOURS[number], capsize=2, label=name)
    compared = "predicted: one draw of the Gaussian field", "measured: a network, all states tried"
    label(axes, "Smallest exact width", *compared)
    if not ends:
        return
    span = [float(np.nanmin(ends)) * 0.8, float(np.nanmax(ends)) * 1.25]
    axes.plot(span, span, color="black", linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.legend(loc="upper left")


def caption(given: Tables) -> str:
    table, exact = given["width-law"], given["width-law-exact"]
    widths, members = table.numbers("width"), int(table.numbers("members")[0])
    wide = table.numbers("width") >= 200 * table.numbers("K")
    ratios = table.numbers("ratio")[wide]
    seeds = len(set(exact.column("seed")))
    pairs = "; ".join(
        f"{name} {_mean(exact, name, 'predicted'):,.0f} and {_mean(exact, name, 'measured'):,.0f}"
        for name in _compared(exact)
    )
    between = (
        f"the ratios lie between {ratios.min():.3f} and {ratios.max():.3f}" if len(ratios) else "there are none yet"
    )
    return (
        f"**The width law**, without fitted numbers. Left: the standard deviation of zhat over {members} networks "
        "(zero-output start, plain gradient descent to an error of 1e-4), divided by the prediction of the law. This "
        "is the root mean square over bits and up to 100 states that match two examples or more (for cells, of each "
        f"kind), at widths {widths.min():,.0f} to {widths.max():,.0f}. Bars are 1.96 jackknife standard errors, and "
        f"the band is 5%. From 200 hidden units per example on (dotted), {between}. "
        "Right: the smallest width at which every bit of every state is right. It is predicted by draws of the law's "
        "Gaussian field, and measured on networks trained with momentum, at widths from 32 up in factors of sqrt(2). "
        f"Geometric means over {seeds} each with 95% intervals, predicted and measured, are: {pairs}. The star and the "
        "cells are exact at widths too small for a law of first order. SBN is machine B with two words and two "
        f"instructions. Seed 0; trained on: {', '.join(map(str, table.values('device')))}."
    )


def _names(table: Table) -> list[str]:
    return list(dict.fromkeys(map(str, table.column("program"))))


def _compared(table: Table) -> list[str]:
    """The programs that have both widths; in a table that was cut off by the time there are fewer."""
    both = ("predicted", "measured")
    return [name for name in _names(table) if all(len(table.where(program=name, quantity=of)) for of in both)]


def _mean(table: Table, name: str, quantity: str) -> float:
    return geometric(table.where(program=name, quantity=quantity).numbers("width"))[0]


FIGURE = Figure("The width law", train, {"width-law": draw}, caption, train=train)
