"""What is known about a transformer and its task: claims with verdicts, evidence and counterexamples."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from bitwright.common.errors import short_repr
from bitwright.common.files.storage import as_path, write_atomically
from bitwright.common.frozen import FrozenArrays
from bitwright.common.lazy import Shown
from bitwright.transformers.columns import Ints
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.layout import ColumnTask

if TYPE_CHECKING:
    from bitwright.transformers.margins import SmallestMargin, WrongInputs

Verdict = Literal["proved", "refuted", "tested", "not decided"]
Arithmetic = Literal["real", "float32"]
Method = Literal["boxes", "all inputs", "search"]
# step of decoding, symbol that was written last (-1: a fixed token), right symbol (-1: stop)
Group = tuple[int, int, int]

FACTOR = 16  # how much worse than the decoder's own evaluation in float32 a module may round


@dataclass(frozen=True)
class Counterexample(FrozenArrays):
    """An input that greedy decoding answers wrongly.

    Args:
        symbols: (words, length).
        inputs: the same as people write it: `a=95, b=7`.
        step: the first step of decoding that writes a wrong token.
        right: the right tokens; a stop token, if one must follow, is not among them.
        written: the tokens that greedy decoding writes instead.
        replayed_by: what decoded: the user's module, or the decoder's own evaluation.
    """

    symbols: Ints
    inputs: str
    step: int
    right: tuple[int, ...]
    written: tuple[int, ...]
    replayed_by: Literal["module", "decoder"]


@dataclass(frozen=True)
class ModuleComparison:
    """How far the logits of the user's module are from those of the decoder, on so many random inputs."""

    inputs: int
    largest_difference: float
    bound: float
    agrees: bool


class SplitTrees(dict[Group, bytes]):
    """The split tree of each group: the codes of its nodes in preorder, as little-endian 16-bit numbers."""


@dataclass(frozen=True)
class DecoderClaim:
    """One statement about every input of a task, and what is known of it.

    Args:
        about: the statement of the specification, or "stop".
        arithmetic: what the verdict covers.
        inputs: how many inputs the verdict covers.
        margin: a lower bound on the margin of the right token over all inputs, in logits.
        boxes: how many boxes were bounded.
        open: what stayed open, described.
        trees: of each group that boxes proved.
        runtime: what evaluated the inputs where all were tried: `torch 2.13.0`.
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
    trees: SplitTrees = field(default_factory=SplitTrees)
    runtime: str = ""

    def __bool__(self) -> bool:
        return self.verdict == "proved"


@dataclass(frozen=True, repr=False)
class Decision(Shown):
    """The claims about a decoder and a task; true only if all of them are proved.

    Args:
        smallest: the smallest margin, where it was measured.
        wrong: how many inputs are answered wrongly, where that was measured.
    """

    task: ColumnTask
    decoder: Decoder
    claims: tuple[DecoderClaim, ...]
    comparison: ModuleComparison | None = None
    smallest: SmallestMargin | None = None
    wrong: WrongInputs | None = None

    @property
    def verdict(self) -> Verdict:
        """The weakest verdict of the claims; nothing is decided of a module that the decoder does not describe."""
        order: tuple[Verdict, ...] = ("refuted", "not decided", "tested", "proved")
        weakest = min((claim.verdict for claim in self.claims), key=order.index)
        described = self.comparison is None or self.comparison.agrees
        return weakest if described or weakest == "refuted" else "not decided"

    def __bool__(self) -> bool:
        return self.verdict == "proved"

    @property
    def counterexample(self) -> Counterexample | None:
        """An input that is answered wrongly, of the first claim that is refuted."""
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
        """What `--json` prints."""
        from bitwright.transformers.report import document

        return document(self)

    def save(self, path: str | PathLike[str], network: str | PathLike[str] | None = None) -> None:
        """Writes the certificate to a JSON file; to a .html file, a page with the report and the picture.

        Args:
            network: the file of the decoder, by default the certificate's with the suffix .safetensors. It is written
                if there is none; one that holds another decoder is an error.
        """
        if as_path(path, "a certificate").suffix == ".html":
            from bitwright.transformers.picture import decision_page

            write_atomically(as_path(path), decision_page(self).encode())
        else:
            from bitwright.transformers.certificate import write_certificate

            write_certificate(self, path, network)
