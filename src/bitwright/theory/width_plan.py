"""Estimates the width that a single network needs by sampling the width law, without training.

The first-order error of a network, in all states and bits at once, is the average of xi over its h/2 distinct hidden
units. A draw of the field is therefore a normalized sum of xi over drawn units. Its covariance between any two states
and bits equals that of the law, and it is nearly Gaussian by the central limit theorem.

The bias has the same order in h as the spread, because a unit that dies on an example never recovers. In units of zhat,
times sqrt(h), for small steps and c far below K:

    bias_i = sqrt(K) / (w1 - w0) [ sum_j w_j eps_ji - 1/(2 sqrt n) sum_{j in S} eps_ji ]

where eps_ji = B_ji |B_j| / (2 pi) and |B_j| is the norm of row j of B. Unlike the spread, averaging networks does not
reduce it. In every program we examined, it raises set bits and lowers unset ones, away from the threshold.

The width must suffice for regions of states: the local states of each kind of cell in a pattern, or the entire state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil, log, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray
from bitwright.common.workers.linear_algebra import one_thread
from bitwright.rules import Program
from bitwright.rules.pattern import Pattern
from bitwright.theory.closed_form import FloatArray, Kind, diagonal, weights


@one_thread()
def scaled_bias(matched: BoolArray, labels: FloatArray, examples: int) -> FloatArray:  # (states, k)
    """Returns sqrt(h) times the bias of zhat; `matched` is (states, K without padding) and Y is (K, k)."""
    n = np.count_nonzero(matched, axis=1)
    w = weights(n, examples)
    c = labels.sum(axis=0)
    a = diagonal("ntk")
    L, kappa = a + examples, 2 * np.pi / a
    squares = labels.sum(axis=1) - 2 * (labels @ c) / L + c @ c / L**2
    norms = kappa * np.sqrt(np.maximum(squares, 0))  # |B_j|
    spare = (examples - len(norms)) * kappa * np.sqrt(c @ c) / L  # from padding, whose rows of Y are zero
    inside = kappa * (((matched * norms) @ labels) - np.outer(matched @ norms, c / L))  # sum over S of B_ji |B_j|
    everywhere = kappa * (norms @ labels - (norms.sum() + spare) * c / L)
    edge = w.gap - 0.5 / np.sqrt(np.maximum(n, 1))
    found = w.unmatched[:, None] * everywhere + edge[:, None] * inside
    found *= np.sqrt(examples) / (2 * np.pi * np.where(n > 0, w.gap, 1))[:, None]
    return np.where(n[:, None] > 1, found, 0.0)


Float32 = NDArray[np.float32]
UNITS = 512  # hidden units in one draw of the field


class Draw:
    """One draw of the field: untrained hidden units and their outputs on the training set."""

    def __init__(self, field: WidthField, rng: np.random.Generator, units: int) -> None:
        labels, c, kappa = field.labels, field.labels.sum(axis=0), np.float32(2 * pi / diagonal(field.kind))
        share = c / np.float32(diagonal(field.kind) + field.examples)  # c/L
        self.g = rng.standard_normal((units, len(labels)), dtype=np.float32)
        rest = rng.standard_normal((units, field.examples - len(labels)), dtype=np.float32)  # to padding
        self.relu = np.maximum(self.g, 0)
        self.total = (self.relu.sum(axis=1) + np.maximum(rest, 0).sum(axis=1))[:, None]
        self.along = kappa * (self.relu @ labels - self.total * share)  # relu(g).B (units, k)
        self.v = rng.standard_normal((units, len(c)), dtype=np.float32)
        mean = (self.v @ share)[:, None]
        self.gates = kappa * (self.g > 0) * (self.v @ labels.T - mean)  # [g_j > 0] (v.B_j) (units, K)
        padded = kappa * mean * np.count_nonzero(rest > 0, axis=1)[:, None]
        self.gates_total = self.gates.sum(axis=1, keepdims=True) - padded


@dataclass(frozen=True, eq=False)
class WidthField:
    """Errors of zhat, times sqrt(h), of networks with a zero-output start trained on these labels."""

    program: Program
    examples: int  # K
    kind: Kind = "ntk"

    @cached_property
    def labels(self) -> Float32:  # Y (K without padding, k)
        return self.program.write_matrix.astype(np.float32)

    def draw(self, rng: np.random.Generator, units: int = UNITS) -> Draw:
        return Draw(self, rng, units)

    def errors(self, draw: Draw, matched: BoolArray) -> FloatArray:  # (states, K without padding) -> (states, k)
        """Returns sqrt(h) (zhat - m), including the bias, in states with these matches; 0 where n <= 1."""
        n = np.count_nonzero(matched, axis=1)
        w = weights(n, self.examples, self.kind)
        w0, gap, z = (x.astype(np.float32) for x in (w.unmatched, w.gap, 1 / np.sqrt(np.maximum(n, 1))))
        inside = matched.astype(np.float32).T
        at = (draw.g @ inside) * z  # g.x (units, states)
        found = (np.maximum(at, 0) - w0 * draw.total - gap * (draw.relu @ inside)).T @ draw.along
        if self.kind == "ntk":
            found += (((at > 0) * z - gap) * (draw.gates @ inside) - w0 * draw.gates_total).T @ draw.v
        scale = np.where(n > 1, sqrt(2 / len(draw.g)) / np.where(n > 0, w.gap, 1), 0.0)
        errors = found * scale[:, None]
        if self.kind == "ntk":
            errors += scaled_bias(matched, self.program.write_matrix, self.examples)
        return np.asarray(errors)

    def distance(self, matched: BoolArray) -> FloatArray:  # (states, k)
        """Returns the error that moves zhat = m to the threshold 1/2: up for unset bits, down for set ones."""
        m = matched.astype(np.float32) @ self.labels
        return np.asarray(0.5 - m, dtype=np.float64)

    def needs(self, draw: Draw, matched: BoolArray, own: BoolArray) -> FloatArray:  # (states,)
        """Returns the largest error of each state towards the threshold, over the distance to it, in these bits."""
        found = self.errors(draw, matched)[:, own] / self.distance(matched)[:, own]
        return np.asarray(found.max(axis=1, initial=0.0))


@one_thread()
def worst_needs(
    field: WidthField, places: Sequence[tuple[BoolArray, BoolArray]], *, draws: int, units: int, seed: int = 0
) -> FloatArray:  # (draws,)
    """Returns, for draws of the field, the largest error towards the threshold over the distance to it.

    `places` lists the matches of states (states, K) and the bits to check (k,). These are in units of zhat times
    sqrt(h), so sqrt(h) must be larger.
    """
    rng, needs = np.random.default_rng([seed, 1]), np.zeros(draws)
    for number in range(draws):
        draw = field.draw(rng, units)
        needs[number] = max(float(field.needs(draw, *place).max(initial=0.0)) for place in places)
    return needs


def rounded(width: float, least: int, most: int) -> int:
    """Returns the next power of two, limited to this range."""
    return min(most, max(least, 1 << max(0, ceil(width) - 1).bit_length()))


class Region:
    """All local states of one kind of cell in a pattern; only the ports of this kind are checked."""

    def __init__(self, pattern: Pattern, kind: int = 0) -> None:
        self.program, self.local, self.templates = pattern.program, pattern.local[kind], pattern.templates_of(kind)
        self.own = np.zeros(self.program.bits, dtype=bool)  # (k,) which bits are checked
        self.own[pattern.port_bits(kind)] = True
        self.optional = np.array([len(configs) < 1 << bits for bits, configs in self.local.kind.blocks], dtype=bool)
        self.log_states = float(np.log(self.local.radix).sum())  # ln of the number of states

    def sample(self, count: int, rng: np.random.Generator) -> BoolArray:  # (states, K)
        """Returns all states if there are at most `count`, otherwise random ones.

        Half of these are uniform. In the other half, each state has its own probability that a block matches, so that
        states with few and with many matches are included.
        """
        if self.log_states < log(count) + 1e-9:
            return self.placed(self.local.matched(np.arange(self.local.count)))
        radix, spare = self.local.radix, self.optional.astype(np.int64)
        digits = np.floor(rng.random((count, len(radix))) * radix).astype(np.int64)
        half = count // 2
        some = spare + np.floor(rng.random((half, len(radix))) * (radix - spare)).astype(np.int64)
        nothing = (rng.random((half, len(radix))) > rng.random((half, 1))) & self.optional
        digits[:half] = np.where(nothing, 0, some)
        return self.placed(self.local.matching(digits))

    def placed(self, local: BoolArray) -> BoolArray:  # (states, own templates) -> (states, K)
        """Returns matches of the kind's own templates as matches of all templates."""
        found = np.zeros((len(local), self.program.templates), dtype=bool)
        found[:, self.templates] = local
        return found


def regions_of(pattern: Pattern) -> list[Region]:
    """Returns the local states of every kind."""
    return [Region(pattern, kind) for kind in range(len(pattern.kinds))]
