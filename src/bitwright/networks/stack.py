"""Stacks of affine layers and ReLUs: their outputs on every runtime that follows the standard.

An output is a float64 number with a bound on the deviation of any runtime:

- Integers are exact: no sum reaches the limit of its type, or 2^53.
- A sum of floating-point numbers is exact in every order if all its terms are multiples of one 2^-g that is a normal
  number, and their absolute values add up to less than 2^24 such units (2^53 in float64): then no partial sum is ever
  rounded or small enough to be flushed to 0.
- Otherwise the error of a sum of m terms with unit roundoff u is at most m u / (1 - m u) times the sum of absolute
  values, in any order, with or without fused multiply-adds (Higham, Accuracy and Stability, Section 3.1). Numbers below
  the smallest normal number, given or computed, may be flushed to 0.

Runtimes fuse operators: a bias may be the first term of the product that it is added to. It therefore counts as a term.

The bounds follow from the weights alone, for all inputs of 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitwright.common.errors import InputError

Array = NDArray[np.float64]
DIGITS = {"float32": 24, "float64": 53}  # of a significand
LARGEST = {"int32": (1 << 31) - 1, "int64": (1 << 53) - 1}  # float64 evaluates integers exactly below 2^53
_NORMAL = {"float32": 2.0**-126, "float64": 2.0**-1022}
_MOST = {"float32": 2.0**126, "float64": 2.0**1000}
_OWN = 1 + 1e-6  # allows for rounding in the bounds themselves, which are float64
_FINEST = 64  # binary places to examine


class NotProvedError(InputError):
    """Raised for a network whose outputs are not certain; the message says why."""


@dataclass(frozen=True, eq=False)
class AffineLayer:
    """Sums of products with weights, and perhaps a ReLU."""

    weights: NDArray[Any]  # (inputs, outputs)
    kind: str  # the type of the sums
    bias: NDArray[Any] | None = None  # (outputs,)
    relu: bool = False

    @property
    def tensors(self) -> dict[str, NDArray[Any]]:
        """Its weights and its bias, if it has one."""
        return {"weights": self.weights} | ({} if self.bias is None else {"bias": self.bias})


class BoundedOutputs(NamedTuple):
    """Outputs, with bounds on the deviation of any runtime."""

    values: Array  # (batch, columns)
    error: Array  # 0 where every runtime gives exactly these values


class _Sums(NamedTuple):
    """The sums of a layer for all inputs of the stack."""

    weights: Array
    bias: Array
    flushed: tuple[Array, Array]  # the weights and the bias where they are subnormal, which runtimes may take for 0
    grid: float  # every sum is a multiple of 2^-grid; any number if infinite
    largest: float  # bounds every sum of absolute values
    gamma: float  # relative error of a sum; 0 if all are exact
    lost: float  # bound on the total of numbers that are flushed to 0 in a sum

    @property
    def exact(self) -> bool:
        return not self.gamma


@dataclass(frozen=True, eq=False)
class Stack:
    """Layers in the order of evaluation."""

    layers: tuple[AffineLayer, ...]

    def __post_init__(self) -> None:
        if not self.layers:
            raise NotProvedError("it has no layers with weights")
        width = self.inputs
        for layer in self.layers:
            if layer.weights.shape[0] != width:
                raise NotProvedError(f"a layer has {layer.weights.shape[0]:,} inputs for {width:,} numbers")
            width = layer.weights.shape[1]
        _ = self._sums

    @property
    def inputs(self) -> int:
        """The number of its input columns."""
        return int(self.layers[0].weights.shape[0])

    @property
    def outputs(self) -> int:
        """The number of its output columns."""
        return int(self.layers[-1].weights.shape[1])

    @cached_property
    def tensors(self) -> dict[str, NDArray[Any]]:
        """Its weights by name."""
        layers = enumerate(self.layers, 1)
        return {f"{name}{number}": held for number, layer in layers for name, held in layer.tensors.items()}

    @cached_property
    def digest(self) -> str:
        """The sha256 of everything that is evaluated."""
        found = sha256(repr([(layer.kind, layer.relu) for layer in self.layers]).encode())
        for name, array in self.tensors.items():
            found.update(f"\n{name} {array.dtype} {array.shape}\n".encode() + array.tobytes())
        return found.hexdigest()

    @property
    def arithmetic(self) -> str:
        """The arithmetic, and why its results are certain."""
        kinds = sorted({layer.kind for layer in self.layers} & set(DIGITS))
        if not kinds:
            return "integers"
        if not all(sums.exact for sums in self._sums):
            return f"{' and '.join(kinds)}, every order of summation"
        grid = int(max(0, *(sums.grid for sums in self._sums)))
        units = max(sums.largest * 2.0**sums.grid for sums in self._sums)
        unit = "integers" if not grid else f"multiples of 2^-{grid} or coarser"
        return (
            f"{kinds[0]}, exact in every order of summation: all numbers are {unit}, and absolute values add up to "
            f"{units:,.0f} such units at most, below the limit of {1 << DIGITS[kinds[0]]:,}"
        )

    def __call__(self, rows: NDArray[Any]) -> BoundedOutputs:  # (batch, inputs) of 0 and 1
        """Returns the outputs for these rows."""
        values = np.asarray(rows, dtype=np.float64)
        error = np.zeros_like(values)
        for layer, sums in zip(self.layers, self._sums, strict=True):
            sizes, weights = np.abs(values), np.abs(sums.weights)
            lost = error @ weights + (sizes + error) @ sums.flushed[0] + sums.flushed[1] + sums.lost
            mass = sizes @ weights + np.abs(sums.bias)
            values = values @ sums.weights + sums.bias
            error = lost if sums.exact else (lost + sums.gamma * (mass + lost)) * _OWN
            values = np.maximum(values, 0) if layer.relu else values
        return BoundedOutputs(values, error)

    @cached_property
    def _sums(self) -> list[_Sums]:
        """Bounds for all inputs of 0 and 1; raises NotProvedError unless every runtime keeps to them."""
        size, grid, found = np.ones(self.inputs), 0.0, list[_Sums]()
        for layer in self.layers:
            kind = layer.kind
            weights = layer.weights.astype(np.float64)
            bias = np.zeros(weights.shape[1]) if layer.bias is None else layer.bias.astype(np.float64)
            if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
                raise NotProvedError("it has weights that are NaN or infinite")
            factor = float(size.max(initial=0) + np.abs(weights).max(initial=0))
            size = size @ np.abs(weights) + np.abs(bias)
            grid, largest = max(grid + _grid(weights), _grid(bias)), float(size.max(initial=0))
            small, gamma, lost = 0.0, 0.0, 0.0
            if kind in LARGEST:
                if largest > LARGEST[kind]:
                    raise NotProvedError(f"a sum may leave the range of {kind}")
            elif not (2.0**-grid >= _NORMAL[kind] and largest < 2.0 ** (DIGITS[kind] - grid)):
                if largest > _MOST[kind]:
                    raise NotProvedError(f"a sum may exceed the largest {kind} number")
                count = len(weights) + 1
                small, gamma, lost = _NORMAL[kind], _gamma(count + 2, kind), 4 * count * _NORMAL[kind] * (1 + factor)
                size, grid = (size * (1 + gamma) + lost) * _OWN, inf
            flushed = [np.where(np.abs(part) < small, np.abs(part), 0) for part in (weights, bias)]
            found.append(_Sums(weights, bias, (flushed[0], flushed[1]), grid, largest, gamma, lost))
        return found


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
            raise NotProvedError(f"a sum of {terms:,} terms has no error bound in {kind}")
        total += relative / (1 - relative)
    return total
