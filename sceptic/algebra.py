"""Computes words after a path of a loop as polynomials, with linear arithmetic about them. Used by check_loop.py.

A fact is (sign, polynomial, modulus): 0 (==), at least 0 (>=), or divisible by a word (%). All names are nonnegative
integers. In linear arithmetic every monomial is a variable.
"""

import ast
from math import gcd

from chains import need
from polynomials import added, polynomial, substituted, times

MOST = 3_000  # most inequalities of a system


def facts_of(tree):
    """Returns facts that imply a line, and are equivalent to it if it has no quotients or remainders."""
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
        return [fact for part in tree.values for fact in facts_of(part)]
    sign, sides = type(tree.ops[0]), (tree.left, *tree.comparators)
    if sign in (ast.Gt, ast.GtE):
        sides, sign = sides[::-1], {ast.Gt: ast.Lt, ast.GtE: ast.LtE}[sign]
    if sign in (ast.Lt, ast.LtE):
        left, right = map(polynomial, sides)
        return [(">=", added(added(right, left, -1), {(): -1} if sign is ast.Lt else {}), "")]
    for one, other in (sides, sides[::-1]):
        if isinstance(getattr(one, "op", None), ast.FloorDiv) and sign is ast.Eq:
            by = polynomial(one.right)
            rest = added(polynomial(one.left), times(polynomial(other), by), -1)
            return [(">=", rest, ""), (">=", added(added(by, rest, -1), {(): -1}), "")]
    words = [side.right.id if isinstance(getattr(side, "op", None), ast.Mod) else "" for side in sides]
    left, right = (polynomial(side.left if word else side) for side, word in zip(sides, words, strict=True))
    need(sign is ast.Eq and len({*words} - {""}) < 2, "this form of line is not supported", 2)
    word = max(words)
    rest = [side for side, own in zip((left, right), words, strict=True) if word and not own]
    ranges = [(">=", one, "") for side in rest for one in (side, added({(word,): 1, (): -1}, side, -1))]
    return [("%" if word else "==", added(left, right, -1), word), *ranges]


def put(fact, values):
    """Substitutes names in a fact; its modulus is dropped unless it becomes a single name."""
    sign, value, word = fact
    new = list(values.get(word, {(word,): 1}).items())
    return (
        sign,
        substituted(value, values),
        new[0][0][0] if word and len(new) == 1 == new[0][1] == len(new[0][0]) else "",
    )


def contradictory(facts):
    """Whether linear arithmetic shows that no numbers satisfy all `==` and `>=` facts."""
    rows = [value for sign, value, _ in facts if sign == ">="]
    equal = [value for sign, value, _ in facts if sign == "=="]
    monomials = {m for value in (*rows, *equal) for m in value if m}
    names = sorted({(name,) for m in monomials for name in m})
    products = (times(value, {name: 1}) for value in list(rows) for name in names if any(len(m) > 1 for m in monomials))
    rows += [one for one in products if all(len(m) < 2 or m in monomials for m in one)] + [{m: 1} for m in monomials]
    while equal:  # solve each for a monomial
        one = equal.pop()
        m = min((m for m in one if m), default=())
        if not one.get(m, 0) or not m:
            if one:
                return True
            continue
        rows, equal = ([eliminated(row, one, m) for row in some] for some in (rows, equal))
    seen = {normal(row) for row in rows}
    while True:
        rows = [dict(row) for row in seen]
        if any(not row.keys() - {()} and row.get((), 0) < 0 for row in rows):
            return True
        signs = {m: [0, 0] for row in rows for m in row if m}
        for m, value in (item for row in rows for item in row.items() if item[0]):
            signs[m][value > 0] += 1
        if not signs or len(rows) > MOST:
            return False
        m = min(sorted(signs), key=lambda m: signs[m][0] * signs[m][1])
        pairs = ((a, b) for a in rows for b in rows if a.get(m, 0) > 0 > b.get(m, 0))
        seen = {normal(row) for row in rows if m not in row}
        seen |= {normal(added({k: -b[m] * v for k, v in a.items()}, b, a[m])) for a, b in pairs}


def eliminated(row, one, m):
    """Eliminates a monomial from a positive multiple of a row, by an equation."""
    return added({k: v * abs(one[m]) for k, v in row.items()}, one, -row.get(m, 0) * (1 if one[m] > 0 else -1))


def normal(row):
    """Returns a row in lowest terms as a tuple."""
    divisor = gcd(*row.values()) or 1
    return tuple(sorted((m, v // divisor) for m, v in row.items()))


def implied(facts, value):
    return contradictory([*facts, (">=", added({(): -1}, value, -1), "")])


def true(facts, fact):
    """Whether a fact follows from others."""
    sign, value, word = fact
    if sign == "%":
        return bool(word) and all(word in m for m in value)
    return not value or all(implied(facts, added({}, value, s)) for s in ((1, -1) if sign == "==" else (1,)))


def below(value, top):
    """Returns an expression that is nonnegative exactly if a value is below a number."""
    return added({(): top - 1}, value, -1)


class Followed:
    """The words at the start (`begin`) and end of a path, powers modulo which the end is known, and all facts."""

    def __init__(self, path, states, words, same, known, lengths, unary):
        first, last, fixed = states[0], states[-1], path["fixed"]
        self.begin, halves, self.lengths = {}, {}, lengths
        bits = []
        for word in words:
            if first[word] == ["off"] or (
                word in unary and fixed.get(word) == 0
            ):  # bits that are on up to some position
                self.begin[word] = halves[word] = {}
            elif word in same:
                self.begin[word] = same[word]
            elif word in fixed or ["down", word] in [last[other] for other in words]:
                lowest = {(): fixed[word]} if word in fixed else {(f"{word}[1]",): 1}
                halves[word] = {(f"half of {word}",): 1}
                self.begin[word] = added(lowest, halves[word], 2)
                bits.append((">=", added({(): 1}, lowest, -1), ""))
            else:
                self.begin[word] = {(word,): 1}
        self.facts = [*(put(fact, self.begin) for fact in known), *bits]
        self.values, self.halves = {word: (value, []) for word, value in self.begin.items()}, halves
        for word in words:
            if f"{word} top" in fixed:
                self.fitted(self.begin[word], [], word, fixed[f"{word} top"])
        for number, phase in sorted(path["phases"].items(), key=lambda one: int(one[0])):
            before, after = states[int(number)], states[int(number) + 1]
            starts = {array: self.number(before[array], array) for array in phase["inputs"]}
            for array, factors in phase["sums"].items():
                if factors:
                    total, loose = {}, []
                    for name, factor in factors.items():
                        total, loose = added(total, starts[name][0], factor), loose + starts[name][1]
                    new = after[array][1]
                    self.values[new] = self.fitted(total, loose, array, fixed.get(f"{new} top"))
        self.ends = {word: self.number(last[word], word) for word in words}

    def number(self, shape, array):
        what, *of = shape
        if what in ("off", "first"):
            return ({} if what == "off" else {(): 1}), []
        if what == "down" and of[0] in self.halves:
            return self.halves[of[0]], []
        need(
            what in ("word", "up", "up1") and of[0] in self.values,
            f"the value of {array} after a round is not a sum of words",
        )
        value, loose = self.values[of[0]]
        doubled = added({(): int(what == "up1")}, value, 2)
        return (value, loose) if what == "word" else self.fitted(doubled, loose, array, None)

    def within(self, value, top):
        return implied(self.facts, value) and implied(self.facts, below(value, top))

    def fitted(self, total, loose, array, top):
        """Reduces a sum modulo 2^length; its highest bit may be known."""
        length = self.lengths[array]
        if loose:
            return total, [*loose, length]
        negative, half = added({(): -1}, total, -1), {(): 1 << length - 1}
        signed = (added({(): (1 << length) - 2}, value, -2) for value in (total, negative))  # below half of the range
        if top is not None and self.within(total, 1 << length):
            self.facts.append((">=", added(total, half, -1) if top else below(total, half[()]), ""))
        elif top is not None and all(implied(self.facts, value) for value in signed):
            self.facts.append((">=", negative if top else total, ""))
        for value in (added(total, {(): wraps << length}) for wraps in (0, -1, 1)):
            if self.within(value, 1 << length):
                return value, []
        return total, [length]

    def kept(self, fact):
        """Returns the powers modulo which an invariant holds again, or None if that could not be shown."""
        loose = [one for word in {name for m in fact[1] for name in m} for one in self.ends.get(word, ((), ()))[1]]
        new, old = put(fact, {word: value for word, (value, _) in self.ends.items()}), put(fact, self.begin)
        change = added(new[1], old[1], -1)
        if fact[0] == "%":
            return [] if not loose and old[2] == new[2] and true([], ("%", change, new[2])) else None
        if fact[0] == ">=":
            return [] if not loose and true(self.facts, new) else None
        return loose if not change or (not loose and true(self.facts, new)) else None
