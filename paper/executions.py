"""Learning addition from executions: how many states make the limit, and trained networks, right in all states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass
from itertools import product
from typing import Any

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.networks import TrainingError
from bitwright.networks.network import LearntFrom
from bitwright.networks.train import ExecutionSet
from bitwright.proofs.exhaustion.domains import StatesDomain
from bitwright.rules import Algorithm, Program
from bitwright.rules.algorithms import addition
from bitwright.rules.pattern import Pattern
from bitwright.runs.successors import random_executions, random_states, successors
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.encoding.training_set import LABELS, StateSet, check_labels
from bitwright.theory.rounding import scale_weights
from paper.dense import Predictor
from paper.figures import Figure, Setting, Tables, collect
from paper.style import COLOURS, MARKERS, label
from paper.table import Row, Table, geometric
from paper.training import Plan, Recipe, train

COLUMNS = ("of", "bits", "source", "labels", "trial", "K", "examples", "right", "right_in_runs", "tested", "width")
SOURCES = ("states", "runs")
_ALL, _SAMPLE = 1 << 12, 4_096  # up to this many states are all tried; of more, this many at random
_FIRST, _STEP = 8, 2**0.5  # sizes of the training sets
_PER_EXAMPLE = 256  # hidden units
_ENOUGH = 3  # sizes in a row at which every state is right: larger ones are not tried


@dataclass(frozen=True)
class Curve:
    """Training sets that grow, each holding the one before."""

    of: str  # limit or network
    bits: int
    source: str
    labels: str
    trial: int


def tables(setting: Setting) -> Tables:
    limits = range(2, 9) if setting.full else range(2, 7)
    trained = range(2, 7) if setting.full else range(2, 5)
    trials = 5 if setting.full else 3
    jobs = [
        Curve(of, bits, source, labels, trial)
        for of, lengths in (("limit", limits), ("network", trained))
        for bits in lengths
        for source in SOURCES
        for labels in LABELS
        for trial in range(trials)
        if of == "limit" or labels == "scaled"
    ]
    return {"executions": collect(setting, setting.folder / "executions.csv", COLUMNS, jobs, _curve, None)}


def _curve(_: None, job: Curve) -> list[Row]:
    """A row for every size, until all states came out right a few times in a row or there are no more states."""
    algorithm = addition(job.bits)
    found, all_states, of_runs = _examples(algorithm, job), _every(algorithm, job), _tests(algorithm, job)
    K, size, good = algorithm.program.templates, float(_FIRST), 0
    rows: list[Row] = []
    while good < _ENOUGH and size < found.examples * _STEP:
        count = min(round(size), found.examples)
        part = StateSet(algorithm.program, found.matched[:count], found.following[:count], found.labelled)
        width = 1 << (_PER_EXAMPLE * K - 1).bit_length() if job.of == "network" else None
        outputs = _Outputs(part, job.trial, width)
        right, in_runs = outputs.right(all_states), outputs.right(of_runs)
        rows.append((*astuple(job), K, count, right, in_runs, all_states.examples, width))
        good, size = good + 1 if right == 1 else 0, size * _STEP
    return rows


class _Outputs:
    """What the limit of networks trained on these states says, or one network of a width."""

    def __init__(self, examples: StateSet, seed: int, width: int | None) -> None:
        self._set = examples
        self._evaluate: Callable[[FloatArray], Any] = Predictor(examples.inputs(), examples.labels()).mean
        if width is not None:
            origin = LearntFrom("states", examples.labelled, 1, examples.examples, None, None, examples.sha256)
            recipe = Recipe(width, seed, plan=Plan(1e-2, "momentum"))
            try:
                self._evaluate = train(examples.program, recipe, ExecutionSet(examples, origin))[0]
            except TrainingError:  # then nothing is right
                self._evaluate = lambda inputs: np.full((len(inputs), examples.program.bits), np.nan)

    def right(self, tests: StateSet) -> float:
        """The part of these states that have every bit right."""
        outputs: FloatArray = np.asarray(self._evaluate(tests.inputs()), dtype=np.float64)
        gap = scale_weights(tests.matches, tests.program.templates, self._set.labelled).gap
        bits = outputs > gap[:, None] / 2
        return float(((bits == tests.following).all(axis=1) & np.isfinite(outputs).all(axis=1)).mean())


def _examples(algorithm: Algorithm, job: Curve) -> StateSet:
    """Different states in random order: at most 64 K."""
    program, most = algorithm.program, 64 * algorithm.program.templates
    if job.source == "states":
        before = random_executions(program, 4 * most, job.trial).before
    else:
        before = random_states(algorithm, 16 * most, job.trial)
    found = _set_of(algorithm, before, job.labels)
    order = np.random.default_rng(job.trial).permutation(found.examples)[:most]
    return StateSet(program, found.matched[order], found.following[order], found.labelled)


def _every(algorithm: Algorithm, job: Curve) -> StateSet:
    """All states that can be told apart, or a random sample."""
    bits = algorithm.program.bits
    if 1 << bits <= _ALL:
        return _set_of(algorithm, np.arange(1 << bits)[:, None] >> np.arange(bits) & 1 == 1, job.labels)
    return _set_of(algorithm, random_choices(algorithm.program, _SAMPLE, seed=99), job.labels)


def _tests(algorithm: Algorithm, job: Curve) -> StateSet:
    return _set_of(algorithm, random_states(algorithm, _SAMPLE, seed=98), job.labels)


def random_choices(program: Program, count: int, seed: int) -> BoolArray:  # (count, k)
    """States in which every block has one of its choices, chosen evenly."""
    rng, domain = np.random.default_rng(seed), StatesDomain(Pattern.of_state(program))
    return np.array([domain.state((int(rng.integers(domain.size)), 0)) for _ in range(count)])


def _set_of(algorithm: Algorithm, states: BoolArray, labels: str) -> StateSet:
    return StateSet.of_states(algorithm.program, states, successors(algorithm.program, states), check_labels(labels))


def smallest(part: Table) -> int | None:
    """The smallest training set from which on every state was right; of one trial."""
    best = None
    for count, right in sorted(zip(part.numbers("examples"), part.numbers("right"), strict=True), reverse=True):
        if right < 1:
            break
        best = int(count)
    return best


_LOOKS = {"states": ("random states", "-"), "runs": ("states of runs", "--")}


def draw(pyplot: Any, given: Tables) -> Any:
    table = given["executions"]
    figure, panels = pyplot.subplots(1, 3, figsize=(12.5, 4.2))
    _growing(panels[0], table)
    _labels(panels[1], table)
    _needed(panels[2], table)
    return figure


def _growing(axes: Any, table: Table) -> None:
    """The limit's part of right states against training states over K."""
    for colour, bits in zip(COLOURS, sorted({int(b) for b in table.where(of="limit").numbers("bits")}), strict=False):
        for source, (_, line) in _LOOKS.items():
            part = table.where(of="limit", bits=bits, source=source, labels="scaled")
            sizes, right = _mean(part, "right")
            axes.plot(sizes, right, line, color=colour, label=f"$l={bits}$" if source == "states" else None)
    axes.plot([], [], "-", color="#555555", label="random states")
    axes.plot([], [], "--", color="#555555", label="states of runs")
    axes.set_xscale("log", base=2)
    axes.set(xlabel="training states", ylabel="part of all states right", title="The limit, scaled labels")
    axes.legend(loc="lower right")


def _labels(axes: Any, table: Table) -> None:
    """The longest addition, by labels, in all states and in those of runs."""
    bits = int(max(table.where(of="limit").numbers("bits")))
    tested = {"right": ("all states", "-"), "right_in_runs": ("states of runs", ":")}
    for colour, (labels, column) in zip(COLOURS, product(("scaled", "plain"), tested), strict=False):
        sizes, right = _mean(table.where(of="limit", bits=bits, source="runs", labels=labels), column)
        name, line = tested[column]
        axes.plot(sizes, right, line, color=colour, label=f"{labels}, {name}")
    axes.set_xscale("log", base=2)
    label(axes, f"Trained on runs, the limit, $l={bits}$", "training states, all of runs", "part of states right")
    axes.legend(loc="lower right", title="labels, tested in", handlelength=1.3, fontsize=8, bbox_to_anchor=(1.03, 0.1))


def _needed(axes: Any, table: Table) -> None:
    """The smallest number of training states for exactness, against l."""
    looks = [(of, source) for of in ("limit", "network") for source in SOURCES]
    for number, (of, source) in enumerate(looks):
        points = []
        for bits in sorted({int(b) for b in table.where(of=of).numbers("bits")}):
            part = table.where(of=of, bits=bits, source=source, labels="scaled")
            found = [smallest(part.where(trial=trial)) for trial in part.values("trial")]
            if found and None not in found:
                points.append((bits, geometric(found)[0]))  # type: ignore[arg-type]
        if points:
            name = "limit" if of == "limit" else "one network"
            mark = {"mfc": COLOURS[number], "markersize": 4} if of == "limit" else {"mfc": "none", "markersize": 8}
            look = {"color": COLOURS[number], "label": f"{name}, {_LOOKS[source][0]}", **mark}
            axes.plot(*zip(*points, strict=True), MARKERS[number] + _LOOKS[source][1], **look)
    lengths = np.array(sorted({int(b) for b in table.numbers("bits")}))
    axes.plot(lengths, 4 * lengths, ":", color="black", label="templates, $K=4l$")
    axes.set_yscale("log", base=2)
    axes.set_xticks(lengths)
    axes.set(xlabel="bits, $l$", ylabel="training states for exactness", title="Smallest training sets")
    axes.legend(loc="upper left")


def _mean(part: Table, column: str) -> tuple[list[int], list[float]]:
    """The mean over trials by size; a trial that has ended, all states right, goes on as right."""
    trials = [part.where(trial=trial) for trial in part.values("trial")]
    sizes = sorted({int(size) for size in part.numbers("examples")})
    lines = [np.interp(sizes, one.numbers("examples"), one.numbers(column)) for one in trials]
    return sizes, np.mean(lines, axis=0).tolist() if lines else []


def caption(given: Tables) -> str:
    table = given["executions"]
    widths = sorted({int(width) for width in table.where(of="network").numbers("width")})
    return (
        "**Learning from executions.** Addition of l bits, trained on encoded states with several matches each, "
        "labelled with their next states. A state is right if every bit of its next state is right. If there are at "
        f"most 2^12 states, all are tried; otherwise {_SAMPLE:,} at random, and exact means right in these. Labels are "
        "0 and 1; scaled labels are divided by sqrt(n). Left: the limit, by a dense solve; mean of "
        f"{len(table.values('trial'))} trials. Middle: trained on states of runs, tested in all states and in states "
        "of runs. Right: the size of the training set from which on all states were right (geometric mean). Networks "
        f"have widths {', '.join(f'{width:,}' for width in widths)}, zero-output start, Nesterov momentum and error "
        "0.01. The reference is the training set of the templates, K = 4l examples, for which the limit is proved "
        "exact."
    )


FIGURE = Figure("Learning from executions", tables, {"executions": draw}, caption)
