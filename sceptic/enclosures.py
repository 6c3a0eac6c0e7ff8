"""The arithmetic of check_decoder.py: enclosures of a decoder's values, in Python integers.

A number is an integer in units of 2^-60. A Form is a vector; its i-th quantity is somewhere in

    center[i] + sum over m of slopes[m][i] * e[m] + [-radius[i], radius[i]],    every e[m] somewhere in [-1, 1].

Every operation adds to the radius the loss of its shifts and, if `unit` is 1, 2^-24 of the size for each rounding of
float32: sums in any order, library functions good to 4 units in the last place (8 * 2^-24).
"""

from decimal import Context, Decimal, localcontext
from functools import partial
from itertools import zip_longest
from math import isqrt
from operator import mul

EXACT = Context(prec=24)  # Decimal's exp and ln are correctly rounded
S, ONE = 60, 1 << 60
LARGEST = 1 << S + 100  # smaller values, their squares and long sums of them do not overflow float32
LOSS = 64  # bounds the loss of the unary functions below, in units of 2^-60
TAU = 6283185307179586476925286766559005768394338798750 * ONE * ONE // 10**48  # 2 pi, in units of 2^-120
ROOT = isqrt(TAU)
LOGISTIC = {"silu": (ONE, 0), "gelu_tanh": (4 * ONE * ONE // ROOT, 44715 * ONE // 10**6)}  # rate and cube


class UnboundedError(Exception):
    """Raised if an enclosure is too wide to continue; smaller boxes may help."""


def in_float32(sizes):
    if max(sizes, default=0) > LARGEST:
        raise UnboundedError("float32 may overflow")


def dot(a, b):
    return sum(map(mul, a, b))


class Form:
    def __init__(self, center, slopes, radius, unit):
        self.center, self.slopes, self.radius, self.unit = center, slopes, radius, unit

    def deviation(self):
        return [sum(parts) for parts in zip(self.radius, *(map(abs, slope) for slope in self.slopes), strict=True)]

    def size(self):
        return [abs(c) + d for c, d in zip(self.center, self.deviation(), strict=True)]

    def wider(self, times):
        """Returns the form after this number of float32 roundings; every part may also be off by 3 units."""
        more, times = 3 * len(self.slopes) + 6, times * self.unit
        in_float32(self.size() if self.unit else [])
        radius = [
            r + more + (times * s >> 24)
            for r, s in zip(self.radius, self.size() if times else self.radius, strict=True)
        ]
        return Form(self.center, self.slopes, radius, self.unit)

    def variables(self):
        """Returns the form with each coordinate's radius as a variable, which keeps products with it correlated."""
        own = [[r * (i == j) for j in range(len(self.radius))] for i, r in enumerate(self.radius)]
        return Form(self.center, self.slopes + own, [0] * len(own), self.unit)

    def pairs(self, other):
        """Returns the slopes of both forms; equal numbers denote the same variable."""
        return zip_longest(self.slopes, other.slopes, fillvalue=[0] * len(self.center))

    def __add__(self, other):
        rows = (self.center, other.center), (self.radius, other.radius), *self.pairs(other)
        center, radius, *slopes = [[x + y for x, y in zip(a, b, strict=True)] for a, b in rows]
        return Form(center, slopes, radius, self.unit).wider(1)

    def __mul__(self, other):
        """Returns the coordinatewise product."""
        a, b = self.center, other.center
        slopes = [[(u * y + v * x) >> S for u, y, v, x in zip(m, b, n, a, strict=True)] for m, n in self.pairs(other)]
        parts = zip(a, self.radius, self.deviation(), b, other.radius, other.deviation(), strict=True)
        radius = [(abs(x) * s + abs(y) * r + d * e) >> S for x, r, d, y, s, e in parts]
        return Form([x * y >> S for x, y in zip(a, b, strict=True)], slopes, radius, self.unit).wider(1)


def constant(values, unit):
    """Numbers with an error of up to one unit, as for weights."""
    return Form(values, [], [1] * len(values), unit)


class Linear:
    """Returns x @ weight + bias."""

    def __init__(self, weight, bias=None):
        self.columns, self.bias, self.terms = [*zip(*weight, strict=True)], bias, len(weight)
        self.sizes = [[*map(abs, column)] for column in self.columns]

    def __call__(self, x):
        size = x.size()
        if len(size) != self.terms:
            raise ValueError("the shape of a matrix does not match its input")
        in_float32([dot(size, own) >> S for own in self.sizes] if x.unit else [])
        center, *slopes = [[dot(row, column) >> S for column in self.columns] for row in (x.center, *x.slopes)]
        times, lost = (self.terms + 2) * x.unit, sum(size) >> S
        radius = [((dot(x.radius, own) + (times * dot(size, own) >> 24)) >> S) + lost for own in self.sizes]
        y = Form(center, slopes, radius, x.unit)
        return y.wider(0) if self.bias is None else y.wider(0) + constant(self.bias, x.unit)


def chained(chain, x):
    for linear in chain:
        x = linear(x)
    return x


def normed(norm, x):
    """Returns x / sqrt(mean(x^2) + eps) * weight + bias."""
    if norm is None:
        return x
    n = len(x.center)
    if norm.kind == "layer":
        x = Linear([[ONE * (i == j) - ONE // n for i in range(n)] for j in range(n)])(x).wider(2)
    factor = applied(inverse_root, Linear([[ONE // n]] * n, [norm.eps])(x * x).wider(1)).wider(10).variables()
    x = x * Form(factor.center * n, [slope * n for slope in factor.slopes], [0] * n, x.unit)
    x = x if norm.weight is None else x * constant(norm.weight, x.unit)
    return x if norm.bias is None else x + constant(norm.bias, x.unit)


def applied(f, x):
    """Applies a function: f(c, d) returns value and slope at c, and the deviation from that line on [c - d, c + d]."""
    parts = [f(c, d) for c, d in zip(x.center, x.deviation(), strict=True)]
    slopes = [[g * slope >> S for g, (_, slope, _) in zip(row, parts, strict=True)] for row in x.slopes]
    rest = zip(x.radius, x.size(), parts, strict=True)
    radius = [(r * abs(slope) >> S) + away + LOSS * (2 + (size >> S)) for r, size, (_, slope, away) in rest]
    return Form([value for value, _, _ in parts], slopes, radius, x.unit)


def activated(kind, x):
    y = applied({"relu": relu, "gelu": gelu}.get(kind) or partial(logistic, *LOGISTIC[kind]), x)
    times = 0 if kind == "relu" else 14 * x.unit  # relative to x: y may cancel where x does not
    return Form(y.center, y.slopes, [r + (times * s >> 24) for r, s in zip(y.radius, x.size(), strict=True)], x.unit)


def inverse_root(c, d):
    """1 / sqrt(x), with slope -x^(-3/2) / 2, |f''| = 3 x^(-5/2) / 4."""
    if c - d <= c >> 10:
        raise UnboundedError
    root, most = isqrt((1 << 3 * S) // c), isqrt((1 << 3 * S) // (c - d)) + 1
    return root, -(root**3 >> 2 * S + 1), (3 * most**5 * d // ONE * d >> 5 * S + 3) + 1


def relu(c, d):
    """max(0, x) is slope x + gap, plus or minus gap."""
    if abs(c) >= d:
        return max(0, c), ONE * (c > 0), 0
    slope = ((c + d) << S) // (2 * d)
    gap = (slope * (d - c) >> S + 1) + 2
    return (slope * c >> S) + gap, slope, gap


def gelu(c, d):
    """x P(x), with slope P + x p, |f''| = |2 - x^2| p, for the normal distribution P and its density p."""
    near, below, density = max(0, abs(c) - d), normal(c), exponential(c * c >> S + 1) * ONE // ROOT
    bend = max(abs(2 * ONE - (x * x >> S)) for x in (near, abs(c) + d)) * exponential(near * near >> S + 1) // ROOT
    bend = min(bend, 2 * ONE * ONE // ROOT) + LOSS
    return c * below >> S, below + (c * density >> S), bend * d // ONE * d // (2 * ONE)


def logistic(rate, cube, c, d):
    """x s(w), w = rate (x + cube x^3): |f''| <= s' (2 w' + |x| (w'^2 + w'')), where s' <= min(exp(-|w|), 1/4)."""
    near, far = max(0, abs(c) - d), abs(c) + d
    at, least, at_far = (cube * (x * x >> S) >> S for x in (c, near, far))  # cube x^2
    w, slope, most = rate * (c + (c * at >> S)) >> S, rate * (ONE + 3 * at) >> S, rate * (ONE + 3 * at_far) >> S
    turn, small = 6 * rate * (cube * far >> S) >> S, exponential(abs(w))
    s = (ONE if w >= 0 else small) * ONE // (ONE + small)
    steep = min(exponential(rate * (near + (near * least >> S)) >> S) + LOSS, ONE // 4)
    bend = (steep * (2 * most + (far * ((most * most >> S) + turn) >> S)) >> S) + LOSS
    return c * s >> S, s + ((c * (s * (ONE - s) >> S) >> S) * slope >> S), bend * d // ONE * d // (2 * ONE)


def exponential(x):
    """Returns exp(-x)."""
    return int(EXACT.exp(EXACT.divide(-x, ONE)) * ONE)


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
    """Applies RoPE, which rotates pairs of coordinates by position * base^(-2 i / width)."""
    if rope is None:
        return x
    width, waves, wrong = len(x.center), {}, {}
    other = [i ^ 1 if rope.interleaved else (i + width // 2) % width for i in range(width)]
    for i in range(width // 2):
        first = 2 * i if rope.interleaved else i
        with localcontext(prec=60):
            angle = int((-(Decimal(rope.base) / ONE).ln() * 2 * i / width).exp() * position * ONE * ONE)
        waves[first], waves[other[first]] = wave(angle), wave(-angle)
        # base^0 is exactly 1 in any library; the exponent is exact if the width is a power of 2
        times = (i > 0) * (12 + (width & width - 1 > 0) * 2 * rope.base.bit_length()) * (angle >> S)
        wrong[first] = wrong[other[first]] = (x.unit * (times + 10 * ONE) >> 24) + LOSS
    wrong = [wrong[i] for i in range(width)]
    cosine, sine = (
        Form([sign * waves[i][k] for i in range(width)], [], wrong, x.unit) for k, sign in ((0, 1), (1, -1))
    )
    center, radius, *slopes = [[row[i] for i in other] for row in (x.center, x.radius, *x.slopes)]
    return x * cosine + Form(center, slopes, radius, x.unit) * sine


def wave(angle):
    """Returns the cosine and sine of an angle in units of 2^-120."""
    parts, term, n = [0, 0], ONE * ONE, 0
    angle %= TAU
    while term:
        parts[n & 1] += term if n & 2 == 0 else -term
        n, term = n + 1, (term * angle >> 2 * S) // (n + 1)
    return parts[0] >> S, parts[1] >> S
