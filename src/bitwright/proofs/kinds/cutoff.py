"""The small-model theorem: up to which size every pattern of signs and residues occurs.

A pattern says of every atom f whether f <= -1, f = 0 or f >= 1, and what all variables are modulo N. With the atoms'
normals a and G = |constant| + 1, over all choices of n independent normals,

    V = max of sum over j of |minor_j| G_j / |det|,    R = the largest entry of a primitive kernel vector of n - 1,

in the coordinate of a size. A pattern that has a point has one in which that size is less than V + n N R, or at most V.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from math import ceil, comb, floor, gcd

from bitwright.proofs.kinds.affine import ONE, Affine

_MOST_CHOICES = 200_000


class TooManyError(Exception):
    """There are too many choices of normals to look at."""


def cutoff(forms: Iterable[Affine], names: Sequence[str], modulus: int, size: str) -> int:
    """L0: the size up to which all patterns of these atoms have a point; `names` are the variables.

    >>> i, l = Affine.of("i"), Affine.of("l")
    >>> cutoff([i - 1, l - i, l - i - 1, l - 1], ["i", "l"], 1, "l")
    5
    """
    n, column = len(names), list(names).index(size)
    reach: dict[tuple[int, ...], Fraction] = {}
    for form in forms:
        normal = [int(form[name]) for name in names]
        divisor = gcd(*normal) * (1 if next(filter(None, normal)) > 0 else -1)
        key = tuple(entry // divisor for entry in normal)
        reach[key] = max(reach.get(key, Fraction(0)), (abs(form[ONE]) + 1) / abs(divisor))
    if comb(len(reach), n) * n > _MOST_CHOICES:
        raise TooManyError(f"{len(reach)} directions in {n} variables")
    largest = Fraction(0)
    for chosen in combinations(reach, n):
        if det := abs(_determinant(chosen)):
            rows = [[row[:column] + row[column + 1 :] for row in chosen if row is not left] for left in chosen]
            total = sum((abs(_determinant(m)) * reach[row] for m, row in zip(rows, chosen, strict=True)), Fraction(0))
            largest = max(largest, total / det)
    longest = 0
    for chosen in combinations(reach, n - 1):
        kernel = [_determinant([row[:at] + row[at + 1 :] for row in chosen]) for at in range(n)]
        if any(kernel):
            longest = max(longest, abs(kernel[column]) // gcd(*kernel))
    return ceil(largest + n * modulus * longest) - 1 if longest else floor(largest)


def _determinant(rows: Sequence[Sequence[int]]) -> int:
    if not rows:
        return 1
    first, rest = rows[0], rows[1:]
    return sum(
        (-1) ** at * entry * _determinant([(*row[:at], *row[at + 1 :]) for row in rest])
        for at, entry in enumerate(first)
        if entry
    )
