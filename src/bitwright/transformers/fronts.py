"""Branch and bound: the boxes of one step of decoding are split until all are proved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from bitwright.transformers.affine import Reals, RowArrays
from bitwright.transformers.boxes import EMPTY, LEAF, Trees, most_influence, root, split
from bitwright.transformers.columns import Ints
from bitwright.transformers.counterexamples import extreme_inputs
from bitwright.transformers.steps import Step, StepMargins, bound_outputs, prove_ranges
from bitwright.transformers.sums import Boxes, Outputs, shares

CANDIDATES = 24  # boxes of each batch whose inputs are tried as counterexamples


@dataclass
class StepProof:
    """What came of the groups of one step; a case is the number of a group."""

    trees: Trees = field(default_factory=Trees)
    bounded: int = 0  # boxes
    least: float = np.inf  # lower bound of the margins of all that was not split
    stuck: Ints = field(default_factory=lambda: np.empty(0, np.int64))  # cases of single inputs that are not proved
    waiting: Ints = field(default_factory=lambda: np.empty(0, np.int64))  # cases of boxes that were not reached


@dataclass(frozen=True)
class Front(RowArrays):
    """Boxes that are not proved, their cases and their nodes in the trees."""

    boxes: Boxes
    case: Ints
    nodes: Ints
    least: Reals  # (n,) no margin is below


def whole_groups(step: Step) -> Front:
    """A box for each group of a step."""
    cases = np.arange(len(step.groups))
    roots = np.stack([root(step.table.task, group) for group in step.groups])
    return Front(roots, cases, cases, np.full(len(cases), -np.inf))


def prove_step(
    step: Step,
    halt: Callable[[StepProof, Ints], bool],
    rng: np.random.Generator,
    goal: Callable[[], float] = float,
    wish: float = 0.0,
) -> StepProof:
    """Splits boxes until all margins are above the goal, or `halt` says so, which gets the proof and candidates.

    Margins are proved to be above `wish` too where that takes no further splits.
    """
    proof, front = StepProof(), whole_groups(step)
    proof.trees.grow(len(front))
    while len(front):
        front, now = front[: -step.batch], front[-step.batch :]
        now, outputs, margins = _prove_boxes(step, now, proof, goal(), wish)
        variables = choose_variables(step, now, outputs, margins.slopes)
        stuck = variables < 0
        worst = np.argsort(np.where(stuck, -np.inf, margins.center), kind="stable")[:CANDIDATES]
        proof.stuck = np.concatenate([proof.stuck, now.case[stuck]])
        proof.least = min(proof.least, margins.lower[stuck].min(initial=np.inf))
        if halt(proof, _candidates(step, now[worst], outputs[worst], margins.slopes[worst], rng)):
            front = Front.joined([front, now[~stuck]])
            proof.waiting, proof.least = front.case, min(proof.least, front.least.min(initial=np.inf))
            return proof
        front = Front.joined([front, _split(now[~stuck], variables[~stuck], proof.trees)])
    return proof


def _prove_boxes(
    step: Step, front: Front, proof: StepProof, goal: float, wish: float
) -> tuple[Front, Outputs, StepMargins]:
    """The boxes that stay open, with their outputs and margins."""
    outputs = bound_outputs(step, front.boxes, front.case)
    possible = outputs.possible
    proof.bounded += len(front)
    proof.trees.codes[front.nodes[~possible]] = EMPTY
    front, outputs = front[possible], outputs[possible]
    margins = prove_ranges(step, front.case, outputs, goal, wish)
    proved = margins.lower > goal
    proof.trees.codes[front.nodes[proved]] = LEAF
    proof.least = min(proof.least, margins.lower[proved].min(initial=np.inf))
    left = replace(front, least=np.maximum(front.least, margins.lower))[~proved]
    return left, outputs[~proved], margins[~proved]


def choose_variables(step: Step, front: Front, outputs: Outputs, slopes: Reals) -> Ints:
    """The variable by which each box is split, -1 for single inputs."""
    variables, columns = np.full(len(front), -1), step.table.task.columns
    for query, rows in step.by_query(front.case):
        part = front[rows]
        variables[rows] = most_influence(
            query.entries, columns, step.cases, part.boxes, part.case, outputs[rows], slopes[rows]
        )
    width = front.boxes[:, 1] - front.boxes[:, 0]
    for state in own_states(step):
        variables = np.where(width[:, state] > 0, state, variables)
    return variables


def own_states(step: Step) -> list[int]:
    """The variables of the states before and after the column that a step writes."""
    task, number = step.table.task, step.groups[0][0]
    end = len(task.columns.words) * task.columns.length
    column = task.layout.answer[number].column if number < len(task.layout.answer) else -1
    return [end + column, end + column + 1] if column >= 0 else [end + task.columns.length]


def _split(front: Front, variables: Ints, trees: Trees) -> Front:
    """The two halves of each box, one after the other."""
    children = trees.grow(2 * len(front))
    trees.codes[front.nodes], trees.children[front.nodes] = variables, children[::2]
    trees.weights[children] = np.repeat(trees.weights[front.nodes] / 2, 2)
    halves = np.stack(split(front.boxes, variables), 1).reshape(-1, *front.boxes.shape[1:])
    return Front(halves, np.repeat(front.case, 2), children, np.repeat(front.least, 2))


def _candidates(step: Step, front: Front, outputs: Outputs, slopes: Reals, rng: np.random.Generator) -> Ints:
    """(n, words, length) of each box the input where the margin is least to first order, and a random one."""
    columns, found = step.table.task.columns, []
    for query, rows in step.by_query(front.case):
        part, share = front[rows], shares(query.entries, outputs[rows], slopes[rows])
        for tilt in (1.0, rng.normal(size=share.shape)):
            found.append(extreme_inputs(step.table.edges, step.cases, part.boxes, part.case, share * tilt))
    return np.concatenate(found) if found else np.zeros((0, len(columns.words), columns.length), np.int64)
