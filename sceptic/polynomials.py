"""Polynomials, coefficients by monomial (a sorted tuple of names), and equations of them; for check_loop.py."""

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


def equation(tree):
    """Both sides of `A == B`, each with the exponent of its modulus 2^e, or None."""
    if not isinstance(tree, ast.Compare) or not isinstance(tree.ops[0], ast.Eq):
        raise ValueError("a law or an invariant must be an equation of polynomials")
    sides = []
    for side in (tree.left, tree.comparators[0]):
        modulus = value(side.right, {}) if isinstance(side, ast.BinOp) and isinstance(side.op, ast.Mod) else None
        if modulus is not None and (modulus < 1 or modulus & modulus - 1):
            raise ValueError("a modulus must be a power of two")
        sides.append((polynomial(side.left if modulus else side), modulus and modulus.bit_length() - 1))
    return sides


def sufficient(tree, bounds):
    """A polynomial and an exponent: if it is 0 modulo 2^exponent, the equation holds for names within bounds."""
    (left, e), (right, f) = equation(tree)
    if e is not None and f is not None and e != f:
        raise ValueError("two moduli")
    low, high = interval(added(left, right, -1) if e is None and f is None else left if e is None else right, bounds)
    if e is None and f is None:
        return added(left, right, -1), max(abs(low), abs(high)).bit_length()
    exponent = e if e is not None else f
    if (e is None or f is None) and not 0 <= low <= high < 1 << exponent:
        raise ValueError("a side may be as large as the modulus")
    return added(left, right, -1), exponent


def interval(a, bounds):
    low = high = 0
    for names, x in a.items():
        ends = [x]
        for name in names:
            ends = [end * bound for end in ends for bound in bounds[name]]
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
