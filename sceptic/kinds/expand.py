"""Expands a rule text at given sizes to blocks, templates, cells and kinds, using only the standard library."""

import operator as op
from itertools import product

ARITHMETIC = {"+": op.add, "-": op.sub, "*": op.mul, "//": op.floordiv, "%": op.mod, "^": pow}
COMPARE = {"<": op.lt, "<=": op.le, ">": op.gt, ">=": op.ge, "=": op.eq, "!=": op.ne}


class NoProgramError(Exception):
    """Raised if the text is not a program at these sizes."""


def must(condition, message):
    if not condition:
        raise NoProgramError(message)


def number_of(value, env):
    """Evaluates an expression with these values of its names."""
    if isinstance(value, int | str):
        return value if isinstance(value, int) else env[value]
    sign, left, right = value[0], number_of(value[1], env), number_of(value[2], env)
    if sign == "digits":
        return max(1, abs(left).bit_length())
    must(sign not in ("//", "%") or right, "division by zero")
    must(sign != "^" or 0 <= right <= 64, "an exponent is negative, or too large")
    return ARITHMETIC[sign](left, right)


def every_row(rows, env):
    """Returns the values of the names in each row of a line."""
    found = [env]
    for name, first, last in rows[0]:
        found = [{**e, name: at} for e in found for at in range(number_of(first, e), number_of(last, e) + 1)]
    return [e for e in found if all(COMPARE[s](number_of(a, e), number_of(b, e)) for s, a, b in rows[1])]


def pick(bits, shape, env):
    """Returns the bits of a reference."""
    name, parts = bits
    extents = shape[name.rpartition(".")[2]]
    must(len(parts) == len(extents), f"{name} has the wrong number of indices")
    ends = [
        (1, n) if part is None else [number_of(end, env) for end in part]
        for part, n in zip(parts, extents, strict=True)
    ]
    chosen = [(name, *at) for at in product(*(range(first, last + 1) for first, last in ends))]
    must(all(1 <= i <= n for _, *at in chosen for i, n in zip(at, extents, strict=True)), f"{name}: out of range")
    return chosen


def picked(members, rows, shape, env):
    """Returns the bits that a line names, row by row."""
    return [[bit for one in members for bit in pick(one, shape, row)] for row in every_row(rows, env)]


def alternatives(test, shape, env):
    """Returns the ways to satisfy a test, each as a list of bits and their values."""
    left, same, is_bit, right = test
    bits = pick(left, shape, env)
    if right is None or is_bit:
        other = pick(right, shape, env) if is_bit else []
        return [[*((bit, x) for bit in bits), *((bit, x if same else 1 - x) for bit in other)] for x in (0, 1)]
    value = number_of(right, env)
    must(value in (0, 1), "a bit is compared with a number other than 0 and 1")
    return [[(bit, value if same else 1 - value) for bit in bits]]


class Expanded:
    """The program of a text at these sizes: the numbers of its `let` lines, its bits, blocks, templates and cells."""

    def __init__(self, text, sizes):
        env, order = {**sizes}, [*text.arrays]
        for name, value in text.lets.items():
            env[name] = sizes[name] if name in sizes else number_of(value, env)
        shape = {name: [number_of(extent, env) for extent in extents] for name, extents in text.arrays.items()}
        must(all(extent >= 1 for extents in shape.values() for extent in extents), "an extent below 1")
        bits = {(name, *at) for name in shape for at in product(*(range(1, n + 1) for n in shape[name]))}
        place = {bit: (order.index(bit[0]), bit[1:]) for bit in bits}
        blocks = [block for _, rows, members in text.blocks for block in picked(members, rows, shape, env)]
        block_of = {bit: at for at, block in enumerate(blocks) for bit in block}
        once = len(block_of) == sum(map(len, blocks)) and block_of.keys() == bits
        must(once and all(len(block) <= 16 for block in blocks), "a bit is not in one block, or a block is too large")
        templates = [{} for _ in blocks]
        for number, rows, tests, targets, also in text.rules:
            for row in every_row(rows, env):
                written = {bit for target in targets for bit in pick(target, shape, row)}
                must(written or not targets, "a rule writes nothing")
                for chosen in product(*(alternatives(test, shape, row) for test in tests)):
                    conditions = [condition for way in chosen for condition in way]
                    owner = {block_of[bit] for bit, _ in conditions}
                    must(len({*conditions}) == len({bit for bit, _ in conditions}), "a bit is tested twice")
                    must(len(owner) == 1, "a rule spans blocks")
                    on = frozenset(bit for bit, value in conditions if value)
                    line, writes = templates[owner.pop()].setdefault(on, (number, set()))
                    must(also or line == number, "two templates for one configuration")
                    writes |= written
        named = [cell for _, rows, members in text.cells for cell in picked(members, rows, shape, env)]
        owned = {block_of[bit] for cell in named for bit in cell}
        rest = [[min(block, key=place.get)] for at, block in enumerate(blocks) if at not in owned]
        must(not named or not rest or text.nodes, "a block is not in any cell")
        self.lets, self.shape, self.bits, self.place = env, shape, bits, place
        self.blocks, self.block_of, self.templates = blocks, block_of, templates
        self.cells, self.named, self.owned = named + sorted(rest, key=lambda cell: place[cell[0]]), bool(named), owned

    def blocks_of(self, cell):
        """Yields the blocks of a cell and the order of their bits in it."""
        for at in dict.fromkeys(self.block_of[bit] for bit in cell):
            listed = [*dict.fromkeys(bit for bit in cell if self.block_of[bit] == at)]
            turn = listed if self.named and at in self.owned else []
            yield at, turn + sorted({*self.blocks[at]} - {*turn}, key=self.place.get)


def name_of(bit):
    """Returns the name of a bit in the rule text."""
    name, *indices = bit
    return name + (f"[{','.join(map(str, indices))}]" if indices else "")


def kinds(text, sizes):
    """Yields (kind, first bit) for every cell that has templates, in the order of the program's cells."""
    program = Expanded(text, sizes)
    for cell in program.cells:
        tables, ways, first = [], [], None
        for at, turn in program.blocks_of(cell):
            value = {bit: 1 << i for i, bit in enumerate(turn)}
            rows = sorted((sum(map(value.get, on)), writes) for on, (_, writes) in program.templates[at].items())
            tables += [[len(turn), [config for config, _ in rows]]] if rows else []
            first = first or (turn[0] if rows else None)
            ways += [bits for _, bits in rows]
        ports = {tuple(t for t, bits in enumerate(ways) if bit in bits) for bit in set().union(*ways)}
        if tables:
            yield [tables, sorted(map(list, ports))], name_of(first)
