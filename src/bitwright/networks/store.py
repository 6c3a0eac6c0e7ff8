"""Networks in .safetensors files, with everything needed to know what they are; nothing is ever unpickled.

A file carries the network's digest, so that one whose weights or origin were altered is refused. Files of the first
format have none: they are read too, after all other checks, unless the caller wants a digest.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from bitwright.bits import shorten
from bitwright.errors import InputError
from bitwright.files.documents import Check, check_fields, each, flag, one_of, parse, text, whole
from bitwright.files.storage import write_atomically
from bitwright.networks.network import Network, Origin
from bitwright.networks.start import MAX_MEMBER, MAX_SEED, PARAMETRIZATIONS, STARTS
from bitwright.program import Program
from bitwright.version import __version__

FORMAT, FIRST_FORMAT = "bitwright network 2", "bitwright network 1"
MAX_BYTES = 64 << 30
_WHAT = "a network file"


@dataclass(frozen=True)
class About:
    """What a network file says of itself, each field checked; the weights are still to be read."""

    path: Path
    origin: Origin
    width: int
    bits: list[str]  # the names of the program's bits
    examples: list[str]  # the text of each template
    digest: str | None  # None in files of the first format


def save_network(network: Network, program: Program, path: str | Path) -> None:
    """Writes weights and metadata: the origin, versions, the digest, and the names of examples and bits.

    >>> from bitwright import addition, train
    >>> save_network(train(addition(2), width=512), addition(2).program, "adder.safetensors")
    """
    from safetensors.numpy import save

    place = _checked(path, program)
    if network.origin.program_id != program.id:
        raise InputError(f"this network was trained for another program, so it is not written to {place}")
    document = {
        "format": FORMAT,
        "version": __version__,
        "numpy": np.__version__,
        **asdict(network.origin),
        "bits": program.layout.names,
        "examples": _examples(program),
        "sha256": network.digest,
    }
    _check(document, place)
    tensors = {"first": network.first, "last": network.last}
    write_atomically(place, save(tensors, metadata={"bitwright": json.dumps(document)}))


def load_network(path: str | Path, program: Program, *, with_digest: bool = False) -> Network:
    """The network in a file, after checking that it is one, belongs to this program, and is as it was written.

    `with_digest` refuses files of the first format, of which the last cannot be told.
    """
    place = _checked(path, program)
    about, first, last = _read(place)
    if with_digest:
        _want_digest(about)
    if about.origin.program_id != program.id:
        found, own = about.origin.program_id[:13], program.id[:13]
        raise InputError(f"{place} is a network for another program: id {found}..., this one's is {own}...")
    if about.bits != list(program.layout.names) or about.examples != _examples(program):
        raise InputError(f"{place} is not {_WHAT}: its bits and examples are not those of the program that it names")
    return _network(about, first, last)


def read_about(path: str | Path) -> About:
    """What a network file says of itself, without reading its weights."""
    return _read(_as_path(path), weights=False)[0]


def check_network_file(path: str | Path) -> None:
    """Reads a network file whole, for whatever program; raises InputError unless it has a digest and is as written."""
    about, first, last = _read(_as_path(path))
    _want_digest(about)
    _network(about, first, last)


def _want_digest(about: About) -> None:
    if about.digest is None:
        raise InputError(f"{about.path} was written by an earlier version, without a digest of what it holds")


def _network(about: About, first: Any, last: Any) -> Network:
    """The network that the file was written from, or an InputError."""
    if not (np.isfinite(first).all() and np.isfinite(last).all()):
        raise InputError(f"{about.path} has weights that are NaN or infinite")
    network = Network(first, last, about.origin)
    if about.digest not in (None, network.digest):
        raise InputError(f"{about.path} is damaged: its weights or their origin are not those that were written")
    return network


def _read(path: Path, weights: bool = True) -> tuple[About, Any, Any]:
    """What a file says of itself, and its two layers; it holds nothing else."""
    from safetensors import SafetensorError, safe_open

    try:
        if not path.is_file():
            raise InputError(f"there is no network file {path}")
        if path.stat().st_size > MAX_BYTES:
            raise InputError(f"{path} is larger than {MAX_BYTES >> 30} GiB, the most a network file may have")
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            if set(metadata) != {"bitwright"} or set(file.keys()) != {"first", "last"}:
                raise InputError(f"{path} is not {_WHAT}: it holds something else, or more")
            document = parse(metadata["bitwright"], path, _WHAT)
            first, last = (file.get_slice(name) for name in ("first", "last"))
            kinds = {first.get_dtype(), last.get_dtype()}
            if kinds not in ({"F32"}, {"F64"}):
                found = " and ".join(sorted(kinds))
                raise InputError(f"{path} has weights of type {found}; float32 or float64 is needed")
            about = _about(document, path, tuple(first.get_shape()), tuple(last.get_shape()))
            if not weights:
                return about, None, None
            return about, file.get_tensor("first"), file.get_tensor("last")
    except (SafetensorError, OSError, ValueError) as error:
        raise InputError(f"{path} is not {_WHAT}; it may be truncated or damaged ({shorten(str(error))})") from None


def _about(document: dict[str, Any], path: Path, first: tuple[int, ...], last: tuple[int, ...]) -> About:
    _check(document, path)
    origin = Origin(**{field.name: document[field.name] for field in fields(Origin)})
    bits, examples = document["bits"], document["examples"]
    width = first[0] if first else 0
    if not width or first != (width, len(examples) + origin.padding) or last != (len(bits), width):
        raise InputError(f"{path} has weights of shapes {first} and {last}, which do not fit its bits and examples")
    return About(path, origin, width, bits, examples, document.get("sha256"))


def _check(document: Mapping[str, object], path: Path) -> None:
    """Raises InputError unless every field is what it must be, as far as that can be told without the program."""
    if document.get("format") not in (FORMAT, FIRST_FORMAT):
        raise InputError(f"{path} is not a network of a kind this version knows ({FORMAT})")
    wanted = {name: check for name, check in _FIELDS.items() if name != "sha256" or document["format"] == FORMAT}
    check_fields(document, path, _WHAT, wanted)
    error, tolerance = document["error"], document["tolerance"]
    if not 0 <= error <= tolerance:  # type: ignore[operator]
        raise InputError(
            f"{path} is not {_WHAT}: error must be a number from 0 to the tolerance {tolerance}, got {error}"
        )


def _number(least: float, most: float) -> Check:
    """A number strictly between two others."""
    wanted = f"a number above {least:g} and below {most:g}"
    return lambda value: None if type(value) in (int, float) and least < value < most else wanted  # type: ignore[operator]


def _like(pattern: str, wanted: str) -> Check:
    return lambda value: None if type(value) is str and re.fullmatch(pattern, value, re.ASCII) else wanted


_hash = _like("[0-9a-f]{64}", "64 hexadecimal digits")
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
    "trainer": _like(r"(numpy|torch) on \S{1,40}", "numpy or torch, on a device"),
    "padding": whole(0, 10**10),
    "bits": each(text()),
    "examples": each(text(1 << 24)),
    "sha256": _hash,
}


def _examples(program: Program) -> list[str]:
    return [program.template_text(template) for template in range(program.templates)]


def _checked(path: str | Path, program: object) -> Path:
    if not isinstance(program, Program):
        hint = "; use its .program" if hasattr(program, "program") else ""
        raise InputError(f"a network belongs to a Program, got {type(program).__name__}{hint}")
    return _as_path(path)


def _as_path(path: object) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"the name of a network file is a str or a Path, got {type(path).__name__}")
    return Path(path)
