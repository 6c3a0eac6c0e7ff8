"""The worst error over many states, as a Gaussian field with the width law's covariance.

The first-order error of a network is the average of xi over its h/2 different hidden units, in all states and bits at
once. So one draw of the field is a normalized sum of xi over drawn units: its covariance between any two states and bits
is exactly the law's, and by the central limit theorem it is nearly Gaussian.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log, pi, sqrt

import numpy as np
from scipy import sparse

from bitwright.bits import BoolArray
from bitwright.theory.closed_form import FloatArray, Kind, diagonal, weights
from bitwright.theory.width_bias import scaled_bias

UNITS = 512  # hidden units in one draw of the field
_EULER = 0.5772156649015329


@dataclass(frozen=True, eq=False)
class Field:
    """Errors of zhat, times sqrt(h), of networks with a zero-output start."""

    matched: BoolArray  # (states, K without padding)
    labels: sparse.csr_array  # Y (K without padding, k)
    examples: int  # K
    own: BoolArray | None = None  # (states, k): bits that are looked at; None for all
    kind: Kind = "ntk"

    def draw(self, rng: np.random.Generator, units: int = UNITS) -> FloatArray:  # (states, k)
        """One draw, the bias included."""
        w0, gap, z, scale = self._by_state
        labels, c = self._labels, self._writers
        L, kappa = np.float32(diagonal(self.kind) + self.examples), np.float32(2 * pi / diagonal(self.kind))
        spare = self.examples - len(labels)  # padding: of it only sums over its examples are needed
        g = rng.standard_normal((units, len(labels)), dtype=np.float32)
        rest = rng.standard_normal((units, spare), dtype=np.float32)
        relu = np.maximum(g, 0)
        total = (relu.sum(axis=1) + np.maximum(rest, 0).sum(axis=1))[:, None]
        inside = self._indicator.T
        at = (g @ inside) * z  # g.x (units, states)
        weighted = w0 * total + gap * (relu @ inside)  # w.relu(g)
        field = (np.maximum(at, 0) - weighted).T @ (kappa * (relu @ labels - total * (c / L)))
        if self.kind == "ntk":
            v = rng.standard_normal((units, len(c)), dtype=np.float32)
            mean = (v @ c / L)[:, None]
            gates = kappa * (g > 0) * (v @ labels.T - mean)  # D_j (v.B_j)
            everywhere = gates.sum(axis=1, keepdims=True) - kappa * mean * (rest > 0).sum(axis=1, keepdims=True)
            gated = gates @ inside
            field += (((at > 0) * z - gap) * gated - w0 * everywhere).T @ v
        return np.asarray(field * (scale * sqrt(2 / units))[:, None] + self._bias)

    @cached_property
    def distance(self) -> FloatArray:  # (states, k)
        """How far zhat = m lies from the threshold 1/2; infinite for bits that are not looked at."""
        matching = self._indicator @ self._labels
        found = np.where(matching > 0, matching - 0.5, 0.5)
        return found if self.own is None else np.where(self.own, found, np.inf)

    @cached_property
    def _by_state(self) -> tuple[FloatArray, ...]:
        """w0, w1 - w0 and 1/sqrt(n), and what makes an error of zhat of one of the output: 0 where n <= 1."""
        n = np.count_nonzero(self.matched, axis=1)
        w, z = weights(n, self.examples, self.kind), 1 / np.sqrt(np.maximum(n, 1))
        scale = np.where(n > 1, 1 / np.where(n > 0, w.gap, 1), 0)
        return tuple(np.asarray(x, dtype=np.float32) for x in (w.unmatched, w.gap, z, scale))  # type: ignore[misc]

    @cached_property
    def _indicator(self) -> FloatArray:
        return self.matched.astype(np.float32)  # type: ignore[return-value]

    @cached_property
    def _labels(self) -> FloatArray:
        return self.labels.toarray().astype(np.float32)  # type: ignore[return-value]

    @cached_property
    def _writers(self) -> FloatArray:
        return self._labels.sum(axis=0)

    @cached_property
    def _bias(self) -> FloatArray | float:
        return scaled_bias(self.matched, self.labels, self.examples) if self.kind == "ntk" else 0.0


@dataclass(frozen=True)
class WorstError:
    """The largest error of a draw over all states and bits, times sqrt(h), in several draws of the field."""

    errors: FloatArray  # (draws,) of zhat
    needs: FloatArray  # (draws,) over the distance to the threshold: sqrt(h) must be above it

    @classmethod
    def of(cls, field: Field, draws: int, seed: int = 0, units: int = UNITS) -> WorstError:
        rng = np.random.default_rng(seed)
        found = [np.abs(field.draw(rng, units)) for _ in range(draws)]
        looked = np.isfinite(field.distance)
        errors = [float(np.max(part, where=looked, initial=0.0)) for part in found]
        return cls(np.array(errors), np.array([float((part / field.distance).max(initial=0.0)) for part in found]))

    def width(self, delta: float) -> float:
        """The width at which some bit of these states is wrong with probability delta.

        Maxima of Gaussian fields are close to Gumbel's law, which is taken with the mean and deviation of the draws.
        """
        scale = float(self.needs.std(ddof=1)) * sqrt(6) / pi
        return float(max(0.0, self.needs.mean() + scale * (-log(-log(1 - delta)) - _EULER)) ** 2)
