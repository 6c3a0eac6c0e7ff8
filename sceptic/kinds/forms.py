"""Affine forms, and systems of equations and inequalities between them, using only the standard library.

A form is a dict from variables to coefficients, with the constant at "". An inequality is a form that is at least 0.
"""

import sys
from fractions import Fraction
from math import gcd, lcm


def need(condition, message, code=1):
    if not condition:
        print("DOES NOT HOLD:" if code == 1 else "CANNOT BE READ:", message)
        sys.exit(code)


def plus(a, b, k=1):
    total = {name: a.get(name, 0) + k * b.get(name, 0) for name in {*a, *b}}
    return {name: Fraction(value) for name, value in total.items() if value}


def const(k):
    return {"": Fraction(k)} if k else {}


def put(form, values):
    found = {}
    for name, factor in form.items():
        found = plus(found, values.get(name, {name: 1}), factor)
    return found


def primitive(form):
    scaled = {name: value * lcm(*(v.denominator for v in form.values())) for name, value in form.items()}
    return {name: value / gcd(*map(int, scaled.values())) for name, value in scaled.items()}


def shown(form):
    order = sorted(form.items(), key=lambda term: (term[0] == "", term[0]))
    words = [(v < 0, str(abs(v)) if not n else n if abs(v) == 1 else f"{abs(v)}*{n}") for n, v in order]
    return "".join(f" {'-' if minus else '+'} {word}" for minus, word in words).removeprefix(" + ").lstrip() or "0"


def strongest(forms):
    """Returns the strongest inequality `form >= 0` in each direction, or None if one of them is never true."""
    best = {}
    for form in map(primitive, forms):
        normal = {name: value for name, value in form.items() if name}
        if not normal and form.get("", 0) < 0:
            return None
        scale = gcd(*map(int, normal.values())) or 1
        key, value = shown({name: v / scale for name, v in normal.items()}), form.get("", 0) / scale
        if normal and (key not in best or value < best[key][0]):
            best[key] = value, form
    return [form for _, form in best.values()]


def eliminate(forms, names, exact=True):
    """Eliminates names from the inequalities `form >= 0` (Fourier-Motzkin); returns None if they are infeasible."""
    forms = strongest(forms)
    for name in sorted(names):
        low, high = ([f for f in forms or () if sign * f.get(name, 0) > 0] for sign in (1, -1))
        need(
            not exact or all(1 in (a[name], -b[name]) for a in low for b in high),
            f"{name} cannot be eliminated exactly",
        )
        pairs = [plus({n: v * -b[name] for n, v in a.items()}, b, a[name]) for a in low for b in high]
        forms = None if forms is None else strongest([f for f in forms if name not in f] + pairs)
    return forms


def feasible(forms):
    return eliminate(forms, set().union(*forms) - {""}, exact=False) is not None


def solve(equations, names):
    """Solves `form = 0` for variables in terms of the others; returns these and the remaining equations."""
    values, left = {}, []
    for form in (equation for equation in equations):
        form = put(form, values)
        pivot = min((form.keys() - values.keys()) & names, default=None)
        if pivot is None:
            left.append(form)
            continue
        own = {n: v / -form[pivot] for n, v in form.items() if n != pivot}
        values = {n: put(v, {pivot: own}) for n, v in values.items()} | {pivot: own}
    return values, [put(form, values) for form in left if form]
