"""The sums G of an integer network, exactly, by matrix products of floating-point numbers.

A sum of integers is exact in floating point, in whatever order it is taken, while no part of it can reach 2^24
(float32) or 2^53 (float64). What can be reached follows from the weights (`Bounds`), so hidden units are added up in
groups that stay below, and the groups in int64.
"""

from __future__ import annotations

import numpy as np

from bitwright.bits import BoolArray
from bitwright.errors import InputError
from bitwright.networks.integer import Bounds, IntegerNetwork, check_belongs
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.theory.rounding import Rounding
from bitwright.workers.linear_algebra import one_thread

_EXACT = {"float32": 1 << 24, "float64": 1 << 53}
_ROOM = 1 << 62  # what sums and thresholds may reach together, so that their difference fits an int64
_UNITS, _MOST_UNITS = 32, 512  # hidden units that are looked at together; the most in a group
_STATES = 512  # states whose hidden values of a group are kept at a time
_FEW = 8  # up to this many states, it pays to leave out the examples that none of them matches


class ExactSums:
    """G of many states at once."""

    def __init__(self, network: IntegerNetwork, program: Program) -> None:
        check_belongs(network, program)
        self.network, self.bounds = network, checked_bounds(network, program)
        self.arithmetic, self._groups = _groups(network, self.bounds)
        self._first = np.ascontiguousarray(network.first.T.astype(self.arithmetic))  # (K, width)
        self._last = np.ascontiguousarray(network.last.T.astype(self.arithmetic))  # (width, k)

    def __call__(self, matched: BoolArray) -> IntArray:  # (batch, K) -> (batch, k)
        """The sums for states that match these examples, in one thread."""
        with one_thread():
            return self.products(matched)

    def products(self, matched: BoolArray) -> IntArray:
        """The same, in as many threads as the linear algebra has."""
        sums = np.zeros((len(matched), self._last.shape[1]), dtype=np.int64)
        for at in range(0, len(matched), _STATES):
            encoded, first = matched[at : at + _STATES].astype(self._first.dtype), self._first
            if len(encoded) <= _FEW:
                used = encoded.any(axis=0)
                encoded, first = encoded[:, used], first[used]
            for group in self._groups:
                hidden = encoded @ first[:, group]
                np.maximum(hidden, 0, out=hidden)
                sums[at : at + _STATES] += (hidden @ self._last[group]).astype(np.int64)
        return sums


def checked_bounds(network: IntegerNetwork, program: Program) -> Bounds:
    """The bounds, if sums and thresholds fit 64 bits; else an InputError."""
    bounds = Bounds.of(network, program)
    if bounds.sums + bounds.thresholds >= _ROOM:
        raise InputError(
            f"sums up to {bounds.sums:,} and thresholds up to {bounds.thresholds:,} do not fit 64 bits; "
            "this network cannot be run exactly"
        )
    return bounds


def _groups(network: IntegerNetwork, bounds: Bounds) -> tuple[str, list[slice]]:
    """Groups of hidden units whose share of every sum is exact, and the floating-point numbers that it is exact in."""
    width = len(bounds.hidden)
    terms = np.abs(network.last.astype(np.int64)) * bounds.hidden  # (k, width)
    starts = range(0, width, _UNITS)
    shares = np.stack([terms[:, at : at + _UNITS].sum(axis=1) for at in starts])  # (groups of units, k)
    largest = max(int(bounds.hidden.max(initial=0)), -bounds.lowest, int(shares.max(initial=0)))
    arithmetic = next((name for name, limit in _EXACT.items() if largest < limit), None)
    if arithmetic is None:
        raise InputError(f"sums of {_UNITS} hidden units reach {largest:,}, which no floating-point number holds")
    groups, first, share = [], 0, np.zeros(shares.shape[1], dtype=np.int64)
    for at, more in zip(starts, shares, strict=True):
        if at > first and (at - first >= _MOST_UNITS or (share + more).max() >= _EXACT[arithmetic]):
            groups.append(slice(first, at))
            first, share = at, np.zeros_like(share)
        share = share + more
    return arithmetic, [*groups, slice(first, width)]


def check_whole(rounding: Rounding) -> None:
    """Raises InputError for a rounding that integers cannot keep."""
    if rounding != "calibrated":
        raise InputError(
            "integer networks have calibrated thresholds; under sign the limit is exactly 0 where one example "
            "matches, and rounded weights would decide such bits by chance"
        )
