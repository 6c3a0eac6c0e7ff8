"""The arithmetic of check_decoder.py: enclosures of what a decoder computes, in Python's integers.

A number is an integer in units of 2^-60. A Form is a vector; its i-th quantity is somewhere in

    center[i] + sum over m of slopes[m][i] * e[m] + [-radius[i], radius[i]],    every e[m] somewhere in [-1, 1].

Every operation adds to the radius what shifts lose and, if `unit` is 1, 2^-24 of the size for each rounding of float32:
sums in any order, library functions good to 4 units in the last place (8 * 2^-24).
"""

from decimal import Decimal, getcontext, localcontext
from functools import partial
from math import isqrt
from operator import add, mul

getcontext().prec = 24  # Decimal's exp and ln are rounded correctly
S, ONE = 60, 1 << 60
LOSS = 64  # more than functions of one number below lose, in units of 2^-60
TAU = 6283185307179586476925286766559005768394338798750 * ONE * ONE // 10**48  # 2 pi, in units of 2^-120
ROOT = isqrt(TAU)
LOGISTIC = {"silu": (ONE, 0), "gelu_tanh": (4 * ONE * ONE // ROOT, 44715 * ONE // 10**6)}


class UnboundedError(Exception):
    """An enclosure is too wide to go on with; smaller boxes may do."""


class Form:
    def __init__(self, center, slopes, radius, unit):
        self.center, self.slopes, self.radius, self.unit = center, slopes, radius, unit

    def deviation(self):
        total = self.radius
        for slope in self.slopes:
            total = map(add, total, map(abs, slope))
        return list(total)

    def size(self):
        return list(map(add, map(abs, self.center), self.deviation()))

    def wider(self, times):
        """After so many roundings of float32; every part may be wrong by 3 units, too."""
        more, times = 3 * len(self.slopes) + 6, times * self.unit
        more = [(times * s >> 24) + more for s in self.size()] if times else [more] * len(self.radius)
        return Form(self.center, self.slopes, list(map(add, self.radius, more)), self.unit)

    def __add__(self, other):
        """Slopes of the same number belong to the same variable."""
        a, b = sorted((self.slopes, other.slopes), key=len)
        slopes = [list(map(add, x, y)) for x, y in zip(a, b, strict=False)] + b[len(a) :]
        center, radius = map(add, self.center, other.center), map(add, self.radius, other.radius)
        return Form(list(center), slopes, list(radius), self.unit).wider(1)

    def __mul__(self, other):
        """Coordinate by coordinate."""
        slopes = [
            [(a * d + b * c) >> S for a, b, c, d in zip(x, self.center, y, other.center, strict=True)]
            for x, y in padded(self.slopes, other.slopes, len(self.center))
        ]
        mine, theirs = zip(self.center, self.radius, self.deviation()), zip(other.center, other.radius, other.deviation())
        radius = [(abs(a) * s + abs(b) * r + d * e) >> S for (a, r, d), (b, s, e) in zip(mine, theirs, strict=True)]
        center = [a * b >> S for a, b in zip(self.center, other.center, strict=True)]
        return Form(center, slopes, radius, self.unit).wider(1)


def padded(a, b, width):
    for m in range(max(len(a), len(b))):
        yield a[m] if m < len(a) else [0] * width, b[m] if m < len(b) else [0] * width


def constant(values, unit, radius=1):
    """Numbers that may be wrong by a unit, as weights are."""
    return Form(values, [], [radius] * len(values), unit)


class Linear:
    """x @ weight + bias."""

    def __init__(self, weight, bias=None):
        self.columns, self.bias, self.terms = [*zip(*weight, strict=True)], bias, len(weight)
        self.sizes = [tuple(map(abs, column)) for column in self.columns]

    def __call__(self, x):
        size = x.size()
        if len(size) != self.terms:
            raise ValueError("a matrix does not fit what it is applied to")
        times, lost = (self.terms + 2) * x.unit, sum(size) >> S
        center, *slopes = [[sum(map(mul, row, column)) >> S for column in self.columns] for row in (x.center, *x.slopes)]
        radius = [
            ((sum(map(mul, x.radius, own)) + (times * sum(map(mul, size, own)) >> 24)) >> S) + lost for own in self.sizes
        ]
        y = Form(center, slopes, radius, x.unit)
        return y.wider(0) if self.bias is None else y + constant(self.bias, x.unit)


def chained(chain, x):
    for linear in chain:
        x = linear(x)
    return x


def normed(norm, x):
    """x / sqrt(mean(x^2) + eps) * weight + bias; the error of the factor is a variable of its own."""
    if norm is None:
        return x
    n = len(x.center)
    if norm.kind == "layer":
        x = Linear([[ONE * (i == j) - ONE // n for i in range(n)] for j in range(n)])(x).wider(2)
    factor = applied(inverse_root, Linear([[ONE // n]] * n, [norm.eps])(x * x).wider(1)).wider(10)
    x = x * Form(factor.center * n, [slope * n for slope in (*factor.slopes, factor.radius)], [0] * n, x.unit)
    x = x if norm.weight is None else x * constant(norm.weight, x.unit)
    return x if norm.bias is None else x + constant(norm.bias, x.unit)


def applied(f, x):
    """f gives of each coordinate its value and slope at c, and how far it may be from that line as far as d away."""
    parts = [f(c, d) for c, d in zip(x.center, x.deviation(), strict=True)]
    slopes = [[g * slope >> S for g, (_, slope, _) in zip(row, parts, strict=True)] for row in x.slopes]
    more = [LOSS * (2 + (size >> S)) for size in x.size()]
    radius = [(r * abs(slope) >> S) + away + m for r, (_, slope, away), m in zip(x.radius, parts, more, strict=True)]
    return Form([value for value, _, _ in parts], slopes, radius, x.unit)


def activated(kind, x):
    """A function that may cancel where x does not, so that its roundings are relative to x."""
    y = applied({"relu": relu, "gelu": gelu}.get(kind) or partial(logistic, *LOGISTIC[kind]), x)
    return y if kind == "relu" else Form(y.center, y.slopes, list(map(add, y.radius, x.wider(14).radius)), x.unit)


def inverse_root(c, d):
    """1 / sqrt(x), with slope -x^(-3/2) / 2, |f''| = 3 x^(-5/2) / 4."""
    if c - d <= c >> 10:
        raise UnboundedError
    root, most = isqrt((1 << 3 * S) // c), isqrt((1 << 3 * S) // (c - d)) + 1
    return root, -(root**3) >> 2 * S + 1, (3 * most**5 >> 4 * S + 3) * d // ONE * d // ONE


def relu(c, d):
    """max(0, x) is slope x + gap, give or take gap."""
    if abs(c) >= d:
        return max(0, c), ONE * (c > 0), 0
    slope = (c + d << S) // (2 * d)
    gap = (slope * (d - c) >> S + 1) + 2
    return (slope * c >> S) + gap, slope, gap


def gelu(c, d):
    """x P(x), with slope P + x p, |f''| = |2 - x^2| p, for the normal distribution P and its density p."""
    near, below, density = max(0, abs(c) - d), normal(c), exponential(c * c >> S + 1) * ONE // ROOT
    bend = max(abs(2 * ONE - (x * x >> S)) for x in (near, abs(c) + d)) * exponential(near * near >> S + 1) // ROOT
    return c * below >> S, below + (c * density >> S), (min(bend, 2 * ONE * ONE // ROOT) + LOSS) * d // ONE * d // (2 * ONE)


def logistic(rate, cube, c, d):
    """x s(w), w = rate (x + cube x^3): |f''| <= s' (2 w' + |x| (w'^2 + w'')), where s' <= min(exp(-|w|), 1/4)."""
    near, far, square = max(0, abs(c) - d), abs(c) + d, lambda x: cube * (x * x >> S) >> S
    w, slope, most = (rate * k >> S for k in (c + (c * square(c) >> S), ONE + 3 * square(c), ONE + 3 * square(far)))
    least, turn = rate * (near + (near * square(near) >> S)) >> S, 6 * rate * (cube * far >> S) >> S
    small = exponential(abs(w))
    s = (ONE if w >= 0 else small) * ONE // (ONE + small)
    bend = min(exponential(least), ONE // 4) * (2 * most + (far * ((most * most >> S) + turn) >> S)) >> S
    return c * s >> S, s + ((c * (s * (ONE - s) >> S) >> S) * slope >> S), (bend + LOSS) * d // ONE * d // (2 * ONE)


def exponential(x):
    """exp(-x)."""
    return int((Decimal(-x) / ONE).exp() * ONE)


def normal(x):
    """1/2 + (x - x^3 / (2 * 3) + x^5 / (2^2 * 2! * 5) - ...) / sqrt(2 pi)."""
    if abs(x) > 9 << S:
        return ONE * (x > 0)
    term, total, n = x << S, 0, 0
    while term not in (0, -1):
        total, n = total + term // (2 * n + 1), n + 1
        term = -(term * (x * x >> S + 1) >> S) // n
    return ONE // 2 + total // ROOT


def turned(rope, position, x):
    """RoPE: pairs of coordinates turn by position * base^(-2 i / width)."""
    if rope is None:
        return x
    width, angles, wrong = len(x.center), [0] * len(x.center), [0] * len(x.center)
    other = [i ^ 1 if rope.interleaved else (i + width // 2) % width for i in range(width)]
    for i in range(width // 2):
        first = 2 * i if rope.interleaved else i
        with localcontext(prec=60):
            angle = int((-(Decimal(rope.base) / ONE).ln() * 2 * i / width).exp() * position * ONE * ONE)
        angles[first], angles[other[first]] = angle, -angle
        times = (i > 0) * (12 + (width & width - 1 > 0) * 2 * rope.base.bit_length()) * (angle >> S)
        wrong[first] = wrong[other[first]] = (x.unit * (times + 10 * ONE) >> 24) + LOSS
    waves = [wave(angle) for angle in angles]
    rows = [[row[i] for i in other] for row in (x.center, x.radius, *x.slopes)]
    cosine, sine = (Form(list(row), [], wrong, x.unit) for row in zip(*waves, strict=True))
    return x * cosine + Form(rows[0], rows[2:], rows[1], x.unit) * Form([-s for s in sine.center], [], wrong, x.unit)


def wave(angle):
    """Cosine and sine, of an angle in units of 2^-120."""
    parts, term, n = [0, 0], ONE * ONE, 0
    angle %= TAU
    while term:
        parts[n & 1] += term if n & 2 == 0 else -term
        n, term = n + 1, (term * angle >> 2 * S) // (n + 1)
    return parts[0] >> S, parts[1] >> S
