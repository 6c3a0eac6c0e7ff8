"""Named arrays in one .npz or .safetensors file, and readers of such files whose memory no file can exhaust.

NumPy's own reader believes what a file says about its sizes, and evaluates its headers. This one is told how large an
array may be, looks at the sizes that the archive declares before it unpacks anything, unpacks no more than that, and
takes one-dimensional arrays of bytes only, or, where it is asked for them, arrays of the few types that it is told.

A .safetensors file is 8 bytes with the length of a header, the header in JSON, and the tensors. Its one strict reader
refuses whatever the format leaves open to two readings: names twice, entries beside the three that a tensor has,
numbers that are no integers, tensors that overlap, and bytes that belong to none.
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
_LOCATOR = 20  # bytes of the record that stands before it in archives above 4 GiB
_KINDS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 0x1
_DAMAGED = (  # every way in which a damaged archive makes its readers fail
    *(ValueError, LookupError, EOFError, TypeError, RuntimeError, ArithmeticError, OSError),
    *(zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, struct.error),
)


def pack_arrays(arrays: Mapping[str, bytes]) -> bytes:
    """The contents of the .npz file."""
    return pack_plain({name: np.frombuffer(data, dtype=np.uint8) for name, data in arrays.items()})


def pack_plain(arrays: Mapping[str, np.ndarray[Any, Any]]) -> bytes:
    """The same for arrays of numbers or text; equal arrays give equal bytes."""
    buffer = io.BytesIO()
    parts: dict[str, Any] = dict(arrays)
    np.savez_compressed(buffer, allow_pickle=False, **parts)
    return buffer.getvalue()


class ArrayFile:
    """An open .npz file with just these names; `what` is for the message: "{path} is not {what}: ..."."""

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
            held = [entry.filename.removesuffix(".npy") for entry in self._archive.infolist()]
            if len(set(held)) < len(held) or not set(names) <= set(held) <= {*names, *optional}:
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
        """Whether an array that may be left out is there."""
        return f"{name}.npy" in self._archive.namelist()

    def read(self, name: str, most: int) -> bytes:
        """The bytes under a name; raises InputError where they are damaged or more than `most`."""
        return self.read_array(name, "u", 1, most).tobytes()

    def read_array(self, name: str, kinds: str, dimensions: int | None, most: int) -> np.ndarray[Any, Any]:
        """The array under a name: its type is one of `kinds` (letters of NumPy), and it takes at most `most` bytes.

        It may have any number of dimensions up to 4 if `dimensions` is None.
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
            raise self._refusal(f"its {name} is of a type that NumPy does not know") from None
        if (
            kind.kind not in kinds
            or not kind.isnative
            or not kind.itemsize
            or (kind.kind in "ui" and kind.itemsize > 1)
        ):
            raise self._refusal(f"its {name} is of type {kind}; store it as {_words(kinds)}")
        if dimensions not in (None, len(shape)):
            raise self._refusal(f"its {name} has {len(shape)} dimensions, and must have {dimensions}")
        if prod(shape) * kind.itemsize != len(data) - begin:
            raise self._refusal(f"its {name} is damaged")
        if kind.kind == "U" and (np.frombuffer(data, dtype=np.uint32, offset=begin) > sys.maxunicode).any():
            raise self._refusal(f"its {name} holds characters that Unicode does not have")
        order: Any = "F" if form[2] == b"True" else "C"
        return np.frombuffer(data, dtype=kind, offset=begin, count=prod(shape)).reshape(shape, order=order)

    def _unpacked(self, name: str, most: int) -> bytes:
        """An array with its header; raises InputError where it is damaged or has more than `most` bytes."""
        entry = self._archive.getinfo(f"{name}.npy")
        if entry.file_size > most + _MOST_HEADER:
            raise self._refusal(f"its {name} has {entry.file_size:,} bytes, and can have {most:,} at most")
        if entry.compress_type not in _KINDS or entry.flag_bits & _ENCRYPTED:
            raise self._refusal(f"its {name} is packed in another way than ours")
        try:
            with self._archive.open(entry) as file:
                return file.read(entry.file_size)  # it unpacks no more than that, then compares the checksum
        except _DAMAGED:
            raise self._refusal(f"its {name} is damaged") from None

    def refuse(self, reason: str) -> NoReturn:
        """Raises an InputError that says why this file is not what it should be."""
        raise self._refusal(reason)

    def _refusal(self, reason: str) -> InputError:
        return InputError(f"{self._shown} is not {self._what}: {reason}")


def _check_end(file: BinaryIO, entries: range) -> None:
    """Raises ValueError for an archive whose directory has more or other entries: it would be read at once."""
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
