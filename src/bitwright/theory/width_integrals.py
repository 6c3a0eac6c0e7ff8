"""Gaussian integrals of the width law: over one hidden unit, its weights g_j to the examples and its value at a state.

Write h_j = relu(g_j), D_j = [g_j > 0], t = sum_{j in S} g_j / sqrt(n) for the unit's value at a state that matches S,
and H = relu(t), D = [t > 0]. Every expectation that the law needs is one of the numbers below, in n alone (the
correlation of t with each g_j in S is z = 1/sqrt(n)), or a moment of independent relus.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bitwright.theory.closed_form import FloatArray

_O = 1 / (2 * np.pi)  # E[h]^2
_MU = np.sqrt(_O)  # E[h]


@dataclass(frozen=True)
class Integrals:
    """By n >= 2. The indices j, l, m of the comments are different examples of S."""

    P2: FloatArray  # E[D D_j]
    Q: FloatArray  # E[D D_j D_l]
    J11: FloatArray  # E[H h_j]
    L1: FloatArray  # E[H h_j D_l]
    N1: FloatArray  # E[D h_j h_l]
    t2: FloatArray  # E[D h_j^2]
    D1: FloatArray  # E[D h_j]
    DD: FloatArray  # E[D h_j D_l]
    J21: FloatArray  # E[H h_j^2]
    J22: FloatArray  # E[H^2 h_j^2]
    J13: FloatArray  # E[H h_j^3]
    J211: FloatArray  # E[H^2 h_j h_l]
    J121: FloatArray  # E[H h_j^2 h_l]
    T2: FloatArray  # E[D h_j^2 D_l]
    J111: FloatArray  # E[H h_j h_l]
    H: FloatArray  # E[D h_j h_l D_m]
    F: FloatArray  # E[H h_j h_l h_m]

    @classmethod
    def of(cls, n: FloatArray) -> Integrals:
        z = 1 / np.sqrt(n)
        s, th, o = np.sqrt(1 - z**2), np.arcsin(z), _O
        P2, Q = 0.25 + o * th, 0.125 + o * th
        J11 = o * (s + z * (np.pi / 2 + th))
        L1, N1 = o * (s + z) / 2 + z * Q, o * (1 + 2 * z * s) / 2
        t2 = P2 + o * z * s
        # At n = 2, r and the arguments of asin lie on an end of their range, and rounding must not carry them over it.
        r = np.maximum(-(z**2) / s**2, -1.0)
        DD = _MU * (z * (0.25 - o * np.arcsin(-r)) + 0.25 + o * np.arcsin(np.minimum(z / s, 1.0)))
        J111 = _MU * s**2 * o * (np.sqrt(1 - r**2) + r * (np.pi / 2 + np.arcsin(r))) + 2 * z * DD
        some = n > 2.5  # three different examples of S need n >= 3
        rest = np.where(some, 1 - 2 * z**2, 1.0)
        rho = np.maximum(-(z**2) / rest, -1.0)
        pa = 0.25 + o * np.arcsin(rho)
        pb = 0.25 + o * np.arcsin(np.minimum(z / np.sqrt(rest), 1.0))
        H = np.where(some, o * (z * (2 - 3 * z**2) * pa / s + pb), 0.0)
        arc = o * (np.sqrt(1 - rho**2) + rho * (np.pi / 2 + np.arcsin(rho)))
        F = o * s**3 * ((1 - r**2) * arc + 2 * r * (1 + 2 * r) * pa) + 3 * z * H
        return cls(
            P2=P2,
            Q=Q,
            J11=J11,
            L1=L1,
            N1=N1,
            t2=t2,
            D1=_MU * (1 + z) / 2,
            DD=DD,
            J21=_MU * (1 + z) ** 2 / 2,
            J22=t2 + 2 * z * J11,
            J13=2 * J11 + z * t2,
            J211=N1 + 2 * z * L1,
            J121=L1 + z * N1,
            T2=Q + o * z * (1 - 2 * z**2) / (2 * s),
            J111=J111,
            H=H,
            F=np.where(some, F, 0.0),
        )


@dataclass(frozen=True)
class Moments:
    """Of Ph = sum h_j, p = sum b_j h_j and d = sum b_j D_j over M independent examples with given sums of b and b^2."""

    Ph: FloatArray
    p: FloatArray
    d: FloatArray
    PhPh: FloatArray
    pp: FloatArray
    Php: FloatArray
    PhPhp: FloatArray
    Phpp: FloatArray
    PhPhpp: FloatArray
    pd: FloatArray
    Phd: FloatArray
    Phpd: FloatArray

    @classmethod
    def of(cls, M: FloatArray, e1: FloatArray, e2: FloatArray) -> Moments:
        o, A = _O, e1**2 - e2  # A: the sum of b_j b_l over different j, l
        M1, M2, M3 = M - 1, M - 2, M - 3
        return cls(
            Ph=M * _MU,
            p=e1 * _MU,
            d=e1 / 2,
            PhPh=M / 2 + M * M1 * o,
            pp=e2 / 2 + A * o,
            Php=e1 * (0.5 + M1 * o),
            PhPhp=e1 * _MU * (2 + 1.5 * M1 + M1 * M2 * o),
            Phpp=_MU * (e2 * (2 + M1 / 2) + A * (1 + M2 * o)),
            PhPhpp=e2 * (1.5 + M1 * (4 * o + 0.25) + M1 * M2 * o / 2)
            + A * (4 * o + 0.5 + 2.5 * M2 * o + M2 * M3 * o**2),
            pd=_MU * (e2 + A / 2),
            Phd=e1 * _MU * (M + 1) / 2,
            Phpd=e2 / 2 + A * (0.25 + o) + M1 * e2 * o + A * M2 * o / 2,
        )
