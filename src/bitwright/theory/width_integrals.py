"""Gaussian integrals of the width law: over one hidden unit, its weights g_j to the examples and its value at a state.

Write h_j = relu(g_j), D_j = [g_j > 0], t = sum_{j in S} g_j / sqrt(n) for the unit's value at a state that matches S,
and H = relu(t), D = [t > 0]. Every expectation that the law needs is one of the numbers below, in n alone (the
correlation of t with each g_j in S is z = 1/sqrt(n)), or a moment of independent relus.
"""

from __future__ import annotations

import numpy as np

from bitwright.theory.closed_form import FloatArray

_O = 1 / (2 * np.pi)  # E[h]^2
_MU = np.sqrt(_O)  # E[h]


class Integrals:
    """By n >= 2. The indices j, l, m of the comments are different examples of S."""

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
