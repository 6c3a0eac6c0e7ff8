"""The results about a transformer and its task: claims with verdicts, evidence and counterexamples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, Literal

from bitwright.common.errors import short_repr
from bitwright.common.frozen import FrozenArrays
from bitwright.common.lazy import Shown
from bitwright.transformers.columns import Ints
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.layout import ColumnTask

Verdict = Literal["proved", "refuted", "tested", "not decided"]
Arithmetic = Literal["real", "float32"]
Method = Literal["boxes", "all inputs", "search"]
# step of decoding, last symbol written (-1: a fixed token), right symbol (-1: stop)
Group = tuple[int, int, int]

FACTOR = 16  # allowed rounding error of a module, relative to the decoder's own in float32


@dataclass(frozen=True)
class Counterexample(FrozenArrays):
    """An input that greedy decoding answers incorrectly.

    Args:
        symbols: (words, length).
        inputs: the same in readable form: `a=95, b=7`.
        step: the first step of decoding that writes a wrong token.
        right: the right tokens, without the stop token.
        written: the tokens that greedy decoding outputs instead.
        replayed_by: the evaluator: the user's module, or the decoder itself.
    """

    symbols: Ints
    inputs: str
    step: int
    right: tuple[int, ...]
    written: tuple[int, ...]
    replayed_by: Literal["module", "decoder"]


@dataclass(frozen=True)
class ModuleComparison:
    """The largest logit difference between the user's module and the decoder, on random inputs."""

    inputs: int
    largest_difference: float
    bound: float
    agrees: bool


@dataclass(frozen=True)
class DecoderClaim:
    """One statement about every input of a task, and its verdict.

    Args:
        about: the statement of the specification, or "stop".
        arithmetic: the arithmetic that the verdict covers.
        inputs: number of inputs that the verdict covers.
        margin: a lower bound on the margin of the right token over all inputs, in logits.
        boxes: number of boxes bounded.
        open: what remains undecided, as text.
        trees: the split tree of each group proved by boxes: the codes of its nodes in preorder, of 16 bits each.
        runtime: the evaluator of an exhaustive test: `torch 2.13.0`.
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


@dataclass(frozen=True, repr=False)
class Decision(Shown):
    """The claims about a decoder and a task; true only if all of them are proved."""

    task: ColumnTask
    decoder: Decoder
    claims: tuple[DecoderClaim, ...]
    comparison: ModuleComparison | None = None

    @property
    def verdict(self) -> Verdict:
        """The weakest verdict of the claims; "not decided" if the decoder does not describe the module."""
        order: tuple[Verdict, ...] = ("refuted", "not decided", "tested", "proved")
        weakest = min((claim.verdict for claim in self.claims), key=order.index)
        described = self.comparison is None or self.comparison.agrees
        return weakest if described or weakest == "refuted" else "not decided"

    def __bool__(self) -> bool:
        return self.verdict == "proved"

    @property
    def counterexample(self) -> Counterexample | None:
        """The counterexample of the first refuted claim."""
        return next((claim.counterexample for claim in self.claims if claim.counterexample is not None), None)

    @property
    def sentence(self) -> str:
        """The verdict in one sentence."""
        from bitwright.transformers.report import headline

        return headline(self)

    __repr__ = short_repr

    def __str__(self) -> str:
        from bitwright.transformers.report import report

        return "\n".join(report(self))

    def to_dict(self) -> dict[str, Any]:
        """The contents of `--json`."""
        from bitwright.transformers.report import document

        return document(self)

    def save(self, path: str | PathLike[str], network: str | PathLike[str] | None = None) -> None:
        """Writes the certificate to a JSON file.

        Args:
            network: the file of the decoder, by default the certificate's with the suffix .safetensors. It is written
            if it does not exist; a file with a different decoder is an error.
        """
        from bitwright.transformers.certificate import write_certificate

        write_certificate(self, path, network)
