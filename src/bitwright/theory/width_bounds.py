"""The width that covers all states by the union over them: sixteen times the largest V/(w1 - w0)^2, times a logarithm.

V is bounded over everything that can occur in a region: for every n the sums over all bits are at most what the n
blocks that bring most can bring, and a bit's m lies between its fewest and its most writers that can match together.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray, Kind, weights
from bitwright.theory.ensemble import check_delta
from bitwright.theory.width import Sums, gate_coefficients, unit_variance
from bitwright.theory.width_regions import Region

_MOST = 200_000  # situations that are evaluated
_ENTRIES = 20_000_000  # templates times values of n


@dataclass(frozen=True)
class WorstSpread:
    """The situation in which a bit is most easily wrong, and its V/(w1 - w0)^2, by (2m - 1)^2 where m >= 2."""

    ratio: float
    n: int
    matching: int  # m
    writers: int  # c


def worst_spread(region: Region, examples: int, kind: Kind = "ntk") -> WorstSpread:
    """The largest ratio over what can occur; 0 where no state matches two examples."""
    program = region.program
    block, blocks = region.block_of, len(region.optional)
    writes = _writes(region)
    c = program.writers
    often, always = _by_bit(region, writes)
    full = int(np.count_nonzero(~region.optional))
    n = np.arange(max(2, full), blocks + 1)
    classes = np.unique(np.stack((c, always, often), axis=1)[region.own], axis=0)
    few = max(2, min(_MOST // (4 * max(1, len(classes))), _ENTRIES // max(1, len(block))))
    if len(n) > few:  # then a grid, both ends included
        n = np.unique(np.geomspace(n[0], n[-1], few).round().astype(np.int64))
    if not len(n) or not len(classes):
        return WorstSpread(0.0, 0, 0, 0)
    others = _largest_sums(region, writes, often, n, examples, kind)
    gap = weights(n, examples, kind).gap
    worst = WorstSpread(0.0, 0, 0, 0)
    for writers, least, most in classes.tolist():
        for m in sorted({least, max(least, 1), max(least, 1) + 1, most}):
            can = (m <= np.minimum(n, most)) & (writers - m <= examples - n)
            if not can.any():
                continue
            own = unit_variance(n[can], m, writers, examples, Sums.none(), kind)
            ratio = (own + others[can]) / (gap[can] * max(1, 2 * m - 1)) ** 2
            at = int(np.argmax(ratio))
            if ratio[at] > worst.ratio:
                worst = WorstSpread(float(ratio[at]), int(n[can][at]), m, writers)
    return worst


def covering_width(ratio: float, log_events: float, delta: float, bias: float = 0.0) -> float:
    """h with 2 exp(-h/(16 ratio)) exp(log_events) <= delta; events are states times bits.

    A bias b of zhat towards the threshold, over the distance and times sqrt(h), makes that sqrt(h) >= b + ...
    """
    check_delta(delta)
    return float((max(0.0, bias) + np.sqrt(16 * ratio * max(0.0, log(2 / delta) + log_events))) ** 2)


def _writes(region: Region) -> tuple[IntArray, IntArray]:
    """Template, counted from the region's first, and bit of every write."""
    program = region.program
    first, last = region.templates.start, region.templates.stop
    owner = np.repeat(np.arange(program.templates), np.diff(program.write_start))
    mine = (owner >= first) & (owner < last)
    return owner[mine] - first, program.write_bits[mine]


def _by_bit(region: Region, writes: tuple[IntArray, IntArray]) -> tuple[IntArray, IntArray]:
    """For every bit how many blocks can write it, the largest m, and how many always do, the least."""
    bits, block = region.program.bits, region.block_of
    pairs, times = np.unique(block[writes[0]] * bits + writes[1], return_counts=True)
    templates = np.bincount(block, minlength=len(region.optional))
    owner = pairs // bits
    forced = (times == templates[owner]) & ~region.optional[owner]
    return np.bincount(pairs % bits, minlength=bits), np.bincount(pairs[forced] % bits, minlength=bits)


def _largest_sums(
    region: Region, writes: tuple[IntArray, IntArray], often: IntArray, n: IntArray, examples: int, kind: Kind
) -> FloatArray:
    """A bound on what all bits add to V (G_all), for every n.

    G_all is linear in sum m, sum m c and sum m^2. The last is at most sum m often, so each template has a share, and no
    state has more than the best template of n blocks, the full ones among them.
    """
    if kind != "ntk":
        return np.zeros(len(n))
    c = region.program.writers.astype(np.float64)
    template, bit = writes
    count = len(region.block_of)
    shares = [np.bincount(template, weights=x[bit], minlength=count) for x in (np.ones(len(c)), c, often)]
    constant, matched, crossed, squared = gate_coefficients(n, examples, float(c.sum()), float(c @ c))
    optional = region.optional
    found = np.empty(len(n))
    starts = np.flatnonzero(np.diff(region.block_of, prepend=-1))
    for at, size in enumerate(n.tolist()):
        each = matched[at] * shares[0] + crossed[at] * shares[1] + max(0.0, squared[at]) * shares[2]
        best = np.maximum.reduceat(each, starts)
        more = np.sort(best[optional])[::-1][: size - int(np.count_nonzero(~optional))]
        found[at] = constant[at] + best[~optional].sum() + more.sum()
    return np.maximum(found, 0.0)
