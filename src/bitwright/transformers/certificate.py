"""Certificates of decisions about decoders: everything that a checker needs beside the network's file.

A certificate is JSON. It holds the whole task, as an automaton and a layout, the SHA-256 of the network's file and of
its weights, and the claims with their evidence: split trees, packed.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from decimal import ROUND_FLOOR, Context
from hashlib import sha256
from math import isfinite
from os import PathLike
from typing import Any

import numpy as np

from bitwright.errors import InputError, listing
from bitwright.files.documents import (
    Check,
    each,
    flag,
    like,
    one_of,
    optional,
    read_document,
    read_file,
    real,
    table,
    text,
    whole,
)
from bitwright.files.storage import as_path, write_atomically
from bitwright.transformers.columns import Columns
from bitwright.transformers.decision import Counterexample, Decision, DecoderClaim, Group, ModuleComparison
from bitwright.transformers.files import digest, load_decoder, save_decoder
from bitwright.transformers.layout import ColumnTask, Place, PromptLayout
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
    document = {
        "format": FORMAT,
        "version": __version__,
        "network": {"sha256": sha256(place.read_bytes()).hexdigest(), "weights": weights},
        "task": task_document(decision.task),
        "claims": [_claim_document(claim) for claim in decision.claims],
        "comparison": None if decision.comparison is None else vars(decision.comparison),
    }
    write_atomically(target, (json.dumps(document, separators=(",", ":")) + "\n").encode())


def read_certificate(path: str | PathLike[str]) -> DecoderCertificate:
    """The certificate in a file; raises InputError unless it is sound. What it claims is not checked."""
    place = as_path(path, WHAT)
    document = read_document(read_file(place, MAX_BYTES), place, WHAT, _FIELDS)
    comparison = document["comparison"] and ModuleComparison(**document["comparison"])
    try:
        task = _task(document["task"])
        claims = tuple(_claim(claim, task) for claim in document["claims"])
    except InputError as error:
        raise InputError(f"{place} is not {WHAT}: {error}") from None
    network, weights = document["network"]["sha256"], document["network"]["weights"]
    return DecoderCertificate(network, weights, task, claims, comparison, document["version"])


# ---- the task


def task_document(task: ColumnTask) -> dict[str, Any]:
    """A task as a certificate holds it."""
    columns, layout = task.columns, task.layout
    named = {field.name: getattr(columns, field.name) for field in fields(columns)}
    return {name: of.tolist() if isinstance(of, np.ndarray) else of for name, of in named.items()} | {
        "flags": {name: of.tolist() for name, of in columns.flags.items()},
        "prompt": [_slot_document(slot) for slot in layout.prompt],
        "places": [_slot_document(place) for place in layout.answer],
        "tokens": dict(layout.tokens),
        "stop": layout.stop,
    }


def _slot_document(slot: int | Place) -> int | list[str | int]:
    return slot if isinstance(slot, int) else [slot.word, slot.column]


def _task(document: Mapping[str, Any]) -> ColumnTask:
    named = {field.name: document[field.name] for field in fields(Columns)} | {
        "words": tuple(document["words"]),
        "symbols": tuple(document["symbols"]),
        "edges": _edges(document),
        "starts": np.array(document["starts"], np.bool_),
        "ends": np.array(document["ends"], np.bool_),
        "flags": {name: np.array(of, np.int64) for name, of in document["flags"].items()},
    }
    prompt, places = (
        tuple(Place(*slot) if isinstance(slot, list) else slot for slot in document[name])
        for name in ("prompt", "places")
    )
    tokens = {name: tuple(of) for name, of in document["tokens"].items()}
    return ColumnTask(Columns(**named), PromptLayout(prompt, places, tokens, tuple(document["stop"])))


def _edges(document: Mapping[str, Any]) -> Any:
    """(edges, 3 + words), each a state, symbols and a state that are there."""
    states, words, answers = len(document["starts"]), document["words"], document["answers"]
    if len(document["symbols"]) != len(words) or any(len(edge) != len(words) + 3 for edge in document["edges"]):
        raise InputError("edges need a state, a symbol of each word, an answer and a state")
    if any(len(of) != states for of in (document["ends"], *document["flags"].values())):
        raise InputError(f"starts, ends and flags must have one entry for each of the {states} states")
    edges = np.array(document["edges"], np.int64)
    least = np.array([0, *[0] * len(words), -1 if answers == 0 else 0, 0])
    if (edges < least).any() or (edges >= [states, *document["symbols"], answers, states]).any():
        raise InputError("an edge names a state or a symbol that is not there")
    return edges


# ---- claims


def _claim_document(claim: DecoderClaim) -> dict[str, Any]:
    return vars(claim) | {
        "margin": None if claim.margin is None else round_down(claim.margin),
        "counterexample": claim.counterexample and _counterexample_document(claim.counterexample),
        "trees": _pack(claim.trees) if claim.verdict == "proved" and claim.trees else None,
    }


def round_down(margin: float) -> float:
    """A margin with three digits, and no larger.

    >>> round_down(0.42759), round_down(0.25)
    (0.427, 0.25)
    """
    if not isfinite(margin):
        return 0.0
    return float(Context(prec=DIGITS, rounding=ROUND_FLOOR).create_decimal_from_float(margin))


def _counterexample_document(example: Counterexample) -> dict[str, Any]:
    return vars(example) | {"symbols": example.symbols.tolist()}


def _pack(trees: Mapping[Group, bytes]) -> dict[str, Any]:
    """Every group with the number of its nodes, and the codes of all nodes."""
    groups = [[*group, len(tree) // 2] for group, tree in trees.items()]
    return {"groups": groups, "nodes": base64.b64encode(zlib.compress(b"".join(trees.values()), 9)).decode()}


def _unpack(document: Mapping[str, Any]) -> dict[Group, bytes]:
    try:
        packed = zlib.decompressobj()
        nodes = packed.decompress(base64.b64decode(document["nodes"], validate=True), 2 * MAX_NODES)
    except (ValueError, zlib.error):
        raise InputError("trees are damaged") from None
    ends = np.cumsum([0, *(count for *_, count in document["groups"])]) * 2
    groups: list[Group] = [(step, last, right) for step, last, right, _ in document["groups"]]
    if not packed.eof or packed.unused_data or ends[-1] != len(nodes) or len(set(groups)) < len(groups):
        raise InputError("trees are cut off, or have groups twice")
    return {group: nodes[begin:end] for group, begin, end in zip(groups, ends[:-1], ends[1:], strict=True)}


def _claim(document: Mapping[str, Any], task: ColumnTask) -> DecoderClaim:
    if (example := document["counterexample"]) is not None:
        symbols = np.array(example["symbols"] or [[]], np.int64) if len({*map(len, example["symbols"])}) < 2 else 0
        if np.shape(symbols) != task.positions.shape:
            raise InputError(f"the symbols of a counterexample must have shape {task.positions.shape}")
        tokens = {name: tuple(example[name]) for name in ("right", "written")}
        example = Counterexample(**example | tokens | {"symbols": symbols})
    trees = {} if document["trees"] is None else _unpack(document["trees"])
    changed = {"counterexample": example, "trees": trees, "open": tuple(document["open"])}
    return DecoderClaim(**{**document, **changed})


def _number(value: object) -> str | None:
    return None if type(value) is int and value >= 0 else "a whole number that is not negative"


def _slot_check(value: object) -> str | None:
    if type(value) is int:
        return whole(0, _TOKENS)(value)
    fits = type(value) is list and len(value) == 2 and type(value[0]) is str
    return None if fits and whole(-1, _COUNT)(value[1]) is None else "a token, or a word and a column"  # type: ignore[index]


def _record(checks: Mapping[str, Check]) -> Check:
    """An object with just these fields."""

    def look(value: object) -> str | None:
        if type(value) is not dict or set(value) != set(checks):
            return f"an object of {listing([*checks])}"
        return next(
            (f"an object whose {of} is {why}" for of, check in checks.items() if (why := check(value[of]))), None
        )

    return look


_COUNT, _TOKENS = 1 << 24, 1 << 40
_HASH = like("[0-9a-f]{64}", "64 hexadecimal digits")
_NAMES, _SYMBOLS, _FLAGS = each(text(100)), each(whole(1, _COUNT)), each(flag(), 1)
_NETWORK = _record({"sha256": _HASH, "weights": _HASH})
_TASK = _record(
    {
        "statement": text(),
        "words": _NAMES,
        "symbols": _SYMBOLS,
        "answer": text(100),
        "answers": whole(0, _COUNT),
        "length": whole(1, _COUNT),
        "edges": each(each(whole(-1, _COUNT), 3, 100), 1),
        "starts": _FLAGS,
        "ends": _FLAGS,
        "flags": table(each(whole(0, _COUNT), 1)),
        "prompt": each(_slot_check, 1),
        "places": each(_slot_check, 1),
        "tokens": table(each(whole(0, _TOKENS))),
        "stop": each(whole(0, _TOKENS)),
    }
)
_TREES = _record({"groups": each(each(whole(-1, _COUNT), 4, 4)), "nodes": text(1 << 28)})
_EXAMPLE = _record(
    {
        "symbols": each(each(whole(0, _COUNT))),
        "inputs": text(),
        "step": whole(0, _COUNT),
        "right": each(whole(0, _TOKENS)),
        "written": each(whole(0, _TOKENS)),
        "replayed_by": one_of("module", "decoder"),
    }
)
_CLAIM = _record(
    {
        "about": text(),
        "verdict": one_of("proved", "refuted", "tested", "not decided"),
        "arithmetic": one_of("real", "float32"),
        "method": one_of("boxes", "all inputs", "search"),
        "inputs": _number,
        "margin": optional(real(0, 1e300)),
        "boxes": _number,
        "counterexample": optional(_EXAMPLE),
        "open": each(text()),
        "trees": optional(_TREES),
        "runtime": text(1000),
    }
)
_COMPARISON = _record(
    {
        "inputs": _number,
        "largest_difference": real(0, 1e300),
        "bound": real(0, 1e300),
        "agrees": flag(),
    }
)
_FIELDS: dict[str, Check] = {
    "format": one_of(FORMAT),
    "version": text(100),
    "network": _NETWORK,
    "task": _TASK,
    "claims": each(_CLAIM, 1, 100),
    "comparison": optional(_COMPARISON),
}
