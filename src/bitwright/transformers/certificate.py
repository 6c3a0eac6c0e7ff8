"""Certificates for decisions about decoders: everything that a checker needs besides the network's file.

A certificate is JSON. It contains the whole task, as an automaton and a layout, the SHA-256 of the network's file and
of its weights, and the claims with their evidence: packed split trees.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Context
from hashlib import sha256
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from bitwright.common.errors import InputError
from bitwright.common.files.documents import parse, read_file
from bitwright.common.files.journal import Journal
from bitwright.common.files.storage import as_path, write_atomically
from bitwright.transformers.columns import Ints, check_edges
from bitwright.transformers.decision import Arithmetic, Decision, DecoderClaim, ModuleComparison, SplitTrees
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.files import build, describe, digest, load_decoder, save_decoder
from bitwright.transformers.layout import ColumnTask
from bitwright.version import __version__

FORMAT = "bitwright decoder certificate 1"
WHAT = "a certificate of a decoder"
MAX_BYTES = 1 << 28
DIGITS = 3  # of a margin, rounded down so that a checker's own rounding stays above it


@dataclass(frozen=True)
class DecoderCertificate:
    """A certificate as read from a file.

    Args:
        network: the SHA-256 of the network's file.
        weights: the SHA-256 of the evaluated structure and weights (`files.digest`).
        version: the bitwright version that wrote it.
    """

    network: str
    weights: str
    task: ColumnTask
    claims: tuple[DecoderClaim, ...]
    comparison: ModuleComparison | None
    version: str


def write_certificate(
    decision: Decision, path: str | PathLike[str], network: str | PathLike[str] | None = None
) -> None:
    """Writes the certificate of a decision, and its decoder to the file `network` if that does not exist."""
    target = as_path(path, WHAT)
    if network is None and target.suffix != ".json":
        raise InputError(f"a certificate must end in .json, or .html for a page; got {target}")
    place = target.with_suffix(".safetensors") if network is None else as_path(network, "a decoder file")
    if not place.exists():
        save_decoder(decision.decoder, place)
    if digest(load_decoder(place)) != (weights := digest(decision.decoder)):
        raise InputError(f"{place} contains a different decoder from the decision's; save that one with save_decoder")
    claims = tuple(
        replace(
            claim,
            margin=None if claim.margin is None else round_down(claim.margin),
            trees=claim.trees if claim.verdict == "proved" else SplitTrees(),
        )
        for claim in decision.claims
    )
    network_digest = sha256(place.read_bytes()).hexdigest()
    certificate = DecoderCertificate(network_digest, weights, decision.task, claims, decision.comparison, __version__)
    document = {"format": FORMAT} | describe(certificate)
    write_atomically(target, (json.dumps(document, separators=(",", ":")) + "\n").encode())


def read_certificate(path: str | PathLike[str]) -> DecoderCertificate:
    """Reads a certificate; raises InputError unless it is well-formed. Its claims are not checked."""
    place = as_path(path, WHAT)
    document = parse(read_file(place, MAX_BYTES), place, WHAT)
    try:
        if document.pop("format", None) != FORMAT:
            raise InputError(f"its format is not '{FORMAT}'")
        certificate: DecoderCertificate = build(DecoderCertificate, document, "certificate")
        if not certificate.claims:
            raise InputError("it has no claims")
        check_edges(certificate.task.columns)
        for claim in certificate.claims:
            example = claim.counterexample
            if example is not None and example.symbols.shape != certificate.task.positions.shape:
                raise InputError(f"the symbols of a counterexample need shape {certificate.task.positions.shape}")
    except InputError as error:
        raise InputError(f"{place} is not {WHAT}: {error}") from None
    return certificate


def task_document(task: ColumnTask) -> Any:
    """A task in the format of certificates."""
    return describe(task)


def round_down(margin: float) -> float:
    """Rounds a margin down to three digits.

    >>> round_down(0.42759), round_down(0.25)
    (0.427, 0.25)
    """
    if not isfinite(margin):
        return 0.0
    return float(Context(prec=DIGITS, rounding=ROUND_FLOOR).create_decimal_from_float(margin))


PROOF_FORMAT = "bitwright decoder proof 2"
End = Literal["done", "stuck", "wrong", "time"]
Key = tuple[str, Arithmetic, int]  # subject of the claim, arithmetic, step of decoding


@dataclass(frozen=True)
class StepResult:
    """The result of one step of decoding.

    Args:
        end: why it ended: all boxes tried, an input not proved, a wrong input found, or out of time.
        boxes: number of boxes bounded.
        least: a lower bound of all proved margins; None if unknown.
        left: the number of unproved boxes of each group.
        trees: of each group without unproved boxes.
        wrong: (n, words, length) inputs on which the decoder fails.
    """

    end: End
    boxes: int
    least: float | None
    left: tuple[int, ...]
    trees: SplitTrees
    wrong: Ints


@dataclass(frozen=True)
class _Record:
    about: str
    arithmetic: Arithmetic
    step: int
    result: StepResult


class StepJournal:
    """The finished steps of one decoder and task, in a file with one writer at a time."""

    def __init__(self, file: Path, decoder: Decoder, task: ColumnTask, seed: int) -> None:
        """Opens or creates the file; raises InputError if it contains something else."""
        known = sha256(json.dumps(task_document(task), sort_keys=True).encode()).hexdigest()
        self.file = file
        self._journal = Journal(file, {"format": PROOF_FORMAT, "decoder": digest(decoder), "task": known, "seed": seed})
        try:
            self.known: dict[Key, StepResult] = dict(map(self._read, self._journal.records()))
        except BaseException:
            self._journal.__exit__()
            raise

    def __enter__(self) -> StepJournal:
        return self

    def __exit__(self, *_: object) -> None:
        self._journal.__exit__()

    def append(self, key: Key, result: StepResult) -> None:
        """Records a finished step."""
        self._journal.append(json.dumps(describe(_Record(*key, result))).encode())
        self.known[key] = result

    def _read(self, record: bytes) -> tuple[Key, StepResult]:
        try:
            found: _Record = build(_Record, parse(record, self.file, "a proof"), "a step")
        except InputError as error:
            raise InputError(f"{self.file} is damaged ({error}); delete it to begin anew") from None
        result = found.result
        if result.end not in ("done", "stuck") or min(result.left, default=0) < 0 or len(result.wrong):
            raise InputError(f"{self.file} contains an unfinished step; delete it to begin anew")
        return (found.about, found.arithmetic, found.step), result
