"""Check without bitwright that rules compute what their `ensure` lines say, at one size.

    python check_at_size.py RULES.bw CERTIFICATE.json

It takes all steps of all runs symbolically. Each `ensure` line then needs a law (weights of bits that every step
conserves), or is part of the formula "a run ends wrong", which is built here and needs a refutation (LRAT).
"""

import ast
import hashlib
import json
import pathlib
import sys

import meaning
import symbolic
from symbolic import statement, value

# Polynomials: coefficients by monomial, a sorted tuple of names.


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


def main(rules_file, certificate_file):
    text, path = pathlib.Path(rules_file).read_text(), pathlib.Path(certificate_file)
    certificate, rules, graph = json.loads(path.read_text()), symbolic.Rules(text), symbolic.Graph()
    if certificate["format"] != "bitwright function at a size 1" or certificate["verdict"] != "proved":
        return "it is not a certificate of a proof at a size"
    if certificate["rules"] != hashlib.sha256(text.encode()).hexdigest():
        return "it is for other rules"
    if "cut" in certificate:
        return "it is a proof by cut points; see check_rounds.py"
    states, lines = symbolic.run(rules, graph), [line for word, line in rules.lines if word == "ensure"]
    words = {f"in__{name}": (0, *word) for name, word in rules.words["input"].items()}
    words |= {name: (0, *word) for name, word in rules.words["input"].items()}
    words |= {name: (-1, *word) for name, word in rules.words["output"].items()}
    goals, given = [], []
    if len(certificate["laws"]) != len(lines) or not lines:
        return "it does not have one entry for each ensure line"
    for line, law in zip(lines, certificate["laws"], strict=True):
        stated = meaning.goals(graph, line, {n: meaning.number(states[at], *w) for n, (at, *w) in words.items()})
        if law is not None and not lawful(rules, states, words, line, law):
            return f"the law for '{line}' does not hold"
        (goals if law is None else given).extend(stated)
    if any(goal != 1 for goal in goals):
        formula = meaning.formula(graph, goals, given)
        (lemma,) = certificate["lemmas"]
        if lemma["cnf"] != meaning.digest(formula):
            return "the formula is another one"
        if not meaning.refuted(formula, path.parent / pathlib.Path(lemma["file"]).name):
            return "the refutation does not hold"
    print(f"HOLDS: {'; '.join(lines)} ({len(states) - 1:,} steps, {len(graph.parts):,} nodes)")
    return None


def lawful(rules, states, words, line, law):
    """Whether the law proves the line, a linear equation."""
    tree, rows = statement(line)
    bounds = {n: (-(1 << len(b)) // 2 * s, (1 << len(b) - s) - 1) for n, (_, b, s) in words.items()}
    difference, exponent = sufficient(tree, bounds)
    wanted, rest = {}, [(1, -difference.get((), 0))]
    for names, factor in difference.items():
        for at, bits, signed in [words[name] for name in names]:
            for place, bit in enumerate(bits):
                weight = factor * (1 << place) * (-1 if signed and place == len(bits) - 1 else 1)
                if at:
                    wanted[bit] = wanted.get(bit, 0) + weight
                else:
                    rest.append((states[0][bit], -weight))
    linear = rows == [{}] and all(len(names) < 2 for names in difference)
    return linear and symbolic.law_gives(rules, states, law, wanted, exponent) == symbolic.sum_of(rest, exponent)


if __name__ == "__main__":
    try:
        problem = main(*sys.argv[1:3])
    except (OSError, ValueError, KeyError, TypeError, SyntaxError, IndexError) as error:
        sys.exit(f"cannot check this: {error}")
    sys.exit(problem and f"DOES NOT HOLD: {problem}")
