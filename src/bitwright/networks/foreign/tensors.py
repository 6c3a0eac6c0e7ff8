"""Tensors of a network as every runtime that keeps to the standard computes them.

A tensor is an array of float64 beside a bound on how far any runtime may be from it:

- Integers and booleans are exact: no sum reaches the end of its type, or 2^53.
- A sum of floating-point numbers is exact in every order if all its terms are multiples of one 2^-g, and their absolute
  values add up to at most 2^24 such units (2^53 in float64): then no partial sum is ever rounded.
- Otherwise a sum of m terms with unit roundoff u is off by at most m u / (1 - m u) times the sum of absolute values, in
  whatever order, with or without fused multiply-adds (Higham, Accuracy and Stability, Section 3.1). Numbers below the
  smallest normal one may be taken for 0.

Which of the three holds follows from the weights alone, for all inputs of 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.errors import InputError

Array = NDArray[np.float64]
DIGITS = {"float32": 24, "float64": 53}  # of a significand
_LEAST = {"float32": 2.0**-126, "float64": 2.0**-1022}  # smaller numbers may be taken for 0
_MOST = {"float32": 2.0**126, "float64": 2.0**1000}
RANGES = {
    "bool": (0, 1),
    "int8": (-(1 << 7), (1 << 7) - 1),
    "uint8": (0, (1 << 8) - 1),
    "int16": (-(1 << 15), (1 << 15) - 1),
    "uint16": (0, (1 << 16) - 1),
    "int32": (-(1 << 31), (1 << 31) - 1),
    "uint32": (0, (1 << 32) - 1),
    "int64": (-(1 << 53), 1 << 53),  # as far as float64 counts
    "uint64": (0, 1 << 53),
}
_OWN = 1 + 1e-6  # what bounds an error is itself computed in float64
_FINEST = 64  # binary places that are looked at


class NotReadError(InputError):
    """An operator, or a use of one, whose results are not certain in advance; a runtime can still be asked."""


@dataclass(frozen=True)
class Tensor:
    """The values of a tensor, how far a runtime may be from them, and what holds of it for all inputs."""

    values: Array
    kind: str  # its type
    size: Array  # of the same shape but for the batch, which is 1: no absolute value exceeds it
    grid: int | None  # every runtime gives multiples of 2^-grid; None: it may give anything
    error: Array | None = None  # None where every runtime gives just these values
    constant: bool = False

    @property
    def largest(self) -> float:
        """No absolute value exceeds it, whatever the input."""
        return float(self.size.max(initial=0))


def constant(array: NDArray[Any]) -> Tensor:
    """Weights, or another tensor that does not depend on the input."""
    kind = array.dtype.name
    if kind not in DIGITS and kind not in RANGES:
        raise NotReadError(f"there are constants of type {kind}, whose arithmetic is not known")
    values = array.astype(np.float64)
    if not np.isfinite(values).all():
        raise InputError("the network has weights that are NaN or infinite")
    if kind not in DIGITS and np.abs(values).max(initial=0) > 1 << 53:
        raise NotReadError("there are integers beyond 2^53")
    return Tensor(values, kind, np.abs(values), _grid(values), None, True)


def common(*tensors: Tensor) -> int | None:
    """The grid on which all of these lie."""
    grids = [one.grid for one in tensors]
    return None if None in grids else max(grid for grid in grids if grid is not None)


def errors(*tensors: Tensor) -> tuple[Array, ...] | None:
    """The errors of each, or None where all are exact."""
    if all(one.error is None for one in tensors):
        return None
    return tuple(np.zeros_like(one.values) if one.error is None else one.error for one in tensors)


def summed(
    values: Array, size: Array, now: Array, lost: Array | None, kind: str, grid: int | None, terms: int, factor: float
) -> Tensor:
    """A sum of this many terms.

    `size` bounds the sum of their absolute values for all inputs, `now` is it for these, `lost` is the error that the
    inputs bring, and no factor of a term exceeds `factor`.
    """
    largest = float(size.max(initial=0))
    if kind in RANGES:
        low, high = RANGES[kind]
        if grid is None or largest > high or (values.min(initial=0) < low):
            raise NotReadError(f"a sum may leave the range of {kind}")
        return Tensor(values, kind, size, grid, lost)
    if grid is not None and largest * 2.0**grid <= 2.0 ** DIGITS[kind]:
        return Tensor(values, kind, size, grid, lost)
    if largest > _MOST[kind]:
        raise NotReadError(f"a sum may exceed the largest {kind} number")
    flushed, gamma = 4 * terms * _LEAST[kind] * (1 + factor), _gamma(terms + 2, kind)
    lost = np.zeros_like(now) if lost is None else lost
    error = (lost + gamma * (now + lost) + flushed) * _OWN
    return Tensor(values, kind, (size * (1 + gamma) + flushed) * _OWN, None, error)


def _grid(values: Array) -> int | None:
    """The smallest g for which all values are multiples of 2^-g."""
    for grid in range(_FINEST + 1):
        scaled = np.ldexp(values, grid)
        if np.array_equal(scaled, np.rint(scaled)):
            return grid
    return None


def _gamma(terms: int, kind: str) -> float:
    """m u / (1 - m u), of the type and of our own float64 together."""
    total = 0.0
    for digits in (DIGITS[kind], 53):
        relative = terms * 2.0**-digits
        if relative >= 0.5:
            raise NotReadError(f"a sum of {terms:,} terms has no error bound in {kind}")
        total += relative / (1 - relative)
    return total
