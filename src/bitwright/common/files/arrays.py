"""Reads and writes named arrays in .npz and .safetensors files, with bounded memory use.

NumPy's reader trusts the sizes declared in a file and evaluates its headers. This reader takes a size limit for each
array, checks the declared sizes before it decompresses anything, and decompresses no more than that. It accepts
one-dimensional arrays of bytes and, on request, arrays of a few listed types.

A .safetensors file is the length of its header in 8 bytes, a JSON header, and the tensors. The reader rejects every
ambiguous file: duplicate names, additional entries for a tensor, non-integer numbers, overlapping tensors, and bytes
outside all tensors.
"""

from __future__ import annotations

import io
import re
import struct
import sys
import zipfile
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np

from bitwright.common.errors import InputError, printable
from bitwright.common.files.documents import Check, check_fields, each, one_of, parse, table, text, whole
from bitwright.common.files.storage import open_file

_START = b"\x93NUMPY\x01\x00"
_FORM = re.compile(
    rb"\{'descr': '([<>|=]?[biufcmMOSUV][0-9]{1,5})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:[0-9]{1,15},? ?){0,4})\), \} *\n"
)
_MOST_HEADER = 256  # bytes of the header of such an array; NumPy writes 128
_MOST_ENTRY = 1_024  # bytes of an entry in the archive's directory
_END = struct.Struct("<4s4H2LH")  # the record that closes an archive: signature, disks, entries, directory, comment
_LOCATOR = 20  # bytes of the record before it in archives above 4 GiB
_KINDS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_DAMAGED = (  # every exception that a damaged archive causes
    *(ValueError, LookupError, EOFError, TypeError, RuntimeError, ArithmeticError, OSError),
    *(zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, struct.error),
)


def pack_arrays(arrays: Mapping[str, bytes]) -> bytes:
    """Returns the contents of a .npz file."""
    return pack_plain({name: np.frombuffer(data, dtype=np.uint8) for name, data in arrays.items()})


def pack_plain(arrays: Mapping[str, np.ndarray[Any, Any]]) -> bytes:
    """Returns the contents of a .npz file with arrays of numbers or text; equal arrays give equal bytes."""
    buffer = io.BytesIO()
    parts: dict[str, Any] = dict(arrays)
    np.savez_compressed(buffer, allow_pickle=False, **parts)
    return buffer.getvalue()


class ArrayFile:
    """An open .npz file with exactly these names; errors have the form "{path} is not {what}: ..."."""

    def __init__(self, path: Path, names: Collection[str], what: str, optional: Collection[str] = ()) -> None:
        self._shown, self._what = printable(str(path)), what
        if path.is_dir():
            raise InputError(f"{self._shown} is a folder; give a file")
        try:
            self._file = open_file(path, seekable=True)
        except FileNotFoundError:
            raise InputError(f"there is no file {self._shown}") from None
        except OSError as error:
            raise InputError(f"cannot read {self._shown}: {error.strerror or error}") from None
        try:
            _check_end(self._file, range(len(names), len(names) + len(optional) + 1))
            self._archive = zipfile.ZipFile(self._file)
            present = [entry.filename.removesuffix(".npy") for entry in self._archive.infolist()]
            if len(set(present)) < len(present) or not set(names) <= set(present) <= {*names, *optional}:
                raise ValueError
        except _DAMAGED:
            self._file.close()
            raise self._refusal("it may be truncated or damaged") from None

    def __enter__(self) -> ArrayFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()
        self._file.close()

    def has(self, name: str) -> bool:
        """Returns whether the file contains this optional array."""
        return f"{name}.npy" in self._archive.namelist()

    def read(self, name: str, most: int) -> bytes:
        """Returns the bytes of an array; raises InputError if they are damaged or more than `most`."""
        return self.read_array(name, "u", 1, most).tobytes()

    def read_array(self, name: str, kinds: str, dimensions: int | None, most: int) -> np.ndarray[Any, Any]:
        """Returns an array whose type is one of `kinds` (NumPy's letters) and whose size is at most `most` bytes.

        It may have up to 4 dimensions if `dimensions` is None.
        """
        data = self._unpacked(name, most)
        begin = 10 + int.from_bytes(data[8:10], "little")
        form = _FORM.fullmatch(data[10:begin])
        if not data.startswith(_START) or form is None:
            raise self._refusal(f"its {name} is not a plain array")
        shape = tuple(int(extent) for extent in form[3].replace(b",", b" ").split())
        try:
            kind = np.dtype(form[1].decode())
        except (TypeError, ValueError):
            raise self._refusal(f"its {name} has a type unknown to NumPy") from None
        if (
            kind.kind not in kinds
            or not kind.isnative
            or not kind.itemsize
            or (kind.kind in "ui" and kind.itemsize > 1)
        ):
            raise self._refusal(f"its {name} has type {kind}; store it as {_words(kinds)}")
        if dimensions not in (None, len(shape)):
            raise self._refusal(f"its {name} must have {dimensions} dimensions, got {len(shape)}")
        if prod(shape) * kind.itemsize != len(data) - begin:
            raise self._refusal(f"its {name} is damaged")
        if kind.kind == "U" and (np.frombuffer(data, dtype=np.uint32, offset=begin) > sys.maxunicode).any():
            raise self._refusal(f"its {name} contains invalid Unicode")
        order: Any = "F" if form[2] == b"True" else "C"
        return np.frombuffer(data, dtype=kind, offset=begin, count=prod(shape)).reshape(shape, order=order)

    def _unpacked(self, name: str, most: int) -> bytes:
        """Returns an array with its header; raises InputError if it is damaged or larger than `most` bytes."""
        entry = self._archive.getinfo(f"{name}.npy")
        if entry.file_size > most + _MOST_HEADER:
            raise self._refusal(f"its {name} has {entry.file_size:,} bytes; the limit is {most:,}")
        if entry.compress_type not in _KINDS or entry.flag_bits & _ENCRYPTED:
            raise self._refusal(f"its {name} uses an unsupported compression method or is encrypted")
        try:
            with self._archive.open(entry) as file:
                return file.read(entry.file_size)  # reads no more than that, then compares the checksum
        except _DAMAGED:
            raise self._refusal(f"its {name} is damaged") from None

    def refuse(self, reason: str) -> NoReturn:
        """Raises an InputError with the reason why this file is invalid."""
        raise self._refusal(reason)

    def _refusal(self, reason: str) -> InputError:
        return InputError(f"{self._shown} is not {self._what}: {reason}")


def _check_end(file: BinaryIO, entries: range) -> None:
    """Raises ValueError unless the directory has an expected number of entries; `zipfile` would read all of it."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - _END.size - _LOCATOR))
    tail = file.read()
    _, _, _, _, count, directory, _, comment = _END.unpack(tail[-_END.size :])
    large = tail[: -_END.size].startswith(b"PK\x06\x07")
    if large or count not in entries or directory > count * _MOST_ENTRY or comment:
        raise ValueError


def _words(kinds: str) -> str:
    known = {"b": "bool", "u": "uint8", "i": "int8", "f": "floating-point numbers", "U": "text"}
    return " or ".join(known[kind] for kind in kinds)


TYPES = {"I8": "<i1", "I64": "<i8", "F16": "<f2", "F32": "<f4", "F64": "<f8"}
_MAX_HEADER = 100_000_000  # bytes, as in the safetensors library
_MOST = 1 << 62


@dataclass(frozen=True)
class Entry:
    """A tensor's type, shape and position in its file."""

    kind: str  # a key of TYPES
    shape: tuple[int, ...]
    begin: int  # from the start of the file
    end: int


@dataclass(frozen=True)
class TensorFile:
    """A .safetensors file with a checked header."""

    path: Path
    metadata: dict[str, str]
    entries: Mapping[str, Entry]

    def read(self, name: str) -> Any:
        """Returns the tensor of this name."""
        entry = self.entries[name]
        data = np.fromfile(self.path, TYPES[entry.kind], prod(entry.shape), offset=entry.begin)
        return data.astype(data.dtype.newbyteorder("="), copy=False).reshape(entry.shape)


def open_tensors(path: Path, what: str) -> TensorFile:
    """Opens a .safetensors file; raises InputError, "{path} is not {what}: ...", unless its header is valid."""
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
        raise _not(path, what, "its tensors overlap, are truncated, or do not cover the entire file")
    return TensorFile(path, metadata, entries)


def _entry(name: str, about: Any, path: Path, what: str, body: int) -> Entry:
    if not isinstance(about, dict):
        raise _not(path, what, f"its tensor {name!r} must be an object")
    check_fields(about, path, f"{what}: of tensor {name!r}", _FIELDS)
    (begin, end), shape, kind = about["data_offsets"], tuple(about["shape"]), about["dtype"]
    if end - begin != prod(shape) * np.dtype(TYPES[kind]).itemsize:
        raise _not(
            path, what, f"its tensor {name!r} has {end - begin:,} bytes, which does not match its shape and type"
        )
    return Entry(kind, shape, body + begin, body + end)


def _not(path: Path, what: str, reason: str) -> InputError:
    return InputError(f"{path} is not {what}: {reason}")


_FIELDS: dict[str, Check] = {
    "dtype": one_of(*TYPES),
    "shape": each(whole(0, _MOST), most=8),
    "data_offsets": each(whole(0, _MOST), 2, 2),
}
