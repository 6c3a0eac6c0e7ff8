"""Stores networks in .safetensors files with complete metadata; nothing is ever unpickled.

A file contains the network's digest, so altered weights or origins are rejected.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError
from bitwright.common.files.arrays import open_tensors
from bitwright.common.files.documents import (
    Check,
    check_fields,
    each,
    flag,
    like,
    one_of,
    optional,
    parse,
    table,
    text,
    whole,
)
from bitwright.common.files.storage import as_path, write_atomically
from bitwright.networks.descent import MAX_SEED
from bitwright.networks.integer import WEIGHT_BITS, IntegerNetwork, Rounded, check_belongs
from bitwright.networks.network import FIXED, SOURCES, Descent, LearntFrom, Origin
from bitwright.rules import Program
from bitwright.theory.encoding.training_set import LABELS
from bitwright.version import __version__

FORMAT = "bitwright integer network 1"
MODEL = "model.safetensors"  # in a folder with one network, as on the Hugging Face Hub
MAX_BYTES = 64 << 30
_WHAT = "a network file"
_TYPES = {"first": "I8", "last": "I8", "thresholds": "I64"}
_OTHER_FILES = {
    ".json": "not a network, but perhaps its certificate; a network is a .safetensors file",
    **dict.fromkeys(
        (".bw", ".sbn", ".sq", ".dec"), "a program; bitwright train writes its network, a .safetensors file"
    ),
    **dict.fromkeys(
        (".pt", ".pth", ".ckpt"),
        "a PyTorch file; load it in Python and pass the module to certify, or export it to ONNX",
    ),
}


@dataclass(frozen=True)
class About:
    """The metadata of a network file, with each field checked; the weights are not read yet."""

    path: Path
    origin: Origin
    width: int
    bits: list[str]  # the names of the program's bits
    examples: list[str]  # the text of each template
    digest: str
    rounded: Rounded
    writers: tuple[int, ...]  # the columns of the thresholds


def save_network(network: IntegerNetwork, program: Program, path: str | Path) -> None:
    """Writes weights and metadata: the origin, versions, the digest, and the names of examples and bits."""
    if not isinstance(network, IntegerNetwork):
        raise InputError(f"save_network(network, program, path) needs an integer network, got {type(network).__name__}")
    place = _checked(path, program)
    write_atomically(place, network_bytes(network, program, place))


def network_bytes(network: IntegerNetwork, program: Program, place: Path = Path("network.safetensors")) -> bytes:
    """Returns the contents of a network's file; errors call it `place`."""
    from safetensors.numpy import save

    if network.origin.program_id != program.id:
        raise InputError(f"this network was trained for another program, so it was not written to {place}")
    check_belongs(network, program)
    document = {
        "format": FORMAT,
        "version": __version__,
        "numpy": np.__version__,
        **network.origin.document(),
        "bits": program.layout.names,
        "examples": _examples(program),
        "sha256": network.digest,
        **asdict(network.rounded),
        "writers": network.writers,
    }
    tensors: dict[str, Any] = {"first": network.first, "last": network.last, "thresholds": network.thresholds}
    document = json.loads(json.dumps(document))  # as read back later
    _check(document, place)
    data: bytes = save(tensors, metadata={"bitwright": json.dumps(document)})
    return data


def load_network(path: str | Path, program: Program) -> IntegerNetwork:
    """Reads a network from a file; checks its format, program and digest."""
    place = _checked(path, program)
    about, tensors = _read(place)
    if about.origin.program_id != program.id:
        found, own = about.origin.program_id[:13], program.id[:13]
        raise InputError(f"{place} is a network for another program: its id is {found}..., this program's is {own}...")
    if about.bits != list(program.layout.names) or about.examples != _examples(program):
        raise InputError(f"{place} is not {_WHAT}: its bits and examples do not match the program that it names")
    network = _network(about, tensors)
    check_belongs(network, program)
    return network


def read_about(path: str | Path) -> About:
    """Reads the metadata of a network file without its weights."""
    return _read(as_path(path, "a network file"), weights=False)[0]


def read_network(path: str | Path) -> tuple[About, IntegerNetwork]:
    """Reads the metadata and the network in a file, for any program."""
    about, tensors = _read(as_path(path, "a network file"))
    return about, _network(about, tensors)


def network_file(path: Path) -> Path:
    """Returns the network file of a path: the file itself, or the model in a folder."""
    if not path.is_dir():
        return path
    if (path / MODEL).is_file():
        return path / MODEL
    raise InputError(f"{path} is a folder without {MODEL}; give a network file")


def _network(about: About, tensors: Mapping[str, Any]) -> IntegerNetwork:
    """Returns the network in a file; raises InputError if it was altered."""
    first, last, thresholds = tensors["first"], tensors["last"], tensors["thresholds"]
    network = IntegerNetwork(first, last, thresholds, about.writers, about.origin, about.rounded)
    if about.digest != network.digest:
        raise InputError(f"{about.path} is damaged: its weights or their origin have changed since it was written")
    return network


def _read(path: Path, weights: bool = True) -> tuple[About, dict[str, Any]]:
    """Returns the metadata and tensors of a file; raises InputError if it contains anything else."""
    try:
        if not path.is_file():
            raise InputError(f"there is no network file {path}")
        if (other := _OTHER_FILES.get(path.suffix.lower())) is not None:
            raise InputError(f"{path} is {other}")
        if path.stat().st_size > MAX_BYTES:
            raise InputError(f"{path} is larger than {MAX_BYTES >> 30} GiB, the limit of a network file")
        file = open_tensors(path, _WHAT)
        if set(file.metadata) != {"bitwright"} or not {"first", "last"} <= set(file.entries) <= set(_TYPES):
            raise InputError(f"{path} is not {_WHAT}: it holds something else, or more")
        document = parse(file.metadata["bitwright"], path, _WHAT)
        _check(document, path)
        entries = {name: file.entries[name] for name in sorted(file.entries)}
        if (types := {name: entry.kind for name, entry in entries.items()}) != _TYPES:
            raise InputError(f"{path} has tensors of types {types}; an integer network must have {_TYPES}")
        about = _about(document, path, {name: entry.shape for name, entry in entries.items()})
        return about, {name: file.read(name) for name in entries} if weights else {}
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is not {_WHAT}; it may be truncated or damaged ({shorten(str(error))})") from None


def _about(document: dict[str, Any], path: Path, shapes: Mapping[str, tuple[int, ...]]) -> About:
    steps: Descent = "balanced" if "balanced" in document else "momentum" if document["momentum"] else "plain"
    known = {field.name: document[field.name] for field in fields(Origin) if field.name in document}
    origin = Origin(**known, descent=steps)
    if "executions" in document:
        origin = replace(origin, executions=LearntFrom(**document["executions"]))
    rounded = Rounded(**{field.name: document[field.name] for field in fields(Rounded)})
    rounded = replace(rounded, sources=tuple(rounded.sources))
    bits, examples, writers = document["bits"], document["examples"], tuple(document["writers"])
    first, last, thresholds = shapes["first"], shapes["last"], shapes["thresholds"]
    width = first[0] if first else 0
    fits = len(thresholds) == 2 and thresholds[1] == len(writers)
    if not width or first != (width, len(examples)) or last != (len(bits), width) or not fits:
        raise InputError(
            f"{path} has weights of shapes {first}, {last} and {thresholds}, which do not fit its bits and examples"
        )
    if len(rounded.sources) != 1:
        raise InputError(f"{path} is not {_WHAT}: it must have one source, got {len(rounded.sources):,}")
    return About(path, origin, width, bits, examples, document["sha256"], rounded, writers)


def _check(document: Mapping[str, object], path: Path) -> None:
    """Raises InputError unless every field is valid, as far as can be checked without the program."""
    if str(document.get("format")) in ("bitwright network 1", "bitwright network 2"):
        raise InputError(f"{path} holds floating-point weights of an earlier version; train it again")
    if document.get("format") != FORMAT:
        raise InputError(f"{path} is not in the network format that this version supports ({FORMAT})")
    wanted = dict(_FIELDS)
    if "executions" in document:
        wanted |= {"executions": table(lambda _: None)}
    if "kernel" in document:
        wanted |= {"kernel": like(r"[ -~]{1,200}", "the name of a kernel of linear algebra")}
    if "balanced" in document:
        wanted |= {"balanced": lambda value: None if value is True else "true or omitted"}
        wanted |= {"momentum": lambda value: None if value is False else "false, as it has balanced steps"}
    check_fields(document, path, _WHAT, wanted)
    if "executions" in document:
        check_fields(document["executions"], path, _WHAT, _EXECUTION_FIELDS)  # type: ignore[arg-type]
    error, tolerance = document["error"], document["tolerance"]
    if not 0 <= error <= tolerance:  # type: ignore[operator]
        raise InputError(
            f"{path} is not {_WHAT}: error must be a number from 0 to the tolerance {tolerance}, got {error}"
        )


def _number(least: float, most: float) -> Check:
    """A number strictly between two bounds."""
    wanted = f"a number above {least:g} and below {most:g}"
    return lambda value: None if type(value) in (int, float) and least < value < most else wanted  # type: ignore[operator]


_hash = like("[0-9a-f]{64}", "64 hexadecimal digits")
_scale = _number(0, 1e30)
_FIELDS: dict[str, Check] = {
    "format": text(),
    "version": text(100),
    "numpy": text(100),
    "program_id": _hash,
    "seed": whole(0, MAX_SEED),
    "member": whole(0, 0),
    **{name: one_of(str(FIXED[name])) for name in ("start", "parametrization")},
    "momentum": flag(),
    "tolerance": _number(0, 0.5),
    "error": _number(-1, 0.5),
    "steps": whole(0, 10**12),
    "trainer": like(r"(numpy|torch) on \S{1,40}", "numpy or torch, on a device"),
    "padding": whole(0, 10**10),
    "bits": each(text()),
    "examples": each(text(1 << 24)),
    "sha256": _hash,
    "weight_bits": whole(WEIGHT_BITS[0], WEIGHT_BITS[-1]),
    "scale_first": _scale,
    "scale_last": _scale,
    "gain": _scale,
    "members": whole(1, 1),
    "sources": each(_hash),
    "writers": each(whole(0, 10**10)),
}
_EXECUTION_FIELDS: dict[str, Check] = {
    "source": one_of(*SOURCES),
    "labels": one_of(*LABELS),
    "states": whole(1, 10**12),
    "examples": whole(1, 10**12),
    "runs": optional(whole(1, 10**12)),
    "sample_seed": optional(whole(0, MAX_SEED)),
    "sha256": _hash,
}


def _examples(program: Program) -> list[str]:
    return [program.template_text(template) for template in range(program.templates)]


def _checked(path: str | Path, program: object) -> Path:
    if not isinstance(program, Program):
        hint = "; use its .program" if hasattr(program, "program") else ""
        raise InputError(f"a network belongs to a Program, got {type(program).__name__}{hint}")
    return as_path(path, "a network file")
