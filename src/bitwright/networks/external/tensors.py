"""Tensors of a network as computed by every runtime that follows the standard.

A tensor is a float64 array with a bound on the deviation of any runtime:

- Integers and booleans are exact: no sum reaches the limit of its type, or 2^53.
- A sum of floating-point numbers is exact in every order if all its terms are multiples of one 2^-g that is a normal
  number, and their absolute values add up to at most 2^24 such units (2^53 in float64): then no partial sum is ever
  rounded or small enough to be flushed to 0.
- Otherwise the error of a sum of m terms with unit roundoff u is at most m u / (1 - m u) times the sum of absolute
  values, in any order, with or without fused multiply-adds (Higham, Accuracy and Stability, Section 3.1). Numbers below
  the smallest normal number, given or computed, may be flushed to 0.

Runtimes fuse operators: a bias may be the first term of the product that it is added to. A sum of sums is therefore
bounded as one sum of all their terms.

The bounds follow from the weights alone, for all inputs of 0 and 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError

Array = NDArray[np.float64]
DIGITS = {"float32": 24, "float64": 53}  # of a significand
_NORMAL = {"float32": 2.0**-126, "float64": 2.0**-1022}
_MOST = {"float32": 2.0**126, "float64": 2.0**1000}
LARGEST = {  # largest value of an integer type; signed types also hold its negative
    "bool": 1,
    **{f"int{bits}": (1 << (bits - 1)) - 1 for bits in (8, 16, 32)},
    **{f"uint{bits}": (1 << bits) - 1 for bits in (8, 16, 32)},
    **dict.fromkeys(("int64", "uint64"), 1 << 53),  # the limit of exact integers in float64
}
_OWN = 1 + 1e-6  # allows for rounding in the bounds themselves, which are float64
_FINEST = 64  # binary places to examine


class NotReadError(InputError):
    """Raised for an operator, or a use of one, whose results are not certain; a runtime can still evaluate it."""


@dataclass(frozen=True)
class Addends:
    """The terms of a tensor that is a sum, for a runtime that adds in another order."""

    count: int
    mass: Array  # the sum of absolute values, for these inputs
    lost: Array  # bound on the total error of the terms

    def __add__(self, other: Addends) -> Addends:
        return Addends(self.count + other.count, self.mass + other.mass, self.lost + other.lost)


@dataclass(frozen=True)
class Tensor:
    """The values of a tensor, bounds on the deviation of runtimes, and properties for all inputs.

    The first axis has the rows of the states, state by state, unless the tensor is constant.
    """

    values: Array
    kind: str  # its type
    size: Array  # same shape, for one state: bounds every absolute value and every partial sum
    grid: float  # every runtime gives multiples of 2^-grid; any numbers if infinite
    error: Array  # 0 where every runtime gives exactly these values
    constant: bool = False
    known: Addends | None = None

    @property
    def largest(self) -> float:
        """A bound on absolute values for all inputs."""
        return float(self.size.max(initial=0))

    @property
    def unsigned(self) -> bool:
        """Whether its type has no negative numbers."""
        return self.kind == "bool" or self.kind.startswith("uint")

    @property
    def terms(self) -> Addends:
        """Its terms; a single number is its only term."""
        return self.known or Addends(1, np.abs(self.values), self.error)

    def moved(self, move: Callable[[Array], Array]) -> Tensor:
        """Returns the same numbers in other positions."""
        parts: Any = {name: move(getattr(self, name)) for name in ("values", "size", "error")}
        terms = self.known and Addends(self.known.count, move(self.known.mass), move(self.known.lost))
        return replace(self, **parts, known=terms)


def constant(array: NDArray[Any]) -> Tensor:
    """Returns weights, or another tensor that does not depend on the input."""
    kind = array.dtype.name
    if kind not in DIGITS and kind not in LARGEST:
        raise NotReadError(f"there are constants of type {kind}, whose arithmetic is not known")
    values = array.astype(np.float64)
    if not np.isfinite(values).all():
        raise InputError("the network has weights that are NaN or infinite")
    size = np.abs(values)
    if kind in LARGEST and size.max(initial=0) > 1 << 53:
        raise NotReadError("there are integers beyond 2^53")
    flushed = size if kind in DIGITS else 0 * size  # subnormal numbers may be flushed to 0
    return Tensor(values, kind, size, _grid(values), np.where(size < _smallest(kind), flushed, 0), True)


def summed(values: Array, size: Array, terms: Addends, kind: str, grid: float, factor: float) -> Tensor:
    """Returns a sum of these terms; `size` bounds their absolute sum for all inputs, `factor` each factor."""
    largest = float(size.max(initial=0))
    if kind in LARGEST:
        if kind == "bool" or largest > LARGEST[kind]:
            raise NotReadError(f"a sum may leave the range of {kind}")
        return Tensor(values, kind, size, grid, terms.lost)
    if 2.0**-grid >= _smallest(kind) and largest <= 2.0 ** (DIGITS[kind] - grid):
        return Tensor(values, kind, size, grid, terms.lost, known=terms)
    if largest > _MOST[kind]:
        raise NotReadError(f"a sum may exceed the largest {kind} number")
    flushed, gamma = 4 * terms.count * _smallest(kind) * (1 + factor), _gamma(terms.count + 2, kind)
    terms = replace(terms, lost=terms.lost + flushed)
    error = (terms.lost + gamma * (terms.mass + terms.lost)) * _OWN
    return Tensor(values, kind, (size * (1 + gamma) + flushed) * _OWN, inf, error, known=terms)


def _smallest(kind: str) -> float:
    """Returns the smallest number that no runtime flushes to 0."""
    return _NORMAL.get(kind, 1.0)


def _grid(values: Array) -> float:
    """Returns the smallest g such that all values are multiples of 2^-g."""
    for grid in range(_FINEST + 1):
        scaled = np.ldexp(values, grid)
        if np.array_equal(scaled, np.rint(scaled)):
            return grid
    return inf


def _gamma(terms: int, kind: str) -> float:
    """Returns m u / (1 - m u) for the type plus the same for our float64 arithmetic."""
    total = 0.0
    for digits in (DIGITS[kind], 53):
        relative = terms * 2.0**-digits
        if relative >= 0.5:
            raise NotReadError(f"a sum of {terms:,} terms has no error bound in {kind}")
        total += relative / (1 - relative)
    return total


def by_rows(call: Callable[[NDArray[Any]], NDArray[Any]], inputs: NDArray[Any], alone: bool, name: str) -> NDArray[Any]:
    """Returns the outputs; raises InputError unless each call returns one row of numbers for each input row."""
    found: list[NDArray[Any]] = []
    for part in np.split(inputs, len(inputs)) if alone and len(inputs) else [inputs]:
        try:
            given = call(part)
        except InputError:
            raise
        except Exception as error:
            reason = shorten(" ".join(f"{type(error).__name__}: {error}".split()), 160)
            raise InputError(f"{name} failed on inputs of shape {part.shape}: {reason}") from None
        if given.dtype.kind not in "biuf":
            raise InputError(f"{name} has outputs of type {given.dtype}; a network to certify must return numbers")
        if given.ndim != 2 or given.shape != (len(part), *(found or [given])[0].shape[1:]):
            raise InputError(
                f"{name} has outputs of shape {given.shape} for {len(part):,} rows; a network to certify must return "
                "one row each"
            )
        found.append(given)
    return np.concatenate(found)
