"""Figure 5: how many networks to average, against the bit length, for the paper's tasks and the SBN machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from bitwright.machines import Sizes, machine_a, machine_b
from bitwright.rules import Program
from bitwright.rules.algorithms import addition, multiplication, permutation
from bitwright.theory.decisions import Range, blocks_range, declared_range
from bitwright.theory.ensemble import calibrated_size, log_inputs, sign_size
from paper.figures import Figure, Setting, Tables
from paper.style import COLOURS
from paper.table import Row, Table

DELTA = 0.01
COLUMNS = (
    *("task", "bits", "templates", "K", "blocks", "n_max", "iterations", "delta", "ratio_sign", "ratio_calibrated"),
    *("sign_printed", "order", "sign_tight", "calibrated"),
)
_TITLES = {
    "permutation": "Permutation",
    "addition": "Addition",
    "multiplication": "Multiplication",
    "machine A": "SBN, machine A",
    "machine B": "SBN, machine B",
}
WORDS = 4  # of memory, and instructions, of the SBN machines
SPARE = 2  # times the smallest certified K: at that K itself the worst mean is barely positive and N beyond all use


@dataclass(frozen=True)
class _SizeTask:
    """A program with the training set and the range of n that the sign rule has been shown to be right for."""

    name: str
    bits: int
    program: Program
    examples: int
    within: Range
    iterations: int


def tables(setting: Setting) -> Tables:
    """N for all inputs and all steps, at every bit length; closed forms only."""
    lengths = list(range(2, 65)) if setting.full else [*range(2, 17), 20, 24, 28, 32]
    words = [*range(2, 17), 20, 24, 28, 32] if setting.full else [2, 3, 4, 6, 8, 12, 16]
    total, rows = 3 * len(lengths) + 2 * len(words), []
    for task in _tasks(lengths, words):
        rows.append(_row(task))
        setting.progress(len(rows), total)
    return {"ensemble-complexity": Table.of(COLUMNS, rows)}


def _tasks(lengths: list[int], words: list[int]) -> Iterator[_SizeTask]:
    from bitwright.theory.proof import smallest_examples

    for l in lengths:
        program = permutation(range(l, 0, -1)).program
        yield _SizeTask("permutation", l, program, program.templates, blocks_range(program), 1)
    for l in lengths:
        program = addition(l).program
        yield _SizeTask("addition", l, program, program.templates, blocks_range(program), 2 * l)
    for l in lengths:
        algorithm = multiplication(l)
        K = max(algorithm.examples or 0, smallest_examples(algorithm.program, declared_range(algorithm)))
        yield _SizeTask("multiplication", l, algorithm.program, K, declared_range(algorithm), algorithm.steps or 1)
    for name, make in (("machine A", machine_a), ("machine B", machine_b)):
        for width in words:
            program = make(Sizes(WORDS, WORDS, width)).program
            within = blocks_range(program)
            K = SPARE * smallest_examples(program, within)
            yield _SizeTask(name, width, program, K, within, 1)


def _row(task: _SizeTask) -> Row:
    """`order` is the paper's K (ln(all inputs) + ln m + ln 2K/delta) with the constants of Eq. (8) left out."""
    program, K = task.program, task.examples
    printed = sign_size(program, DELTA, "runs", examples=K, within=task.within, steps=task.iterations)
    tight = sign_size(program, DELTA, "inputs", printed=False, examples=K, within=task.within)
    ours = calibrated_size(program, DELTA, "inputs", within=task.within)  # needs no padding
    order = K * (log_inputs(program) + log(task.iterations) + log(2 * K / DELTA))
    return (
        *(task.name, task.bits, program.templates, K, program.blocks, task.within.n_max, task.iterations, DELTA),
        *(printed.ratio, ours.ratio, printed.networks, round(order, 1), tight.networks, ours.networks),
    )


def growth(table: Table) -> tuple[float, float]:
    """The line sigma^2/mu^2 = slope K + offset through the larger half of the sizes: the part that it settles to."""
    K, ratio = table.numbers("K"), table.numbers("ratio_sign")
    half = np.median(K) <= K
    slope, offset = np.polyfit(K[half], ratio[half], 1)
    return float(slope), float(offset)


def draw(pyplot: Any, given: Tables) -> Any:
    table = given["ensemble-complexity"]
    figure, panels = pyplot.subplots(2, 3, figsize=(10.5, 7.0))
    curves = (
        ("sign_printed", "sign rule, Eq. (8) as printed", "-", COLOURS[1], 2.0),
        ("order", r"its order, $K\,(\ln \#\mathrm{inputs} + \ln m + \ln(2K/\delta))$", "--", COLOURS[6], 1.2),
        ("sign_tight", "sign rule, tight constant", "-.", COLOURS[4], 1.6),
        ("calibrated", "calibrated rounding (ours)", "-", COLOURS[0], 2.0),
    )
    for axes, (name, title) in zip(panels.flat, _TITLES.items(), strict=False):
        part = table.where(task=name)
        bits = part.numbers("bits")
        for column, label, line, colour, width in curves:
            axes.plot(bits, part.numbers(column), line, color=colour, linewidth=width, label=label)
        axes.set(yscale="log", ylim=(1, 10 ** (np.log10(part.numbers("sign_printed").max()) * 1.5)))
        axes.set_xlabel(
            "bit length" + (f" of {WORDS} words, {WORDS} instructions" if "machine" in name else r" $\ell$")
        )
        axes.set(ylabel="networks to average, $N$", title=title)
        _inset(axes, part)
    panels.flat[-1].axis("off")
    handles, labels = panels.flat[0].get_legend_handles_labels()
    panels.flat[-1].legend(handles, labels, loc="upper left", fontsize=10, bbox_to_anchor=(-0.1, 0.95))
    text = "Insets: the worst $\\sigma^2/\\mu^2$ against $K$,\nwith the slope fitted to the larger half."
    panels.flat[-1].text(-0.07, 0.42, text, transform=panels.flat[-1].transAxes, va="top")
    return figure


def _inset(axes: Any, part: Table) -> None:
    inset = axes.inset_axes((0.18, 0.71, 0.42, 0.25))
    K, ratio = part.numbers("K"), part.numbers("ratio_sign")
    slope, offset = growth(part)
    inset.plot(K, ratio, ".", color=COLOURS[1], markersize=3)
    inset.plot(K, slope * K + offset, "-", color="black", linewidth=0.8)
    inset.set(ylim=(0, ratio.max() * 1.15), xlim=(0, K.max() * 1.05))
    inset.grid(visible=False)
    inset.tick_params(labelsize=7, length=2, pad=1.5)
    inset.xaxis.set_major_locator(_few())
    inset.yaxis.set_major_locator(_few())
    inset.text(0.05, 0.95, f"slope {slope:.2f}", transform=inset.transAxes, va="top", fontsize=8)
    inset.text(1.04, 0.0, "$K$", transform=inset.transAxes, fontsize=8, va="bottom")


def _few() -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(2)


def caption(given: Tables) -> str:
    table = given["ensemble-complexity"]
    last = {name: table.where(task=name) for name in _TITLES}
    ends = "; ".join(
        f"{name} of {part.column('bits')[-1]} bits {part.column('sign_printed')[-1]:,} against "
        f"{part.column('calibrated')[-1]:,}"
        for name, part in last.items()
    )
    two, three = last["permutation"].column("sign_printed")[:2]
    slopes = ", ".join(f"{name} {growth(part)[0]:.2f}" for name, part in last.items())
    return (
        "**Figure 5, ensemble complexity.** The number of networks to average so that every step of every run is "
        f"right with probability at least {1 - DELTA:g}, in closed form. The curves show Eq. (8) as printed, its order "
        "without constants, the sign rule with the constant 2 and without the factor m, and calibrated rounding "
        "without padding. For multiplication, the sign rule uses the paper's padding to 21 l and its bound "
        f"n <= 7l + 1. For the SBN machines ({WORDS} words, {WORDS} instructions; no m), it uses {SPARE} times the "
        f"smallest certified K. Sign as printed, compared with calibrated: {ends}. Slopes of sigma^2/mu^2 against K: "
        f"{slopes}. Permutation jumps from {two:,} at 2 bits to {three:,} at 3. With 2 bits, the only random states "
        "match all K = 2 examples and set both bits. With 3 bits, a bit can be unset, and its mean w0 is of order 1/K."
    )


FIGURE = Figure("Figure 5: networks to average against bit length", tables, {"ensemble-complexity": draw}, caption)
