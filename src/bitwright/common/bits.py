"""Converts numbers to bits and back; only this module defines the bit order.

Index 1 (position 0 of an array) is the least significant bit, as in the paper.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from operator import index
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.common.errors import InputError, counted
from bitwright.common.errors import shorten as shorten

BoolArray = NDArray[np.bool_]

MAX_DIGITS = 1_000_000  # CPython's quadratic conversion would seem to hang on longer numbers
_LOCK = RLock()
_NUMBER = re.compile(r"0[xX][0-9a-fA-F_]+|0[bB][01_]+|[0-9][0-9_]*")


def width_of(value: int) -> int:
    """Returns the number of bits that `value` needs, at least one.

    >>> width_of(0), width_of(719)
    (1, 10)
    """
    return max(1, value.bit_length())


def to_bits(value: int, width: int, name: str = "the number", signed: bool = False) -> BoolArray:  # (width,)
    """Returns the bits of `value`, least significant first; signed numbers use two's complement.

    >>> to_bits(6, 4).astype(int).tolist()
    [0, 1, 1, 0]
    """
    value = whole_number(value, name)
    if signed:
        low, high = -(2 ** (width - 1)), 2 ** (width - 1) - 1
        if not low <= value <= high:
            raise InputError(f"{name} must be between {low} and {high}, got {shorten(value)}")
        value %= 2**width
    if value < 0:
        raise InputError(f"{name} must be 0 or more, got {shorten(value)}")
    if value.bit_length() > width:
        raise InputError(
            f"{name} must fit in {counted(width, 'bit')}, got {shorten(value)}, which needs {value.bit_length():,}"
        )
    octets = np.frombuffer(value.to_bytes((width + 7) // 8, "little"), dtype=np.uint8)
    return np.unpackbits(octets, bitorder="little", count=width).astype(bool)


def whole_number(value: int, name: str, least: int | None = None, most: int | None = None) -> int:
    """Converts any kind of integer (NumPy's, for example) to a Python int and checks the limits, if given.

    >>> whole_number(np.int64(3), "the width", 1, 16)
    3
    """
    try:
        number = index(value)
    except TypeError:
        raise InputError(f"{name} must be an integer, got {shorten(repr(value))}") from None
    if least is not None and most is not None and not least <= number <= most:
        raise InputError(f"{name} must be between {least:,} and {most:,}, got {shorten(number)}")
    return number


def from_bits(bits: BoolArray, signed: bool = False) -> int:
    """Returns the number with these bits, least significant first; signed numbers use two's complement.

    >>> from_bits(to_bits(483, 10))
    483
    """
    value = int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")
    return value - 2 ** len(bits) if signed and bits[-1] else value


def to_bit_rows(values: Any, width: int, name: str = "the number", signed: bool = False) -> BoolArray:
    """Returns the bits of several numbers, one row each; `values` is a list or a one-dimensional array.

    >>> to_bit_rows([6, 1], 4).astype(int).tolist()
    [[0, 1, 1, 0], [1, 0, 0, 0]]
    """
    array = values if isinstance(values, np.ndarray) else np.array([*values, None], dtype=object)[:-1]
    if width < 63 and array.dtype == object and all(type(value) is int for value in array):
        with suppress(OverflowError):
            array = array.astype(np.int64)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "biuO"):
        got = f"{counted(array.ndim, 'dimension')} of {array.dtype}"
        raise InputError(f"{name} must be a one-dimensional array of integers, got {got}")
    if array.dtype.kind in "iu" and width < 63 and array.size:
        low, high = (-(1 << width - 1), (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
        if low <= int(array.min()) and int(array.max()) <= high:
            return (array.astype(np.int64)[:, np.newaxis] >> np.arange(width) & 1).astype(bool)
    rows = [to_bits(value, width, f"{name}[{row}]", signed) for row, value in enumerate(array.tolist())]
    return np.array(rows, dtype=bool).reshape(len(rows), width)


def from_bit_rows(bits: BoolArray, signed: bool = False) -> NDArray[Any]:  # (rows, width)
    """Returns the number in each row: int64, or Python integers if any needs more than 63 bits.

    >>> from_bit_rows(to_bit_rows([6, 1], 4))
    array([6, 1])
    """
    rows, width = bits.shape
    if width > 63:
        return np.array([*(from_bits(row, signed) for row in bits), None], dtype=object)[:rows]
    weights = np.int64(1) << np.arange(width, dtype=np.int64)
    if signed and width:
        weights[-1] = -weights[-1]
    return np.asarray(bits @ weights)


def parse_number(text: str, name: str = "the number") -> int:
    """Parses a non-negative number of any size in decimal, 0x or 0b notation.

    >>> parse_number("719"), parse_number("0xff"), parse_number("0b101")
    (719, 255, 5)
    """
    stripped = text.strip()
    if re.fullmatch(r"-[0-9_]+", stripped):
        raise InputError(f"{name} must be 0 or more, got {shorten(stripped)}")
    if len(stripped) > MAX_DIGITS:
        raise InputError(f"{name} must have at most {MAX_DIGITS:,} digits, got {len(stripped):,}")
    if not stripped.isascii() or not _NUMBER.fullmatch(stripped):
        raise InputError(f"{name} must be an integer such as 719, 0x2cf or 0b101, got {shorten(text)!r}")
    try:
        if stripped[:2].lower() in ("0x", "0b"):
            return int(stripped, 0)
        with any_digits():
            return int(stripped, 10)
    except ValueError:
        raise InputError(f"{name} must be an integer such as 719, got {shorten(text)!r}") from None


def parse_signed(text: str, name: str = "the number") -> int:
    """Parses a number like `parse_number`, but allows a minus sign.

    >>> parse_signed("-0x10")
    -16
    """
    stripped = text.strip()
    negative = re.match(r"-\d", stripped) is not None
    size = parse_number(stripped[1:] if negative else text, name)
    return -size if negative else size


@contextmanager
def any_digits() -> Iterator[None]:
    """Lifts CPython's limit of 4,300 decimal digits; the limit is per process, so use one thread at a time."""
    with _LOCK:
        limit = sys.get_int_max_str_digits()
        sys.set_int_max_str_digits(0)
        try:
            yield
        finally:
            sys.set_int_max_str_digits(limit)
