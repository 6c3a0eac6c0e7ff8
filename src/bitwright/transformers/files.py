"""Decoders in .safetensors files: named arrays, and the structure as JSON in the metadata. Nothing is unpickled.

A file contains a digest of everything that is evaluated, so that altered files are rejected.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from hashlib import sha256
from itertools import pairwise
from math import isfinite
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from bitwright.common.errors import InputError, shorten
from bitwright.common.files.arrays import TensorFile, open_tensors
from bitwright.common.files.documents import Check, check_fields, like, one_of, parse, text
from bitwright.common.files.storage import as_path, write_atomically
from bitwright.common.frozen import FrozenArrays
from bitwright.transformers.decision import Group, SplitTrees
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
        raise InputError(f"{place} would be taken for a PyTorch pickle; decoders are saved as .safetensors")
    write_atomically(place, decoder_bytes(decoder))


def decoder_bytes(decoder: Decoder) -> bytes:
    """The contents of the file."""
    from safetensors.numpy import save

    if not isinstance(decoder, Decoder):
        raise InputError(f"save_decoder takes a Decoder, got a {type(decoder).__name__}")
    structure, arrays = describe_decoder(decoder)
    document = {"format": FORMAT, "version": __version__, "sha256": digest(decoder), "decoder": structure}
    data: bytes = save(arrays, metadata={"bitwright": json.dumps(document)})
    return data


def load_decoder(path: str | Path) -> Decoder:
    """Loads a decoder from a file; raises InputError unless it is well-formed and unaltered."""
    place = as_path(path, WHAT)
    file = open_weights(place, WHAT)
    if set(file.metadata) != {"bitwright"}:
        raise InputError(f"{place} is not {WHAT}, but perhaps a state dict; read it with read_state_dict")
    document = parse(file.metadata["bitwright"], place, WHAT)
    check_fields(document, place, WHAT, _FIELDS)
    arrays = _CountedArrays({name: file.read(name) for name in file.entries})
    try:
        decoder: Decoder = build(Decoder, document["decoder"], "decoder", arrays)
        check(decoder)
        if arrays.used != set(arrays):
            raise InputError("it contains tensors that the decoder does not use")
    except InputError as error:
        raise InputError(f"{place} is not {WHAT}: {error}") from None
    if digest(decoder) != document["sha256"]:
        raise InputError(f"{place} is damaged: its weights or structure do not match its digest")
    return decoder


class _CountedArrays(dict[str, Any]):
    """Arrays by name, and the names already used; arrays with equal weights stay separate."""

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        super().__init__(arrays)
        self.used: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.used.add(name)
        return super().__getitem__(name)


def open_weights(path: Path, what: str) -> TensorFile:
    """Opens a .safetensors file of weights and checks its header."""
    if path.suffix in PICKLES:
        raise InputError(
            f"{path} is a PyTorch pickle, which can run any code and is never loaded; if you trust it, save "
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
    """Whether a file was written by `save_decoder`; it may be damaged."""
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


def describe_decoder(decoder: Decoder) -> tuple[Any, Arrays]:
    """The structure, with names in place of arrays, and the arrays by name."""
    arrays: Arrays = {}
    return describe(decoder, arrays), arrays


_FIELDS: dict[str, Check] = {
    "format": one_of(FORMAT),
    "version": text(100),
    "sha256": like("[0-9a-f]{64}", "64 hexadecimal digits"),
    "decoder": lambda value: None if type(value) is dict else "an object",
}


MAX_ITEMS = 1 << 24  # most items of a list
MAX_NODES = 1 << 27  # most nodes of all trees of a claim
Arrays = dict[str, Any]
SIMPLE: dict[Any, tuple[tuple[type, ...], str]] = {
    float: ((int, float), "a finite number"),
    bool: ((bool,), "true or false"),
    int: ((int,), "an integer"),
    str: ((str,), "text"),
}


def describe(value: Any, arrays: Arrays | None = None) -> Any:
    """Encodes the structure of a value. With `arrays`, which collects them, arrays become names, equal ones once."""
    names: dict[tuple[str, tuple[int, ...], bytes], str] = {}

    def visit(part: Any, name: str) -> Any:
        if isinstance(part, np.ndarray):
            if arrays is None:
                return part.tolist()
            known = names.setdefault((part.dtype.name, part.shape, part.tobytes()), name)
            arrays.setdefault(known, part)
            return known
        if isinstance(part, SplitTrees):
            return _pack(part) if part else None
        prefix = f"{name}." if name else ""
        if is_dataclass(part):
            return {field.name: visit(getattr(part, field.name), prefix + field.name) for field in fields(part)}
        if isinstance(part, Mapping):
            return {key: visit(item, prefix + key) for key, item in part.items()}
        if isinstance(part, tuple):
            return [visit(item, f"{prefix}{number}") for number, item in enumerate(part)]
        return part if arrays is None or isinstance(part, str | bool | NoneType) else float(part)

    return visit(value, "")


def build(kind: Any, value: Any, where: str, arrays: Mapping[str, Any] | None = None) -> Any:
    """Decodes a value of an annotated type; raises InputError unless the whole structure matches it."""
    if get_origin(kind) in (UnionType, Union):
        choices = [choice for choice in get_args(kind) if choice is not NoneType]
        if value is None and len(choices) < len(get_args(kind)):
            return None
        if set(choices) == set(get_args(Weights)):
            if type(value) is not str or value not in (arrays or {}):
                raise InputError(f"{where} must name a tensor of the file, got {shorten(repr(value))}")
            return (arrays or {})[value]
        kind = int if int in choices and type(value) is int else choices[-1]
    if kind is SplitTrees:
        return SplitTrees() if value is None else _unpack(build(_PackedTrees, value, where))
    origin = get_origin(kind)
    if origin is NDArray:  # since NumPy 2.5
        return _array(get_args(kind)[0], value, where)
    if origin is np.ndarray:
        return _array(get_args(get_args(kind)[1])[0], value, where)
    if origin is tuple:
        if type(value) is not list or len(value) > MAX_ITEMS:
            raise InputError(f"{where} must be a list of at most {MAX_ITEMS:,} items")
        return tuple(build(get_args(kind)[0], item, f"{where}.{n}", arrays) for n, item in enumerate(value))
    if origin is Mapping:
        if type(value) is not dict:
            raise InputError(f"{where} must be an object")
        return {name: build(get_args(kind)[1], item, f"{where}.{name}", arrays) for name, item in value.items()}
    if is_dataclass(kind):
        types = get_type_hints(kind)
        if type(value) is not dict or set(value) != {field.name for field in fields(kind)}:
            raise InputError(f"{where} must be an object of {', '.join(field.name for field in fields(kind))}")
        made: Any = kind
        return made(**{name: build(types[name], item, f"{where}.{name}", arrays) for name, item in value.items()})
    if origin is Literal:
        sound, wanted = type(value) is str and value in get_args(kind), f"one of {get_args(kind)}"
    else:
        allowed, wanted = SIMPLE[kind]
        sound = type(value) in allowed and (kind is str or isfinite(value))
    if not sound:
        raise InputError(f"{where} must be {wanted}, got {shorten(repr(value))}")
    return float(value) if kind is float else value


def _array(dtype: type, value: Any, where: str) -> Any:
    """An array of integers or truth values, from nested lists."""
    exact, parts = (bool if dtype is np.bool_ else int), [value]
    for part in parts:
        if type(part) is list:
            parts += part
        elif type(part) is not exact:
            raise InputError(f"{where} must be lists of {SIMPLE[exact][1]}, got {shorten(repr(part))}")
    try:
        return np.array(value, dtype)
    except (ValueError, OverflowError):
        raise InputError(f"{where} has rows of different lengths, or numbers of more than 64 bits") from None


@dataclass(frozen=True)
class _PackedTrees(FrozenArrays):
    """Every group with its number of nodes, and the codes of all nodes."""

    groups: NDArray[np.int64]  # (n, 4)
    nodes: str


def _pack(trees: SplitTrees) -> Any:
    groups = np.array([[*group, len(tree) // 2] for group, tree in trees.items()])
    return describe(_PackedTrees(groups, base64.b64encode(zlib.compress(b"".join(trees.values()), 9)).decode()))


def _unpack(packed: _PackedTrees) -> SplitTrees:
    try:
        stream = zlib.decompressobj()
        nodes = stream.decompress(base64.b64decode(packed.nodes, validate=True), 2 * MAX_NODES)
    except (ValueError, zlib.error):
        raise InputError("trees are damaged") from None
    if packed.groups.shape[1:] != (4,) or (packed.groups[:, 3] < 0).any() or packed.groups[:, 3].max() > MAX_NODES:
        raise InputError("each group of trees needs a step, two symbols and a number of nodes")
    ends = 2 * np.cumsum([0, *packed.groups[:, 3]])
    groups: list[Group] = [(step, last, right) for step, last, right, _ in packed.groups.tolist()]
    if not stream.eof or stream.unused_data or ends[-1] != len(nodes) or len(set(groups)) < len(groups):
        raise InputError("trees are truncated or contain duplicate groups")
    return SplitTrees({group: nodes[begin:end] for group, (begin, end) in zip(groups, pairwise(ends), strict=True)})
