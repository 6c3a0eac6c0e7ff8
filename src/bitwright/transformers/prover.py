"""Proofs that a decoder of one layer is right on every input, by branch and bound over boxes of inputs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bitwright.transformers.affine import FLOAT32, Reals
from bitwright.transformers.attention import check_fit, tabulate
from bitwright.transformers.boxes import EMPTY, LEAF, Trees, describe, most_influence, root, split, steps
from bitwright.transformers.columns import Ints, check
from bitwright.transformers.decision import Arithmetic, Claim, Counterexample, Decision, Group
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.layout import ColumnTask
from bitwright.transformers.refutation import CLEAR, Model, extreme_inputs, forced_margins, replay
from bitwright.transformers.steps import Step, bound_outputs, prove_ranges, step_of
from bitwright.transformers.sums import Boxes, Outputs, shares

BATCH = 4096  # boxes bounded at a time
CANDIDATES = 24  # boxes of each batch whose inputs are tried as counterexamples
UNITS: Mapping[Arithmetic, float] = {"real": 0.0, "float32": FLOAT32}
Progress = Callable[[str], None]


def decide(
    decoder: Decoder,
    task: ColumnTask,
    *,
    module: Model | None = None,
    arithmetic: Arithmetic = "float32",
    seconds: float = 600.0,
    seed: int = 0,
    progress: Progress | None = None,
) -> Decision:
    """Whether a decoder answers a task rightly on every input: one claim on the answers, and one on the stop token.

    Args:
        module: what the decoder describes: (n, length) tokens to logits. It replays the counterexamples.
        arithmetic: "float32" for real arithmetic and every float32 evaluation; where that cannot be proved, the claim
            is on real arithmetic, and says so.
        seconds: the time after which what is open is not decided.
        seed: of the inputs that are tried as counterexamples.
        progress: gets a line of text now and then.
    """
    check_fit(decoder, task)
    check(task.columns)
    hunt = Hunt(decoder, task, module, np.random.default_rng(seed))
    clock = Clock(time.monotonic() + seconds, progress or (lambda _: None))
    groups = steps(task)
    answers, stop = groups[: len(task.layout.answer)], groups[len(task.layout.answer) :]
    claims = [prove(decoder, task, task.columns.statement, answers, arithmetic, hunt, clock)]
    if stop:
        claims.append(prove(decoder, task, "stop", stop, arithmetic, hunt, clock))
    return Decision(task, decoder, tuple(hunt.refute(claim) for claim in claims))


@dataclass(frozen=True)
class Clock:
    """When to give up, and whom to tell how far the work is."""

    end: float
    progress: Progress

    def out(self) -> bool:
        return time.monotonic() > self.end


@dataclass
class Hunt:
    """The search for counterexamples: what was found, for the answers and for the stop token."""

    decoder: Decoder
    task: ColumnTask
    module: Model | None
    rng: np.random.Generator
    answers: Counterexample | None = None
    stop: Counterexample | None = None

    def found(self, about: str) -> Counterexample | None:
        """The counterexample to a claim."""
        return self.stop if about == "stop" else self.answers

    def check(self, inputs: Ints) -> None:
        """Keeps the first counterexample of each kind among inputs."""
        if not len(inputs):
            return
        wrong = forced_margins(self.decoder, self.task, inputs) < -CLEAR
        first = np.where(wrong.any(1), wrong.argmax(1), -1)
        last = len(self.task.layout.answer)
        if self.answers is None and ((first >= 0) & (first < last)).any():
            self.answers = replay(self.decoder, self.task, inputs[(first >= 0) & (first < last)], self.module)
        if self.stop is None and (first == last).any():
            self.stop = replay(self.decoder, self.task, inputs[first == last], self.module)

    def refute(self, claim: Claim) -> Claim:
        """The claim, refuted if a counterexample to it was found."""
        found = self.found(claim.about)
        if found is None or claim.verdict == "proved":
            return claim
        return Claim(claim.about, "refuted", "real", claim.method, 1, None, claim.boxes, found)


def prove(
    decoder: Decoder,
    task: ColumnTask,
    about: str,
    groups: Sequence[list[Group]],
    arithmetic: Arithmetic,
    hunt: Hunt,
    clock: Clock,
) -> Claim:
    """The claim that the groups of these steps are right: for float32 if that can be proved, else for real numbers."""
    wishes: Sequence[Arithmetic] = ("float32", "real") if arithmetic == "float32" else ("real",)
    for wish in wishes:
        table = tabulate(decoder, task, UNITS[wish])
        proofs = []
        for of in groups:
            name = describe(task, of[0]).partition(" ")[0]
            step = step_of(table, of)

            def halt(proof: Proof, candidates: Ints, name: str = name, wish: Arithmetic = wish) -> bool:
                clock.progress(f"{name} ({wish}): {proof.bounded:,} boxes")
                hunt.check(candidates)
                hopeless = wish != wishes[-1] and len(proof.stuck) > 0
                return hunt.found(about) is not None or hopeless or clock.out()

            proofs.append(prove_step(step, halt, hunt.rng))
            if hunt.found(about) or clock.out() or (len(proofs[-1].stuck) and wish != wishes[-1]):
                break
        claim = _claim(task, about, groups, proofs, wish)
        if claim.verdict == "proved" or hunt.found(about) or clock.out():
            break
    return claim


def _claim(
    task: ColumnTask, about: str, groups: Sequence[list[Group]], proofs: Sequence[Proof], arithmetic: Arithmetic
) -> Claim:
    boxes, missing, trees = sum(proof.bounded for proof in proofs), [], {}
    for of, proof in zip(groups, proofs, strict=False):
        for case, group in enumerate(of):
            left = int((proof.stuck == case).sum() + (proof.waiting == case).sum())
            if left:
                missing.append(f"{describe(task, group)}: {left:,} boxes")
            trees[group] = b"" if left else proof.trees.preorder(case)
    missing += [f"{describe(task, of[0]).partition(' ')[0]}: not begun" for of in groups[len(proofs) :]]
    if missing:
        return Claim(about, "not decided", arithmetic, "boxes", 0, None, boxes, None, tuple(missing))
    least = min(proof.least for proof in proofs)
    return Claim(about, "proved", arithmetic, "boxes", task.inputs, float(least), boxes, trees=trees)


@dataclass
class Proof:
    """What came of the groups of one step; a case is the number of a group."""

    trees: Trees = field(default_factory=Trees)
    bounded: int = 0  # boxes
    least: float = np.inf  # lower bound of the margins that were proved
    stuck: Ints = field(default_factory=lambda: np.empty(0, np.int64))  # cases of single inputs that are not proved
    waiting: Ints = field(default_factory=lambda: np.empty(0, np.int64))  # cases of boxes that were not reached


@dataclass(frozen=True)
class Front:
    """Boxes that are not proved, their cases and their nodes in the trees."""

    boxes: Boxes
    case: Ints
    nodes: Ints

    def __len__(self) -> int:
        return len(self.boxes)

    def __getitem__(self, rows: Any) -> Front:
        return Front(self.boxes[rows], self.case[rows], self.nodes[rows])

    def __add__(self, other: Front) -> Front:
        return Front(
            np.concatenate([self.boxes, other.boxes]),
            np.concatenate([self.case, other.case]),
            np.concatenate([self.nodes, other.nodes]),
        )


def prove_step(step: Step, halt: Callable[[Proof, Ints], bool], rng: np.random.Generator) -> Proof:
    """Splits boxes until all are proved, or until `halt` says so, which gets the proof and inputs of open boxes."""
    proof, cases = Proof(), len(step.groups)
    roots = np.stack([root(step.table.task, group) for group in step.groups])
    front = Front(roots, np.arange(cases), proof.trees.grow(cases))
    while len(front):
        front, now = front[:-BATCH], front[-BATCH:]
        now, outputs, slopes, center = _prove_boxes(step, now, proof)
        variables = _choose(step, now, outputs, slopes)
        stuck = variables < 0
        worst = np.argsort(np.where(stuck, -np.inf, center), kind="stable")[:CANDIDATES]
        proof.stuck = np.concatenate([proof.stuck, now.case[stuck]])
        if halt(proof, _candidates(step, now[worst], outputs[worst], slopes[worst], rng)):
            proof.waiting = (front + now[~stuck]).case
            return proof
        front = front + _split(now[~stuck], variables[~stuck], proof.trees)
    return proof


def _prove_boxes(step: Step, front: Front, proof: Proof) -> tuple[Front, Outputs, Reals, Reals]:
    """The boxes that stay open, with their outputs, and slopes and center of their margin."""
    outputs = bound_outputs(step, front.boxes, front.case)
    possible = outputs.possible
    proof.bounded += len(front)
    proof.trees.codes[front.nodes[~possible]] = EMPTY
    front, outputs = front[possible], outputs[possible]
    margins = prove_ranges(step, front.case, outputs)
    proved = margins.lower > 0
    proof.trees.codes[front.nodes[proved]] = LEAF
    proof.least = min(proof.least, margins.lower[proved].min(initial=np.inf))
    return front[~proved], outputs[~proved], margins.slopes[~proved], margins.center[~proved]


def _choose(step: Step, front: Front, outputs: Outputs, slopes: Reals) -> Ints:
    """The variable by which each box is split, -1 for single inputs."""
    variables, columns = np.full(len(front), -1), step.table.task.columns
    for query, rows in step.by_query(front.case):
        part = front[rows]
        variables[rows] = most_influence(
            query.entries, columns, step.cases, part.boxes, part.case, outputs[rows], slopes[rows]
        )
    return variables


def _split(front: Front, variables: Ints, trees: Trees) -> Front:
    """The two halves of each box, one after the other."""
    children = trees.grow(2 * len(front))
    trees.codes[front.nodes], trees.children[front.nodes] = variables, children[::2]
    halves = np.stack(split(front.boxes, variables), 1).reshape(-1, *front.boxes.shape[1:])
    return Front(halves, np.repeat(front.case, 2), children)


def _candidates(step: Step, front: Front, outputs: Outputs, slopes: Reals, rng: np.random.Generator) -> Ints:
    """(n, words, length) of each box the input where the margin is least to first order, and a random one."""
    columns, found = step.table.task.columns, []
    for query, rows in step.by_query(front.case):
        part, share = front[rows], shares(query.entries, outputs[rows], slopes[rows])
        for tilt in (1.0, rng.normal(size=share.shape)):
            found.append(extreme_inputs(step.table.edges, step.cases, part.boxes, part.case, share * tilt))
    return np.concatenate(found) if found else np.zeros((0, len(columns.words), columns.length), np.int64)
