"""Weights on a grid on which float64 adds up exactly, so that no kernel, order or number of threads changes a sum."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from bitwright.networks.start import Float
from bitwright.theory.closed_form import FloatArray

_EXACT = 53  # bits of an integer that float64 holds


@dataclass(frozen=True, eq=False)
class Grid:
    """Weights as integers times a power of two, each off by half of it at most."""

    whole: FloatArray  # (rows, columns)
    unit: FloatArray  # (1,), or a power for each row

    @property
    def spread(self) -> float:
        """Their standard deviation, where they have one unit."""
        whole = self.whole.astype(np.int64)
        total, squares = int(whole.sum()), int((whole * whole).sum())
        return self.unit.item() * sqrt(whole.size * squares - total * total) / whole.size


def grids(first: Float, last: Float, most: int, by_output: bool = False) -> tuple[Grid, Grid]:
    """Both layers, (width, K) and (k, width), on the finest grids of equally many bits on which all sums over
    n <= `most` matches are exact; `by_output`, each row of the last layer on its own."""
    products = (_EXACT - (most * len(first)).bit_length()) // 2
    squares = (63 - max(first.size, last.size).bit_length()) // 2
    bits = min(products, squares)
    return _on_grid(first, bits, None), _on_grid(last, bits, 1 if by_output else None)


def _on_grid(layer: Float, bits: int, axis: int | None) -> Grid:
    largest = np.frexp(np.abs(layer).max(axis=axis, initial=0, keepdims=True))[1]  # every weight is below 2^largest
    whole = np.rint(np.ldexp(layer.astype(np.float64), bits - largest))
    return Grid(whole, np.ldexp(1.0, largest - bits).ravel())
