"""Parses rules from their canonical text and makes symbolic steps."""

import ast
import operator
import re
from itertools import product

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Pow: operator.pow}
OPERATORS |= {ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod}


class Graph:
    """Literals are integers: 0 is false, 1 true, 2n node n, 2n+1 its negation; a node is an input or a conjunction."""

    def __init__(self):
        self.parts, self.known = [None], {}

    def input(self):
        self.parts.append(None)
        return 2 * len(self.parts) - 2

    def both(self, a, b):
        a, b = min(a, b), max(a, b)
        if a == 0 or a == b ^ 1:
            return 0
        if a == 1 or a == b:
            return b
        if (a, b) not in self.known:
            self.known[a, b] = 2 * len(self.parts)
            self.parts.append((a, b))
        return self.known[a, b]

    def either(self, a, b):
        return self.both(a ^ 1, b ^ 1) ^ 1

    def differ(self, a, b):
        x, y = a & ~1, b & ~1
        return self.either(self.both(x ^ 1, y), self.both(x, y ^ 1)) ^ ((a ^ b) & 1)


class Rules:
    """The canonical rule text, in the form of `bitwright show --text`."""

    def __init__(self, text):
        self.bit, self.blocks, self.templates, self.lines = {}, [], {}, []
        self.words, self.start, self.steps, self.halt = {"input": {}, "output": {}}, [], None, None
        for line in text.splitlines():
            word, _, rest = line.partition(" ")
            if word == "bits":
                name, _, size = rest.partition("[")
                if name.startswith(("in__", "out__")):
                    raise ValueError(f"{name} is a name reserved by this checker")
                shape = [range(1, int(n) + 1) for n in size.strip("]").split(",")] if size else []
                for at in product(*shape):
                    self.bit[f"{name}[{','.join(map(str, at))}]" if size else name] = len(self.bit)
            elif word == "block":
                self.blocks.append([self.bit[name] for name in rest.split()])
            elif word == "when":
                values, writes = rest.split(" write ")
                given = {self.bit[name]: int(v) for name, _, v in (part.rpartition("=") for part in values.split())}
                block = next(number for number, members in enumerate(self.blocks) if next(iter(given)) in members)
                config = sum(given[bit] << place for place, bit in enumerate(self.blocks[block]))
                written = [] if writes == "nothing" else [self.bit[name] for name in writes.split()]
                self.templates.setdefault(block, {})[config] = written
            elif word in self.words:
                name, _, bits = rest.removeprefix("signed ").partition(" = ")
                if name.startswith("in__"):
                    raise ValueError(f"{name} is a name reserved by this checker")
                digits = [self.bit[b] for b in reversed(bits.split())]
                self.words[word][name] = (digits, rest.startswith("signed "))
            elif word == "start":
                self.start = [self.bit[name] for name in rest.split()]
            elif word == "steps":
                self.steps = int(rest)
            elif word == "halt":
                self.halt = "rest" if rest == "at fixed point" else self.bit[rest.removeprefix("when ")]
            elif word in ("where", "ensure", "invariant"):
                self.lines.append((word, rest))
            elif word not in ("cell", "matches", "examples"):
                raise ValueError(f"unknown line: {line}")

    def step(self, graph, state):
        after = [0] * len(state)
        for block, members in enumerate(self.blocks):
            for config, writes in self.templates.get(block, {}).items():
                matched = 1
                for place, bit in enumerate(members):
                    matched = graph.both(matched, state[bit] ^ (~config >> place & 1))
                for bit in writes:
                    after[bit] = graph.either(after[bit], matched)
        return after


def parsed(text):
    return ast.parse(re.sub(r"\bin\.", "in__", text).replace("^", "**"), mode="eval").body


def value(tree, row):
    """A constant expression."""
    if isinstance(tree, ast.BinOp):
        left, right = value(tree.left, row), value(tree.right, row)
        return OPERATORS[type(tree.op)](left, right)
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return -value(tree.operand, row)
    return row[tree.id] if isinstance(tree, ast.Name) else tree.value
