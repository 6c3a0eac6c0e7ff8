"""Decoders in .safetensors files: the arrays by name, and the structure as JSON in the metadata. Nothing is unpickled.

A file carries the digest of everything that is evaluated, so that one that was altered is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from hashlib import sha256
from math import isfinite
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from bitwright.errors import InputError, shorten
from bitwright.files.documents import Check, check_fields, like, one_of, parse, text
from bitwright.files.storage import as_path, write_atomically
from bitwright.files.tensors import TensorFile, open_tensors
from bitwright.transformers.decoder import Decoder, Weights, check
from bitwright.version import __version__

FORMAT = "bitwright decoder 1"
MAX_BYTES = 16 << 30
MAX_ITEMS = 10_000  # of a list in the structure
WHAT = "a decoder file"
PICKLES = {".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle"}
Arrays = dict[str, Any]


def save_decoder(decoder: Decoder, path: str | Path) -> None:
    """Writes a decoder to a .safetensors file."""
    write_atomically(as_path(path, WHAT), decoder_bytes(decoder))


def decoder_bytes(decoder: Decoder) -> bytes:
    """The contents of the file."""
    from safetensors.numpy import save

    if not isinstance(decoder, Decoder):
        raise InputError(f"save_decoder(decoder, path) writes a Decoder, got a {type(decoder).__name__}")
    structure, arrays = describe_decoder(decoder)
    document = {"format": FORMAT, "version": __version__, "sha256": digest(decoder), "decoder": structure}
    data: bytes = save(arrays, metadata={"bitwright": json.dumps(document)})
    return data


def load_decoder(path: str | Path) -> Decoder:
    """The decoder in a file; raises InputError unless it is sound and unaltered."""
    place = as_path(path, WHAT)
    file = open_weights(place, WHAT)
    if set(file.metadata) != {"bitwright"}:
        raise InputError(f"{place} is not {WHAT}, but perhaps a state dict; read it with read_state_dict")
    document = parse(file.metadata["bitwright"], place, WHAT)
    check_fields(document, place, WHAT, _FIELDS)
    arrays = {name: file.read(name) for name in file.entries}
    try:
        decoder: Decoder = _built(Decoder, document["decoder"], arrays, "decoder")
        check(decoder)
        if sorted(describe_decoder(decoder)[1]) != sorted(arrays):
            raise InputError("it has tensors that the decoder does not use")
    except InputError as error:
        raise InputError(f"{place} is not {WHAT}: {error}") from None
    if digest(decoder) != document["sha256"]:
        raise InputError(f"{place} is damaged: its weights or their structure are not those that were written")
    return decoder


def open_weights(path: Path, what: str) -> TensorFile:
    """A .safetensors file of weights, its header checked."""
    if path.suffix in PICKLES:
        raise InputError(
            f"{path} is a pickle of PyTorch, which can run any code and is never loaded; where you trust it, write "
            f"its state dict with safetensors.torch.save_file(state_dict, '{path.stem}.safetensors')"
        )
    try:
        if not path.is_file():
            raise InputError(f"{path} is a folder, not {what}" if path.is_dir() else f"there is no file {path}")
        if path.stat().st_size > MAX_BYTES:
            raise InputError(f"{path} is larger than {MAX_BYTES >> 30} GiB, the most {what} may have")
        return open_tensors(path, what)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is not {what}; it may be truncated or damaged ({shorten(str(error))})") from None


def is_decoder_file(path: Path) -> bool:
    """Whether a file is one that `save_decoder` wrote; it may be damaged."""
    try:
        return f'"format": "{FORMAT}"' in open_weights(path, WHAT).metadata.get("bitwright", "")
    except InputError:
        return False


def digest(decoder: Decoder) -> str:
    """The SHA-256 of everything that is evaluated: the structure, and each array's type, shape and bytes."""
    structure, arrays = describe_decoder(decoder)
    total = sha256(json.dumps(structure, sort_keys=True).encode())
    for name, array in sorted(arrays.items()):
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        total.update(f"\n{name} {array.dtype.name} {array.shape}\n".encode() + little.tobytes())
    return total.hexdigest()


def describe_decoder(decoder: Decoder) -> tuple[dict[str, Any], Arrays]:
    """The structure, in which names stand for arrays, and the arrays by name; equal arrays are there once."""
    arrays: Arrays = {}
    names: dict[tuple[str, tuple[int, ...], bytes], str] = {}

    def describe(value: Any, name: str) -> Any:
        if isinstance(value, np.ndarray):
            known = names.setdefault((value.dtype.name, value.shape, value.tobytes()), name)
            arrays.setdefault(known, value)
            return known
        prefix = f"{name}." if name else ""
        if is_dataclass(value):
            return {field.name: describe(getattr(value, field.name), prefix + field.name) for field in fields(value)}
        if isinstance(value, tuple):
            return [describe(item, f"{prefix}{number}") for number, item in enumerate(value)]
        return value if isinstance(value, str | bool | NoneType) else float(value)

    return describe(decoder, ""), arrays


def _built(kind: Any, value: Any, arrays: Mapping[str, Any], where: str) -> Any:
    """A value of the type that a field of the dataclasses is annotated with."""
    choices = get_args(kind)
    if NoneType in choices and value is None:
        return None
    if set(choices) >= set(get_args(Weights)):
        if type(value) is not str or value not in arrays:
            raise InputError(f"{where} must name a tensor of the file, got {shorten(repr(value))}")
        return arrays[value]
    if NoneType in choices:
        (kind,) = (choice for choice in choices if choice is not NoneType)
    if get_origin(kind) is tuple:
        if type(value) is not list or len(value) > MAX_ITEMS:
            raise InputError(f"{where} must be a list of at most {MAX_ITEMS:,} items")
        return tuple(_built(get_args(kind)[0], item, arrays, f"{where}.{n}") for n, item in enumerate(value))
    if is_dataclass(kind):
        types = get_type_hints(kind)
        if type(value) is not dict or set(value) != {field.name for field in fields(kind)}:
            raise InputError(f"{where} must be an object of {', '.join(field.name for field in fields(kind))}")
        made: Any = kind
        return made(**{name: _built(types[name], item, arrays, f"{where}.{name}") for name, item in value.items()})
    allowed: dict[Any, tuple[type, ...]] = {float: (int, float), bool: (bool,)}
    if get_origin(kind) is Literal:
        sound = type(value) is str and value in get_args(kind)
    else:
        sound = type(value) in allowed[kind] and isfinite(value)
    if not sound:
        wanted = get_args(kind) or {float: "a finite number", bool: "true or false"}[kind]
        raise InputError(f"{where} must be {wanted}, got {shorten(repr(value))}")
    return float(value) if kind is float else value


_FIELDS: dict[str, Check] = {
    "format": one_of(FORMAT),
    "version": text(100),
    "sha256": like("[0-9a-f]{64}", "64 hexadecimal digits"),
    "decoder": lambda value: None if type(value) is dict else "an object",
}
