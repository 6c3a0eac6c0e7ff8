"""Certificates of decisions about decoders: everything that a checker needs beside the network's file.

A certificate is JSON. It holds the whole task, as an automaton and a layout, the SHA-256 of the network's file and of
its weights, and the claims with their evidence: split trees, packed.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Context
from hashlib import sha256
from itertools import pairwise
from math import inf, isfinite
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bitwright.common.errors import InputError
from bitwright.common.files.documents import (
    Check,
    each,
    like,
    one_of,
    optional,
    read_document,
    read_file,
    real,
    text,
    whole,
)
from bitwright.common.files.journal import Journal
from bitwright.common.files.storage import as_path, write_atomically
from bitwright.common.frozen import FrozenArrays
from bitwright.transformers.columns import Ints, check_edges
from bitwright.transformers.decision import Arithmetic, Decision, DecoderClaim, Group, ModuleComparison
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.files import build, describe, digest, load_decoder, save_decoder
from bitwright.transformers.layout import ColumnTask
from bitwright.version import __version__

FORMAT = "bitwright decoder certificate 1"
WHAT = "a certificate of a decoder"
MAX_BYTES = 1 << 28
MAX_NODES = 1 << 27  # of all trees
DIGITS = 3  # of a margin, rounded down: a checker's own rounding must not fall below it


@dataclass(frozen=True)
class DecoderCertificate:
    """A certificate as it was read.

    Args:
        network: the SHA-256 of the network's file.
        weights: the SHA-256 of what it evaluates (`files.digest`).
        version: of bitwright that wrote it.
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
    """Writes the certificate of a decision, and the decoder that it is about to the file `network` if there is none."""
    target = as_path(path, WHAT)
    if network is None and target.suffix != ".json":
        raise InputError(f"a certificate is a .json file, and a page .html; got {target}")
    place = target.with_suffix(".safetensors") if network is None else as_path(network, "a decoder file")
    if not place.exists():
        save_decoder(decision.decoder, place)
    if digest(load_decoder(place)) != (weights := digest(decision.decoder)):
        raise InputError(f"{place} holds another decoder than the decision is about; save it with save_decoder")
    certificate = DecoderCertificate(
        sha256(place.read_bytes()).hexdigest(), weights, decision.task, (), decision.comparison, __version__
    )
    claims = [_claim_document(claim) for claim in decision.claims]
    document = {"format": FORMAT} | describe(certificate) | {"claims": claims}
    write_atomically(target, (json.dumps(document, separators=(",", ":")) + "\n").encode())


def read_certificate(path: str | PathLike[str]) -> DecoderCertificate:
    """The certificate in a file; raises InputError unless it is sound. What it claims is not checked."""
    place = as_path(path, WHAT)
    document = read_document(read_file(place, MAX_BYTES), place, WHAT, _FIELDS)
    del document["format"]
    try:
        certificate: DecoderCertificate = build(DecoderCertificate, document | {"claims": []}, "certificate")
        certificate = replace(certificate, claims=tuple(_claim(claim) for claim in document["claims"]))
        check_edges(certificate.task.columns)
        for claim in certificate.claims:
            example = claim.counterexample
            if example is not None and example.symbols.shape != certificate.task.positions.shape:
                raise InputError(f"the symbols of a counterexample need shape {certificate.task.positions.shape}")
    except InputError as error:
        raise InputError(f"{place} is not {WHAT}: {error}") from None
    return certificate


def task_document(task: ColumnTask) -> Any:
    """A task as a certificate holds it."""
    return describe(task)


def _claim_document(claim: DecoderClaim) -> dict[str, Any]:
    margin = None if claim.margin is None else round_down(claim.margin)
    trees = _pack(claim.trees) if claim.verdict == "proved" and claim.trees else None
    document: dict[str, Any] = describe(replace(claim, margin=margin, trees={}))
    return document | {"trees": trees}


def _claim(document: dict[str, Any]) -> DecoderClaim:
    trees = document.get("trees", 0)  # 0 is no tree, and refused
    claim: DecoderClaim = build(DecoderClaim, document | {"trees": {} if "trees" in document else None}, "a claim")
    return replace(claim, trees={} if trees is None else _unpack(build(_PackedTrees, trees, "trees")))


def round_down(margin: float) -> float:
    """A margin with three digits, and no larger.

    >>> round_down(0.42759), round_down(0.25)
    (0.427, 0.25)
    """
    if not isfinite(margin):
        return 0.0
    return float(Context(prec=DIGITS, rounding=ROUND_FLOOR).create_decimal_from_float(margin))


@dataclass(frozen=True)
class _PackedTrees(FrozenArrays):
    """Every group with the number of its nodes, and the codes of all nodes."""

    groups: Ints  # (n, 4)
    nodes: str


def _pack(trees: Mapping[Group, bytes]) -> Any:
    groups = np.array([[*group, len(tree) // 2] for group, tree in trees.items()])
    return describe(_PackedTrees(groups, base64.b64encode(zlib.compress(b"".join(trees.values()), 9)).decode()))


def _unpack(packed: _PackedTrees) -> dict[Group, bytes]:
    try:
        stream = zlib.decompressobj()
        nodes = stream.decompress(base64.b64decode(packed.nodes, validate=True), 2 * MAX_NODES)
    except (ValueError, zlib.error):
        raise InputError("trees are damaged") from None
    if packed.groups.shape[1:] != (4,) or (packed.groups[:, 3] < 0).any() or packed.groups[:, 3].max() > MAX_NODES:
        raise InputError("the groups of trees need a step, two symbols and a number of nodes")
    ends = 2 * np.cumsum([0, *packed.groups[:, 3]])
    groups: list[Group] = [(step, last, right) for step, last, right, _ in packed.groups.tolist()]
    if not stream.eof or stream.unused_data or ends[-1] != len(nodes) or len(set(groups)) < len(groups):
        raise InputError("trees are cut off, or have groups twice")
    return {group: nodes[begin:end] for group, begin, end in zip(groups, ends[:-1], ends[1:], strict=True)}


_HASH = like("[0-9a-f]{64}", "64 hexadecimal digits")
_FIELDS: dict[str, Check] = {
    "format": one_of(FORMAT),
    "version": text(100),
    "network": _HASH,
    "weights": _HASH,
    "task": lambda value: None if type(value) is dict else "an object",
    "claims": each(lambda value: None if type(value) is dict else "an object", 1, 100),
    "comparison": lambda value: None if value is None or type(value) is dict else "an object or null",
}


PROOF_FORMAT = "bitwright decoder proof 1"
End = Literal["done", "stuck", "wrong", "time"]
Key = tuple[str, Arithmetic, int]  # what the claim is about, the arithmetic, and the step of decoding


@dataclass(frozen=True)
class StepResult:
    """What came of one step of decoding.

    Args:
        end: why it ended: all boxes were tried; an input was not proved; a wrong one was found; the time was up.
        boxes: how many were bounded.
        least: no margin of what is proved is below.
        left: of each group, how many boxes are not proved.
        trees: of each group, the tree of splits in preorder; empty where boxes are left.
        wrong: (n, words, length) inputs that the decoder answers wrongly.
    """

    end: End
    boxes: int
    least: float
    left: tuple[int, ...]
    trees: tuple[bytes, ...]
    wrong: Ints


class StepJournal:
    """The finished steps of one decoder and task, in a file that one process at a time writes."""

    def __init__(self, file: Path, decoder: Decoder, task: ColumnTask, seed: int) -> None:
        """Opens the file, or makes it; raises InputError if it holds something else."""
        known = sha256(json.dumps(task_document(task), sort_keys=True).encode()).hexdigest()
        self.file = file
        self._journal = Journal(file, {"format": PROOF_FORMAT, "decoder": digest(decoder), "task": known, "seed": seed})
        self._none = np.zeros((0, *task.positions.shape), np.int64)
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
        """Keeps a step that is finished."""
        about, arithmetic, step = key
        lengths, packed = [len(tree) for tree in result.trees], zlib.compress(b"".join(result.trees))
        record = {"about": about, "arithmetic": arithmetic, "step": step, "end": result.end, "boxes": result.boxes}
        record |= {"least": None if result.least == inf else result.least, "left": result.left, "lengths": lengths}
        self._journal.append(json.dumps(record | {"trees": base64.b64encode(packed).decode()}).encode())
        self.known[key] = result

    def _read(self, record: bytes) -> tuple[Key, StepResult]:
        document = read_document(record, self.file, "a proof", _RECORD_FIELDS)
        try:
            nodes = zlib.decompressobj().decompress(base64.b64decode(document["trees"], validate=True), 2 * MAX_NODES)
        except (ValueError, zlib.error):
            raise InputError(f"{self.file} is damaged; delete it to begin anew") from None
        ends = np.cumsum([0, *document["lengths"]]).tolist()
        if ends[-1] != len(nodes) or len(ends) != len(document["left"]) + 1:
            raise InputError(f"{self.file} is damaged; delete it to begin anew")
        trees = tuple(nodes[begin:end] for begin, end in pairwise(ends))
        least = inf if document["least"] is None else document["least"]
        key = document["about"], document["arithmetic"], document["step"]
        left = tuple(document["left"])
        return key, StepResult(document["end"], document["boxes"], least, left, trees, self._none)


_MOST = 1 << 50
_RECORD_FIELDS: dict[str, Check] = {
    "about": text(),
    "arithmetic": one_of("real", "float32"),
    "step": whole(0, _MOST),
    "end": one_of("done", "stuck"),
    "boxes": whole(0, _MOST),
    "least": optional(real(-1e308, 1e308)),
    "left": each(whole(0, _MOST)),
    "lengths": each(whole(0, _MOST)),
    "trees": text(1 << 28),
}
