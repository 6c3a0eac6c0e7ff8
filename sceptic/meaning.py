"""Integers of literals, the meaning of `ensure` lines, formulas and their refutations; for check_at_size.py."""

import ast
import hashlib

from symbolic import statement, value


def wide(a, width):
    return a + a[-1:] * (width - len(a))


def trim(a):
    while len(a) > 1 and a[-1] == a[-2]:
        a = a[:-1]
    return a


def number(state, bits, signed):
    """The integer of these bits: two's complement, the sign bit last."""
    found = tuple(state[bit] for bit in bits)
    return found if signed else trim((*found, 0))


def constant(x):
    return tuple(x >> place & 1 for place in range(x.bit_length() + 1))


def known(a):
    return sum(bit << place for place, bit in enumerate(a[:-1])) - (a[-1] << len(a) - 1) if max(a) < 2 else None


def add(g, a, b, carry=0):
    width, total = max(len(a), len(b)) + 1, ()
    for x, y in zip(wide(a, width), wide(b, width), strict=True):
        half = g.differ(x, y)
        total += (g.differ(half, carry),)
        carry = g.either(g.both(x, y), g.both(half, carry))
    return trim(total)


def subtract(g, a, b):
    return add(g, a, tuple(bit ^ 1 for bit in b), 1)


def multiply(g, a, b):
    if known(a) is not None:
        a, b = b, a
    product = constant(0)
    for place, bit in enumerate(b[:-1]):
        product = add(g, product, (0,) * place + tuple(g.both(bit, x) for x in a))
    return subtract(g, product, (0,) * (len(b) - 1) + tuple(g.both(b[-1], x) for x in a))


def choose(g, condition, a, b):
    width = max(len(a), len(b))
    pick = (
        x if x == y else g.either(g.both(condition, x), g.both(condition ^ 1, y))
        for x, y in zip(wide(a, width), wide(b, width), strict=True)
    )
    return trim(tuple(pick))


def divide(g, a, by):
    """Quotient and remainder; for by = 0 they are 0 and a."""
    fixed = known(by) or 0
    if fixed > 0 and fixed & fixed - 1 == 0:
        at = fixed.bit_length() - 1
        return a[min(at, len(a) - 1) :], trim((*wide(a, max(at, len(a)))[:at], 0))
    sign, rest, quotient, some = a[-1], constant(0), [], truth(g, by)
    for bit in reversed(a[:-1]):
        rest = trim((g.differ(bit, sign), *rest[:-1], 0))
        short = subtract(g, rest, by)
        quotient.append(short[-1] ^ 1)
        rest = trim((*wide(choose(g, short[-1], rest, short), len(by))[: len(by) - 1], 0))
    whole = trim(tuple(g.both(some, g.differ(bit, sign)) for bit in (*reversed(quotient), 0)))
    below = choose(g, sign, add(g, by, tuple(bit ^ 1 for bit in rest)), rest)
    return whole, choose(g, some, below, a)


def agree(g, a, b):
    width = max(len(a), len(b))
    return [g.differ(x, y) ^ 1 for x, y in zip(wide(a, width), wide(b, width), strict=True)]


def every(g, literals):
    held = 1
    for literal in literals:
        held = g.both(held, literal)
    return held


def truth(g, a):
    return every(g, [bit ^ 1 for bit in a]) ^ 1


def evaluate(g, tree, names, row):
    """The value of an expression; a truth value is 0 or 1."""
    if isinstance(tree, ast.Constant):
        return constant(tree.value)
    if isinstance(tree, ast.Name):
        return constant(row[tree.id]) if tree.id in row else names[tree.id]
    if isinstance(tree, ast.Subscript):
        word, place = names[tree.value.id], value(tree.slice, row) - 1
        return trim((word[min(place, len(word) - 1)], 0))
    if isinstance(tree, ast.UnaryOp):
        body = evaluate(g, tree.operand, names, row)
        return trim((truth(g, body) ^ 1, 0)) if isinstance(tree.op, ast.Not) else subtract(g, constant(0), body)
    if isinstance(tree, ast.BoolOp):
        result, *others = tree.values
        result = evaluate(g, result, names, row)
        for other in others:
            a, b = truth(g, result), truth(g, evaluate(g, other, names, row))
            result = trim((g.both(a, b) if isinstance(tree.op, ast.And) else g.either(a, b), 0))
        return result
    if isinstance(tree, ast.BinOp):
        if isinstance(tree.op, ast.Pow):
            return constant(value(tree, row))
        left, right = evaluate(g, tree.left, names, row), evaluate(g, tree.right, names, row)
        if isinstance(tree.op, ast.FloorDiv | ast.Mod):
            return divide(g, left, right)[isinstance(tree.op, ast.Mod)]
        return {ast.Add: add, ast.Sub: subtract, ast.Mult: multiply}[type(tree.op)](g, left, right)
    sign, (right,) = type(tree.ops[0]), tree.comparators
    left, right = evaluate(g, tree.left, names, row), evaluate(g, right, names, row)
    if sign in (ast.Eq, ast.NotEq):
        return trim((every(g, agree(g, left, right)) ^ (sign is ast.NotEq), 0))
    less = subtract(g, right, left) if sign in (ast.Gt, ast.LtE) else subtract(g, left, right)
    return trim((less[-1] ^ (sign in (ast.LtE, ast.GtE)), 0))


def goals(g, line, names):
    """Literals whose conjunction is equivalent to a line."""
    tree, rows = statement(line)
    return [goal for row in rows for goal in goals_of(g, tree, names, row)]


def goals_of(g, tree, names, row):
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And):
        return [goal for part in tree.values for goal in goals_of(g, part, names, row)]
    if isinstance(tree, ast.Compare) and isinstance(tree.ops[0], ast.Eq):
        return agree(g, evaluate(g, tree.left, names, row), evaluate(g, tree.comparators[0], names, row))
    return [truth(g, evaluate(g, tree, names, row))]


def formula(g, goals, given):
    """The clauses of "all givens hold, and one of the goals does not"."""
    goals, given = [x for x in dict.fromkeys(goals) if x != 1], [x for x in dict.fromkeys(given) if x != 1]
    seen, ahead = set(), [x >> 1 for x in (*goals, *given)]
    while ahead:
        node = ahead.pop()
        if node not in seen:
            seen.add(node)
            ahead += [x >> 1 for x in g.parts[node] or ()]
    name = {node: place for place, node in enumerate(sorted(seen), 1)}
    clauses = []
    for node in sorted(seen):
        if g.parts[node]:
            out, a, b = name[node], *(name[x >> 1] * (-1 if x & 1 else 1) for x in g.parts[node])
            clauses += [(-out, a), (-out, b), (out, -a, -b)]
    clauses.append(tuple(name[x >> 1] * (1 if x & 1 else -1) for x in goals))
    return [*clauses, *((name[x >> 1] * (-1 if x & 1 else 1),) for x in given)]


def digest(clauses):
    head = f"p cnf {max(abs(x) for clause in clauses for x in clause)} {len(clauses)}\n"
    text = head + "".join(" ".join(map(str, clause)) + " 0\n" for clause in clauses)
    return hashlib.sha256(text.encode()).hexdigest()


def refuted(clauses, path):
    """Whether an LRAT file derives the empty clause by unit propagation from the clauses that each line names."""
    clause_of = dict(enumerate(clauses, 1))
    with open(path) as lines:
        for line in lines:
            name, *rest = line.split()
            if rest[0] == "d":
                continue
            end = rest.index("0")
            clause, false = tuple(map(int, rest[:end])), {int(x) for x in rest[:end]}
            for hint in map(int, rest[end + 1 : -1]):
                free = [x for x in clause_of[hint] if x not in false]
                if len(free) > 1:
                    return False
                if not free:
                    break
                false.add(-free[0])
            else:
                return False
            if not clause:
                return True
            clause_of[int(name)] = clause
    return False
