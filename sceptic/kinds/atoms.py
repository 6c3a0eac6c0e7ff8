"""Computes atoms, the forms whose signs can determine the kind of a cell, as in docs/explanation/cells.md."""

from fractions import Fraction
from itertools import combinations, product
from math import lcm

from kinds.forms import const, eliminate, feasible, need, plus, primitive, put, shown, solve


def differences(one, other):
    """Returns the differences of the indices of two bits of one array; a bit is (array, ends of each index)."""
    return [plus(a, b, -1) for (a, _), (b, _) in zip(one[1], other[1], strict=True)] if one[0] == other[0] else []


def both(forms):
    return [side for form in forms for side in (form, put({"x": -1}, {"x": form}))]


def moved(bit, values):
    return bit[0], tuple((put(low, values), put(high, values)) for low, high in bit[1])


def own(names, mark):
    return {name for name in names if name.endswith(mark) and name.count("'") == len(mark)}


class Atoms:
    """The atoms of the cells of one line in one case: forms by their text, and the modulus."""

    def __init__(self, families, case, bits):
        self.forms, self.modulus, self.case, self.families = {}, 1, case, families
        known = [*case.known, *families.valid]
        self.add(known)
        self.rests(case, {})
        placed = {
            str(found[0]): found
            for bit in bits
            for block in families.blocks
            for found in self.blocks(bit, *block, known)
        }
        for members, _ in placed.values():
            for pair in (*combinations(members, 2), *product(bits, members)):
                self.add(differences(*pair))
        boxes = {}
        for members, here in placed.values():
            for rule in families.rules:
                for array, ends in self.written(rule, members, here):
                    boxes.setdefault(array, {})[str(ends)] = ends
        for found in boxes.values():
            for coordinate in zip(*found.values(), strict=True):
                points = all(lows == highs and len(lows) == 1 for lows, highs in coordinate)
                ends = [low for lows, _ in coordinate for low in lows]
                ends += [] if points else [plus(high, const(1)) for _, highs in coordinate for high in highs]
                self.add(plus(a, b, -1) for a, b in combinations({shown(end): end for end in ends}.values(), 2))

    def add(self, forms):
        for form in forms:
            if form.keys() - {""}:  # its first variable is positive
                form = primitive(form)
                form = form if form[min(form.keys() - {""})] > 0 else put({"x": -1}, {"x": form})
                self.forms[shown(form)] = form

    def divisible(self, form, by=1):
        self.modulus = lcm(self.modulus, abs(by) * lcm(*(value.denominator for value in form.values())))

    def rests(self, case, values):
        for (_, by), (form, _) in case.rests.items():
            need(
                not own(put(form, values), "''"),
                "a remainder depends on an index that the tested bits do not determine",
            )
            self.divisible(put(form, values), by)

    def blocks(self, bit, case, members, known):
        """Yields the bits of each block of a line that can contain this bit, and the conditions for it."""
        names = own(
            set().union(
                *case.known,
                *(f for _, ends in members for pair in ends for f in pair),
                *(f for f, _ in case.rests.values()),
            ),
            "'",
        )
        for member in members:
            if member[0] == bit[0]:
                values, left = solve(differences(member, bit), names)
                conditions = [*left, *(put(form, values) for form in case.known)]
                here = [*known, *both(left), *conditions[len(left) :]]
                if feasible(here):
                    need(values.keys() == names, f"{member[0]} does not determine an index of its block")
                    self.add(conditions)
                    self.rests(case, values)
                    for form in values.values():
                        self.divisible(form)
                    yield [moved(one, values) for one in members], here

    def written(self, rule, members, here):
        """Yields the boxes that the templates of a rule in this block write, by array; an end is a list of forms."""
        case, tested, compared, targets = rule
        for chosen in product(*([member for member in members if member[0] == bit[0]] for bit in tested)):
            equations = [form for pair in zip(tested, chosen, strict=True) for form in differences(*pair)]
            everything = [*case.known, *equations, *(f for _, ends in targets for pair in ends for f in pair)]
            names = own(set().union(*everything, *compared, *(f for f, _ in case.rests.values())), "''")
            values, left = solve(equations, names)
            known = [put(form, values) for form in case.known]
            if not feasible([*here, *both(left), *known]):
                continue
            free, compared_now = names - values.keys(), [put(form, values) for form in compared]
            fixed = [form for form in values.values() if any(v.denominator > 1 for v in form.values())] + compared_now
            need(
                not any(own(form, "''") for form in fixed),
                "the tested bits do not determine an index used in arithmetic",
            )
            self.add([*left, *compared_now, *(eliminate(known, free) or [])])
            self.rests(case, values)
            for form in values.values():
                self.divisible(form)
            for array, ends in (moved(target, values) for target in targets):
                bounds = {at: ([], []) for at, pair in enumerate(ends) if free & {*pair[0], *pair[1]}}
                inside = [
                    form
                    for at in bounds
                    for form in (plus({f"#{at}": 1}, ends[at][0], -1), plus(ends[at][1], {f"#{at}": 1}, -1))
                ]
                for form in (eliminate(known + inside, free) or []) if bounds else []:
                    varied = [name for name in form if name.startswith("#")]
                    need(len(varied) <= 1, f"the bits of {array} that a rule writes are not a box")
                    if not varied:
                        self.add([form])
                        continue
                    factor = form[varied[0]]
                    end = {name: value / -factor for name, value in form.items() if name != varied[0]}
                    q = lcm(*(value.denominator for value in end.values()))
                    self.divisible(end)
                    bounds[int(varied[0][1:])][factor < 0].extend(plus(end, const(k), 1) for k in roundings(q, factor))
                yield array, tuple(bounds.get(at, ([low], [high])) for at, (low, high) in enumerate(ends))


def roundings(q, factor):
    """Returns the amount that rounds an end to an integer, up for a lower end and down for an upper one."""
    return [Fraction(k if factor > 0 else -k, q) for k in range(q)]
