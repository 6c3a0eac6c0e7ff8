"""What the paper could not do: trained addition, multiplication and SBN; few networks instead of many, or just one."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitwright.theory.closed_form import FloatArray
from paper.beyond_measure import (
    ENSEMBLES,
    EVERYTHING,
    MARGINS,
    Ensemble,
    Every,
    Single,
    ensemble_rows,
    every_rows,
    expected_rows,
    margin_rows,
)
from paper.figures import Figure, Setting, Tables, collect
from paper.style import COLOURS, MARKERS, label
from paper.table import Table, geometric
from paper.training import STARTS

# Task and bits, with the most members of a random start and of a zero start.
FAST = (("addition", 2, 400, 40), ("addition", 4, 600, 60), ("multiplication", 2, 24, 24), ("SBN", 2, 8, 8))
FULL = (
    *(("addition", bits, 1_500, 100) for bits in (2, 4, 6, 8, 10)),
    *(("multiplication", 2, 2_000, 100), ("multiplication", 4, 3_000, 100)),
    *(("SBN", 2, 1_200, 100), ("SBN", 4, 1_200, 100)),
)
SINGLE_FAST = (("addition", 6), ("multiplication", 3))
SINGLE_FULL = (("addition", 10), ("multiplication", 10), ("SBN", 4))
_LOOKS = {  # rounding and start: label, colour, marker
    ("sign", "random"): ("sign, random start (the paper)", COLOURS[1], MARKERS[1]),
    ("sign", "zero"): ("sign, zero-output start", COLOURS[4], MARKERS[2]),
    ("calibrated", "random"): ("calibrated, random start", COLOURS[5], MARKERS[3]),
    ("calibrated", "zero"): ("calibrated, zero-output start (ours)", COLOURS[0], MARKERS[0]),
}


def train(setting: Setting) -> Tables:
    """Three collections: the worst margin of single networks, every product through one, and ensembles that grow."""
    full, inputs = setting.full, 1_000 if setting.full else 300
    singles = [
        Single(task, bits, 1 << power, trial, 0, inputs)
        for trial in range(5 if full else 3)
        for task, bits in (SINGLE_FULL if full else SINGLE_FAST)
        for power in (range(10, 18) if full else range(9, 15))
    ]
    every = [Every("multiplication", 10, 16_384, 0) if full else Every("multiplication", 4, 8_192, 0)]
    jobs = (
        ("beyond-margin", MARGINS, singles, margin_rows),
        ("beyond-every", EVERYTHING, every, every_rows),
        ("beyond", ENSEMBLES, _ensembles(setting), ensemble_rows),
    )
    return {
        name: collect(setting, setting.folder / f"{name}.csv", columns, wanted, work, setting.device)
        for name, columns, wanted, work in jobs
    }


def tables(setting: Setting) -> Tables:
    found = dict(train(setting))
    found["beyond"] = Table.of(ENSEMBLES, (*found["beyond"].rows, *expected_rows(_ensembles(setting))))
    return found


def _ensembles(setting: Setting) -> list[Ensemble]:
    width, inputs = (16_384, 1_000) if setting.full else (2_048, 300)
    return [
        Ensemble(task, bits, start, trial, width, 0, most if start == "random" else fewer, inputs)
        for trial in range(3)
        for task, bits, most, fewer in (FULL if setting.full else FAST)
        for start in STARTS
    ]


def margin_fit(table: Table) -> tuple[FloatArray, FloatArray, float, float]:
    """Widths, the mean of 1/2 - margin over networks, and the power law through them: factor and exponent.

    Only where no network was wrong: there the deviation is a measured number.
    """
    widths, lost = [], []
    for width in sorted({int(size) for size in table.numbers("width")}):
        part = table.where(width=width)
        if (part.numbers("wrong") == 0).all():
            widths.append(width)
            lost.append(float((0.5 - part.numbers("margin")).mean()))
    exponent, factor = np.polyfit(np.log(widths), np.log(lost), 1) if len(widths) > 1 else (np.nan, np.nan)
    return np.array(widths, dtype=float), np.array(lost), float(np.exp(factor)), float(exponent)


def draw(pyplot: Any, given: Tables) -> Any:
    table = given["beyond"]
    figure, panels = pyplot.subplots(2, 3, figsize=(11.5, 7.2))
    _needed(panels[0, 0], table)
    tasks = list(dict.fromkeys(map(str, table.column("task"))))
    for axes, task in zip((panels[0, 1], panels[0, 2], panels[1, 0]), tasks, strict=True):
        _curves(axes, table, task)
    _margins(panels[1, 1], given["beyond-margin"])
    _words(panels[1, 2], given)
    return figure


def _needed(axes: Any, table: Table) -> None:
    """Networks to 90% for every task, start and rounding."""
    names = _tasks(table)
    for (rounding, start), (_, colour, marker) in _LOOKS.items():
        shift = 0.16 * (list(_LOOKS).index((rounding, start)) - 1.5)
        for place, (task, bits) in enumerate(names):
            part = table.where(task=task, bits=bits, rounding=rounding, start=start)
            found = part.where(quantity="to 90%")
            reached = found.numbers("networks")
            most = found.numbers("most")
            if np.isnan(reached).any():  # not within the members trained: an arrow
                arrow = {"arrowstyle": "->", "color": colour, "linewidth": 1.2}
                axes.annotate("", (place + shift, most.max() * 2.6), (place + shift, most.max()), arrowprops=arrow)
            elif len(reached):
                mean, low, high = geometric(reached)
                spread = [[mean - low], [high - mean]] if low == low else None
                axes.errorbar(place + shift, mean, spread, fmt=marker, color=colour, capsize=2)
            exact = part.where(quantity="expected to 90%").numbers("networks")
            if len(exact) and not np.isnan(exact[0]):
                axes.plot([place - 0.3, place + 0.3], [exact[0]] * 2, "--", color=colour, linewidth=1)
    axes.set(yscale="log", ylim=(0.7, None))
    short = {"addition": "add", "multiplication": "mul", "SBN": "SBN"}
    axes.set_xticks(range(len(names)), [f"{short[task]}\n{bits}" for task, bits in names])
    axes.set(xlabel="task and bit length", ylabel="networks for 90% of states", title="Networks to average")


def _curves(axes: Any, table: Table, task: str) -> None:
    """Accuracy against ensemble size for the largest size of a task."""
    bits = int(max(table.where(task=task).numbers("bits")))
    for (rounding, start), (name, colour, marker) in _LOOKS.items():
        part = table.where(task=task, bits=bits, rounding=rounding, start=start)
        measured = part.where(quantity="curve")
        points = sorted({int(N) for N in measured.numbers("networks")})
        if points:
            mean = [float(measured.where(networks=N).numbers("accuracy").mean()) for N in points]
            axes.plot(points, mean, marker + "-", color=colour, markevery=3, label=name)
        exact = part.where(quantity="expected curve")
        if len(exact):
            axes.plot(exact.numbers("networks"), exact.numbers("accuracy"), "--", color=colour, linewidth=1)
    axes.set(xscale="log", ylim=(-0.03, 1.05))
    K, k = (int(max(table.where(task=task, bits=bits).numbers(name))) for name in ("K", "k"))
    title = f"{task[0].upper()}{task[1:]}, {bits} bits: $K={K}$, $k={k}$"
    label(axes, title, "networks averaged, $N$", "states with every bit right")


def _margins(axes: Any, table: Table) -> None:
    for number, (task, bits) in enumerate(_tasks(table)):
        part = table.where(task=task, bits=bits)
        axes.plot(part.numbers("width"), 0.5 - part.numbers("margin"), ".", color=COLOURS[number], alpha=0.5)
        widths, lost, factor, exponent = margin_fit(part)
        named = f"{task}, {bits} bits" + (f": width$^{{{exponent:.2f}}}$" if exponent == exponent else "")
        axes.plot(widths, lost, MARKERS[number], color=COLOURS[number])
        axes.plot(widths, factor * widths**exponent, "-", color=COLOURS[number], linewidth=1, label=named)
    axes.axhline(0.5, color="black", linestyle=":", linewidth=0.8)
    axes.text(0.98, 0.5, "a bit flips", transform=axes.get_yaxis_transform(), ha="right", va="bottom", fontsize=8)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    ticks = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5)
    low = float(np.nanmin(0.5 - table.numbers("margin"))) * 0.7
    axes.set_ylim(low, 0.75)
    axes.set_yticks([tick for tick in ticks if tick >= low], [f"{tick:g}" for tick in ticks if tick >= low])
    axes.minorticks_off()
    title = r"Error of one network, about 1/$\sqrt{\mathrm{width}}$"
    label(axes, title, "width of the one network", "1/2 less the worst margin")
    axes.legend(loc="lower left")


def _words(axes: Any, given: Tables) -> None:
    """The legend, and what one network did on every product."""
    axes.axis("off")
    for name, colour, marker in _LOOKS.values():
        axes.plot([], [], marker + "-", color=colour, label=name)
    axes.plot([], [], "--", color="#555555", label="expected in the limit, random start")
    axes.legend(loc="upper left", fontsize=9.5, bbox_to_anchor=(-0.05, 1.02))
    for row in given["beyond-every"].rows:
        found = dict(zip(EVERYTHING, row, strict=True))
        text = (
            f"One network, width {found['width']:,}, trained on\n{found['K']:,} examples, in closed loop:\n"
            f"all {found['inputs']:,} products of {found['bits']}-bit numbers,\n{found['evaluations']:,} evaluations,"
        )
        axes.text(0.0, 0.45, text, va="top", fontsize=10.5, transform=axes.transAxes)
        look = {"fontsize": 15, "weight": "bold", "color": COLOURS[1 if found["wrong_steps"] else 0]}
        axes.text(0.0, 0.14, f"{found['wrong_steps']} wrong", va="top", transform=axes.transAxes, **look)


def caption(given: Tables) -> str:
    table, margins, every = given["beyond"], given["beyond-margin"], given["beyond-every"]
    measured = table.where(quantity="to 90%")
    exponents = {key: margin_fit(margins.where(task=key[0], bits=key[1]))[3] for key in _tasks(margins)}
    found = [f"{task} of {bits} bits {value:.2f}" for (task, bits), value in exponents.items() if value == value]
    fits = "; ".join(found) or "none yet"
    runs = [dict(zip(EVERYTHING, row, strict=True)) for row in every.rows]
    closed = " ".join(
        f"All {run['inputs']:,} products of {run['bits']}-bit numbers through one network of width {run['width']:,} "
        f"({run['device']}): {run['evaluations']:,} evaluations in closed loop, {run['wrong_steps']} wrong, smallest "
        f"margin {float(run['margin'] or 0):.3f}."
        for run in runs
    )
    inputs, width = int(measured.numbers("inputs")[0]), int(measured.numbers("width")[0])
    return (
        f"**Beyond the paper.** Ensembles of width {width:,} (NTK parametrization, plain gradient descent to an error "
        f"of 1e-4, no padding) on {inputs:,} states from random runs that match two examples or more; the sign rule "
        "masks bits that nothing writes. A mark shows the first N at which 90% of the states have every bit right "
        f"(geometric mean over {len(set(measured.column('trial')))} trials with a 95% interval); an arrow means that "
        "more networks are needed than were trained. Dashed lines show N (and accuracy) expected in the limit with a "
        "random start. SBN is machine B with two words, two instructions and random code. The bottom middle panel "
        "shows 1/2 minus the worst margin of one network (zero-output start, calibrated, momentum) against its "
        f"width, with fitted exponents: {fits}. "
        f"{closed} Seed {measured.column('seed')[0]}; trained on: {', '.join(map(str, measured.values('device')))}."
    )


def _tasks(table: Table) -> list[tuple[str, int]]:
    """Tasks and their bits, in the order of the table."""
    return list(dict.fromkeys((str(row[0]), int(row[1] or 0)) for row in table.rows))


FIGURE = Figure("What the paper could not do", tables, {"beyond": draw}, caption, train=train)
