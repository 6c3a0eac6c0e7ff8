"""Parses rule text with open sizes, using only the standard library.

An expression is kept as a Python syntax tree, limited to numbers, names, + - * // % ** and digits(x).
Groups (`group`, `use`) are not supported.
"""

import ast
import re

REFERENCE = r"[A-Za-z_][\w.]*(?:\s*\[[^\]]*\])?"
OTHERS = {"input", "output", "start", "steps", "halt", "matches", "examples", "chain", "graph"}
OTHERS |= {"where", "ensure", "invariant"}
OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "^"}


def expression(text):
    """Parses an int, a name, or (operator, left, right)."""

    def walk(node):
        if isinstance(node, ast.Constant) and type(node.value) is int:
            return node.value
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return "-", 0, walk(node.operand)
        if isinstance(node, ast.Call) and node.func.id == "digits" and len(node.args) == 1:
            return "digits", walk(node.args[0]), 0
        return OPERATORS[type(node.op)], walk(node.left), walk(node.right)

    return walk(ast.parse(text.strip().replace("^", "**"), mode="eval").body)


def reference(text):
    """Parses (name, indices). An index is a pair of expressions, or None for `*`; without brackets there are none."""
    name, _, inside = text.replace(" ", "").rstrip("]").partition("[")
    parts, depth, piece = [], 0, ""
    for letter in inside + "," * bool(inside):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth:
            ends = [None if end == "*" else expression(end) for end in piece.split("..")]
            parts.append(None if ends == [None] else (ends[0], ends[-1]))
            letter = piece = ""
        piece += letter
    return name, tuple(parts)


def clauses(text):
    """Parses the ranges and conditions of `for i in a..b, j in c..d if x < y and z = 1`."""
    ranges, _, conditions = re.sub(r"\bfor\b", ",", text).partition(" if ")
    found = [re.fullmatch(r"\s*(\w+)\s+in\b(.*)\.\.(.*)", one) for one in re.split(r",(?=\s*\w+\s+in\b)", ranges)[1:]]
    tests = [re.fullmatch(r"(.*?)(<=|>=|!=|<|>|=)(.*)", one) for one in re.split(r"\band\b", conditions) if one.strip()]
    ends = [(one[1], expression(one[2]), expression(one[3])) for one in found]
    return ends, [(one[2], expression(one[1]), expression(one[3])) for one in tests]


class Text:
    """`lets` and `arrays` by name; blocks, cells and rules as (line, clauses, bits, ...); `others` as they are."""

    def __init__(self, text):
        self.others = {word: [] for word in OTHERS}
        self.lets, self.arrays, self.blocks, self.cells, self.rules, self.nodes = {}, {}, [], [], [], False
        row, number = "", 0
        for at, line in enumerate([*text.splitlines(), ""], 1):
            number, row = number if row else at, row + line.partition("#")[0]
            if row.rstrip().endswith("\\") or row.count("[") + row.count("(") > row.count("]") + row.count(")"):
                row = row.rstrip().rstrip("\\") + " "
                continue
            if row.strip():
                self.line(number, " ".join(row.split()))
            row = ""
        self.in_cells = self.cells + (self.blocks if self.nodes or not self.cells else [])

    def line(self, number, text):
        word, _, rest = text.partition(" ")
        if word in ("port", "whole"):
            self.nodes, word, rest = True, *rest.split(" ", 1)
        self.nodes |= word in ("chain", "graph")
        body = re.split(r"\s(?=for\s|if\s)", rest, maxsplit=1)[0]
        tail = rest[len(body) :]
        if word == "let":
            name, _, value = rest.partition("=")
            self.lets[name.strip()] = expression(value)
        elif word == "bits":
            for one in re.findall(REFERENCE, rest):
                name, parts = reference(one)
                self.arrays[name] = [part[0] for part in parts]
        elif word in ("block", "cell"):
            into = self.blocks if word == "block" else self.cells
            into.append((number, clauses(tail), [reference(one) for one in re.findall(REFERENCE, body)]))
        elif word in ("when", "also"):
            tested, _, written = body.removeprefix("when ").partition(" write ")
            begins = [*re.finditer(rf"({REFERENCE})\s*(!?=)", tested)]
            tests = []
            for one, after in zip(begins, [*begins[1:], None], strict=True):
                right = re.sub(r"\band\s*$", "", tested[one.end() : after.start() if after else None].strip()).strip()
                bit = right in self.arrays or right.endswith("]")
                value = None if right == "*" else reference(right) if bit else expression(right)
                tests.append((reference(one[1]), one[2] == "=", bit, value))
            targets = [reference(one) for one in re.findall(REFERENCE, written) if one != "nothing"]
            self.nodes |= any("." in name for name, _ in targets)
            self.rules.append((number, clauses(tail), tests, targets, word == "also"))
        elif word in OTHERS:
            self.others[word].append(rest)
        else:
            raise ValueError(f"line {number} begins with {word}, which this checker does not support")
