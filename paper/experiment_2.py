"""Appendix E, experiment 2 (Figure 7, right): accuracy of trained permutations against the size of the ensemble."""

from __future__ import annotations

from dataclasses import astuple
from functools import lru_cache
from typing import Any

import numpy as np

from bitwright.theory.closed_form import FloatArray
from paper.accuracy import expected_accuracy, networks_for
from paper.figures import Figure, Setting, Tables, collect
from paper.members import curve, sizes_to
from paper.permutations import (
    COLUMNS,
    INPUTS,
    LIMITS,
    TITLES,
    TOLERANCE,
    Trial,
    members_of,
    random_inputs,
    trials,
)
from paper.style import COLOURS, MARKERS
from paper.table import Row, Table, interval

ENOUGH = 0.999  # curves end where the limit expects this accuracy
_BATCH = 96


def train(setting: Setting) -> Tables:
    jobs = trials("trained", setting.full, _lengths(setting), 12 if setting.full else 5)
    path = setting.folder / "experiment-2.csv"
    return {"experiment-2": collect(setting, path, COLUMNS, jobs, _measure, setting.device)}


def tables(setting: Setting) -> Tables:
    rows = (*train(setting)["experiment-2"].rows, *_expected(_lengths(setting)))
    return {"experiment-2": Table.of(COLUMNS, rows)}


def _lengths(setting: Setting) -> list[int]:
    return [5, 10, 15, 20, 25, 30] if setting.full else [5, 10, 15]


def _measure(device: str, job: Trial) -> list[Row]:
    test = random_inputs(job.k, job.trial, job.seed)
    members, origin = members_of(job, test, device)
    points = sizes(job.k, job.parametrization)
    found = curve(test, members, ["sign"], LIMITS[job.parametrization], points, min(_BATCH, points[-1]))[0]
    return [(*astuple(job), INPUTS, N, float(accuracy), origin) for N, accuracy in zip(points, found, strict=True)]


@lru_cache(maxsize=256)
def sizes(k: int, parametrization: str) -> list[int]:
    """The ensemble sizes at which accuracy is noted."""
    gaps, sigma = random_inputs(k, 0, 0).gaps("sign", LIMITS[parametrization])
    return sizes_to(networks_for(ENOUGH, gaps, sigma) or 1)


def _expected(lengths: list[int]) -> list[Row]:
    """The expected accuracy in the limit, exactly."""
    rows: list[Row] = []
    for name, kind in LIMITS.items():
        for k in lengths:
            gaps, sigma = random_inputs(k, 0, 0).gaps("sign", kind)
            rows += [
                ("expected", name, k, None, None, None, INPUTS, N, expected_accuracy(N, gaps, sigma), "closed form")
                for N in sizes(k, name)
            ]
    return rows


def bands(part: Table) -> tuple[FloatArray, FloatArray]:
    """The sizes, and (mean, low, high) of the accuracy over trials at each."""
    points = sorted({int(N) for N in part.numbers("networks")})
    found = np.array([interval(part.where(networks=N).numbers("accuracy")) for N in points])
    return np.array(points, dtype=float), found.reshape(-1, 3)


def draw(pyplot: Any, given: Tables) -> Any:
    table = given["experiment-2"]
    figure, panels = pyplot.subplots(1, 2, figsize=(10.5, 4.4), sharey=True)
    for axes, parametrization in zip(panels, LIMITS, strict=True):
        for number, k in enumerate(table.values("k")):
            part = table.where(parametrization=parametrization, k=k)
            exact = part.where(source="expected")
            axes.plot(exact.numbers("networks"), exact.numbers("accuracy"), "--", color=COLOURS[number], linewidth=1)
            points, found = bands(part.where(source="trained"))
            if len(points):
                low, high = np.clip(found[:, 1], 0, 1), np.clip(found[:, 2], 0, 1)
                axes.fill_between(points, low, high, color=COLOURS[number], alpha=0.18, linewidth=0)
                axes.plot(
                    points, found[:, 0], MARKERS[number] + "-", color=COLOURS[number], markevery=4, label=f"$k={k}$"
                )
        axes.plot([], [], "k--", linewidth=1, label="expected in the limit")
        axes.axhline(0.9, color="black", linewidth=0.8, linestyle=":")
        axes.set(xscale="log", ylim=(-0.02, 1.02), xlabel="networks averaged, $N$", title=TITLES[parametrization])
    panels[0].set_ylabel("inputs with every bit right")
    panels[0].legend(loc="upper left")
    return figure


def caption(given: Tables) -> str:
    table = given["experiment-2"]
    trained = table.where(source="trained")
    many = {
        len(set(trained.where(parametrization=p, k=k).column("trial"))) for p in LIMITS for k in trained.values("k")
    } - {0}
    width = max(trained.numbers("width"), default=0)
    return (
        f"**Appendix E, experiment 2** (Figure 7, right). The fraction of {INPUTS:,} random inputs with two ones for "
        "which every bit of the rounded average is right, against the number of networks averaged, for permutations "
        f"of k bits. Width {width:,.0f}, random start, plain gradient descent to an error of {TOLERANCE:g}; mean over "
        f"{min(many)}{f' to {max(many)}' if len(many) > 1 else ''} trials with a 95% interval (Student). Dashed lines "
        "are expected values in the limit of infinite width, without a fit; the dotted line is 90%. The left and "
        "right panels show the two parametrizations. "
        f"Seed {trained.column('seed')[0]}; trained on: {', '.join(map(str, trained.values('device')))}."
    )


FIGURE = Figure("Figure 7, right: accuracy against ensemble size", tables, {"experiment-2": draw}, caption, train=train)
