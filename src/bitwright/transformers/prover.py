"""Decides whether a decoder is correct on every input of a task."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property, partial
from itertools import zip_longest
from math import inf
from typing import Any

import numpy as np

from bitwright.common.errors import InputError
from bitwright.common.workers import Workers
from bitwright.common.workers.linear_algebra import one_thread
from bitwright.transformers.affine import FLOAT32
from bitwright.transformers.attention import AttentionTable, check_fit, tabulate
from bitwright.transformers.boxes import describe, steps
from bitwright.transformers.certificate import End, Key, StepJournal, StepResult
from bitwright.transformers.columns import Ints, check
from bitwright.transformers.counterexamples import exhaust, forced_margins, replay, search
from bitwright.transformers.decision import Arithmetic, Counterexample, Decision, DecoderClaim, Group, SplitTrees
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.decoder import check as check_decoder
from bitwright.transformers.layout import ColumnTask, mixture_of
from bitwright.transformers.modules import Evaluator, Module, compare, evaluator_of, runtime_of
from bitwright.transformers.steps import StepProof, bound_input, prove_step, step_of

FEW = 2**16  # most inputs tested exhaustively
VARIED = 1000  # inputs tested if there are more
UNITS: Mapping[Arithmetic, float] = {"real": 0.0, "float32": FLOAT32}
Progress = Callable[[int, int], None]  # done, total


def decide(
    decoder: Decoder,
    task: ColumnTask,
    *,
    module: Module | None = None,
    arithmetic: Arithmetic = "float32",
    seconds: float = 600.0,
    seed: int = 0,
    workers: Workers | None = None,
    journal: StepJournal | None = None,
    progress: Progress | None = None,
    note: Callable[[str], None] | None = None,
) -> Decision:
    """Decides whether a decoder is correct on every input of a task: one claim on the answers, one on the stop token.

    Args:
        module: the module that the decoder describes: (n, length) tokens to logits. Both are first compared on
            thousands of inputs; nothing is decided if they differ. The module replays the counterexamples.
        arithmetic: "float32" for real arithmetic and every float32 evaluation; if that cannot be proved, the claim
            covers real arithmetic only, and its `arithmetic` is "real".
        seconds: time limit of the proofs. Up to 65,536 inputs are tested exhaustively regardless.
        seed: seed of the inputs tried as counterexamples.
        workers: processes that prove the steps of decoding; they do not change the result.
        journal: the steps proved earlier; new ones are added.
        progress: called with the number of boxes bounded, and an estimate of the total.
        note: called with what is known before the proof begins.
    """
    check_decoder(decoder)
    check_fit(decoder, task)
    check(task.columns)
    runtime = None if module is None else runtime_of(module, task)
    comparison = None if runtime is None else compare(decoder, runtime, task, seed)
    if comparison is not None and not comparison.agrees:
        claims = leave_open(task, "the decoder does not describe the module")
    elif reason := not_covered(decoder):
        claims = search_claims(decoder, task, runtime, reason, seed, seconds)
    else:
        end = time.monotonic() + seconds
        effort = Effort(workers or Workers(), journal, seed, end, progress or (lambda *_: None))
        hunt = Hunt(decoder, task, runtime or evaluator_of(decoder))
        if task.inputs <= FEW:
            hunt.check(next(task.every_input()))
            if note and not hunt.examples and hunt.least > 0:
                note(f"correct on all {task.inputs:,} inputs; trying to prove it")
        else:
            hunt.check(mixture_of(task).vary(VARIED, np.random.default_rng(seed)))
        proofs = [prove(decoder, task, about, arithmetic, hunt, effort) for about in claim_names(task)]
        claims = tuple(hunt.refute(claim) for claim in proofs)
        if task.inputs <= FEW and any(claim.verdict == "not decided" for claim in claims):
            claims = try_all(claims, runtime or decoder, task)
    return Decision(task, decoder, claims, comparison)


def not_covered(decoder: Decoder) -> str:
    """Why nothing can be proved about a decoder; empty if something can."""
    if len(decoder.layers) != 1:
        return f"proofs cover one-layer decoders; this decoder has {len(decoder.layers)} layers"
    return "" if decoder.layers[0].heads else "proofs cover decoders with attention; this decoder has no heads"


def claim_names(task: ColumnTask) -> tuple[str, ...]:
    return (task.columns.statement, "stop") if task.layout.stop else (task.columns.statement,)


def leave_open(task: ColumnTask, reason: str) -> tuple[DecoderClaim, ...]:
    """The claims, all undecided for this reason."""
    return tuple(
        DecoderClaim(about, "not decided", "float32", "search", 0, open=(reason,)) for about in claim_names(task)
    )


def try_all(claims: Sequence[DecoderClaim], model: Module, task: ColumnTask) -> tuple[DecoderClaim, ...]:
    """The claims, with undecided ones tested exhaustively; they keep the open cases of their proofs."""
    found, last = [], len(task.layout.answer)
    for claim, tested in zip(claims, exhaust(model, task), strict=True):
        example = tested.counterexample
        about_other = example is not None and (example.step == last) != (claim.about == "stop")
        if claim.verdict == "not decided" and not about_other:
            open_ = () if example is not None else (*claim.open, *tested.open)
            claim = replace(tested, boxes=claim.boxes, open=open_)
        found.append(claim)
    return tuple(found)


def search_claims(
    decoder: Decoder, task: ColumnTask, runtime: Evaluator | None, reason: str, seed: int, seconds: float
) -> tuple[DecoderClaim, ...]:
    """The claims if nothing can be proved: an exhaustive test if there are few inputs, otherwise a search."""
    model = decoder if runtime is None else runtime
    if task.inputs <= FEW:
        return exhaust(model, task)
    example = search(model, task, seed, seconds=seconds)
    claims = [*leave_open(task, reason)]
    if example is not None:
        at = int(example.step == len(task.layout.answer))
        claims[at] = replace(claims[at], verdict="refuted", inputs=1, counterexample=example, open=())
    return tuple(claims)


def _is_below(table: AttentionTable, example: Counterexample) -> bool:
    return bool(bound_input(table, example.symbols, example.step).upper[0] < 0)


@dataclass
class Hunt:
    """The search for counterexamples: keeps the first one to each claim."""

    decoder: Decoder
    task: ColumnTask
    model: Evaluator  # replays the candidates
    examples: dict[str, Counterexample] = field(default_factory=dict)  # by subject of the claim
    least: float = np.inf  # margin of an input

    def check(self, inputs: Ints) -> None:
        """Records the first counterexample of each kind among inputs."""
        if not len(inputs):
            return
        margins = forced_margins(self.decoder, self.task, inputs)
        self.least = min(self.least, float(margins.min()))
        wrong = margins < 0
        first = np.where(wrong.any(1), wrong.argmax(1), -1)
        last = len(self.task.layout.answer)
        for some in ((first >= 0) & (first < last), first == last):
            for example in replay(self.model, self.task, inputs[some]):
                about = claim_names(self.task)[example.step == last]
                if about not in self.examples and self._confirms(example):
                    self.examples[about] = example
                    break

    def _confirms(self, example: Counterexample) -> bool:
        """Whether a module confirmed the error, or real arithmetic does, independent of float64 rounding."""
        return example.replayed_by == "module" or _is_below(self.table, example)

    @cached_property
    def table(self) -> AttentionTable:
        """The attention of the decoder, for real arithmetic."""
        return tabulate(self.decoder, self.task, 0.0)

    def refute(self, claim: DecoderClaim) -> DecoderClaim:
        """The claim, refuted if there is a counterexample to it."""
        example = self.examples.get(claim.about)
        if example is None or claim.verdict == "proved":
            return claim
        return DecoderClaim(claim.about, "refuted", "real", claim.method, 1, None, claim.boxes, example)


@dataclass(frozen=True)
class Effort:
    """The workers, the journal, the seed and the time limit of the proofs."""

    workers: Workers
    journal: StepJournal | None
    seed: int
    end: float
    progress: Progress


def prove(
    decoder: Decoder, task: ColumnTask, about: str, arithmetic: Arithmetic, hunt: Hunt, effort: Effort
) -> DecoderClaim:
    """The claim on the answers, or on the stop token: for float32 if that can be proved, otherwise for real numbers."""
    if about in hunt.examples:
        return DecoderClaim(about, "not decided", "real", "all inputs" if task.inputs <= FEW else "search", 0)
    single = arithmetic == "float32" and fits_float32(decoder)
    wishes: Sequence[Arithmetic] = ("float32", "real") if single else ("real",)
    for wish in wishes:
        doubt, seconds = wish == wishes[-1], effort.end - time.monotonic()
        try:
            proof = BoxProof(decoder, task, about, wish, doubt, effort.seed, seconds, hunt.least / 2)
            claim = prove_by_boxes(proof, hunt, effort)
        except InputError:  # float32 may overflow
            if doubt:
                raise
            continue
        if claim.verdict == "proved" or about in hunt.examples or time.monotonic() > effort.end:
            break
    return claim


def fits_float32(part: Any) -> bool:
    """Whether all weights are float32 numbers."""
    if isinstance(part, np.ndarray):
        with np.errstate(over="ignore"):
            return bool((part.astype(np.float32) == part).all())
    parts = part if isinstance(part, tuple) else vars(part).values() if is_dataclass(part) else ()
    return all(fits_float32(each) for each in parts)


@dataclass(frozen=True)
class BoxProof:
    """The common setup of the proofs of all decoding steps, for one claim.

    Args:
        doubt: whether to continue after a single input that is not proved.
        seed: seed of the inputs tried as counterexamples.
        seconds: time limit, from the first step on.
        margin: the target; larger margins are not pursued.
        watch: called with the boxes bounded in a step and its proved share; only in this process.
    """

    decoder: Decoder
    task: ColumnTask
    about: str
    arithmetic: Arithmetic
    doubt: bool
    seed: int
    seconds: float
    margin: float
    watch: Callable[[int, float], None] | None = None

    @cached_property
    def end(self) -> float:
        return time.monotonic() + self.seconds

    def tick(self) -> None:
        """Raises TimeoutError once the time is up."""
        if time.monotonic() > self.end:
            raise TimeoutError

    @cached_property
    def table(self) -> AttentionTable:
        return tabulate(self.decoder, self.task, UNITS[self.arithmetic], self.tick)

    @cached_property
    def groups(self) -> list[list[Group]]:
        """The groups of each step."""
        answers, stop = len(self.task.layout.answer), self.about == "stop"
        return [of for of in steps(self.task) if (of[0][0] == answers) == stop]

    def __getstate__(self) -> dict[str, object]:
        return {each.name: getattr(self, each.name) for each in fields(self)} | {"watch": None}


def prove_by_boxes(proof: BoxProof, hunt: Hunt, effort: Effort) -> DecoderClaim:
    """The claim, proved by boxes of inputs; without `doubt` the first single unproved input ends the attempt."""
    results: list[StepResult] = []

    def watch(boxes: int, share: float) -> None:
        boxes += sum(result.boxes for result in results)
        share = (len(results) + share) / len(proof.groups)
        effort.progress(boxes, round(boxes / share) if share else 0)

    with closing(_step_results(replace(proof, watch=watch), effort)) as found:
        for result in found:
            results.append(result)
            watch(0, 0.0)
            hunt.check(result.wrong)
            if result.end != "done" or proof.about in hunt.examples:
                break
    return _claim_of(proof, results)


def _step_results(proof: BoxProof, effort: Effort) -> Generator[StepResult]:
    """The results of all steps, in order; steps in the journal are not repeated."""
    keys: list[Key] = [(proof.about, proof.arithmetic, step) for step in range(len(proof.groups))]
    known = {} if effort.journal is None else {**effort.journal.known}
    missing = [step for step, key in enumerate(keys) if key not in known]
    with one_thread(), closing(effort.workers.map(prove_step_alone, proof, missing)) as found:
        for key in keys:
            result = known[key] if key in known else next(found)
            if effort.journal is not None and key not in known and result.end in ("done", "stuck"):
                effort.journal.append(key, result)
            yield result


def prove_step_alone(proof: BoxProof, number: int) -> StepResult:
    """The result of one step; it depends only on the proof and the number, unless time runs out."""
    hunt, groups = Hunt(proof.decoder, proof.task, evaluator_of(proof.decoder)), proof.groups[number]
    end: End = "done"

    def halt(found: StepProof, candidates: Ints) -> bool:
        nonlocal end
        if proof.watch is not None:
            proof.watch(found.bounded, found.trees.share)
        hunt.check(candidates)
        if proof.about in hunt.examples:
            end = "wrong"
        elif not proof.doubt and len(found.stuck):
            end = "stuck"
        elif time.monotonic() > proof.end:
            end = "time"
        return end != "done"

    try:
        rng = np.random.default_rng([proof.seed, number])
        found = prove_step(step_of(proof.table, groups), halt, rng, wish=proof.margin)
    except TimeoutError:
        found, end = StepProof(), "time"
    left = np.bincount(np.concatenate([found.stuck, found.waiting]), minlength=len(groups)).tolist()
    whole = [case for case in range(len(groups)) if found.trees.count and not left[case]]
    trees = SplitTrees({groups[case]: found.trees.preorder(case) for case in whole})
    least = float(found.least) if np.isfinite(found.least) else None
    wrong = [example.symbols for example in hunt.examples.values()]
    inputs = np.array(wrong, np.int64).reshape(-1, *proof.task.positions.shape)
    return StepResult(end, found.bounded, least, tuple(left), trees, inputs)


def _claim_of(proof: BoxProof, results: Sequence[StepResult]) -> DecoderClaim:
    task, missing = proof.task, []
    trees, least = SplitTrees(), [result.least for result in results if result.least is not None]
    for groups, result in zip_longest(proof.groups, results):
        place = describe(task, groups[0]).partition(" ")[0].rstrip(",")
        if result is not None and (some := sum(result.left)):
            missing.append(f"{place}: {some:,} {'box' if some == 1 else 'boxes'} open")
        elif result is None or result.trees.keys() != {*groups} or result.end != "done":
            missing.append(f"{place}: not finished")
        else:
            trees.update(result.trees)
    boxes = sum(result.boxes for result in results)
    claim = partial(DecoderClaim, proof.about, arithmetic=proof.arithmetic, method="boxes", boxes=boxes)
    if missing:
        return claim("not decided", inputs=0, open=tuple(missing))
    return claim("proved", inputs=task.inputs, margin=min(least, default=inf), trees=trees)
