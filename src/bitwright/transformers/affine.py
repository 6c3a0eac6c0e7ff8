"""Affine arithmetic, which encloses everything that a decoder computes after attention, over boxes of inputs.

A quantity is center + slopes . e + [-radius, radius] for every e with |e| <= box. Every operation widens the radius by
the rounding error of this module's float64 code, and by `unit` times the magnitude for each rounding in the arithmetic
that the proof covers: 0 for real arithmetic, 2^-24 for float32 with any summation order and library functions that are
accurate to a few units.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf, expit

from bitwright.transformers.decoder import Activation, Chain, Decoder, Linear, Mlp, Norm


@dataclass(frozen=True)
class RowArrays:
    """Arrays of equal length. The rows share all fields that are not arrays."""

    def __len__(self) -> int:
        return len(next(iter(vars(self).values())))

    def __getitem__(self, rows: Any) -> Self:
        """Selects rows with a mask, row numbers or a slice."""
        changed: Any = {name: of[rows] for name, of in vars(self).items() if isinstance(of, np.ndarray)}
        return replace(self, **changed)

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Concatenates the rows of several values."""
        names = [name for name, of in vars(parts[0]).items() if isinstance(of, np.ndarray)]
        changed: Any = {name: np.concatenate([vars(part)[name] for part in parts]) for name in names}
        return replace(parts[0], **changed)


Reals = NDArray[np.float64]
Bound = Callable[[Reals, Reals], Reals]

FLOAT32 = 2.0**-24  # the rounding unit of float32
TINY = 2.0**-125  # larger than the underflow error of any float32 operation
TINIEST = 2.0**-1000  # the same for float64
LARGEST = 2.0**100  # sums and sums of squares up to this size, and small multiples of them, do not overflow float32


def float64_error(terms: int) -> float:
    """Returns a bound on the relative error of a float64 sum of `terms` products and a few further operations."""
    return 2.0**-46 + terms * 2.0**-51


@dataclass(frozen=True)
class AffineForm(RowArrays):
    """A batch of n vectors of d quantities, each an affine form of m variables."""

    center: Reals  # (n, d)
    slopes: Reals  # (n, m, d)
    radius: Reals  # (n, d)
    box: Reals  # (n, m)
    unit: float = 0.0

    def linear_part(self) -> Reals:
        """Returns (n, d): how far the variables can move each quantity."""
        moved: Reals = np.einsum("nm,nmd->nd", self.box, np.abs(self.slopes)) * (1 + float64_error(self.box.shape[1]))
        return moved

    def deviation(self) -> Reals:
        """Returns (n, d): the largest distance from the center."""
        return (self.linear_part() + self.radius) * (1 + 2.0**-50)

    def magnitude(self) -> Reals:
        """Returns (n, d): bounds on the absolute values."""
        return np.abs(self.center) + self.deviation()

    def lower(self) -> Reals:
        """Returns (n, d) lower bounds, -inf where unbounded, for example after multiplication by an infinite radius."""
        lower = self.center - self.deviation() - 2.0**-50 * np.abs(self.center)
        return np.where(np.isnan(lower), -np.inf, lower)

    def upper(self) -> Reals:
        """Returns (n, d) upper bounds, inf where unbounded."""
        upper = self.center + self.deviation() + 2.0**-50 * np.abs(self.center)
        return np.where(np.isnan(upper), np.inf, upper)

    def wider(self, by: Reals) -> AffineForm:
        """Returns the form with `by` added to its radius."""
        return replace(self, radius=(self.radius + by) * (1 + 2.0**-50))

    def rounded(self, times: int) -> AffineForm:
        """Returns the form after `times` roundings of a quantity of its size."""
        return self.wider(self.lost(times, self.magnitude(), times))

    def lost(self, times: int, size: Reals, operations: int, terms: int = 0) -> Reals:
        """Returns the error of `times` roundings of sums of this size, unbounded if float32 may overflow."""
        lost: Reals = (times * self.unit + float64_error(terms)) * size + operations * (TINY if self.unit else TINIEST)
        return np.where(size <= LARGEST, lost, np.inf) if self.unit else lost

    def linear(self, linear: Linear) -> AffineForm:
        """Returns x @ weight + bias."""
        weight = linear.weight.astype(np.float64)
        terms, size = len(weight), np.abs(weight)
        product = replace(
            self, center=self.center @ weight, slopes=self.slopes @ weight, radius=self.radius @ size
        ).wider(self.lost(terms + 1, self.magnitude() @ size, 2 * terms, terms))
        if linear.bias is None:
            return product
        return replace(product, center=product.center + linear.bias.astype(np.float64)).rounded(1)

    def scaled(self, weight: Any) -> AffineForm:
        """Multiplies each coordinate by a constant."""
        weight = np.asarray(weight, np.float64)
        product = replace(
            self, center=self.center * weight, slopes=self.slopes * weight, radius=self.radius * np.abs(weight)
        )
        return product.rounded(1)

    def shifted(self, bias: Any) -> AffineForm:
        """Adds a constant vector."""
        return replace(self, center=self.center + np.asarray(bias, np.float64)).rounded(1)

    def with_variables(self) -> AffineForm:
        """Returns the form with each coordinate's radius as a variable, which keeps products with it correlated."""
        n, d = self.center.shape
        slopes = np.concatenate([self.slopes, np.broadcast_to(np.eye(d), (n, d, d))], 1)
        box = np.concatenate([self.box, self.radius], 1)
        return replace(self, slopes=slopes, radius=np.zeros_like(self.radius), box=box)

    def _beside(self, other: AffineForm) -> AffineForm:
        """Returns the form extended with the variables that only the other form has."""
        more = other.box.shape[1] - self.box.shape[1]
        if more <= 0:
            return self
        return replace(self, slopes=np.pad(self.slopes, ((0, 0), (0, more), (0, 0))), box=other.box)

    def __add__(self, other: AffineForm) -> AffineForm:
        self, other = self._beside(other), other._beside(self)
        return replace(
            self,
            center=self.center + other.center,
            slopes=self.slopes + other.slopes,
            radius=self.radius + other.radius,
        ).rounded(1)

    def __mul__(self, other: AffineForm) -> AffineForm:
        """Returns the product by coordinate; a form with one coordinate is broadcast."""
        self, other = self._beside(other), other._beside(self)
        return replace(
            self,
            center=self.center * other.center,
            slopes=self.center[:, None] * other.slopes + other.center[:, None] * self.slopes,
            radius=np.abs(self.center) * other.radius
            + np.abs(other.center) * self.radius
            + self.deviation() * other.deviation(),
        ).rounded(2)

    def applied(self, f: Callable[[Reals], Reals], slope: Reals, curvature: Reals) -> AffineForm:
        """Applies f to each coordinate, to first order; `curvature` bounds |f''| over the entire enclosure."""
        remainder = 0.5 * curvature * self.deviation() ** 2
        radius = np.abs(slope) * self.radius + remainder
        return replace(self, center=f(self.center), slopes=self.slopes * slope[:, None], radius=radius)


def constant(value: Reals, box: Reals, unit: float, radius: Reals | float = 0.0) -> AffineForm:
    """Returns (n, d) constants, which do not depend on the variables."""
    slopes = np.zeros((len(value), box.shape[1], value.shape[1]))
    return AffineForm(value, slopes, np.broadcast_to(np.asarray(radius, np.float64), value.shape), box, unit)


def added(parts: Sequence[AffineForm]) -> AffineForm:
    """Adds several quantities, in any order."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    size = sum((part.magnitude() for part in parts), np.zeros(1))
    return total if len(parts) < 3 else total.wider(total.lost(len(parts), size, len(parts)))


def chained(chain: Chain, x: AffineForm) -> AffineForm:
    """Applies a chain of matrices from left to right."""
    for linear in chain:
        x = x.linear(linear)
    return x


def normed(norm: Norm | None, x: AffineForm) -> AffineForm:
    """Applies a norm over the coordinates."""
    if norm is None:
        return x
    width = x.center.shape[1]
    if norm.kind == "layer":
        x = x.linear(Linear(np.eye(width) - np.full((width, width), 1 / width)))
    y = x * _inverse_root(_mean_square(x, norm.eps)).with_variables()
    if norm.weight is not None:
        y = y.scaled(norm.weight)
    return y if norm.bias is None else y.shifted(norm.bias)


def _mean_square(x: AffineForm, eps: float) -> AffineForm:
    """Returns (n, 1): the mean square plus eps."""
    deviation, width = x.deviation(), x.center.shape[1]
    square = replace(
        x,
        center=(x.center**2).mean(1, keepdims=True) + eps,
        slopes=(2 * x.center[:, None] * x.slopes).mean(2, keepdims=True),
        radius=(2 * np.abs(x.center) * x.radius + deviation**2).mean(1, keepdims=True),
    )
    return square.wider(x.lost(width + 3, square.magnitude(), width, width))


def _inverse_root(x: AffineForm) -> AffineForm:
    """Returns 1 / sqrt(x), unbounded if the enclosure comes close to 0."""
    lowest = x.lower()
    bad = ~(lowest > np.maximum(1e-3 * x.center, 1e-30))
    safe = np.where(bad, 1.0, lowest)
    around = replace(x, center=np.where(bad, 1.0, x.center))
    root = around.applied(lambda t: 1 / np.sqrt(t), -0.5 * around.center**-1.5, 0.75 * safe**-2.5).rounded(10)
    return replace(root, radius=np.where(bad, np.inf, root.radius))


def activated(activation: Activation, x: AffineForm) -> AffineForm:
    """Applies GELU (exact or with tanh), ReLU or SiLU to each coordinate."""
    if activation == "relu":
        return _relu(x)
    lower, upper = x.lower(), x.upper()
    near = np.where((lower <= 0) & (upper >= 0), 0.0, np.minimum(np.abs(lower), np.abs(upper)))
    far = np.maximum(np.abs(lower), np.abs(upper))
    f, slope, curvature = {"gelu": _gelu, "gelu_tanh": _gelu_tanh, "silu": _silu}[activation](x.center, near, far)
    y = x.applied(lambda _: f, slope, curvature).rounded(4)
    return y.wider((6 * x.unit + 2.0**-46) * x.magnitude())  # cancellation in f adds an error relative to x


def _relu(x: AffineForm) -> AffineForm:
    lower, upper = x.lower(), x.upper()
    slope = np.where(lower >= 0, 1.0, np.where(upper <= 0, 0.0, upper / np.maximum(upper - lower, 1e-300)))
    gap = np.where((lower < 0) & (upper > 0), -slope * lower / 2, 0.0)  # max(0, x) - slope x is in [0, 2 gap]
    bent = replace(x, center=slope * x.center + gap, slopes=x.slopes * slope[:, None], radius=slope * x.radius + gap)
    return bent.wider(float64_error(0) * x.magnitude())


# Each of these returns the function and its derivative at x, and a bound on |f''| where near <= |x| <= far.


def _gelu(x: Reals, near: Reals, far: Reals) -> tuple[Reals, Reals, Reals]:
    """For GELU, f'' = (2 - x^2) phi(x), which is at most 0.7979."""
    density, below = np.exp(-x * x / 2) / np.sqrt(2 * np.pi), (1 + erf(x / np.sqrt(2))) / 2
    most = np.maximum(np.abs(2 - near**2), np.abs(2 - far**2)) * np.exp(-near * near / 2) / np.sqrt(2 * np.pi)
    return x * below, below + x * density, np.minimum(0.7979, most * (1 + 1e-9) + 1e-12)


def _silu(x: Reals, near: Reals, far: Reals) -> tuple[Reals, Reals, Reals]:
    """For SiLU with the logistic s, f'' = s (1 - s) (2 + x (1 - 2 s)); x (1 - 2 s) <= 0, and |f''| <= 1/2."""
    s = expit(x)
    return x * s, s * (1 + x * (1 - s)), np.minimum(0.5, np.exp(-near) * np.maximum(2.0, far) * (1 + 1e-9) + 1e-12)


def _gelu_tanh(x: Reals, near: Reals, far: Reals) -> tuple[Reals, Reals, Reals]:
    """f = x s(w), w = 2 a (x + b x^3): f'' = 2 s' w' + x (s'' w'^2 + s' w''), |s''| <= s' <= e^-|w|; |f''| <= 0.81."""
    a, b = np.sqrt(2 / np.pi), 0.044715
    s, rate = expit(2 * a * (x + b * x**3)), 2 * a * (1 + 3 * b * x**2)
    most = 2 * a * (1 + 3 * b * far**2)
    bound = np.exp(-2 * a * (near + b * near**3)) * (2 * most + far * (most**2 + 12 * a * b * far))
    return x * s, s + x * s * (1 - s) * rate, np.minimum(0.81, bound * (1 + 1e-9) + 1e-12)


def fed(mlp: Mlp, x: AffineForm) -> AffineForm:
    """Applies an MLP."""
    up = chained(mlp.up, x)
    gated = activated(mlp.activation, up if mlp.gate is None else chained(mlp.gate, x))
    return chained(mlp.down, gated if mlp.gate is None else gated * up)


def finished(decoder: Decoder, x: AffineForm) -> AffineForm:
    """Maps the residual stream after the last layer's attention to the input of the head's last matrix."""
    layer = decoder.layers[-1]
    if layer.mlp is not None:
        x = x + fed(layer.mlp, normed(layer.mlp_norm, x))
    return chained(decoder.head[:-1], normed(decoder.final_norm, x))


def margins(decoder: Decoder, x: AffineForm, right: int, also: Collection[int] = ()) -> AffineForm:
    """Returns (n, other tokens): the right token's lead over each other logit; x is the output of `finished`.

    Args:
        also: other accepted tokens, which are left out of the comparison.
    """
    last, left = decoder.head[-1], [right, *also]
    weight = last.weight.astype(np.float64)
    best, others = weight[:, [right]], np.delete(weight, left, 1)
    bias = None if last.bias is None else last.bias.astype(np.float64)
    apart = None if bias is None else bias[right] - np.delete(bias, left)
    difference = replace(x, unit=0.0).linear(Linear(best - others, apart))
    size = x.magnitude() @ (np.abs(best) + np.abs(others))
    if bias is not None:
        size = size + np.abs(bias[right]) + np.abs(np.delete(bias, left))
    return replace(difference, unit=x.unit).wider(x.lost(len(weight) + 2, size, 4 * len(weight)))
