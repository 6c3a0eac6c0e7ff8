"""Stores networks in .safetensors files with complete metadata; nothing is ever unpickled.

A file contains the network's digest, so altered weights or origins are rejected. Integer networks have a separate
format with their thresholds as a third tensor.
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
from bitwright.networks.descent import MAX_MEMBER, MAX_SEED, PARAMETRIZATIONS, STARTS, Descent
from bitwright.networks.integer import WEIGHT_BITS, IntegerNetwork, Rounded, check_belongs
from bitwright.networks.network import SOURCES, FloatNetwork, LearntFrom, Origin
from bitwright.rules import Program
from bitwright.theory.encoding.training_set import LABELS
from bitwright.version import __version__

FORMAT, INTEGER_FORMAT = "bitwright network 2", "bitwright integer network 1"
AnyNetwork = FloatNetwork | IntegerNetwork
MAX_BYTES = 64 << 30
_WHAT = "a network file"
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
    rounded: Rounded | None  # None for floating-point weights
    writers: tuple[int, ...]  # the columns of the thresholds of integer networks

    @property
    def integer(self) -> bool:
        """Whether it is an integer network."""
        return self.rounded is not None

    @property
    def format(self) -> str:
        """The format of the file."""
        return INTEGER_FORMAT if self.integer else FORMAT


def save_network(network: AnyNetwork, program: Program, path: str | Path) -> None:
    """Writes weights and metadata: the origin, versions, the digest, and the names of examples and bits."""
    if not isinstance(network, FloatNetwork | IntegerNetwork):
        raise InputError(f"save_network(network, program, path) needs a network, got {type(network).__name__}")
    place = _checked(path, program)
    write_atomically(place, network_bytes(network, program, place))


def network_bytes(network: AnyNetwork, program: Program, place: Path = Path("network.safetensors")) -> bytes:
    """Returns the contents of a network's file; errors call it `place`."""
    from safetensors.numpy import save

    if network.origin.program_id != program.id:
        raise InputError(f"this network was trained for another program, so it was not written to {place}")
    document = {
        "format": FORMAT,
        "version": __version__,
        "numpy": np.__version__,
        **network.origin.document(),
        "bits": program.layout.names,
        "examples": _examples(program),
        "sha256": network.digest,
    }
    tensors: dict[str, Any] = {"first": network.first, "last": network.last}
    if isinstance(network, IntegerNetwork):
        check_belongs(network, program)
        document |= {"format": INTEGER_FORMAT, **asdict(network.rounded), "writers": network.writers}
        tensors["thresholds"] = network.thresholds
    document = json.loads(json.dumps(document))  # as read back later
    _check(document, place)
    data: bytes = save(tensors, metadata={"bitwright": json.dumps(document)})
    return data


def load_network(path: str | Path, program: Program) -> FloatNetwork:
    """Reads a trained network from a file; checks its format, program and digest."""
    network = load_any_network(path, program)
    if isinstance(network, IntegerNetwork):
        raise InputError(f"{path} is already an integer network; this needs trained weights")
    return network


def load_any_network(path: str | Path, program: Program) -> AnyNetwork:
    """Reads a network of trained weights or integers from a file and checks it."""
    place = _checked(path, program)
    about, tensors = _read(place)
    if about.origin.program_id != program.id:
        found, own = about.origin.program_id[:13], program.id[:13]
        raise InputError(f"{place} is a network for another program: its id is {found}..., this program's is {own}...")
    if about.bits != list(program.layout.names) or about.examples != _examples(program):
        raise InputError(f"{place} is not {_WHAT}: its bits and examples do not match the program that it names")
    network = _network(about, tensors)
    if isinstance(network, IntegerNetwork):
        check_belongs(network, program)
    return network


def read_about(path: str | Path) -> About:
    """Reads the metadata of a network file without its weights."""
    return _read(as_path(path, "a network file"), weights=False)[0]


def read_network(path: str | Path) -> tuple[About, AnyNetwork]:
    """Reads the metadata and the network in a file, for any program."""
    about, tensors = _read(as_path(path, "a network file"))
    return about, _network(about, tensors)


def _network(about: About, tensors: Mapping[str, Any]) -> AnyNetwork:
    """Returns the network in a file; raises InputError if it was altered."""
    network: AnyNetwork
    first, last = tensors["first"], tensors["last"]
    if about.rounded is not None:
        network = IntegerNetwork(first, last, tensors["thresholds"], about.writers, about.origin, about.rounded)
    elif np.isfinite(first).all() and np.isfinite(last).all():
        network = FloatNetwork(first, last, about.origin)
    else:
        raise InputError(f"{about.path} has weights that are NaN or infinite")
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
        if set(file.metadata) != {"bitwright"} or set(file.entries) - {"thresholds"} != {"first", "last"}:
            raise InputError(f"{path} is not {_WHAT}: it holds something else, or more")
        document = parse(file.metadata["bitwright"], path, _WHAT)
        _check(document, path)
        entries = {name: file.entries[name] for name in sorted(file.entries)}
        _check_types(document["format"], {name: entry.kind for name, entry in entries.items()}, path)
        about = _about(document, path, {name: entry.shape for name, entry in entries.items()})
        return about, {name: file.read(name) for name in entries} if weights else {}
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is not {_WHAT}; it may be truncated or damaged ({shorten(str(error))})") from None


def _check_types(kind: str, found: Mapping[str, str], path: Path) -> None:
    if kind == INTEGER_FORMAT:
        wanted = {"first": "I8", "last": "I8", "thresholds": "I64"}
        if found != wanted:
            raise InputError(f"{path} has tensors of types {dict(found)}; an integer network must have {wanted}")
    elif set(found) != {"first", "last"}:
        raise InputError(f"{path} is not {_WHAT}: it holds something else, or more")
    elif set(found.values()) not in ({"F32"}, {"F64"}):
        types = " and ".join(sorted(set(found.values())))
        raise InputError(f"{path} has weights of type {types}; they must be float32 or float64")


def _about(document: dict[str, Any], path: Path, shapes: Mapping[str, tuple[int, ...]]) -> About:
    steps: Descent = "balanced" if "balanced" in document else "momentum" if document["momentum"] else "plain"
    known = {field.name: document[field.name] for field in fields(Origin) if field.name in document}
    origin = Origin(**known, descent=steps)
    if "executions" in document:
        origin = replace(origin, executions=LearntFrom(**document["executions"]))
    rounded = None
    if document["format"] == INTEGER_FORMAT:
        rounded = Rounded(**{field.name: document[field.name] for field in fields(Rounded)})
        rounded = replace(rounded, sources=tuple(rounded.sources))
    bits, examples, writers = document["bits"], document["examples"], tuple(document.get("writers", ()))
    first, last, thresholds = shapes["first"], shapes["last"], shapes.get("thresholds")
    width = first[0] if first else 0
    inputs = len(examples) + (origin.padding if rounded is None else 0)
    fits = thresholds is None or (len(thresholds) == 2 and thresholds[1] == len(writers))
    if not width or first != (width, inputs) or last != (len(bits), width) or not fits:
        found = " and ".join(str(shape) for shape in (first, last, *([] if thresholds is None else [thresholds])))
        raise InputError(f"{path} has weights of shapes {found}, which do not fit its bits and examples")
    if rounded is not None and (width % rounded.members or len(rounded.sources) != rounded.members):
        raise InputError(f"{path} is not {_WHAT}: its width and sources do not fit {rounded.members:,} members")
    return About(path, origin, width, bits, examples, document["sha256"], rounded, writers)


def _check(document: Mapping[str, object], path: Path) -> None:
    """Raises InputError unless every field is valid, as far as can be checked without the program."""
    if document.get("format") == "bitwright network 1":
        raise InputError(f"{path} was written by an earlier version without a digest; train it again")
    if document.get("format") not in (FORMAT, INTEGER_FORMAT):
        raise InputError(f"{path} is not in a network format that this version supports ({FORMAT}, {INTEGER_FORMAT})")
    wanted = _FIELDS | (_INTEGER_FIELDS if document["format"] == INTEGER_FORMAT else {})
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
_FIELDS: dict[str, Check] = {
    "format": text(),
    "version": text(100),
    "numpy": text(100),
    "program_id": _hash,
    "seed": whole(0, MAX_SEED),
    "member": whole(0, MAX_MEMBER),
    "start": one_of(*STARTS),
    "parametrization": one_of(*PARAMETRIZATIONS),
    "momentum": flag(),
    "tolerance": _number(0, 0.5),
    "error": _number(-1, 0.5),
    "steps": whole(0, 10**12),
    "trainer": like(r"(numpy|torch) on \S{1,40}", "numpy or torch, on a device"),
    "padding": whole(0, 10**10),
    "bits": each(text()),
    "examples": each(text(1 << 24)),
    "sha256": _hash,
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
_scale = _number(0, 1e30)
_INTEGER_FIELDS: dict[str, Check] = {
    "weight_bits": whole(WEIGHT_BITS[0], WEIGHT_BITS[-1]),
    "scale_first": _scale,
    "scale_last": _scale,
    "gain": _scale,
    "members": whole(1, MAX_MEMBER),
    "sources": each(_hash),
    "writers": each(whole(0, 10**10)),
}


def _examples(program: Program) -> list[str]:
    return [program.template_text(template) for template in range(program.templates)]


def _checked(path: str | Path, program: object) -> Path:
    if not isinstance(program, Program):
        hint = "; use its .program" if hasattr(program, "program") else ""
        raise InputError(f"a network belongs to a Program, got {type(program).__name__}{hint}")
    return as_path(path, "a network file")
