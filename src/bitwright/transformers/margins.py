"""How close a decoder comes to a wrong answer, and how many inputs it gets wrong."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bitwright.common.compiling import compiled
from bitwright.common.errors import InputError
from bitwright.common.frozen import FrozenArrays
from bitwright.transformers.affine import Reals, RowArrays
from bitwright.transformers.attention import tabulate
from bitwright.transformers.boxes import split, steps
from bitwright.transformers.columns import Ints
from bitwright.transformers.counterexamples import forced_margins
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.layout import ColumnTask
from bitwright.transformers.prover import Progress
from bitwright.transformers.steps import (
    Front,
    Step,
    StepProof,
    bound_margins,
    bound_outputs,
    choose_variables,
    prove_step,
    step_of,
    whole_groups,
)
from bitwright.transformers.sums import Boxes, Cases, Edges

LIMB = 60  # bits of one part of a number of inputs


@dataclass(frozen=True)
class SmallestMargin(FrozenArrays):
    """The smallest margin of the right token over all inputs and steps, in real arithmetic.

    Args:
        bound: no input has a smaller one; -inf where the time did not suffice to know any.
        attained: that of the input.
        symbols: (words, length) the input, with the right answers so far before every step.
    """

    bound: float
    attained: float
    step: int
    symbols: Ints
    inputs: str


def smallest_margin(
    decoder: Decoder,
    task: ColumnTask,
    *,
    gap: float = 1e-3,
    seed: int = 0,
    seconds: float = np.inf,
    progress: Progress | None = None,
) -> SmallestMargin:
    """The smallest margin, up to this relative gap, and an input that attains it.

    Args:
        seconds: after which nothing more is split; what is known by then is between `bound` and `attained`.
        progress: gets how much is done, in percent, and 100.
    """
    rng, table, end = np.random.default_rng(seed), tabulate(decoder, task, 0.0), time.monotonic() + seconds
    best, at, symbols = np.inf, 0, np.zeros((0, 0), np.int64)

    def attain(candidates: Ints) -> None:
        nonlocal best, at, symbols
        found = forced_margins(decoder, task, candidates)
        if np.isnan(found).any():
            raise InputError("the decoder's logits are not finite on some inputs; they have no smallest margin")
        row, step = np.unravel_index(found.argmin(), found.shape)
        if found[row, step] < best:
            best, at, symbols = float(found[row, step]), int(step), candidates[row]

    symbols = (tried := task.random_inputs(1000, rng))[0]
    attain(tried)
    bound = np.inf
    for number, groups in enumerate(of_steps := steps(task)):

        def halt(proof: StepProof, candidates: Ints, number: int = number) -> bool:
            _tell(progress, number + proof.trees.share, len(of_steps))
            if len(candidates):
                attain(candidates)
            return time.monotonic() > end

        bound = min(bound, prove_step(step_of(table, groups), halt, rng, lambda: best - gap * abs(best)).least)
    _tell(progress, 1, 1)
    return SmallestMargin(float(min(bound, best)), best, at, symbols, task.describe(symbols))


def _tell(progress: Progress | None, done: float, total: int) -> None:
    if progress:
        progress(int(100 * done / total), 100)


@dataclass(frozen=True)
class WrongInputs:
    """Between `least` and `most` inputs are answered wrongly; `first` tells at which step first, likewise.

    Args:
        timed_out: whether the time ended the count.
    """

    least: int
    most: int
    first: tuple[tuple[int, int], ...]
    timed_out: bool = False


@dataclass(frozen=True)
class Pieces(RowArrays):
    """Boxes without common inputs, each in its case; `possible` boxes may have right inputs, the others have none."""

    boxes: Boxes
    wanted: Ints  # (n, length + 1)
    ends: NDArray[np.bool_]  # (n, states)
    possible: NDArray[np.bool_]


def count_wrong(
    decoder: Decoder,
    task: ColumnTask,
    *,
    boxes: int = 50_000,
    seconds: float = np.inf,
    progress: Progress | None = None,
) -> WrongInputs:
    """How many inputs are answered wrongly, in real arithmetic, exactly or as a bracket.

    Args:
        boxes: how many to bound at each step of decoding; more make the bracket narrower.
        seconds: after which no more boxes are bounded, nor inputs told apart that two steps get wrong.
        progress: gets how much is done, in percent, and 100.
    """
    table, pieces, end, late = tabulate(decoder, task, 0.0), [], time.monotonic() + seconds, False
    for number, groups in enumerate(of_steps := steps(task)):

        def over(bounded: int, left: float, number: int = number) -> bool:
            nonlocal late
            _tell(progress, number + 1 - left, len(of_steps))
            late = late or time.monotonic() > end
            return bounded >= boxes or late

        pieces.append(_wrong_pieces(step_of(table, groups), over))
    wrong = [of[~of.possible] for of in pieces]
    try:
        least, most = (_count_first(table.edges, sets, end) for sets in (wrong, pieces))
        found = WrongInputs(sum(least), sum(most), tuple(zip(least, most, strict=True)), late)
    except TimeoutError:
        least, most = ([int(_count(table.edges, of).sum()) for of in sets] for sets in (wrong, pieces))
        first = tuple((max(0, n - sum(most[:at])), most[at]) for at, n in enumerate(least))
        found = WrongInputs(max(least), min(sum(most), task.inputs), first, True)
    _tell(progress, 1, 1)
    return found


def _wrong_pieces(step: Step, over: Callable[[int, float], bool]) -> Pieces:
    """The inputs that a step gets wrong, or may get wrong; the largest boxes are split first.

    Args:
        over: whether to end with what is known, of how many boxes are bounded, and the share of inputs left.
    """
    edges, cases = step.table.edges, step.cases
    front = whole_groups(step)
    done = [_pieces(cases, front[:0], False)]
    size, bounded = _sizes(edges, cases, front), 0
    every = size.sum()
    while len(front) and not over(bounded, float(size.sum() / every)):
        order = np.argsort(-size, kind="stable")
        order, later = order[: step.batch], order[step.batch :]
        now, front, size = front[order], front[later], size[later]
        bounded += len(now)
        outputs = bound_outputs(step, now.boxes, now.case)
        now, outputs = now[outputs.possible], outputs[outputs.possible]
        margins = bound_margins(step, now.case, outputs.center, outputs.radius + outputs.rounding)
        wrong, open_ = margins.upper < 0, ~((margins.lower > 0) | (margins.upper < 0))
        done.append(_pieces(cases, now[wrong], False))
        now, outputs = now[open_], outputs[open_]
        variables = choose_variables(step, now, outputs, margins.slopes[open_])
        done.append(_pieces(cases, now[variables < 0], True))
        now, variables = now[variables >= 0], variables[variables >= 0]
        for boxes in split(now.boxes, variables):
            half = replace(now, boxes=boxes)
            front, size = Front.joined([front, half]), np.concatenate([size, _sizes(edges, cases, half)])
    done.append(_pieces(cases, front, True))
    return Pieces.joined(done)


def _sizes(edges: Edges, cases: Cases, front: Front) -> Reals:
    return _count(edges, _pieces(cases, front, True)).astype(np.float64)


def _pieces(cases: Cases, front: Front, possible: bool) -> Pieces:
    return Pieces(front.boxes, cases.wanted[front.case], cases.ends[front.case], np.full(len(front), possible))


def _count_first(edges: Edges, sets: Sequence[Pieces], end: float) -> list[int]:
    """How many inputs are in each set and in none before it; raises TimeoutError at the end."""
    return [_count_new(edges, pieces, sets[:index], end) for index, pieces in enumerate(sets)]


def _count_new(edges: Edges, pieces: Pieces, before: Sequence[Pieces], end: float) -> int:
    if time.monotonic() > end:
        raise TimeoutError
    counts = _count(edges, pieces)
    total, pieces = int(counts.sum()), pieces[counts > 0]
    if len(pieces.boxes):
        for index, others in enumerate(before):
            total -= _count_new(edges, _intersect(pieces, others), before[:index], end)
    return total


def _intersect(pieces: Pieces, others: Pieces) -> Pieces:
    """What each piece has in common with each other one, where that is not plainly nothing."""
    found = []
    for row in range(len(pieces.boxes)):
        box, wanted, ends = pieces.boxes[row], pieces.wanted[row], pieces.ends[row]
        low = np.maximum(others.boxes[:, 0], box[0])
        high = np.minimum(others.boxes[:, 1], box[1])
        clash = (wanted >= 0) & (others.wanted >= 0) & (wanted != others.wanted)
        rows = np.flatnonzero((low <= high).all(1) & ~clash.any(1) & (others.ends & ends).any(1))
        found.append((rows, low[rows], high[rows], np.maximum(others.wanted[rows], wanted), others.ends[rows] & ends))
    rows, low, high, wanted, ends = (np.concatenate(each) for each in zip(*found, strict=True))
    return Pieces(np.stack([low, high], 1), wanted, ends, np.zeros(len(rows), np.bool_))


def _count(edges: Edges, pieces: Pieces) -> NDArray[np.object_]:
    """(n,) how many inputs each piece has, as Python's integers."""
    length, words = pieces.wanted.shape[1] - 1, edges.words
    most = 1 + int(edges.reads[: edges.last, :words].max())
    limbs = -(-int(words * length * np.log2(most) + 2) // LIMB) + 1
    found = np.zeros((len(pieces.boxes), limbs), np.int64)
    _count_runs(pieces.boxes, pieces.wanted, pieces.ends, edges.automaton, found)
    factors = np.array([1 << LIMB * limb for limb in range(limbs)], object)
    return (found.astype(object) * factors).sum(1) if len(found) else np.zeros(0, object)


@compiled
def _count_runs(boxes, wanted, ends, automaton, found):  # type: ignore[no-untyped-def]
    before, after, reads, last, words, starts = automaton
    length, states, limbs = wanted.shape[1] - 1, len(starts), found.shape[1]
    runs = np.empty((length + 1, states, limbs), np.int64)
    for box in range(len(boxes)):
        low, high = boxes[box, 0], boxes[box, 1]
        runs[:] = 0
        for state in range(states):
            runs[0, state, 0] = starts[state] and low[words * length] <= state <= high[words * length]
        for column in range(length):
            state = words * length + column + 1
            for edge in range(last):
                target = after[edge]
                inside = low[state] <= target <= high[state]
                inside = inside and (wanted[box, column] < 0 or reads[edge, words] == wanted[box, column])
                for word in range(words):
                    at = word * length + column
                    inside = inside and low[at] <= reads[edge, word] <= high[at]
                if inside:
                    _add(runs[column + 1, target], runs[column, before[edge]])
        for state in range(states):
            if ends[box, state]:
                _add(found[box], runs[length, state])


@compiled
def _add(total, more):  # type: ignore[no-untyped-def]
    """Adds a number in limbs to another."""
    carry = 0
    for limb in range(len(total)):
        carry += total[limb] + more[limb]
        total[limb] = carry & ((1 << 60) - 1)
        carry >>= 60
