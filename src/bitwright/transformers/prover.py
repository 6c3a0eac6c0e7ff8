"""Proofs that a decoder of one layer is right on every input, by branch and bound over boxes of inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from bitwright.transformers.affine import Affine, Reals, chained, finished, margins
from bitwright.transformers.attention import AttentionTable, Boxes, Cases, Outputs, Query, bound, cases_of, query_at
from bitwright.transformers.boxes import EMPTY, LEAF, Trees, most_influence, root, split
from bitwright.transformers.columns import Ints
from bitwright.transformers.decision import Group
from bitwright.transformers.refutation import extreme_inputs

BATCH = 4096  # boxes bounded at a time
HALVINGS = 6  # of the range of an attention output, at most
CANDIDATES = 32  # of each batch, tried as counterexamples


@dataclass(frozen=True)
class Step:
    """The groups of one step of decoding, and what their bounds need; a case is the number of a group."""

    table: AttentionTable
    groups: list[Group]
    symbols: Ints  # (cases,) in front of the answer
    right: Ints  # (cases,) tokens; the first stop token at the last step
    also: tuple[int, ...]  # tokens that are right too
    queries: dict[int, Query]
    cases: Cases


def step_of(table: AttentionTable, groups: list[Group]) -> Step:
    """What the bounds of some groups of one step need."""
    task, (number, _, _) = table.task, groups[0]
    symbols = np.array([symbol for _, symbol, _ in groups])
    queries = {int(symbol): query_at(table, number, int(symbol)) for symbol in np.unique(symbols)}
    parts = [cases_of(queries[q], task, np.array([y])) for _, q, y in groups]
    cases = Cases(
        np.concatenate([part.wanted for part in parts]),
        np.concatenate([part.ends for part in parts]),
        np.concatenate([part.free for part in parts]),
    )
    if number == len(task.layout.answer):
        stop = task.layout.stop
        return Step(table, groups, symbols, np.full(len(groups), stop[0]), stop[1:], queries, cases)
    tokens = np.array(task.tokens(task.layout.answer[number].word))
    return Step(table, groups, symbols, tokens[[y for _, _, y in groups]], (), queries, cases)


def bound_outputs(step: Step, boxes: Boxes, case: Ints) -> Outputs:
    """The attention output over each box, in its case."""
    symbols, parts, order = step.symbols[case], [], []
    for symbol, query in step.queries.items():
        rows = np.flatnonzero(symbols == symbol)
        if len(rows):
            parts.append(bound(query, step.table.task.columns, step.cases, boxes[rows], case[rows]))
            order.append(rows)
    back = np.argsort(np.concatenate(order))
    return Outputs(*(np.concatenate([getattr(part, name) for part in parts])[back] for name in Outputs.__annotations__))


@dataclass(frozen=True)
class Margins:
    """How far the right logit is above all others, over boxes."""

    lower: Reals  # (n,)
    upper: Reals  # (n,) no input has a larger one
    center: Reals  # (n,) at the center
    slopes: Reals  # (n, r) by the attention output, of what is smallest


def bound_margins(step: Step, case: Ints, center: Reals, radius: Reals) -> Margins:
    """The margins where the attention output is in center + [-radius, radius]."""
    n, r = center.shape
    found = Margins(np.empty(n), np.empty(n), np.empty(n), np.empty((n, r)))
    x = _tail(step, case, center, radius)
    for right in np.unique(step.right[case]):
        rows = np.flatnonzero(step.right[case] == right)
        part = replace(
            x, center=x.center[rows], slopes=x.slopes[rows], radius=x.radius[rows], box=x.box[rows]
        )
        values = [_least(margins(step.table.decoder, part, int(best), _others(right, step.also, best)), r)
                  for best in (right, *step.also)]
        best = np.argmax([value.lower for value in values], 0)
        for name in ("lower", "center", "slopes"):
            each = np.stack([getattr(value, name) for value in values])
            getattr(found, name)[rows] = each[best, np.arange(len(rows))]
        found.upper[rows] = np.max([value.upper for value in values], 0)
    return found


def _others(right: int, also: tuple[int, ...], best: int) -> tuple[int, ...]:
    return tuple(token for token in (right, *also) if token != best)


def _tail(step: Step, case: Ints, center: Reals, radius: Reals) -> Affine:
    n, r = center.shape
    unit, layer = step.table.unit, step.table.decoder.layers[0]
    output = Affine(center, np.broadcast_to(np.eye(r), (n, r, r)), np.zeros((n, r)), radius, unit)
    symbols = step.symbols[case]
    rows = [step.queries[symbol].residual for symbol in step.queries]
    at = np.searchsorted(list(step.queries), symbols)
    residual = Affine(
        np.concatenate([row.center for row in rows])[at],
        np.zeros((n, r, rows[0].center.shape[1])),
        np.concatenate([row.radius for row in rows])[at],
        radius,
        unit,
    )
    return finished(step.table.decoder, residual + chained(layer.output, output))


def _least(margin: Affine, r: int) -> Margins:
    lower = margin.lower()
    worst = lower.argmin(1)
    slopes = np.take_along_axis(margin.slopes, worst[:, None, None], 2)[:, :r, 0]
    return Margins(lower.min(1), margin.upper().min(1), margin.center.min(1), slopes)


def prove_ranges(step: Step, case: Ints, outputs: Outputs) -> Margins:
    """The margins over boxes, their ranges of the attention output being halved where that can help."""
    radius = outputs.radius + outputs.rounding
    whole = bound_margins(step, case, outputs.center, radius)
    hopeful = (whole.lower <= 0) & (whole.center > 0)
    lower = whole.lower.copy()
    owner, center = np.flatnonzero(hopeful), outputs.center[hopeful]
    radius = radius[hopeful]
    least = np.full(len(case), np.inf)
    for _ in range(HALVINGS):
        if not len(owner):
            break
        owner, center, radius = np.repeat(owner, 2), *_halves(center, radius)
        part = bound_margins(step, case[owner], center, radius)
        proved = part.lower > 0
        np.minimum.at(least, owner[proved], part.lower[proved])
        hopeful[owner[~(part.center > 0)]] = False
        again = ~proved & hopeful[owner]
        owner, center, radius = owner[again], center[again], radius[again]
    hopeful[owner] = False
    lower[hopeful] = least[hopeful]
    return replace(whole, lower=lower)


def _halves(center: Reals, radius: Reals) -> tuple[Reals, Reals]:
    """Each range as two, halved in its widest coordinate."""
    rows, widest = np.arange(len(center)), radius.argmax(1)
    half = radius.copy()
    half[rows, widest] *= 0.5 * (1 + 2.0**-40)
    first, second = center.copy(), center.copy()
    first[rows, widest] -= half[rows, widest]
    second[rows, widest] += half[rows, widest]
    return np.stack([first, second], 1).reshape(-1, center.shape[1]), np.repeat(half, 2, 0)


@dataclass
class Proof:
    """What came of the groups of one step."""

    trees: Trees = field(default_factory=Trees)
    bounded: int = 0
    least: float = np.inf  # lower bound of the margins that were proved
    stuck: Ints = field(default_factory=lambda: np.empty(0, np.int64))  # cases of single inputs that are not proved
    waiting: Ints = field(default_factory=lambda: np.empty(0, np.int64))  # cases of boxes that were not reached


def prove_step(step: Step, halt: Callable[[int, Ints], bool]) -> Proof:
    """Splits boxes until all are proved, or `halt` says so; it gets the boxes bounded so far and candidates."""
    proof = Proof()
    boxes = np.stack([root(step.table.task, group) for group in step.groups])
    case, nodes = np.arange(len(boxes)), proof.trees.grow(len(boxes))
    while len(boxes):
        now = slice(max(0, len(boxes) - BATCH), None)
        rest = boxes[: now.start], case[: now.start], nodes[: now.start]
        outputs = bound_outputs(step, boxes[now], case[now])
        proof.bounded += len(outputs.possible)
        inside = outputs.possible
        proof.trees.codes[nodes[now][~inside]] = EMPTY
        boxes, case, nodes = boxes[now][inside], case[now][inside], nodes[now][inside]
        outputs = _rows(outputs, inside)
        found = prove_ranges(step, case, outputs)
        proved = found.lower > 0
        proof.trees.codes[nodes[proved]] = LEAF
        proof.least = min(proof.least, found.lower[proved].min(initial=np.inf))
        open_ = ~proved
        boxes, case, nodes, outputs = boxes[open_], case[open_], nodes[open_], _rows(outputs, open_)
        slopes, center = found.slopes[open_], found.center[open_]
        if halt(proof.bounded, _candidates(step, boxes, case, outputs, slopes, center)):
            proof.waiting = np.concatenate([rest[1], case])
            return proof
        variables = _choose(step, boxes, case, outputs, slopes)
        stuck = variables < 0
        proof.stuck = np.concatenate([proof.stuck, case[stuck]])
        boxes, case, nodes, variables = boxes[~stuck], case[~stuck], nodes[~stuck], variables[~stuck]
        children = proof.trees.grow(2 * len(boxes))
        proof.trees.codes[nodes], proof.trees.children[nodes] = variables, children[::2]
        first, second = split(boxes, variables)
        boxes = np.concatenate([rest[0], np.stack([first, second], 1).reshape(-1, *boxes.shape[1:])])
        case, nodes = np.concatenate([rest[1], np.repeat(case, 2)]), np.concatenate([rest[2], children])
    return proof


def _rows(outputs: Outputs, rows: NDArray[np.bool_]) -> Outputs:
    return Outputs(*(getattr(outputs, name)[rows] for name in Outputs.__annotations__))


def _choose(step: Step, boxes: Boxes, case: Ints, outputs: Outputs, slopes: Reals) -> Ints:
    variables = np.full(len(boxes), -1)
    for symbol, query in step.queries.items():
        rows = step.symbols[case] == symbol
        if rows.any():
            variables[rows] = most_influence(
                query, step.cases, boxes[rows], case[rows], _rows(outputs, rows), slopes[rows]
            )
    return variables


def _candidates(step: Step, boxes: Boxes, case: Ints, outputs: Outputs, slopes: Reals, center: Reals) -> Ints:
    """(n, words, length) inputs at the lower ends of the boxes that look worst."""
    worst = np.argsort(center, kind="stable")[:CANDIDATES]
    mask = np.zeros(len(center), np.bool_)
    columns, found = step.table.task.columns, []
    for symbol, query in step.queries.items():
        mask[:] = False
        mask[worst[step.symbols[case[worst]] == symbol]] = True
        if mask.any():
            found.append(
                extreme_inputs(query, columns, step.cases, boxes[mask], case[mask], _rows(outputs, mask), slopes[mask])
            )
    return np.concatenate(found) if found else np.zeros((0, len(columns.words), columns.length), np.int64)
