"""Named arrays in one .npz file, and a reader of such files whose memory no file can exhaust.

It is told how large an array may be, looks at the sizes that the archive declares before it unpacks anything, unpacks
no more than that, and takes arrays of the few types that it is told.
"""

from __future__ import annotations

import io
import struct
import sys
import zipfile
import zlib
from collections.abc import Collection, Mapping
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

import numpy as np
from numpy.lib import format as npy

from bitwright.errors import InputError, printable
from bitwright.files.storage import open_file

_MOST_HEADER = 256  # bytes of the header of such an array; NumPy writes 128
_MOST_ENTRY = 1_024  # bytes of an entry in the archive's directory
_END = struct.Struct("<4s4H2LH")  # the record that closes an archive: signature, disks, entries, directory, comment
_DAMAGED = (  # every way in which a damaged archive makes its readers fail
    *(ValueError, LookupError, EOFError, TypeError, RuntimeError, ArithmeticError, OSError, MemoryError, SyntaxError),
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
            _check_end(self._file, len(names) + len(optional))
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
        entry = self._archive.getinfo(f"{name}.npy")
        if entry.file_size > most + _MOST_HEADER:
            raise self._refusal(f"its {name} has {entry.file_size:,} bytes, and can have {most:,} at most")
        try:
            with self._archive.open(entry) as file:
                npy.read_magic(file)
                shape, fortran, kind = npy.read_array_header_1_0(file, max_header_size=_MOST_HEADER)
                data = file.read(entry.file_size)  # it unpacks no more than that, then compares the checksum
        except _DAMAGED:
            raise self._refusal(f"its {name} is damaged, or not a plain array") from None
        if (
            kind.kind not in kinds
            or not kind.isnative
            or not kind.itemsize
            or (kind.kind in "ui" and kind.itemsize > 1)
        ):
            raise self._refusal(f"its {name} is of type {kind}; store it as {_words(kinds)}")
        if len(shape) > 4:
            raise self._refusal(f"its {name} is not a plain array")
        if dimensions not in (None, len(shape)):
            raise self._refusal(f"its {name} has {len(shape)} dimensions, and must have {dimensions}")
        if prod(shape) * kind.itemsize != len(data):
            raise self._refusal(f"its {name} is damaged")
        if kind.kind == "U" and (np.frombuffer(data, dtype=np.uint32) > sys.maxunicode).any():
            raise self._refusal(f"its {name} holds characters that Unicode does not have")
        return np.frombuffer(data, dtype=kind).reshape(shape, order="F" if fortran else "C")

    def refuse(self, reason: str) -> NoReturn:
        """Raises an InputError that says why this file is not what it should be."""
        raise self._refusal(reason)

    def _refusal(self, reason: str) -> InputError:
        return InputError(f"{self._shown} is not {self._what}: {reason}")


def _check_end(file: BinaryIO, most: int) -> None:
    """Raises ValueError for an archive whose directory has more entries, or larger ones: it would be read at once."""
    file.seek(-_END.size, io.SEEK_END)
    _, _, _, _, count, directory, _, comment = _END.unpack(file.read())
    if count > most or directory > count * _MOST_ENTRY or comment:
        raise ValueError


def _words(kinds: str) -> str:
    known = {"b": "bool", "u": "uint8", "i": "int8", "f": "floating-point numbers", "U": "text"}
    return " or ".join(known[kind] for kind in kinds)
