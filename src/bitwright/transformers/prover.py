"""Determines whether a decoder is correct on every input of a task."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, is_dataclass, replace
from functools import cached_property
from math import inf
from typing import Any

import numpy as np

from bitwright.common.errors import InputError
from bitwright.common.workers.linear_algebra import one_thread
from bitwright.transformers.affine import FLOAT32
from bitwright.transformers.attention import AttentionTable, check_fit, tabulate
from bitwright.transformers.columns import Ints
from bitwright.transformers.counterexamples import exhaust, forced_margins, replay, search
from bitwright.transformers.decision import Arithmetic, Counterexample, Decision, DecoderClaim, Group
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.decoder import check as check_decoder
from bitwright.transformers.layout import ColumnTask, Mixture
from bitwright.transformers.modules import Evaluator, Module, compare, evaluator_of, runtime_of
from bitwright.transformers.steps import StepProof, bound_input, prove_step, step_of, steps

FEW = 2**16  # most inputs for an exhaustive test
VARIED = 1000  # inputs tested if there are more than that
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
    progress: Progress | None = None,
) -> Decision:
    """Proves or refutes that a decoder is correct on every input of a task: claims about its answers and stop token.

    Args:
        module: your own model of the decoder, a function from tokens (n, length) to logits. It is compared with the
            decoder on 4,096 inputs; if they differ, the verdict is "not decided". It replays counterexamples.
        arithmetic: "float32" for real arithmetic and every float32 evaluation. If that cannot be proved, the claim
            covers real arithmetic only, and its `arithmetic` is "real".
        seconds: time limit of the proofs. Up to 65,536 inputs are tested exhaustively without a time limit.
        seed: seed of the inputs tried as counterexamples.
        progress: called with the number of boxes bounded and an estimate of the total.
    """
    check_decoder(decoder)
    check_fit(decoder, task)
    runtime = None if module is None else runtime_of(module, task)
    comparison = None if runtime is None else compare(decoder, runtime, task, seed)
    model, few, end = runtime or decoder, task.inputs <= FEW, time.monotonic() + seconds
    names = (task.columns.statement, "stop") if task.layout.stop else (task.columns.statement,)
    if comparison is not None and not comparison.agrees:
        claims = leave_open(names, "the decoder does not match the module")
    elif reason := not_covered(decoder):
        claims = leave_open(names, reason)
        if not few and (example := search(model, task, seed, end - time.monotonic())) is not None:
            at = int(example.step == len(task.layout.answer))
            claims[at] = replace(claims[at], verdict="refuted", inputs=1, counterexample=example, open=())
    else:
        hunt = Hunt(decoder, task, runtime or evaluator_of(decoder), names)
        varied = Mixture(task).draw(VARIED, np.random.default_rng(seed))
        hunt.check(next(task.every_input()) if few else varied)
        with one_thread():
            proofs = [prove(hunt, about, arithmetic, end, progress or (lambda *_: None)) for about in names]
        claims = [hunt.refute(claim) for claim in proofs]
    if few and (comparison is None or comparison.agrees):
        claims = try_all(claims, model, task)
    return Decision(task, decoder, tuple(claims), comparison)


def not_covered(decoder: Decoder) -> str:
    """Returns why nothing can be proved about a decoder; empty if proofs cover it."""
    if len(decoder.layers) != 1:
        return f"proofs cover decoders with one layer; this decoder has {len(decoder.layers)}"
    return "" if decoder.layers[0].heads else "proofs cover decoders with attention; this decoder has no heads"


def leave_open(names: Sequence[str], reason: str) -> list[DecoderClaim]:
    """Returns the claims, all undecided for this reason."""
    return [DecoderClaim(about, "not decided", "float32", "search", 0, open=(reason,)) for about in names]


def try_all(claims: Sequence[DecoderClaim], model: Module, task: ColumnTask) -> list[DecoderClaim]:
    """Tests the undecided claims on every input; they keep the open parts of their proofs."""
    if all(claim.verdict in ("proved", "refuted") for claim in claims):
        return list(claims)
    results, last = [], len(task.layout.answer)
    for claim, tested in zip(claims, exhaust(model, task), strict=True):
        example = tested.counterexample
        about_other = example is not None and (example.step == last) != (claim.about == "stop")
        if claim.verdict == "not decided" and not about_other:
            open_ = () if example is not None else (*claim.open, *tested.open)
            claim = replace(tested, boxes=claim.boxes, open=open_)
        results.append(claim)
    return results


@dataclass
class Hunt:
    """A search for counterexamples, which keeps the first one for each claim."""

    decoder: Decoder
    task: ColumnTask
    model: Evaluator  # replays the candidates
    names: tuple[str, ...]  # of the claims
    examples: dict[str, Counterexample] = field(default_factory=dict)  # by claim
    least: float = inf  # smallest margin of the inputs tried

    def check(self, inputs: Ints) -> None:
        """Records the first counterexample to each claim among some inputs."""
        if not len(inputs):
            return
        margins = forced_margins(self.decoder, self.task, inputs)
        wrong, self.least = margins < 0, min(self.least, float(margins.min()))
        first = np.where(wrong.any(1), wrong.argmax(1), -1)
        last = len(self.task.layout.answer)
        for some in ((first >= 0) & (first < last), first == last):
            for example in replay(self.model, self.task, inputs[some]):
                about = self.names[example.step == last]
                if about not in self.examples and self._confirms(example):
                    self.examples[about] = example
                    break

    def _confirms(self, example: Counterexample) -> bool:
        """Returns whether the module replayed the error, or a bound confirms it for real arithmetic."""
        if example.replayed_by == "module":
            return True
        return bool(bound_input(self.table, example.symbols, example.step).upper[0] < 0)

    @cached_property
    def table(self) -> AttentionTable:
        """The decoder's attention in real arithmetic."""
        return tabulate(self.decoder, self.task, 0.0)

    def refute(self, claim: DecoderClaim) -> DecoderClaim:
        """Returns the claim, refuted if there is a counterexample to it."""
        example = self.examples.get(claim.about)
        if example is None or claim.verdict == "proved":
            return claim
        return DecoderClaim(claim.about, "refuted", "real", claim.method, 1, None, claim.boxes, example)


def prove(hunt: Hunt, about: str, arithmetic: Arithmetic, end: float, progress: Progress) -> DecoderClaim:
    """Returns the claim about the answers or the stop token, for float32 if possible and otherwise for real numbers."""
    if about in hunt.examples:
        return DecoderClaim(about, "not decided", "real", "all inputs" if hunt.task.inputs <= FEW else "search", 0)
    single = arithmetic == "float32" and fits_float32(hunt.decoder)
    wishes: Sequence[Arithmetic] = ("float32", "real") if single else ("real",)
    for wish in wishes:
        try:
            claim = BoxProof(hunt, about, wish, wish == wishes[-1], end, progress).claim()
        except InputError:  # float32 may overflow
            if wish == wishes[-1]:
                raise
            continue
        if claim.verdict == "proved" or about in hunt.examples or time.monotonic() > end:
            break
    return claim


def fits_float32(part: Any) -> bool:
    """Returns whether all weights are float32 numbers."""
    if isinstance(part, np.ndarray):
        with np.errstate(over="ignore"):
            return bool((part.astype(np.float32) == part).all())
    parts = part if isinstance(part, tuple) else vars(part).values() if is_dataclass(part) else ()
    return all(fits_float32(each) for each in parts)


@dataclass
class BoxProof:
    """A proof of one claim with boxes of inputs, one decoding step after another.

    Args:
        patient: whether to continue after an input that cannot be proved.
        end: the monotonic time at which the proof stops.
    """

    hunt: Hunt
    about: str
    arithmetic: Arithmetic
    patient: bool
    end: float
    progress: Progress
    boxes: int = 0  # bounded in completed steps
    done: float = 0.0  # the share of completed steps

    @cached_property
    def table(self) -> AttentionTable:
        return tabulate(self.hunt.decoder, self.hunt.task, UNITS[self.arithmetic], self.tick)

    def tick(self) -> None:
        """Raises TimeoutError after the time limit."""
        if time.monotonic() > self.end:
            raise TimeoutError

    def claim(self) -> DecoderClaim:
        """Returns the claim, proved or not decided."""
        task, trees, missing, least = self.hunt.task, dict[Group, bytes](), list[str](), inf
        every = [of for of in steps(task) if (of[0][0] == len(task.layout.answer)) == (self.about == "stop")]
        for number, groups in enumerate(every):
            proof = StepProof()
            if self.patient or not missing:
                proof = self._prove(groups)
            self.done = (number + 1) / len(every)
            self.boxes, least = self.boxes + proof.bounded, min(least, proof.least)
            place = "stop" if self.about == "stop" else str(task.layout.answer[number])
            if left := len(proof.stuck) + proof.waiting:
                missing.append(f"{place}: {left:,} {'box' if left == 1 else 'boxes'} open")
            elif not proof.finished:
                missing.append(f"{place}: not finished")
            trees |= {group: proof.trees.preorder(case) for case, group in enumerate(groups) if proof.finished}
            if self.about in self.hunt.examples:
                break
        self.progress(self.boxes, self.boxes)
        claim = DecoderClaim(self.about, "not decided", self.arithmetic, "boxes", 0, boxes=self.boxes)
        if missing:
            return replace(claim, open=tuple(missing))
        return replace(claim, verdict="proved", inputs=task.inputs, margin=float(least), trees=trees)

    def _prove(self, groups: list[Group]) -> StepProof:
        try:
            self.tick()
            return prove_step(step_of(self.table, groups), self._halt, max(0.0, self.hunt.least / 2))
        except TimeoutError:
            return StepProof()

    def _halt(self, proof: StepProof, candidates: Ints) -> bool:
        boxes = self.boxes + proof.bounded
        self.progress(boxes, round(boxes / self.done) if self.done else 0)
        self.hunt.check(candidates)
        return self.about in self.hunt.examples or (not self.patient and bool(proof.stuck))
