"""The one strict reader of .safetensors files: 8 bytes with the length of a header, the header in JSON, the tensors.

It refuses whatever the format leaves open to two readings: names twice, entries beside the three that a tensor has,
numbers that are no integers, tensors that overlap, and bytes that belong to none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from bitwright.errors import InputError
from bitwright.files.documents import Check, check_fields, each, one_of, parse, table, text, whole

TYPES = {"I8": "<i1", "I64": "<i8", "F16": "<f2", "F32": "<f4", "F64": "<f8"}
_MAX_HEADER = 100_000_000  # bytes, as in the library that writes these files
_MOST = 1 << 62


@dataclass(frozen=True)
class Entry:
    """Where a tensor stands in its file, and what it is."""

    kind: str  # a key of TYPES
    shape: tuple[int, ...]
    begin: int  # from the start of the file
    end: int


@dataclass(frozen=True)
class TensorFile:
    """The header of a file, every part of it checked."""

    path: Path
    metadata: dict[str, str]
    entries: Mapping[str, Entry]

    def read(self, name: str) -> Any:
        """The tensor of this name."""
        entry = self.entries[name]
        found = np.fromfile(self.path, TYPES[entry.kind], prod(entry.shape), offset=entry.begin)
        return found.astype(found.dtype.newbyteorder("="), copy=False).reshape(entry.shape)


def open_tensors(path: Path, what: str) -> TensorFile:
    """The header of a .safetensors file; raises InputError, "{path} is not {what}: ...", unless all of it is sound."""
    size = path.stat().st_size
    with path.open("rb") as file:
        body = 8 + int.from_bytes(start := file.read(8), "little")
        if len(start) < 8 or body > size or body - 8 > _MAX_HEADER:
            raise _not(path, what, "it may be truncated or damaged")
        header = file.read(body - 8)
    if not header.startswith(b"{"):
        raise _not(path, what, "it may be truncated or damaged")
    document = parse(header, path, what)
    metadata = document.pop("__metadata__", {})
    if wanted := table(text(_MAX_HEADER))(metadata):
        raise _not(path, what, f"__metadata__ must be {wanted}")
    entries = {name: _entry(name, about, path, what, body) for name, about in document.items()}
    ends = [body, *sorted(entry.end for entry in entries.values())]
    if [*sorted(entry.begin for entry in entries.values()), size] != ends:
        raise _not(path, what, "its tensors overlap, are cut off, or leave bytes that belong to none")
    return TensorFile(path, metadata, entries)


def _entry(name: str, about: Any, path: Path, what: str, body: int) -> Entry:
    if not isinstance(about, dict):
        raise _not(path, what, f"its tensor {name!r} is no object")
    check_fields(about, path, f"{what}: of tensor {name!r}", _FIELDS)
    (begin, end), shape, kind = about["data_offsets"], tuple(about["shape"]), about["dtype"]
    if end - begin != prod(shape) * np.dtype(TYPES[kind]).itemsize:
        raise _not(path, what, f"its tensor {name!r} has {end - begin:,} bytes, which do not fit its shape and type")
    return Entry(kind, shape, body + begin, body + end)


def _not(path: Path, what: str, reason: str) -> InputError:
    return InputError(f"{path} is not {what}: {reason}")


_FIELDS: dict[str, Check] = {
    "dtype": one_of(*TYPES),
    "shape": each(whole(0, _MOST), most=8),
    "data_offsets": each(whole(0, _MOST), 2, 2),
}
