"""Decoders in .safetensors files, with the structure as JSON in the metadata; nothing is unpickled.

A file contains a digest of its structure and weights, and altered files are rejected.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from hashlib import sha256
from math import isfinite
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from bitwright.common.errors import InputError, shorten
from bitwright.common.files.arrays import TensorFile, open_tensors
from bitwright.common.files.documents import Check, check_fields, like, one_of, parse, text
from bitwright.common.files.storage import as_path, write_atomically
from bitwright.transformers.decoder import Decoder, Weights, check
from bitwright.version import __version__

FORMAT = "bitwright decoder 1"
MAX_BYTES = 16 << 30
WHAT = "a decoder file"
PICKLES = {".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle"}


def save_decoder(decoder: Decoder, path: str | Path) -> None:
    """Writes a decoder to a .safetensors file."""
    place = as_path(path, WHAT)
    if place.suffix in PICKLES:
        raise InputError(f"{place} has the suffix of a PyTorch pickle; use .safetensors")
    write_atomically(place, decoder_bytes(decoder))


def decoder_bytes(decoder: Decoder) -> bytes:
    """Returns the contents of a decoder's file."""
    from safetensors.numpy import save

    if not isinstance(decoder, Decoder):
        raise InputError(f"save_decoder expects a Decoder, got {type(decoder).__name__}")
    structure, arrays = describe_decoder(decoder)
    document = {"format": FORMAT, "version": __version__, "sha256": digest(decoder), "decoder": structure}
    data: bytes = save(arrays, metadata={"bitwright": json.dumps(document)})
    return data


def load_decoder(path: str | Path) -> Decoder:
    """Loads a decoder from a file; raises InputError unless it is well-formed and unaltered."""
    place = as_path(path, WHAT)
    file = open_weights(place, WHAT)
    if set(file.metadata) != {"bitwright"}:
        raise InputError(f"{place} is not {WHAT}; if it is a state dict, read it with read_state_dict")
    document = parse(file.metadata["bitwright"], place, WHAT)
    check_fields(document, place, WHAT, _FIELDS)
    arrays = {name: file.read(name) for name in file.entries}
    try:
        decoder: Decoder = _build(Decoder, document["decoder"], "decoder", arrays)
        check(decoder)
    except InputError as error:
        raise InputError(f"{place} is not {WHAT}: {error}") from None
    if digest(decoder) != document["sha256"]:
        raise InputError(f"{place} is damaged: its contents do not match its digest")
    return decoder


def open_weights(path: Path, what: str) -> TensorFile:
    """Opens a .safetensors file of weights and checks its header."""
    if path.suffix in PICKLES:
        raise InputError(
            f"{path} is a PyTorch pickle, which can run arbitrary code and is never loaded; if you trust it, save "
            f"its state dict with safetensors.torch.save_file(state_dict, '{path.stem}.safetensors')"
        )
    try:
        if not path.is_file():
            raise InputError(f"{path} is a folder, not {what}" if path.is_dir() else f"there is no file {path}")
        if path.stat().st_size > MAX_BYTES:
            raise InputError(f"{path} is larger than the {MAX_BYTES >> 30} GiB allowed for {what}")
        return open_tensors(path, what)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is not {what}, or is truncated or damaged ({shorten(str(error))})") from None


def is_decoder_file(path: Path) -> bool:
    """Returns whether a file, which may be damaged, was written by `save_decoder`."""
    try:
        return f'"format": "{FORMAT}"' in open_weights(path, WHAT).metadata.get("bitwright", "")
    except InputError:
        return False


def digest(decoder: Decoder) -> str:
    """Returns the SHA-256 of the structure and of each array's type, shape and bytes."""
    structure, arrays = describe_decoder(decoder)
    total = sha256(json.dumps(structure, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        total.update(f"\n{name} {array.dtype.name} {array.shape}\n".encode() + little.tobytes())
    return total.hexdigest()


def describe_decoder(decoder: Decoder) -> tuple[Any, Arrays]:
    """Returns the structure, with names in place of arrays, and the arrays by name."""
    arrays: Arrays = {}
    return describe(decoder, arrays), arrays


_FIELDS: dict[str, Check] = {
    "format": one_of(FORMAT),
    "version": text(100),
    "sha256": like("[0-9a-f]{64}", "64 hexadecimal digits"),
    "decoder": lambda value: None if type(value) is dict else "an object",
}


Arrays = dict[str, Any]
SIMPLE: dict[Any, tuple[tuple[type, ...], str]] = {
    float: ((int, float), "a finite number"),
    bool: ((bool,), "true or false"),
}


def describe(value: Any, arrays: Arrays | None = None) -> Any:
    """Encodes the structure of a value; with `arrays`, moves arrays there and puts names in their place."""
    names: dict[tuple[str, tuple[int, ...], bytes], str] = {}

    def visit(part: Any, name: str) -> Any:
        if isinstance(part, np.ndarray):
            if arrays is None:
                return part.tolist()
            name = names.setdefault((part.dtype.name, part.shape, part.tobytes()), name)  # equal arrays share a name
            arrays.setdefault(name, part)
            return name
        prefix = f"{name}." if name else ""
        if is_dataclass(part):
            return {field.name: visit(getattr(part, field.name), prefix + field.name) for field in fields(part)}
        if isinstance(part, Mapping):
            return {key: visit(item, prefix + key) for key, item in part.items()}
        if isinstance(part, tuple | list):
            return [visit(item, f"{prefix}{number}") for number, item in enumerate(part)]
        return part if arrays is None or isinstance(part, str | bool | NoneType) else float(part)

    return visit(value, "")


def _build(kind: Any, value: Any, where: str, arrays: Arrays) -> Any:
    """Decodes a value of an annotated type; raises InputError if any part does not match its type."""
    if get_origin(kind) in (UnionType, Union):
        choices = [choice for choice in get_args(kind) if choice is not NoneType]
        if value is None and len(choices) < len(get_args(kind)):
            return None
        if set(choices) == set(get_args(Weights)):
            if type(value) is not str or value not in arrays:
                raise InputError(f"{where} must be the name of a tensor in the file, got {shorten(repr(value))}")
            return arrays[value]
        (kind,) = choices
    if get_origin(kind) is tuple:
        if type(value) is not list:
            raise InputError(f"{where} must be a list, got {shorten(repr(value))}")
        return tuple(_build(get_args(kind)[0], item, f"{where}.{n}", arrays) for n, item in enumerate(value))
    if is_dataclass(kind):
        types = get_type_hints(kind)
        if type(value) is not dict or set(value) != {field.name for field in fields(kind)}:
            raise InputError(f"{where} must have the fields {', '.join(field.name for field in fields(kind))}")
        build: Any = kind
        return build(**{name: _build(types[name], item, f"{where}.{name}", arrays) for name, item in value.items()})
    if get_origin(kind) is Literal:
        valid, expected = type(value) is str and value in get_args(kind), f"one of {get_args(kind)}"
    else:
        allowed, expected = SIMPLE[kind]
        valid = type(value) in allowed and isfinite(value)
    if not valid:
        raise InputError(f"{where} must be {expected}, got {shorten(repr(value))}")
    return float(value) if kind is float else value
