"""Decisions: whether a decoder answers a task rightly on every input."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bitwright.errors import InputError
from bitwright.transformers.affine import FLOAT32
from bitwright.transformers.attention import AttentionTable, check_fit, tabulate
from bitwright.transformers.boxes import describe, steps
from bitwright.transformers.columns import Ints, check
from bitwright.transformers.comparison import compare
from bitwright.transformers.counterexamples import exhaust, search
from bitwright.transformers.decision import Arithmetic, Counterexample, Decision, DecoderClaim, Group
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.decoder import check as check_decoder
from bitwright.transformers.fronts import StepProof, prove_step
from bitwright.transformers.layout import ColumnTask
from bitwright.transformers.mixture import mixture_of
from bitwright.transformers.modules import Evaluator, Module, evaluator_of, runtime_of
from bitwright.transformers.refutation import forced_margins, replay
from bitwright.transformers.steps import bound_input, step_of

FEW = 2**16  # inputs that are all tried where nothing can be proved
VARIED = 1000  # inputs that are tried before a proof
UNITS: Mapping[Arithmetic, float] = {"real": 0.0, "float32": FLOAT32}
Progress = Callable[[int, int], None]  # steps of decoding that are done, and of how many


def decide(
    decoder: Decoder,
    task: ColumnTask,
    *,
    module: Module | None = None,
    arithmetic: Arithmetic = "float32",
    seconds: float = 600.0,
    seed: int = 0,
    progress: Progress | None = None,
) -> Decision:
    """Whether a decoder answers a task rightly on every input: one claim on the answers, and one on the stop token.

    Args:
        module: what the decoder describes: (n, length) tokens to logits. The two are compared on thousands of inputs
            first: nothing is decided if they differ. The module replays the counterexamples.
        arithmetic: "float32" for real arithmetic and every float32 evaluation; where that cannot be proved, the claim
            is on real arithmetic, and says so.
        seconds: the time after which no more is proved. At most 65,536 inputs are all tried nevertheless.
        seed: of the inputs that are tried as counterexamples.
        progress: gets the number of steps of decoding that are done, and how many there are.
    """
    check_decoder(decoder)
    check_fit(decoder, task)
    check(task.columns)
    runtime = None if module is None else runtime_of(module, task)
    comparison = None if runtime is None else compare(decoder, runtime, task, seed)
    if comparison is not None and not comparison.agrees:
        claims = leave_open(task, "the description is not the module")
    elif reason := not_covered(decoder):
        claims = search_claims(decoder, task, runtime, reason, seed, seconds)
    else:
        clock = ProofClock(time.monotonic() + seconds, progress or (lambda *_: None))
        hunt = Hunt(decoder, task, runtime or evaluator_of(decoder), np.random.default_rng(seed))
        if task.inputs <= FEW:
            hunt.check_all()
        else:
            hunt.check(mixture_of(task).vary(VARIED, hunt.rng))
        proofs = [prove(decoder, task, about, arithmetic, hunt, clock) for about in claim_names(task)]
        claims = tuple(hunt.refute(claim) for claim in proofs)
        if task.inputs <= FEW and any(claim.verdict == "not decided" for claim in claims):
            claims = try_all(claims, runtime or decoder, task)
    return Decision(task, decoder, claims, comparison)


def not_covered(decoder: Decoder) -> str:
    """Why nothing can be proved of a decoder; empty if something can."""
    if len(decoder.layers) != 1:
        return f"proofs cover decoders of one layer; this one has {len(decoder.layers)}"
    return "" if decoder.layers[0].heads else "proofs cover decoders with attention; this one has no heads"


def claim_names(task: ColumnTask) -> tuple[str, ...]:
    return (task.columns.statement, "stop") if task.layout.stop else (task.columns.statement,)


def leave_open(task: ColumnTask, reason: str) -> tuple[DecoderClaim, ...]:
    """The claims, none of them decided for this reason."""
    return tuple(
        DecoderClaim(about, "not decided", "float32", "search", 0, open=(reason,)) for about in claim_names(task)
    )


def try_all(claims: Sequence[DecoderClaim], model: Module, task: ColumnTask) -> tuple[DecoderClaim, ...]:
    """The claims; those that are not decided are tested on all inputs, and keep what their proofs left open."""
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
    """The claims where nothing can be proved: tested on all inputs if they are few, else what a search finds."""
    model = decoder if runtime is None else runtime
    if task.inputs <= FEW:
        return exhaust(model, task)
    example = search(model, task, seed, seconds=seconds)
    claims = [*leave_open(task, reason)]
    if example is not None:
        at = int(example.step == len(task.layout.answer))
        claims[at] = replace(claims[at], verdict="refuted", inputs=1, counterexample=example, open=())
    return tuple(claims)


class ProofTimeError(Exception):
    """The time for a proof is up."""


@dataclass(frozen=True)
class ProofClock:
    """When to give up, and where progress goes."""

    end: float
    progress: Progress

    def out(self) -> bool:
        return time.monotonic() > self.end

    def tick(self) -> None:
        """Raises ProofTimeError once the time is up."""
        if self.out():
            raise ProofTimeError


@dataclass
class Hunt:
    """The search for counterexamples: the first one to each claim."""

    decoder: Decoder
    task: ColumnTask
    model: Evaluator  # has the last word
    rng: np.random.Generator
    examples: dict[str, Counterexample] = field(default_factory=dict)  # by what the claim is about
    least: float = np.inf  # margin of an input

    def check(self, inputs: Ints) -> None:
        """Keeps the first counterexample of each kind among inputs."""
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
        """Whether a module wrote what is wrong, or the decoder does in real arithmetic, whatever float64 rounds."""
        if example.replayed_by == "module":
            return True
        return bool(bound_input(self.table, example.symbols, example.step).upper[0] < 0)

    @cached_property
    def table(self) -> AttentionTable:
        """The attention of the decoder, for real arithmetic."""
        return tabulate(self.decoder, self.task, 0.0)

    def check_all(self) -> None:
        """Checks every input of the task, until each claim has a counterexample."""
        for inputs in self.task.every_input():
            self.check(inputs)
            if len(self.examples) == len(claim_names(self.task)):
                return

    def refute(self, claim: DecoderClaim) -> DecoderClaim:
        """The claim, refuted if a counterexample to it was found."""
        example = self.examples.get(claim.about)
        if example is None or claim.verdict == "proved":
            return claim
        return DecoderClaim(claim.about, "refuted", "real", claim.method, 1, None, claim.boxes, example)


def prove(
    decoder: Decoder, task: ColumnTask, about: str, arithmetic: Arithmetic, hunt: Hunt, clock: ProofClock
) -> DecoderClaim:
    """The claim on the answers, or on the stop token: for float32 if that can be proved, else for real numbers."""
    if about in hunt.examples:
        return DecoderClaim(about, "not decided", "real", "all inputs" if task.inputs <= FEW else "search", 0)
    single = arithmetic == "float32" and fits_float32(decoder)
    wishes: Sequence[Arithmetic] = ("float32", "real") if single else ("real",)
    for wish in wishes:
        try:
            claim = prove_by_boxes(decoder, task, about, wish, hunt, clock, doubt=wish == wishes[-1])
        except InputError:  # float32 may overflow
            if wish == wishes[-1]:
                raise
            continue
        if claim.verdict == "proved" or about in hunt.examples or clock.out():
            break
    return claim


def fits_float32(part: Any) -> bool:
    """Whether all weights are numbers of float32."""
    if isinstance(part, np.ndarray):
        with np.errstate(over="ignore"):
            return bool((part.astype(np.float32) == part).all())
    parts = part if isinstance(part, tuple) else vars(part).values() if is_dataclass(part) else ()
    return all(fits_float32(each) for each in parts)


def prove_by_boxes(
    decoder: Decoder, task: ColumnTask, about: str, arithmetic: Arithmetic, hunt: Hunt, clock: ProofClock, doubt: bool
) -> DecoderClaim:
    """The claim by boxes of inputs; without `doubt` the first single input that is not proved ends the attempt."""
    table, proofs, answers = tabulate(decoder, task, UNITS[arithmetic], clock.tick), [], len(task.layout.answer)
    groups = [of for of in steps(task) if (of[0][0] == answers) == (about == "stop")]
    for number, of in enumerate(groups):

        def over(proof: StepProof) -> bool:
            return about in hunt.examples or clock.out() or (not doubt and len(proof.stuck) > 0)

        def halt(proof: StepProof, candidates: Ints, number: int = number) -> bool:
            clock.progress(number, len(groups))
            hunt.check(candidates)
            return over(proof)

        clock.progress(number, len(groups))
        try:
            proofs.append(prove_step(step_of(table, of), halt, hunt.rng, wish=hunt.least / 2))
        except ProofTimeError:
            break
        if over(proofs[-1]):
            break
    return _claim_of(task, about, groups, proofs, arithmetic)


def _claim_of(
    task: ColumnTask, about: str, groups: Sequence[list[Group]], proofs: Sequence[StepProof], arithmetic: Arithmetic
) -> DecoderClaim:
    boxes, missing, trees = sum(proof.bounded for proof in proofs), [], {}
    for of, proof in zip(groups, proofs, strict=False):
        for case, group in enumerate(of):
            left = int((proof.stuck == case).sum() + (proof.waiting == case).sum())
            if left:
                missing.append(f"{describe(task, group)}: {left:,} boxes")
            trees[group] = b"" if left else proof.trees.preorder(case)
    missing += [f"{describe(task, of[0]).partition(' ')[0].rstrip(',')}: not finished" for of in groups[len(proofs) :]]
    if missing:
        return DecoderClaim(about, "not decided", arithmetic, "boxes", 0, None, boxes, None, tuple(missing))
    least = min(proof.least for proof in proofs)
    return DecoderClaim(about, "proved", arithmetic, "boxes", task.inputs, float(least), boxes, trees=trees)
