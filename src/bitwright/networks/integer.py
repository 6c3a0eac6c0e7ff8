"""Integer networks: no floating-point number decides a bit, so every machine computes the same bits.

A network's inputs are sums of examples, and relu(t x) = t relu(x) for t > 0. The scales 1/sqrt(n), 1/sqrt(K) and
1/sqrt(width) therefore move into the thresholds. In a state that matches the set S of examples, n = |S|,

    bit i  =  [n >= 1] and [G_i > T[n, c_i]],        G_i = sum_u B[u, i] relu(sum_{j in S} A[u, j])

with integers A and B of at most 8 bits, and a stored table T of integers by n and by the number of writers c.

Floating-point matrix products compute the sums G exactly. A sum of integers is exact in floating point, in any order,
if no part of it can reach 2^24 (float32) or 2^53 (float64). The weights bound these parts (`Bounds`), so hidden units
are added in groups that stay below the limit, and the groups are added in int64.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import sha256
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray
from bitwright.common.errors import InputError
from bitwright.common.frozen import frozen
from bitwright.common.workers.linear_algebra import one_thread
from bitwright.networks.descent import Float
from bitwright.networks.network import Origin, TwoLayers
from bitwright.rules import Program
from bitwright.rules.layout import IntArray
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.rounding import Scale, Thresholds, scale_weights

Int8 = NDArray[np.int8]
WEIGHT_BITS = range(2, 9)
_EXACT = 53  # bits of an exact integer in float64
_SLACK = 1e-9  # relative: thresholds are rounded down from float64


@dataclass(frozen=True)
class Rounded:
    """How trained weights were rounded. Files may claim anything here: no result and no report relies on it."""

    weight_bits: int
    scale_first: float  # A = round(w1 / scale_first)
    scale_last: float
    gain: float  # ratio of sums to what the scales imply, since clipping and rounding change weights
    sources: tuple[str, ...]  # the digest of the trained weights
    members: int = 1  # the same in every network file


@dataclass(frozen=True, eq=False)
class IntegerNetwork(TwoLayers):
    """Read-only integer weights and thresholds, with their origin.

    Padding examples are never matched, so they have no column.

    >>> from bitwright import addition, train
    >>> network = train(addition(2), tile="all", width=512).weights
    >>> network.first.dtype.name, network.bytes
    ('int8', 7264)
    """

    first: Int8 = field(repr=False)  # A (width, K without padding)
    last: Int8 = field(repr=False)  # B (k, width)
    thresholds: IntArray = field(repr=False)  # T (largest n, numbers of writers): row n - 1, column of c
    writers: tuple[int, ...]  # the distinct numbers of writers, ascending: the columns of T
    origin: Origin
    rounded: Rounded

    arithmetic = "integers"

    def __post_init__(self) -> None:
        self.freeze(first=(np.int8,), last=(np.int8,), thresholds=(np.int64,))
        if self.thresholds.shape[1] != len(self.writers) or list(self.writers) != sorted(set(self.writers)):
            raise InputError(f"thresholds of shape {self.thresholds.shape} need as many different, ascending writers")

    @property
    def examples(self) -> int:
        """K with padding."""
        return int(self.first.shape[1]) + self.origin.padding

    @property
    def kind(self) -> Scale:
        """The scale of the sums for which its thresholds were rounded."""
        return self.origin.scale

    @cached_property
    def weight_bits(self) -> int:
        """The smallest number of bits, from 2 on, that holds every weight in two's complement."""
        layers = (self.first, self.last)
        low, high = min(int(a.min(initial=0)) for a in layers), max(int(a.max(initial=0)) for a in layers)
        return max(2, 1 + max(high.bit_length(), (~low).bit_length()))

    @property
    def bytes(self) -> int:
        """The size of its two layers and thresholds in bytes."""
        return self.first.nbytes + self.last.nbytes + self.thresholds.nbytes

    @cached_property
    def digest(self) -> str:
        """The sha256 of everything that determines the network, and of its origin."""
        about = {
            **self.origin.document(),
            **asdict(self.rounded),
            "writers": self.writers,
            "shape": asdict(self.shape),
            "tensors": self.tensors_sha256,
        }
        return sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()

    @cached_property
    def scale(self) -> FloatArray:  # (largest n,)
        """The sum G that corresponds to an output of 1, by n - 1, derived from T = floor(t f sqrt(n)) with
        t = c w0 + (w1 - w0)/2 and a common f. This is the largest such f, so no margin is overstated. If there is
        none, the thresholds were made differently, and this is the largest f that any of them suggests.
        """
        n = np.arange(1, len(self.thresholds) + 1)
        T = self.thresholds.astype(np.float64)
        at = Thresholds.of("calibrated", n, np.array(self.writers), self.examples, self.kind).at * np.sqrt(n)[:, None]
        T, at = T[at != 0], at[at != 0]
        ends = np.sort([T / at, (T + 1) / at], axis=0)  # f lies between them
        least, most = ends[0].max(initial=0), ends[1].min(initial=np.inf)
        if not 0 < most < np.inf or least > most * (1 + _SLACK):
            most = ((np.abs(T) + 1) / np.abs(at)).max(initial=1)
        return frozen(most * np.sqrt(n))

    @cached_property
    def units(self) -> FloatArray:  # (largest n,)
        """The change of G when the estimate of a bit's matches changes by 1, by n - 1: the unit of margins."""
        n = np.arange(1, len(self.thresholds) + 1)
        return frozen(scale_weights(n, self.examples, self.kind).gap * self.scale)


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds for all states of a program from the weights alone; a block matches at most one example."""

    hidden: IntArray  # (width,) the largest value of each hidden unit, after the relu
    lowest: int  # of any hidden unit before the relu
    sums: int  # of |G|, in any order of summation
    thresholds: int  # of |T|

    @classmethod
    def of(cls, network: IntegerNetwork, program: Program) -> Bounds:
        first = network.first.astype(np.int64)
        starts = np.flatnonzero(np.diff(program.template_block, prepend=-1))  # templates come block by block
        if len(starts):
            hidden = np.maximum(np.maximum.reduceat(first, starts, axis=1), 0).sum(axis=1)
            lowest = int(np.minimum(np.minimum.reduceat(first, starts, axis=1), 0).sum(axis=1).min())
        else:
            hidden, lowest = np.zeros(len(first), dtype=np.int64), 0
        sums = np.abs(network.last.astype(np.int64)) @ hidden  # below 2^7 * 2^7 * K * width, far from 2^63
        # Python's abs, since the least int64 has no absolute value in int64
        extremes = (int(network.thresholds.min(initial=0)), int(network.thresholds.max(initial=0)))
        return cls(hidden, lowest, int(sums.max(initial=0)), max(map(abs, extremes)))


def check_belongs(network: IntegerNetwork, program: Program) -> None:
    """Raises InputError unless the network was made for this program and has thresholds for all its states."""
    if network.origin.program_id != program.id:
        found, own = network.origin.program_id[:13], program.id[:13]
        raise InputError(f"this network is for another program: its id is {found}..., this program's is {own}...")
    blocks = most_matches(program)
    fits = network.first.shape[1] == program.templates and network.last.shape[0] == program.bits
    if not fits or network.thresholds.shape[0] != blocks or network.writers != writer_numbers(program):
        raise InputError("the shapes of this network's weights and thresholds do not fit the program")


def most_matches(program: Program) -> int:
    """Returns the largest n: one match in each block with templates."""
    return len(np.unique(program.template_block))


def writer_numbers(program: Program) -> tuple[int, ...]:
    """Returns the distinct writer counts of a program's bits, in ascending order."""
    return tuple(np.unique(program.writers).tolist())


def columns_of(network: IntegerNetwork, program: Program) -> IntArray:  # (k,)
    """Returns the column of T for each bit."""
    return np.searchsorted(np.array(network.writers), program.writers)


def decide_bits(
    sums: IntArray,  # (batch, k)
    matches: IntArray,  # (batch,)
    network: IntegerNetwork,
    columns: IntArray,  # (k,)
) -> tuple[BoolArray, IntArray]:  # (batch, k), (batch, k)
    """Returns the next states, and each sum's distance from the opposite decision: G - T if set, otherwise T + 1 - G.

    If nothing matches, the next state is all zero regardless of the sums, and there is no distance.
    """
    table = network.thresholds[np.maximum(matches, 1) - 1]  # (batch, columns)
    over = sums - table[:, columns]
    bits = (over > 0) & (matches > 0)[:, None]
    return bits, np.where(over > 0, over, 1 - over)


@dataclass(frozen=True, eq=False)
class Grid:
    """Weights as integers times a power of two, with an error of at most half of it.

    On the grid float64 adds exactly, so no kernel, order or number of threads changes a sum.
    """

    whole: FloatArray  # (rows, columns)
    unit: float

    @property
    def spread(self) -> float:
        """Their standard deviation."""
        whole = self.whole.astype(np.int64)
        total, squares = int(whole.sum()), int((whole * whole).sum())
        return self.unit * sqrt(whole.size * squares - total * total) / whole.size


def grids(first: Float, last: Float, most: int) -> tuple[Grid, Grid]:
    """Returns both layers, (width, K) and (k, width), on the finest grids of equally many bits where all sums over
    n <= `most` matches are exact."""
    products = (_EXACT - (most * len(first)).bit_length()) // 2
    squares = (63 - max(first.size, last.size).bit_length()) // 2
    bits = min(products, squares)
    return _on_grid(first, bits), _on_grid(last, bits)


def _on_grid(layer: Float, bits: int) -> Grid:
    largest = int(np.frexp(np.abs(layer).max(initial=0))[1])  # every weight is below 2^largest
    whole = np.rint(np.ldexp(layer.astype(np.float64), bits - largest))
    return Grid(whole, float(np.ldexp(1.0, largest - bits)))


_EXACT_IN = {"float32": 1 << 24, "float64": 1 << 53}
_ROOM = 1 << 62  # bound on sums plus thresholds, so that their difference fits an int64
_UNITS, _MOST_UNITS = 32, 512  # hidden units examined together; the most in a group
_STATES = 512  # states with hidden values in memory at a time
_FEW = 8  # up to this many states, skipping unmatched examples is faster


class ExactSums:
    """G of many states at once."""

    def __init__(self, network: IntegerNetwork, program: Program) -> None:
        check_belongs(network, program)
        self.network, self.bounds = network, checked_bounds(network, program)
        self.arithmetic, self._groups = _groups(network, self.bounds)
        self._first = np.ascontiguousarray(network.first.T.astype(self.arithmetic))  # (K, width)
        self._last = np.ascontiguousarray(network.last.T.astype(self.arithmetic))  # (width, k)

    def __call__(self, matched: BoolArray) -> IntArray:  # (batch, K) -> (batch, k)
        """Returns the sums for states that match these examples, in one thread."""
        with one_thread():
            return self.products(matched)

    def products(self, matched: BoolArray) -> IntArray:
        """Returns the same sums, using the threads of the linear algebra library."""
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
    """Returns the bounds; raises InputError unless sums and thresholds fit 64 bits."""
    bounds = Bounds.of(network, program)
    if bounds.sums + bounds.thresholds >= _ROOM:
        raise InputError(
            f"sums up to {bounds.sums:,} and thresholds up to {bounds.thresholds:,} do not fit 64 bits; "
            "this network cannot be run exactly"
        )
    return bounds


def _groups(network: IntegerNetwork, bounds: Bounds) -> tuple[str, list[slice]]:
    """The floating-point type, and groups of hidden units whose contribution to each sum is exact in it."""
    width = len(bounds.hidden)
    terms = np.abs(network.last.astype(np.int64)) * bounds.hidden  # (k, width)
    starts = range(0, width, _UNITS)
    shares = np.stack([terms[:, at : at + _UNITS].sum(axis=1) for at in starts])  # (groups of units, k)
    largest = max(int(bounds.hidden.max(initial=0)), -bounds.lowest, int(shares.max(initial=0)))
    arithmetic = next((name for name, limit in _EXACT_IN.items() if largest < limit), None)
    if arithmetic is None:
        raise InputError(
            f"sums of {_UNITS} hidden units reach {largest:,}, which exceeds exact floating-point integers"
        )
    groups, first, share = [], 0, np.zeros(shares.shape[1], dtype=np.int64)
    for at, more in zip(starts, shares, strict=True):
        if at > first and (at - first >= _MOST_UNITS or (share + more).max() >= _EXACT_IN[arithmetic]):
            groups.append(slice(first, at))
            first, share = at, np.zeros_like(share)
        share = share + more
    return arithmetic, [*groups, slice(first, width)]
