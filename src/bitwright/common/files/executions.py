"""Execution files: states, their successors, and the names of their bits.

The format is a .npz file without pickles, as written by `numpy.savez`. `before` and `after` are arrays of 0 and 1 (bool
or uint8) with a row for each state and a column for each bit; `names` are the column names. Two entries are optional:
`program_id`, the program's sha256, and `lets`, its size parameters such as l=5. Rows need not be consecutive.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray, shorten
from bitwright.common.errors import InputError, counted
from bitwright.common.files.arrays import ArrayFile, pack_plain
from bitwright.common.files.storage import as_path, write_atomically

MAX_CELLS = 1 << 30  # states times bits
MAX_BITS = 1 << 20
_MAX_NAMES = 1 << 27  # bytes: NumPy takes four a character
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}(\[[0-9]{1,9}(,[0-9]{1,9})*\])?")
_LET = re.compile(r"([A-Za-z_][A-Za-z0-9_]{0,63})=([0-9]{1,9})", re.ASCII)
_MAX_LETS = 1 << 16  # bytes
_WHAT = "an execution file"


@dataclass(frozen=True, eq=False)
class Executions:
    """States, their successors, and the names of their bits.

    >>> example = Executions(np.array([[1, 0]], dtype=bool), np.array([[0, 1]], dtype=bool), ("x[1]", "x[2]"))
    >>> len(example)
    1
    """

    before: BoolArray  # (N, k)
    after: BoolArray  # (N, k)
    names: tuple[str, ...]  # (k,)
    program_id: str | None = None
    lets: Mapping[str, int] = field(default_factory=dict)  # the size of the program that was run, such as {"l": 5}

    def __post_init__(self) -> None:
        for states in (self.before, self.after):
            if not isinstance(states, np.ndarray) or states.dtype != bool:
                got = f"an array of {states.dtype}" if isinstance(states, np.ndarray) else type(states).__name__
                raise InputError(f"before and after must be NumPy arrays of bool, got {got}")
        if not isinstance(self.names, list | tuple) or not all(isinstance(name, str) for name in self.names):
            raise InputError(f"names must be a tuple of str, one for each bit, got {shorten(repr(self.names))}")
        shape = self.before.shape
        if len(shape) != 2 or self.after.shape != shape or shape[1] != len(self.names):
            raise InputError(
                f"executions need states and successors of the same shape and a name for each bit, got {shape}, "
                f"{self.after.shape} and {counted(len(self.names), 'name')}"
            )
        if len(set(self.names)) < len(self.names):
            raise InputError(f"two bits are named {shorten(_twice(self.names))}; bit names must be unique")

    def __len__(self) -> int:
        return len(self.before)

    def __repr__(self) -> str:
        return f"<Executions: {counted(len(self), 'state')} of {counted(len(self.names), 'bit')}>"

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the executions to a .npz file for `train`, `infer` and the command line.

        >>> from bitwright import addition, executions
        >>> executions(addition(2), "states", states=50).save("states.npz")
        >>> len(Executions.load("states.npz"))
        50
        """
        save_executions(as_path(path, _WHAT), self)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Executions:
        """Reads executions from a file and checks them.

        >>> Executions.load("nowhere.npz")
        Traceback (most recent call last):
        ...
        bitwright.common.errors.InputError: there is no file nowhere.npz
        """
        return load_executions(as_path(path, _WHAT))


def save_executions(path: Path, executions: Executions) -> None:
    """Writes the file; equal executions give equal bytes."""
    check_size(*executions.before.shape)
    arrays: dict[str, NDArray[np.generic]] = {
        "before": np.ascontiguousarray(executions.before, dtype=bool),
        "after": np.ascontiguousarray(executions.after, dtype=bool),
        "names": np.array(executions.names, dtype=np.str_),
    }
    if executions.program_id is not None:
        arrays["program_id"] = np.array(executions.program_id, dtype=np.str_)
    if executions.lets:
        arrays["lets"] = np.array([f"{name}={number}" for name, number in executions.lets.items()], dtype=np.str_)
    write_atomically(path, pack_plain(arrays))


def load_executions(path: Path) -> Executions:
    """Reads executions from a file; raises InputError if the file is invalid."""
    with ArrayFile(path, ("before", "after", "names"), _WHAT, optional=("program_id", "lets")) as file:
        names = file.read_array("names", "U", 1, _MAX_NAMES)
        if not 1 <= len(names) <= MAX_BITS:
            file.refuse(f"it must have between 1 and {MAX_BITS:,} bit names, got {len(names):,}")
        bit_names = tuple(str(name) for name in names)
        wrong = next((name for name in bit_names if not _NAME.fullmatch(name)), None)
        if wrong is not None:
            file.refuse(f"'{shorten(wrong)}' is not a valid bit name; use a name such as flag, p[1] or m[1,2]")
        if len(set(bit_names)) < len(bit_names):
            file.refuse(f"two of its bits are named {shorten(_twice(bit_names))}")
        states: list[NDArray[np.generic]] = []
        for name in ("before", "after"):
            array = file.read_array(name, "bu", 2, MAX_CELLS)
            if array.shape[1] != len(bit_names):
                file.refuse(f"its {name} has states of {counted(array.shape[1], 'bit')} for {len(bit_names):,} names")
            if (array.view(np.uint8) > 1).any():
                file.refuse(f"its {name} contains values other than 0 and 1")
            states.append(array)
        before, after = states
        if len(before) != len(after):
            file.refuse(f"it has {counted(len(before), 'state')} before a step and {len(after):,} after a step")
        if not len(before):
            file.refuse("it contains no states")
        program_id = None
        if file.has("program_id"):
            program_id = str(file.read_array("program_id", "U", 0, 256))
            if not re.fullmatch(r"[0-9a-f]{64}", program_id):
                file.refuse("its program_id is not a sha256 in hexadecimal digits")
        lets = _read_lets(file)
    return Executions(_as_bool(before), _as_bool(after), bit_names, program_id, lets)


def _read_lets(file: ArrayFile) -> dict[str, int]:
    texts = file.read_array("lets", "U", 1, _MAX_LETS).tolist() if file.has("lets") else []
    lets = {match[1]: int(match[2]) for match in map(_LET.fullmatch, texts) if match}
    if len(lets) < len(texts):
        file.refuse("its lets must be numbers such as l=5, each given once")
    return lets


def joined(parts: Sequence[tuple[str, Executions]]) -> Executions:
    """Concatenates executions from several files; the file names appear in the error if the bits differ."""
    first_name, first = parts[0]
    for name, part in parts[1:]:
        if part.names != first.names:
            unlike = next((a, b) for a, b in zip((*part.names, "none"), (*first.names, "none"), strict=False) if a != b)
            raise InputError(
                f"{name} has bit {shorten(unlike[0])} where {first_name} has "
                f"{shorten(unlike[1])}; files must have the same bits"
            )
    check_size(sum(len(part) for _, part in parts), len(first.names))
    ids = {part.program_id for _, part in parts}
    return Executions(
        np.concatenate([part.before for _, part in parts]),
        np.concatenate([part.after for _, part in parts]),
        first.names,
        ids.pop() if len(ids) == 1 else None,
        first.lets if all(part.lets == first.lets for _, part in parts) else {},
    )


def check_size(states: int, bits: int) -> None:
    """Raises InputError if the executions are too large for one file."""
    if states * bits > MAX_CELLS or bits > MAX_BITS:
        raise InputError(
            f"{counted(states, 'state')} of {counted(bits, 'bit')} are too many for one execution file: "
            f"states times bits must be at most {MAX_CELLS:,}"
        )


def _as_bool(array: NDArray[np.generic]) -> BoolArray:
    return np.ascontiguousarray(array).view(np.uint8).astype(bool)


def _twice(names: Sequence[str]) -> str:
    seen: set[str] = set()
    return next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
