"""Decisions about decoders: claims with verdicts, evidence and counterexamples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, Literal

from bitwright.common.errors import Report, counted, listing, rounded_down
from bitwright.common.frozen import FrozenArrays
from bitwright.common.lazy import Shown
from bitwright.transformers.columns import Ints
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.files import describe, digest
from bitwright.transformers.layout import ColumnTask, count_inputs

Verdict = Literal["proved", "refuted", "tested", "not decided"]
Arithmetic = Literal["real", "float32"]
Method = Literal["boxes", "all inputs", "search"]
# decoding step, last symbol written (-1 for a fixed token), right symbol (-1 for the stop token)
Group = tuple[int, int, int]

FACTOR = 16  # allowed rounding error of a module, relative to the decoder's error in float32
ARITHMETIC = {"real": "real arithmetic", "float32": "real arithmetic and float32"}


@dataclass(frozen=True)
class Counterexample(FrozenArrays):
    """An input that greedy decoding answers incorrectly.

    Args:
        symbols: (words, length).
        inputs: the input in readable form: `a=95, b=7`.
        step: the first decoding step that writes a wrong token.
        right: the right tokens, without the stop token.
        written: the tokens that greedy decoding outputs instead.
        replayed_by: the evaluator, which is the user's module or the decoder.
    """

    symbols: Ints
    inputs: str
    step: int
    right: tuple[int, ...]
    written: tuple[int, ...]
    replayed_by: Literal["module", "decoder"]


@dataclass(frozen=True)
class ModuleComparison:
    """The largest logit difference between the user's module and the decoder on random inputs."""

    inputs: int
    largest_difference: float
    bound: float
    agrees: bool

    def __str__(self) -> str:
        if self.agrees:
            return f"logits on {self.inputs:,} inputs agree within {self.bound:.2g}"
        rounding = f"{FACTOR} times rounding ({self.bound:.2g})"
        return f"logits differ by up to {self.largest_difference:.2g}, which is more than {rounding}"


@dataclass(frozen=True)
class DecoderClaim:
    """One statement about every input of a task, and its verdict.

    Args:
        about: the statement of the specification, or "stop".
        arithmetic: the arithmetic that the verdict covers.
        inputs: the number of inputs that the verdict covers.
        margin: a lower bound on the right token's margin in logits, over all inputs.
        boxes: the number of boxes bounded.
        open: the undecided parts, as text.
        trees: for each group proved with boxes, its split tree: the 16-bit codes of its nodes in preorder.
        runtime: the evaluator of an exhaustive test, such as `torch 2.13.0`.
    """

    about: str
    verdict: Verdict
    arithmetic: Arithmetic
    method: Method
    inputs: int
    margin: float | None = None
    boxes: int = 0
    counterexample: Counterexample | None = None
    open: tuple[str, ...] = ()
    trees: Mapping[Group, bytes] = field(default_factory=dict)
    runtime: str = ""

    def __bool__(self) -> bool:
        return self.verdict == "proved"

    def __str__(self) -> str:
        """Returns the verdict in words."""
        margin = "" if self.margin is None else f"; smallest margin {rounded_down(self.margin)}"
        rest = f"; open: {listing(self.open)}" if self.open else ""
        if self.verdict == "proved":
            return f"proved in {ARITHMETIC[self.arithmetic]}, in {counted(self.boxes, 'box', 'boxes')}"
        if self.verdict == "tested":
            return f"correct on all {count_inputs(self.inputs)} inputs tested{margin}{rest}"
        if self.counterexample is not None:
            return f"refuted; replayed by the {self.counterexample.replayed_by}"
        return f"not decided{rest}"

    def to_dict(self) -> dict[str, Any]:
        """Returns the claim as JSON, without its evidence."""
        document: dict[str, Any] = describe(replace(self, trees={}))
        del document["inputs"]
        if self.counterexample is not None:
            del document["counterexample"]["symbols"]
        return {name: value for name, value in document.items() if value not in (None, "", [], {})}


@dataclass(frozen=True, repr=False)
class Decision(Shown, Report):
    """The claims about a decoder and a task; truthy if all of them are proved."""

    task: ColumnTask
    decoder: Decoder
    claims: tuple[DecoderClaim, ...]
    comparison: ModuleComparison | None = None

    @property
    def verdict(self) -> Verdict:
        """The weakest verdict of the claims."""
        order: tuple[Verdict, ...] = ("refuted", "not decided", "tested", "proved")
        return min((claim.verdict for claim in self.claims), key=order.index)

    def __bool__(self) -> bool:
        return self.verdict == "proved"

    @property
    def counterexample(self) -> Counterexample | None:
        """The counterexample of the first refuted claim."""
        return next((claim.counterexample for claim in self.claims if claim.counterexample is not None), None)

    @property
    def sentence(self) -> str:
        """The verdict and its scope, as one sentence."""
        task, verdict, example = self.task, self.verdict, self.counterexample
        stops = " and stops" if len(self.claims) > 1 else ""
        claim = f"this decoder computes {task.columns.statement}{stops}"
        if verdict == "proved":
            real = any(claim.arithmetic == "real" for claim in self.claims)
            only = " (real arithmetic only)" if real else ""
            return f"PROVED: {claim}, for all {count_inputs(task.inputs)} inputs{only}"
        if example is not None:
            if example.step == len(example.right):
                wrong = f"token {example.written[-1]} follows the answer and is not a stop token"
            else:
                right, written = task.describe_answer(example.right), task.describe_answer(example.written)
                wrong = f"decoding gives {written} instead of {right}"
            return f"REFUTED: {example.inputs}: {wrong}"
        if verdict == "tested":
            runtime = next(claim.runtime for claim in self.claims if claim.verdict == "tested")
            return f"TESTED: {claim}, on all {count_inputs(task.inputs)} inputs with {runtime}; this is not a proof"
        if self.comparison is not None and not self.comparison.agrees:
            return f"NOT DECIDED: the decoder does not match your module: {self.comparison}; check its options"
        return f"NOT DECIDED: whether {claim}"

    def rows(self) -> Iterable[str]:
        """Returns the claims, the comparison with the module, and the decoder."""
        module = "none to compare with; the verdict covers only the decoder"
        heads = counted(sum(len(layer.heads) for layer in self.decoder.layers), "head")
        sizes = f"{counted(len(self.decoder.layers), 'layer')}, {heads}, {self.decoder.weights:,} weights"
        rows = [("answers" if claim.about != "stop" else "stop token", str(claim)) for claim in self.claims]
        rows += [("module", str(self.comparison or module)), ("decoder", f"{sizes}; sha256 {digest(self.decoder)}")]
        width = max(len(name) for name, _ in rows)
        return [f"  {name:{width}}  {text}" for name, text in rows]

    def to_dict(self) -> dict[str, Any]:
        """Returns the decision in the form that `--json` prints."""
        return {
            "statement": self.task.columns.statement,
            "verdict": self.verdict,
            "proved": bool(self),
            "inputs": self.task.inputs,
            "decoder": digest(self.decoder),
            **({} if self.comparison is None else {"compared": dict(vars(self.comparison))}),
            "claims": [claim.to_dict() for claim in self.claims],
        }

    def save(self, path: str | PathLike[str], network: str | PathLike[str] | None = None) -> None:
        """Writes the certificate to a JSON file.

        Args:
            network: the decoder's file; by default the certificate's path with the suffix .safetensors. A missing file
            is written, and a file with a different decoder is an error.
        """
        from bitwright.transformers.certificate import write_certificate

        write_certificate(self, path, network)
