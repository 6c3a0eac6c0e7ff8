"""Parses `ensure` lines as Python syntax trees with operators, names, bits of words and numbers."""

import ast
import re
import sys

SAFE = (ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Name, ast.Load, ast.Constant, ast.operator, ast.boolop)
SAFE += (ast.unaryop, ast.cmpop, ast.Subscript)


def need(condition, message, code=1):
    if not condition:
        print("DOES NOT HOLD:" if code == 1 else "CANNOT BE READ:", message)
        sys.exit(code)


class Word(int):
    """A number; its bits are x[1], x[2] and so on, lowest first."""

    def __getitem__(self, place):
        return self >> (place - 1) & 1


def parsed(text, conditions=()):
    """A line as a tree, with its conditions; `loop` contains the index of `for i in a..b` and its bounds as trees."""
    text, _, loop = text.partition(" for ")
    left, arrow, right = text.partition(" => ")
    need(
        "=>" not in right and (not arrow or left.count("(") == left.count(")")),
        f"a line may have only one arrow: {text}",
        2,
    )
    tree = expression(f"(not ({left})) or ({right})" if arrow else text)
    for condition in conditions:
        tree = ast.BoolOp(ast.Or(), [ast.UnaryOp(ast.Not(), expression(condition)), tree])
    tree = ast.fix_missing_locations(tree)
    found = re.fullmatch(r"(\w+) in (.+)\.\.(.+)", loop)
    need(found or not loop, f"this form of loop is not supported: {loop}", 2)
    tree.loop = (found[1], expression(found[2]), expression(found[3])) if found else None
    return tree


def expression(text):
    tree = ast.parse(text.replace("in.", "in_").replace("^", "**"), mode="eval").body
    right = all(isinstance(node, SAFE) and len(getattr(node, "ops", "1")) == 1 for node in ast.walk(tree))
    need(right, f"this form of line is not supported: {text}", 2)
    return tree


def value(node, names):
    return eval(compile(ast.Expression(node), "line", "eval"), {"__builtins__": {}}, names)


def holds(tree, names):
    """Whether a line is true for these values."""
    if tree.loop is None:
        return value(tree, names)
    name, first, last = tree.loop
    return all(value(tree, {**names, name: at}) for at in range(value(first, {}), value(last, {}) + 1))


def sizes_of(document, named):
    """Returns the ranging number with its first value, and the fixed numbers, as in `l>=1, k=3`; checks the claim."""
    found = [re.fullmatch(r"(\w+)(>?)=(-?\d+)", part) for part in named.split(", ")]
    need(all(found), f"these are not sizes: {named}", 2)
    ranges, fixed = ({part[1]: int(part[3]) for part in found if part[2] == sign} for sign in (">", ""))
    links = document.get("links", {})
    if links:
        claim = links["function"]["claim"]
        need(claim["verdict"] == "proved" and claim["sizes"] == named, f"the claim must be proved for {named}")
        left_out = set((links.get("sizes", {}).get("proof") or {"sizes": ()})["sizes"]) - {*ranges, *fixed}
        need(not left_out, f"the kinds of cells depend on {', '.join(left_out)}, which the proof does not cover")
    need(len(ranges) == 1, "exactly one number must range over values", 2)
    return ranges, fixed
