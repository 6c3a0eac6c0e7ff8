"""Evaluates single bits in `ensure` lines, and lines `for i in a..b`. Used by check_function.py."""

import ast
from math import log2

from expressions import need, value


def place(line, name):
    """Returns the position of a word's first bit, its track, and whether it is an input."""
    mark = line.word(name)
    need(mark and not line.words[mark][0], f"{name} is not a word with a bit at each position", 2)
    weights = line.words[mark][1]
    need(
        len({*weights.values()}) == 1 == len({track for _, track in weights}), f"the bits of {name} are not in order", 2
    )
    return -int(log2(next(iter(weights.values())))), next(iter(weights))[1], mark[0] == "i"


def at_sizes(line, tree, names):
    """Evaluates an expression at the sizes 8, 9 and 50; returns a constant, or (the rest,) if it grows by the unit."""
    found = [value(tree, {**{n: a * size + b for n, (a, b) in line.numbers.items()}, **names}) for size in (8, 9, 50)]
    if found[0] == found[1] == found[2]:
        return found[0], None
    need(
        found[1] - found[0] == line.unit and found[2] - found[0] == 42 * line.unit,
        "this form of index is not supported",
        2,
    )
    return None, found[0] - 8 * line.unit


class Places(ast.NodeTransformer):
    """Substitutes a one-bit number for `x[1]` or `x[l]`."""

    def __init__(self, line):
        self.line = line

    def visit_Subscript(self, node):
        line, name = self.line, node.value.id
        first, track, _ = place(line, name)
        low, high = at_sizes(line, node.slice, {})
        above = None if high is None else line.extra - first - high
        need(
            first + low - 1 in (0, 1) if high is None else above in (0, 1),
            f"a line uses a bit of {name} that is not one of the two lowest or highest",
            2,
        )
        kind = first + low if high is None else 5 - above
        shown = f"{name}[{ast.unparse(node.slice)}]"
        line.words[line.word(name)[0] + shown.removeprefix("in_")] = True, {(kind, track): 1}
        return ast.copy_location(ast.Name(shown, ast.Load()), node)


class Local:
    """A line `for i in a..b`, which must be true for each window of neighbouring letters in the range."""

    def __init__(self, tree, line):
        index, first, last = tree.loop
        low, high = at_sizes(line, first, {})[0], at_sizes(line, last, {})[1]
        need(low is not None and high is not None, "a range must span the positions", 2)
        self.bits, self.names = {}, {name: b for name, (a, b) in line.numbers.items() if a == 0}
        self.tree = Near(self, line, index).visit(tree)
        self.top = max(distance for distance, _, _ in self.bits.values())
        self.span = self.top - min(distance for distance, _, _ in self.bits.values())
        below, above = low + self.top, line.extra - high - self.top - 1
        need(
            self.span <= below <= 2 and 0 <= above <= 2,
            "a range must begin and end at most two positions from the ends",
            2,
        )
        self.kinds = {1, 2, 3, 4, 5} - {*(1, 2)[:below]} - {*(5, 4)[:above]}

    def begin(self, _):
        return (), True

    def next(self, state, letter):
        kind, _, chosen, bits = letter
        letters, right = (*state[0], (bits, chosen)), state[1]
        if kind in self.kinds:
            places = {name: letters[distance - self.top - 1][entered] >> track & 1
                      for name, (distance, track, entered) in self.bits.items()}  # fmt: skip
            right = right and bool(value(self.tree, {**self.names, **places}))
        return letters[len(letters) - self.span :], right

    def truth(self, _, state):
        return state[1]


class Near(ast.NodeTransformer):
    """Substitutes a name for `x[i+1]`, and records its position."""

    def __init__(self, local, line, index):
        self.local, self.line, self.index = local, line, index

    def visit_Subscript(self, node):
        first, track, entered = place(self.line, node.value.id)
        found = [value(node.slice, {self.index: at}) for at in (0, 1, 40)]
        need(found == [found[0], found[0] + 1, found[0] + 40], "this form of index is not supported", 2)
        shown = f"{node.value.id}[{ast.unparse(node.slice)}]"
        self.local.bits[shown] = found[0] + first - 1, track, entered
        return ast.copy_location(ast.Name(shown, ast.Load()), node)
