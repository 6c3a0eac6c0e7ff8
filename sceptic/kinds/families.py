"""Reads the lines of a rule text as families with affine indices, case by case, using only the standard library."""

from fractions import Fraction
from itertools import chain, product

from kinds.expand import number_of
from kinds.forms import const, feasible, need, plus, put, shown


class Case:
    """Indices of a row as forms, known inequalities (`form >= 0`), and remainders: {(form, by): remainder}."""

    def __init__(self, values, known, rests):
        self.values, self.known, self.rests = values, known, rests

    def where(self, *forms):
        if all(form.keys() - {""} or form.get("", 0) >= 0 for form in forms):
            fresh = [form for form in forms if form.keys() - {""}]
            if not fresh or feasible([*self.known, *fresh]):
                yield Case(self.values, [*self.known, *fresh], self.rests)


class Families:
    """The lines of a text as cases with affine indices, given the smallest sizes."""

    def __init__(self, text, smallest):
        self.text, self.smallest = text, smallest
        self.start = Case({}, [plus({name: 1}, const(-least)) for name, least in smallest.items()], {})
        extents = [[f for f, _ in self.forms(e, self.start)] for e in chain(*text.arrays.values())]
        self.valid = [plus(found[0], const(-1)) for found in extents if len(found) == 1]
        self.blocks = [
            (c, bits) for _, rows, m in text.blocks for c in self.rows(rows, "'") for bits, c in self.bits(m, c)
        ]
        self.cells = [
            (n, c, bits) for n, rows, m in text.in_cells for c in self.rows(rows) for bits, c in self.bits(m, c)
        ]
        self.rules = [rule for line in text.rules for rule in self.rule(line)]

    def forms(self, value, case):
        """Yields an expression as (form, case) for each case of its quotients and remainders."""
        if isinstance(value, int | str):
            if value in case.values:
                yield case.values[value], case
            elif value in self.text.lets and value not in self.smallest:
                for form, now in self.forms(self.text.lets[value], Case({}, case.known, case.rests)):
                    yield form, Case(case.values, now.known, now.rests)
            else:
                yield const(value) if isinstance(value, int) else {value: Fraction(1)}, case
            return
        for (left, right), now in self.pairs(value[1], value[2], case):
            sign, fixed = value[0], [not form.keys() - {""} for form in (left, right)]
            a, b = left.get("", 0), right.get("", 0)
            if sign in ("+", "-"):
                yield plus(left, right, 1 if sign == "+" else -1), now
            elif sign == "*" and any(fixed):
                yield put({"x": Fraction(b if fixed[1] else a)}, {"x": left if fixed[1] else right}), now
            elif all(fixed):
                yield const(number_of((sign, int(a), int(b)), {})), now
            elif sign in ("//", "%") and fixed[1]:
                key = shown(left), int(b)
                for rest in [now.rests[key][1]] if key in now.rests else range(0, int(b), 1 if b > 0 else -1):
                    then = Case(now.values, now.known, {**now.rests, key: (left, rest)})
                    quotient = {n: v / b for n, v in plus(left, const(-rest)).items()}
                    yield (const(rest) if sign == "%" else quotient), then
            else:
                need(sign in ("//", "%"), f"({shown(left)}) {sign} ({shown(right)}) is not affine")
                outside = (
                    plus({}, right, -1),
                    plus(plus({}, right, -1), plus(left, const(1)), -1),
                    plus(left, right, -2),
                )
                need(
                    not any(feasible([*now.known, form]) for form in outside),
                    f"a quotient by {shown(right)} must be -1, 0 or 1",
                )
                for quotient in (-1, 0, 1):
                    rest = plus(left, right, -quotient)
                    for then in now.where(rest, plus(plus(right, rest, -1), const(-1))):
                        yield (const(quotient) if sign == "//" else rest), then

    def pairs(self, first, second, case):
        return (((a, b), c) for a, now in self.forms(first, case) for b, c in self.forms(second, now))

    def rows(self, rows, mark="", case=None, at=0):
        """Yields the rows of a line; a range of fewer than 64 rows is expanded."""
        ranges, conditions = rows
        case = case or self.start
        if at < len(ranges):
            name, first, last = ranges[at]
            for (low, high), now in self.pairs(first, last, case):
                length, index = plus(high, low, -1), {name + mark: Fraction(1)}
                if not length.keys() - {""} and length.get("", 0) < 64:
                    ways = [
                        Case({**now.values, name: plus(low, const(k))}, now.known, now.rests)
                        for k in range(int(length.get("", 0)) + 1)
                    ]
                else:
                    found = Case({**now.values, name: index}, now.known, now.rests)
                    ways = found.where(plus(index, low, -1), plus(high, index, -1))
                for way in ways:
                    yield from self.rows(rows, mark, way, at + 1)
        elif at < len(ranges) + len(conditions):
            sign, left, right = conditions[at - len(ranges)]
            for (a, b), now in self.pairs(left, right, case):
                more, less = plus(a, b, -1), plus(b, a, -1)
                above, below = plus(more, const(-1)), plus(less, const(-1))
                ways = {
                    "<": [[below]],
                    "<=": [[less]],
                    ">": [[above]],
                    ">=": [[more]],
                    "=": [[more, less]],
                    "!=": [[above], [below]],
                }
                for way in ways[sign]:
                    for then in now.where(*way):
                        yield from self.rows(rows, mark, then, at + 1)
        else:
            yield case

    def bits(self, references, case, apart=True):
        """Yields the named bits as (array, ends of each index), individually if `apart` is set."""
        if not references:
            yield [], case
            return
        (name, parts), rest = references[0], references[1:]
        boxes = [((), case)]
        for part, extent in zip(parts, self.text.arrays[name.rpartition(".")[2]], strict=True):
            first, last = (1, extent) if part is None else part
            boxes = [
                ((*ends, end), c)
                for ends, now in boxes
                for end, c in (
                    [((form, form), c) for form, c in self.forms(first, now)]
                    if first is last or first == last
                    else self.pairs(first, last, now)
                )
            ]
        for ends, now in boxes:
            ways = [[(low, high)] for low, high in ends]
            if apart:
                need(
                    all(not plus(b, a, -1).keys() - {""} for a, b in ends),
                    f"the number of bits of {name} depends on the size",
                )
                ways = [[(plus(a, const(k)),) * 2 for k in range(int(plus(b, a, -1).get("", 0)) + 1)] for a, b in ends]
            for more, then in self.bits(rest, now, apart):
                yield [(name, box) for box in product(*ways)] + more, then

    def rule(self, line):
        """Yields a rule as (case, tested bits, values, targets)."""
        _, rows, tests, targets, _ = line
        refs = [ref for left, _, is_bit, right in tests for ref in (left, *([right] if is_bit else []))]
        values = [right for _, _, is_bit, right in tests if not is_bit and right is not None]
        for row in self.rows(rows, "''"):
            for tested, case in self.bits(refs, row):
                found = [([], case)]
                for value in values:
                    found = [([*forms, form], c) for forms, now in found for form, c in self.forms(value, now)]
                for forms, now in found:
                    for written, then in self.bits(targets, now, apart=False):
                        yield then, tested, forms, written
