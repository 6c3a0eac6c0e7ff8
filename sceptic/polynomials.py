"""Polynomials as coefficients by monomial, which is a sorted tuple of names. Used by check_loop.py."""

import ast

from symbolic import value


def polynomial(tree):
    if isinstance(tree, ast.Constant):
        return {(): tree.value}
    if isinstance(tree, ast.Name):
        return {(tree.id,): 1}
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
        return added({}, polynomial(tree.operand), -1)
    if not isinstance(tree, ast.BinOp):
        raise ValueError("a law or an invariant must be an equation of polynomials")
    if isinstance(tree.op, ast.Pow):
        return {(): value(tree, {})}
    left, right = polynomial(tree.left), polynomial(tree.right)
    if isinstance(tree.op, ast.Add | ast.Sub):
        return added(left, right, 1 if isinstance(tree.op, ast.Add) else -1)
    if isinstance(tree.op, ast.Mult):
        return times(left, right)
    raise ValueError("a law or an invariant must be an equation of polynomials")


def added(a, b, factor=1):
    return {m: v for m in {**a, **b} if (v := a.get(m, 0) + factor * b.get(m, 0))}


def times(a, b):
    total = {}
    for m, x in a.items():
        total = added(total, {tuple(sorted(m + n)): x * y for n, y in b.items()})
    return total


def interval(a, bounds):
    low = high = 0
    for names, x in a.items():
        ends = [x]
        for name in names:
            ends = [end * bound for end in ends for bound in (0, bounds[name])]
        low, high = low + min(ends), high + max(ends)
    return low, high


def substituted(a, given):
    total = {}
    for names, x in a.items():
        term = {(): x}
        for name in names:
            term = times(term, given.get(name, {(name,): 1}))
        total = added(total, term)
    return total
