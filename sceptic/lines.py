"""Turns `ensure` lines into automata that read words from the lowest position up. Used by check_function.py."""

import ast
import re
from collections import defaultdict

from bits_of_words import Local, Places
from expressions import need, parsed, value

SIGNS = {ast.Eq: (0,), ast.NotEq: (-1, 1), ast.Lt: (-1,), ast.LtE: (-1, 0), ast.Gt: (1,), ast.GtE: (0, 1)}


def with_numbers(line, numbers, size):
    """Replaces the rule text's numbers, {name: (a, b)} for a * size + b, by their values in a line."""
    values = {name: f"({n})" if n < 0 else str(n) for name, (a, b) in numbers.items() for n in [a * size + b]}
    return re.sub(r"(?<!\w)(?<!in\.)[A-Za-z_]\w*(?!\w|\[)", lambda found: values.get(found[0], found[0]), line)


def plus(one, other, times=1):
    found = defaultdict(int, one)
    for key, factor in other.items():
        found[key] += times * factor
    return {key: factor for key, factor in found.items() if factor}


def read_line(text, conditions, *about):
    """Returns the automaton of a line under its conditions."""
    tree = parsed(text, conditions)
    line = Line(None if tree.loop else tree, *about)
    return Local(tree, line) if tree.loop else line


class Line:
    """A line as an automaton. A term is {key: factor}; keys are 1, ("2", e) for 2^(unit * size + e), (mark, class,
    track) for a bit that counts 2^position, and ("mod", term, e) for a term modulo 2^(unit * size + e)."""

    def __init__(self, tree, words, numbers, unit, extra):
        self.words, self.numbers, self.unit, self.extra = dict(words), numbers, unit, extra
        self.terms, self.few, self.rests = [], [], []
        self.tree = tree and Places(self).visit(tree)
        if tree:
            self.truth(self.tree, None)
        deep = [key[1] for term in self.terms for key in term if isinstance(key, tuple) and key[0] == "mod"]
        weights = [
            w
            for term in (*self.terms, *map(dict, deep), *(term for term, _ in self.rests))
            for k, w in term.items()
            if isinstance(k, tuple) and k[0] != "mod"
        ]
        self.base = max([0, *(weight.denominator.bit_length() - 1 for weight in weights)])

    def word(self, name):
        first = f"i{name.removeprefix('in_')}" if name[:3] == "in_" else f"o{name}"
        return next((mark for mark in (first, f"i{name}") if mark in self.words), None)

    def is_few(self, node):
        names = [self.word(one.id) for one in ast.walk(node) if isinstance(one, ast.Name)]
        return all(name and self.words[name][0] for name in names)

    def term(self, node):
        if isinstance(node, ast.Name) and self.word(node.id):
            few, weights = self.words[self.word(node.id)]
            need(not few, "a number of a few bits must not be combined with longer ones", 2)
            return {(self.word(node.id)[0], *place): weight for place, weight in weights.items()}
        if not any(isinstance(one, ast.Name) and self.word(one.id) for one in ast.walk(node)):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
                at = [value(node.right, {n: a * l + b for n, (a, b) in self.numbers.items()}) for l in (8, 9, 50)]
                if at[0] != at[1]:
                    straight = at[1] - at[0] == self.unit and at[2] == at[0] + 42 * self.unit
                    need(straight and value(node.left, {}) == 2, "this form of power is not supported", 2)
                    return {("2", at[0] - 8 * self.unit): 1}
            if isinstance(node, ast.Constant | ast.Name) or not any(
                isinstance(one, ast.Name) for one in ast.walk(node)
            ):
                return {1: value(node, {n: b for n, (a, b) in self.numbers.items() if a == 0})}
        if isinstance(node, ast.UnaryOp):
            return plus({}, self.term(node.operand), -1)
        left, right = self.term(node.left), self.term(node.right)
        if isinstance(node.op, ast.Add | ast.Sub):
            return plus(left, right, 1 if isinstance(node.op, ast.Add) else -1)
        if isinstance(node.op, ast.Mod):
            need(list(right.values()) == [1] and 1 not in right, "the divisor of a remainder must be a power 2^l", 2)
            return {("mod", tuple(left.items()), *(key[1] for key in right)): 1}
        one, factor = (left, right) if set(right) <= {1} else (right, left)
        need(isinstance(node.op, ast.Mult) and set(factor) <= {1}, "a product of two words is not supported", 2)
        return plus({}, one, factor.get(1, 0))

    def truth(self, node, read):
        """Whether the line is true after the letters read; without letters it collects the sums to read."""
        if isinstance(node, ast.BoolOp):
            found = [self.truth(part, read) for part in node.values]
            return all(found) if isinstance(node.op, ast.And) else any(found)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return not self.truth(node.operand, read)
        if isinstance(node, ast.Name):
            need(
                [*self.words[self.word(node.id)][1].values()] == [1],
                f"{node.id} is a number, but a truth value is expected",
                2,
            )
        if self.is_few(node):
            names = [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]
            if read is None:
                self.few += [name for name in names if name not in self.few]
            return read and bool(value(node, {name: read[1][self.few.index(name)] for name in names}))
        sides = node.left, node.comparators[0]
        if any(isinstance(one, ast.Compare | ast.BoolOp | ast.Not) for side in sides for one in ast.walk(side)):
            need(isinstance(node.ops[0], ast.Eq | ast.NotEq), "a truth value is used as a number", 2)
            return (self.truth(sides[0], read) == self.truth(sides[1], read)) == isinstance(node.ops[0], ast.Eq)
        for side, other in (sides, sides[::-1]):
            if isinstance(getattr(side, "op", None), ast.FloorDiv | ast.Mod) and isinstance(side.right, ast.Constant):
                need(
                    isinstance(node.ops[0], ast.Eq) and side.right.value > 0,
                    "a quotient must be compared with == and a positive divisor",
                    2,
                )
                return self.divided(side, other, side.right.value, read)
        term = plus(self.term(sides[0]), self.term(sides[1]), -1)
        if read is None:
            self.terms += [term]
            return True
        return self.sign(term, read[0][self.terms.index(term)]) in SIGNS[type(node.ops[0])]

    def divided(self, side, other, k, read):
        """Returns whether `other` is the quotient, or for a short number the remainder, of a term by k."""
        term = self.term(side.left)
        if isinstance(side.op, ast.FloorDiv):
            term = plus(term, self.term(other), -k)
            pair = term, plus(term, {1: 1}, -k)
            if read is None:
                self.terms += pair
                return True
            low, high = (self.sign(one, read[0][self.terms.index(one)]) for one in pair)
            return low >= 0 > high
        need(
            self.is_few(other) and all(key == 1 or key[0] in "io" for key in term),
            "this form of remainder is not supported",
            2,
        )
        names = [one.id for one in ast.walk(other) if isinstance(one, ast.Name)]
        if read is None:
            self.rests.append((term, k))
            self.few += [name for name in names if name not in self.few]
            return True
        rest = read[2][self.rests.index((term, k))][0]
        found = value(other, {name: read[1][self.few.index(name)] for name in names})
        return found << self.base == rest % (k << self.base)

    def begin(self, single):
        few = tuple(self.counted(name, 0, single, 0) for name in self.few)
        rests = tuple((term.get(1, 0) << self.base, 1) for term, _ in self.rests)
        return tuple(self.start(term) for term in self.terms), few, rests

    def start(self, term):
        inside = tuple(self.start(dict(key[1])) for key in term if isinstance(key, tuple) and key[0] == "mod")
        return (term.get(1, 0) << self.base, False, *inside)

    def counted(self, name, kind, bits, chosen):
        word = self.word(name)
        shown = chosen if word[0] == "i" else bits
        return sum(int(w) for (at, track), w in self.words[word][1].items() if at == kind and shown >> track & 1)

    def next(self, state, letter):
        kind, _, chosen, bits = letter
        few = tuple(old + self.counted(name, kind, bits, chosen) for name, old in zip(self.few, state[1], strict=True))
        sums = (self.add(term, old, kind, bits, chosen)[0] for term, old in zip(self.terms, state[0], strict=True))
        rests = []
        for (term, k), (rest, power) in zip(self.rests, state[2], strict=True):
            digit = self.add({key: w for key, w in term.items() if key != 1}, (0, False), kind, bits, chosen)
            total = 2 * digit[0][0] + digit[1]
            rests.append(((rest + power * total) % (k << self.base), 2 * power % (k << self.base)))
        return tuple(sums), few, tuple(rests)

    def add(self, term, state, kind, bits, chosen):
        """Returns the state of a sum after a position, and its digit at that position."""
        total, inside = state[0], []
        for key, factor in term.items():
            if key == 1:
                continue
            if key[0] == "2":
                total += factor * (self.above(key[1]) == kind - 6)
            elif key[0] == "mod":
                after, digit = self.add(dict(key[1]), state[2 + len(inside)], kind, bits, chosen)
                total += factor * digit * (kind - 6 < self.above(key[2]))
                inside.append(after)
            elif key[1] == kind and (chosen if key[0] == "i" else bits) >> key[2] & 1:
                total += int(factor * 2**self.base)
        return (total >> 1, state[1] or bool(total & 1), *inside), total & 1

    def above(self, e):
        """Returns x such that 2^(size + e), scaled, is 2^(positions + x)."""
        found = e + self.base - self.extra
        need(found >= -2, "a power of 2 is too far below the highest position", 2)
        return found

    def top(self, term):
        return sum(
            factor << self.above(key[1])
            for key, factor in term.items()
            if key != 1 and key[0] == "2" and self.above(key[1]) >= 0
        )

    def sign(self, term, state):
        carry, inside = state[0] + self.top(term), list(state[2:])
        for key, factor in term.items():
            if isinstance(key, tuple) and key[0] == "mod":
                rest = inside.pop(0)[0] + self.top(dict(key[1]))
                carry += factor * (rest % 2 ** max(0, self.above(key[2])))
        return -1 if carry < 0 else int(carry > 0 or state[1])
