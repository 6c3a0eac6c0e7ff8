"""Certificates for decisions about decoders, with everything a checker needs besides the decoder's file.

A certificate is a JSON file. It contains the complete task as an automaton and a layout, the SHA-256 of the decoder's
file and of its weights, and the claims with packed split trees as evidence.
"""

from __future__ import annotations

import base64
import json
import zlib
from decimal import ROUND_FLOOR, Context
from hashlib import sha256
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any

from bitwright.common.errors import InputError, ProofError
from bitwright.common.files.documents import (
    Check,
    each,
    flag,
    like,
    number,
    one_of,
    optional,
    read_document,
    read_file,
    table,
    text,
    whole,
)
from bitwright.common.files.storage import as_path, write_atomically
from bitwright.transformers.decision import Decision, DecoderClaim
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.files import describe, digest, load_decoder, save_decoder
from bitwright.transformers.layout import ColumnTask, count_inputs
from bitwright.version import __version__

FORMAT = "bitwright decoder certificate 1"
WHAT = "a certificate for a decoder"
MAX_BYTES = 1 << 28
DIGITS = 3  # of a margin, which is rounded down so that a checker with other rounding can still confirm it


def write_certificate(
    decision: Decision, path: str | PathLike[str], network: str | PathLike[str] | None = None
) -> None:
    """Writes the certificate for a decision, and its decoder to the file `network` unless that file exists."""
    target = as_path(path, WHAT)
    if network is None and target.suffix != ".json":
        raise InputError(f"the name of a certificate must end in .json, got {target}")
    place = target.with_suffix(".safetensors") if network is None else as_path(network, "a decoder file")
    if not place.exists():
        save_decoder(decision.decoder, place)
    if digest(load_decoder(place)) != (weights := digest(decision.decoder)):
        raise InputError(
            f"{place} contains a different decoder; choose another file name, or save this decoder with save_decoder"
        )
    document = {
        "format": FORMAT,
        "network": sha256(place.read_bytes()).hexdigest(),
        "weights": weights,
        "task": task_document(decision.task),
        "claims": [_claim(claim) for claim in decision.claims],
        "comparison": None if decision.comparison is None else describe(decision.comparison),
        "version": __version__,
    }
    write_atomically(target, (json.dumps(document, separators=(",", ":")) + "\n").encode())


def task_document(task: ColumnTask) -> dict[str, Any]:
    """Returns a task as JSON; runs start in state 0 and may end in any state."""
    document: dict[str, Any] = describe(task)
    columns = document["columns"]
    states = columns.pop("states")
    columns |= {"starts": [state == 0 for state in range(states)], "ends": [True] * states}
    return document


def _claim(claim: DecoderClaim) -> dict[str, Any]:
    trees = claim.trees if claim.verdict == "proved" else {}
    groups = [[*group, len(tree) // 2] for group, tree in trees.items()]
    nodes = base64.b64encode(zlib.compress(b"".join(trees.values()), 9)).decode()
    packed = {"groups": groups, "nodes": nodes} if trees else None
    margin = None if claim.margin is None else round_down(claim.margin)
    document: dict[str, Any] = describe({**vars(claim), "margin": margin, "trees": packed})
    return document


def _object(fields: dict[str, Check]) -> Check:
    """Accepts an object with exactly these fields."""

    def look(value: object) -> str | None:
        if type(value) is not dict or value.keys() != fields.keys():
            return f"an object of {', '.join(fields)}"
        return next((f"{name} as {wrong}" for name, check in fields.items() if (wrong := check(value[name]))), None)

    return look


_HEX = like("[0-9a-f]{64}", "64 hexadecimal digits")
_COUNT: Check = lambda value: None if type(value) is int and value >= 0 else "an integer of at least 0"  # noqa: E731
_ANY = table(lambda _: None)
_CLAIM: dict[str, Check] = {
    "about": text(),
    "verdict": one_of("proved", "refuted", "tested", "not decided"),
    "arithmetic": one_of("real", "float32"),
    "method": one_of("boxes", "all inputs", "search"),
    "inputs": _COUNT,
    "margin": optional(number()),
    "boxes": _COUNT,
    "counterexample": optional(_ANY),
    "open": each(text()),
    "trees": optional(_object({"groups": each(each(whole(-1, 1 << 62), 4, 4)), "nodes": text(MAX_BYTES)})),
    "runtime": text(),
}
_COMPARISON = {"inputs": _COUNT, "largest_difference": number(), "bound": number(), "agrees": flag()}
FIELDS: dict[str, Check] = {
    "format": one_of(FORMAT),
    "network": _HEX,
    "weights": _HEX,
    "task": table(lambda _: None),
    "claims": each(_object(_CLAIM), 1, 2),
    "comparison": optional(_object(_COMPARISON)),
    "version": text(100),
}


def read_certificate(path: Path) -> dict[str, Any]:
    """Reads a certificate without checking its claims."""
    return read_document(read_file(path, MAX_BYTES), path, WHAT, FIELDS)


def check_subject(path: Path, certificate: dict[str, Any], task: ColumnTask, decoder: Decoder) -> None:
    """Raises ProofError if a certificate is for a different decoder or task."""
    if certificate["weights"] != digest(decoder):
        raise ProofError(f"{path} is for another network: its weights differ")
    if json.dumps(certificate["task"], sort_keys=True) != json.dumps(task_document(task), sort_keys=True):
        raise ProofError(f"{path} is for another task: its automaton or layout differs")


def check_claims(path: Path, certificate: dict[str, Any], decision: Decision) -> None:
    """Raises ProofError for the first claim of a certificate that a new decision does not confirm."""
    claims = certificate["claims"]
    if [claim["about"] for claim in claims] != [claim.about for claim in decision.claims]:
        raise ProofError(f"the claims in {path} do not match the task")
    for claim, again in zip(claims, decision.claims, strict=True):
        if claim["verdict"] != again.verdict:
            raise ProofError(f"{again.about}: the verdict is {again.verdict}, but {path} claims {claim['verdict']}")
        if claim["inputs"] != again.inputs:
            covered = count_inputs(again.inputs)
            raise ProofError(f"{again.about}: the verdict covers {covered} inputs, but {path} claims another number")
        if again.verdict == "proved" and claim["arithmetic"] not in ("real", again.arithmetic):
            raise ProofError(f"{again.about}: proved for real arithmetic only, but {path} claims float32")


def round_down(margin: float) -> float:
    """Rounds a margin down to three digits.

    >>> round_down(0.42759), round_down(0.25)
    (0.427, 0.25)
    """
    if not isfinite(margin):
        return 0.0
    return float(Context(prec=DIGITS, rounding=ROUND_FLOOR).create_decimal_from_float(margin))
