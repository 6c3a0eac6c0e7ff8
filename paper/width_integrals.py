"""The width law: how far one trained network of finite width is from its limit, without a fitted number.

A network with a zero-output start has h/2 different hidden units. To first order in the fluctuation of its kernel, its
output differs from the limit's mean by the average over them of independent variables xi, of mean 0 and variance V:

    xi_i = (relu(g.x) - w.relu(g)) (relu(g).B_i)  +  v_i sum_j [g_j > 0] ([g.x > 0] x_j - w_j) (v.B_j)

with g, v the unit's weights at the start, B = A^-1 Y, A the train kernel (times K) and w the limit's weights at x. On
our data V is a finite sum of Gaussian integrals. It depends on n, on the bit's c and m, and on five sums over all bits.
docs/explanation/theory.md derives it and says what is proved; the product draws the field itself
(bitwright/theory/width_plan.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError
from bitwright.theory.closed_form import FloatArray, Kind, check_matches, diagonal, variance, weights

_O = 1 / (2 * np.pi)  # E[h]^2
_MU = np.sqrt(_O)  # E[h]


class Integrals:
    """Gaussian integrals over one hidden unit, its weights g_j to the examples and its value at a state, by n >= 2.

    Write h_j = relu(g_j), D_j = [g_j > 0], t = sum_{j in S} g_j / sqrt(n) for the unit's value at a state that matches
    S, and H = relu(t), D = [t > 0]; j, l, m are different examples of S. Every expectation that the law needs is one of
    these numbers, in n alone (the correlation of t with each g_j in S is z = 1/sqrt(n)), or one of the `Moments`.
    """

    def __init__(self, n: FloatArray) -> None:
        z = 1 / np.sqrt(n)
        s, th, o = np.sqrt(1 - z**2), np.arcsin(z), _O
        # At n = 2, r and the arguments of asin lie on an end of their range, and rounding must not carry them over it.
        r = np.maximum(-(z**2) / s**2, -1.0)
        some = n > 2.5  # three different examples of S need n >= 3
        rest = np.where(some, 1 - 2 * z**2, 1.0)
        rho = np.maximum(-(z**2) / rest, -1.0)
        pa = 0.25 + o * np.arcsin(rho)
        pb = 0.25 + o * np.arcsin(np.minimum(z / np.sqrt(rest), 1.0))
        arc = o * (np.sqrt(1 - rho**2) + rho * (np.pi / 2 + np.arcsin(rho)))
        self.P2 = 0.25 + o * th  # E[D D_j]
        self.Q = 0.125 + o * th  # E[D D_j D_l]
        self.J11 = o * (s + z * (np.pi / 2 + th))  # E[H h_j]
        self.L1 = o * (s + z) / 2 + z * self.Q  # E[H h_j D_l]
        self.N1 = o * (1 + 2 * z * s) / 2  # E[D h_j h_l]
        self.t2 = self.P2 + o * z * s  # E[D h_j^2]
        self.D1 = _MU * (1 + z) / 2  # E[D h_j]
        left, right = 0.25 - o * np.arcsin(-r), 0.25 + o * np.arcsin(np.minimum(z / s, 1.0))
        self.DD = _MU * (z * left + right)  # E[D h_j D_l]
        self.J21 = _MU * (1 + z) ** 2 / 2  # E[H h_j^2]
        self.J22 = self.t2 + 2 * z * self.J11  # E[H^2 h_j^2]
        self.J13 = 2 * self.J11 + z * self.t2  # E[H h_j^3]
        self.J211 = self.N1 + 2 * z * self.L1  # E[H^2 h_j h_l]
        self.J121 = self.L1 + z * self.N1  # E[H h_j^2 h_l]
        self.T2 = self.Q + o * z * (1 - 2 * z**2) / (2 * s)  # E[D h_j^2 D_l]
        bow = o * (np.sqrt(1 - r**2) + r * (np.pi / 2 + np.arcsin(r)))
        self.J111 = _MU * s**2 * bow + 2 * z * self.DD  # E[H h_j h_l]
        self.H = np.where(some, o * (z * (2 - 3 * z**2) * pa / s + pb), 0.0)  # E[D h_j h_l D_m]
        F = o * s**3 * ((1 - r**2) * arc + 2 * r * (1 + 2 * r) * pa) + 3 * z * self.H
        self.F = np.where(some, F, 0.0)  # E[H h_j h_l h_m]


class Moments:
    """Of Ph = sum h_j, p = sum b_j h_j and d = sum b_j D_j over M independent examples with given sums of b and b^2."""

    def __init__(self, M: FloatArray, e1: FloatArray, e2: FloatArray) -> None:
        o, A = _O, e1**2 - e2  # A: the sum of b_j b_l over different j, l
        M1, M2, M3 = M - 1, M - 2, M - 3
        self.Ph, self.p, self.d = M * _MU, e1 * _MU, e1 / 2
        self.PhPh = M / 2 + M * M1 * o
        self.pp = e2 / 2 + A * o
        self.Php = e1 * (0.5 + M1 * o)
        self.PhPhp = e1 * _MU * (2 + 1.5 * M1 + M1 * M2 * o)
        self.Phpp = _MU * (e2 * (2 + M1 / 2) + A * (1 + M2 * o))
        different = A * (4 * o + 0.5 + 2.5 * M2 * o + M2 * M3 * o**2)
        self.PhPhpp = e2 * (1.5 + M1 * (4 * o + 0.25) + M1 * M2 * o / 2) + different
        self.pd = _MU * (e2 + A / 2)
        self.Phd = e1 * _MU * (M + 1) / 2
        self.Phpd = e2 / 2 + A * (0.25 + o) + M1 * e2 * o + A * M2 * o / 2


@dataclass(frozen=True)
class Sums:
    """Sums over all bits of a state: what the other bits add to the law of one, because v is shared by all of them."""

    matched: FloatArray  # sum m_i: bits written by the matched examples together
    matched_squared: FloatArray  # sum m_i^2
    crossed: FloatArray  # sum m_i c_i
    writes: float  # sum c_i
    writes_squared: float  # sum c_i^2

    @classmethod
    def of(cls, matching: ArrayLike, writers: ArrayLike) -> Sums:
        """From m (states, k) and c (k,); each array has one entry a state, with an axis left for bits."""
        m, c = np.asarray(matching, dtype=np.float64), np.asarray(writers, dtype=np.float64)
        return cls(
            m.sum(axis=-1, keepdims=True),
            (m**2).sum(axis=-1, keepdims=True),
            (m @ c)[..., None],
            float(c.sum()),
            float(c @ c),
        )

    @classmethod
    def none(cls) -> Sums:
        """As if no bit were written: for what one bit has of its own."""
        return cls(np.zeros(1), np.zeros(1), np.zeros(1), 0.0, 0.0)


def unit_variance(
    n: ArrayLike, matching: ArrayLike, writers: ArrayLike, examples: int, sums: Sums, kind: Kind = "ntk"
) -> FloatArray:
    """V, the variance that one hidden unit brings to a bit with m of its c writers matched, in a state with n matches.

    0 for n <= 1, where the limit and every trained network have the label itself.

    >>> sums = Sums.of([[1, 1, 0, 0]], [1, 1, 1, 1])  # a permutation of four bits, two of them on
    >>> unit_variance(2, [1, 0], 1, 4, sums).round(3)
    array([[0.327, 0.138]])
    """
    n = check_matches(n, examples)
    m, c = np.asarray(matching, dtype=np.float64), np.asarray(writers, dtype=np.float64)
    if not np.all((m >= 0) & (m <= np.minimum(n, c)) & (c - m <= examples - n)):
        raise InputError("of a bit's c writers m match: m is at most n and c, and c - m at most the other K - n")
    a, few = diagonal(kind), n <= 1
    safe = np.where(few, 2.0, n)
    with np.errstate(invalid="ignore"):
        found = _Terms(safe, m, c, max(examples, 2), a, kind)
        V = found.own()
        if kind == "ntk":
            V = V + 2 * found.crossed() + 2 * found.gates_of_bit() + found.gates_of_all(sums)
    return np.where(few, 0.0, np.maximum(V, 0.0))


def gate_coefficients(
    n: ArrayLike, examples: int, writes: float, writes_squared: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """What all bits add to V (both layers trained) is linear in a state's sums: constant, sum m, sum m c, sum m^2."""
    n = check_matches(n, examples)
    zero, one = np.zeros(()), np.ones(())
    terms = _Terms(np.maximum(n, 2.0), zero, zero, max(examples, 2), diagonal("ntk"), "ntk")
    constant = terms.gates_of_all(Sums(zero, zero, zero, writes, writes_squared))
    matched = terms.gates_of_all(Sums(one, zero, zero, 0.0, 0.0))
    squared = terms.gates_of_all(Sums(zero, one, zero, 0.0, 0.0))
    return constant, matched, terms.gates_of_all(Sums(zero, zero, one, 0.0, 0.0)), squared


class _Terms:
    """The parts of V, named as in docs/explanation/theory.md."""

    def __init__(self, n: FloatArray, m: FloatArray, c: FloatArray, K: int, a: float, kind: Kind) -> None:
        self.n, self.K, self.L, self.kappa = n, K, a + K, 2 * np.pi / a
        self.z, self.i, w = 1 / np.sqrt(n), Integrals(n), weights(n, K, kind)
        self.w1, self.w0 = w.matched, w.unmatched
        b1, b0 = self.kappa * (1 - c / self.L), -self.kappa * c / self.L  # B_ji of writers, and of the others
        rest = K - n
        self.e1, self.e2 = m * b1 + (n - m) * b0, m * b1**2 + (n - m) * b0**2  # sums over S
        self.f1, self.f2 = (c - m) * b1 + (rest - c + m) * b0, (c - m) * b1**2 + (rest - c + m) * b0**2  # and off it
        self.A = self.e1**2 - self.e2
        self.S, self.T = Moments(n, self.e1, self.e2), Moments(rest, self.f1, self.f2)
        i, w1, S = self.i, self.w1, self.S
        self.q = _MU - w1 * S.Ph  # q is relu(g.x) - w1 sum_S relu(g_j)
        self.qp = self.e1 * i.J11 - w1 * S.Php

    def own(self) -> FloatArray:
        """X: the last layer's part, the variance of (relu(g.x) - w.relu(g)) (relu(g).B_i)."""
        i, S, T, n, w1, w0, e1, e2, A = self.i, self.S, self.T, self.n, self.w1, self.w0, self.e1, self.e2, self.A
        qq = 0.5 - 2 * w1 * n * i.J11 + w1**2 * S.PhPh
        qpp = e2 * i.J21 + A * i.J111 - w1 * S.Phpp
        qqp = e1 * (i.J21 - 2 * w1 * (i.J21 + (n - 1) * i.J111)) + w1**2 * S.PhPhp
        mixed = e2 * i.J13 + (2 * A + (n - 1) * e2) * i.J121 + A * (n - 2) * i.F
        qqpp = e2 * i.J22 + A * i.J211 - 2 * w1 * mixed + w1**2 * S.PhPhpp
        return np.asarray(
            qqpp
            + 2 * qqp * T.p
            + qq * T.pp
            - 2 * w0 * (qpp * T.Ph + 2 * self.qp * T.Php + self.q * T.Phpp)
            + w0**2 * (S.pp * T.PhPh + 2 * S.p * T.PhPhp + T.PhPhpp)
        )

    def crossed(self) -> FloatArray:
        """Y: the covariance of both layers' parts, in which v_i^2 has mean 1."""
        i, S, T, n, z, w1, w0 = self.i, self.S, self.T, self.n, self.z, self.w1, self.w0
        e1, e2, A = self.e1, self.e2, self.A
        sg = e1 * (z * i.P2 - w1 / 2)
        psg = e2 * (z * i.D1 - w1 * _MU) + A * (z * i.DD - w1 * _MU / 2)
        qsg = (z - w1) * e1 * i.D1 - w1 * z * e1 * (i.D1 + (n - 1) * i.DD) + w1**2 * S.Phd
        inner = e2 * i.t2 + A * (i.T2 + i.N1) + (n - 1) * e2 * i.N1 + A * (n - 2) * i.H
        qpsg = (z - w1) * (e2 * i.J11 + A * i.L1) - w1 * z * inner + w1**2 * S.Phpd
        return np.asarray(
            qpsg
            - w0 * (self.qp * T.d + self.q * T.pd + T.Ph * psg + T.Php * sg)
            + qsg * T.p
            + w0**2 * (T.Phd * S.p + T.Phpd)
        )

    def gates_of_bit(self) -> FloatArray:
        """G of the bit alone: it counts twice more, because v_i^4 has mean 3."""
        return self._gates(self.e2, self.f2, self.e1**2, self.e1 * self.f1, self.f1**2)

    def gates_of_all(self, sums: Sums) -> FloatArray:
        """G_all: the first layer's part, over all bits; kappa^2 times sums of (m - n c/L) and (c - K c/L)."""
        n, K, L = self.n, self.K, self.L
        m2, mc, c2 = sums.matched_squared, sums.crossed, sums.writes_squared
        left = (L - K) / L  # 1 - K/L without cancellation
        trS = sums.matched - 2 * mc / L + n * c2 / L**2
        trK = sums.writes - 2 * c2 / L + K * c2 / L**2
        SS = m2 - 2 * n * mc / L + n**2 * c2 / L**2
        SK, KK = (mc - n * c2 / L) * left, c2 * left**2
        return self.kappa**2 * self._gates(trS, trK - trS, SS, SK - SS, KK - 2 * SK + SS)

    def _gates(self, trS: FloatArray, trT: FloatArray, SS: FloatArray, ST: FloatArray, TT: FloatArray) -> FloatArray:
        i, z, w1, w0 = self.i, self.z, self.w1, self.w0
        edge = z**2 - 2 * z * w1
        return np.asarray(
            trS * (edge * i.P2 + w1**2 / 2)
            + (SS - trS) * (edge * i.Q + w1**2 / 4)
            - 2 * ST * w0 * (z * i.P2 / 2 - w1 / 4)
            + w0**2 * (trT + TT) / 4
        )


def spread(
    n: ArrayLike,
    matching: ArrayLike,
    writers: ArrayLike,
    examples: int,
    sums: Sums,
    width: int,
    *,
    networks: int = 1,
    start: str = "zero",
    kind: Kind = "ntk",
) -> FloatArray:
    """The standard deviation of zhat, the calibrated estimate of m, for a network or the mean of several.

    zero: hidden units come in pairs, so the variance is 2 V/h; there is also a bias (theory.width_field), which
    stays when networks are averaged. random: the start itself decides, sigma^2 of the limit; the width adds terms of
    order 1/h to it, which are left out.
    """
    if width < 1 or networks < 1:
        raise InputError(f"a width and a number of networks are at least 1, got {width} and {networks}")
    if start not in ("zero", "random"):
        raise InputError(f"there is no start '{shorten(start)}'; choose zero or random")
    n = check_matches(n, examples)
    w = weights(n, examples, kind)
    gap = np.where(n > 0, w.gap, 1.0)
    shape = np.broadcast(n, np.asarray(matching), np.asarray(writers), sums.matched).shape
    if start == "random":
        return np.broadcast_to(np.sqrt(variance(n, examples, kind) / networks) / gap, shape)
    V = unit_variance(n, matching, writers, examples, sums, kind)
    return np.asarray(np.sqrt(2 * V / (width * networks)) / gap)
