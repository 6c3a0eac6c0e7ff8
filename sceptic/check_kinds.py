"""Checks a certificate of which kinds of cells a rule text has at every size, with the standard library alone.

    python check_kinds.py RULES.bw CERTIFICATE.json

The theorem is in docs/explanation/cells.md, the definition of atoms in docs/reference/certificates.md. This program reads
the text (rule_text.py), derives the atoms of every cell line, their modulus and the cut-off (families.py), expands the
text at every size up to it, and compares everything that the certificate says with what it found. Exit 0: it holds; 1:
it does not; 2: it cannot be read. What it proves is about sizes from the smallest ones on, which it prints.
"""

import json
import re
import sys
from fractions import Fraction
from hashlib import sha256
from itertools import combinations, product
from math import ceil, floor, gcd, lcm
from pathlib import Path

from families import Families, const, eliminate, feasible, need, plus, primitive, put, shown, solve
from rule_text import NoProgramError, Text


def differences(one, other):
    """Of the indices of two bits of one array; a bit is (array, ends of each index)."""
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
        placed = {str(found[0]): found for bit in bits for block in families.blocks for found in self.blocks(bit, *block, known)}
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
            need(not own(put(form, values), "''"), "a remainder of an index that the tested bits do not fix")
            self.divisible(put(form, values), by)

    def blocks(self, bit, case, members, known):
        """The blocks of a line that have this bit: their bits, and what holds then."""
        names = own(set().union(*case.known, *(f for _, ends in members for pair in ends for f in pair), *(f for f, _ in case.rests.values())), "'")
        for member in members:
            if member[0] == bit[0]:
                values, left = solve(differences(member, bit), names)
                conditions = [*left, *(put(form, values) for form in case.known)]
                here = [*known, *both(left), *conditions[len(left) :]]
                if feasible(here):
                    need(values.keys() == names, f"{member[0]} does not fix an index of its block")
                    self.add(conditions)
                    self.rests(case, values)
                    for form in values.values():
                        self.divisible(form)
                    yield [moved(one, values) for one in members], here

    def written(self, rule, members, here):
        """The boxes that the templates of a rule in this block write, by array; an end is a list of forms."""
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
            need(not any(own(form, "''") for form in fixed), "an index is computed with, and no tested bit fixes it")
            self.add([*left, *compared_now, *(eliminate(known, free) or [])])
            self.rests(case, values)
            for form in values.values():
                self.divisible(form)
            for array, ends in (moved(target, values) for target in targets):
                bounds = {at: ([], []) for at, pair in enumerate(ends) if free & {*pair[0], *pair[1]}}
                inside = [form for at in bounds for form in (plus({f"#{at}": 1}, ends[at][0], -1), plus(ends[at][1], {f"#{at}": 1}, -1))]
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
    """What is to be added to an end, so that it is an integer: up for a lower end, down for an upper one."""
    return [Fraction(k if factor > 0 else -k, q) for k in range(q)]


def determinant(rows):
    if not rows:
        return 1
    return sum((-1) ** i * x * determinant([row[:i] + row[i + 1 :] for row in rows[1:]]) for i, x in enumerate(rows[0]))


def cutoff(atoms, names, size):
    """The theorem: V + n N R, rounded down to what is less."""
    n, column, reach = len(names), names.index(size), {}
    for form in atoms.forms.values():
        normal = [int(form.get(name, 0)) for name in names]
        scale = gcd(*normal) * (1 if next(filter(None, normal)) > 0 else -1)
        key = tuple(x // scale for x in normal)
        reach[key] = max(reach.get(key, 0), (abs(form.get("", 0)) + 1) / abs(scale))
    V = R = 0
    for rows in combinations(reach, n):
        if det := determinant(rows):
            minors = [determinant([r[:column] + r[column + 1 :] for r in rows if r is not row]) for row in rows]
            V = max(V, sum(abs(minor) * reach[row] for minor, row in zip(minors, rows, strict=True)) / abs(det))
    for rows in combinations(reach, n - 1):
        kernel = [determinant([row[:at] + row[at + 1 :] for row in rows]) for at in range(n)]
        R = max(R, abs(kernel[column]) // gcd(*kernel)) if any(kernel) else R
    return ceil(V + n * atoms.modulus * R) - 1 if R else floor(V)


def sizes_of(text, source):
    """The numbers that follow from no others and that bits, blocks, cells or rules depend on."""
    lines = [re.sub("#.*", "", line).strip() for line in source.splitlines()]
    words = {word for line in lines if re.match("(port|whole|bits|block|cell|when|also) ", line) for word in re.findall(r"\w+", line)}
    found = []
    for name, value in reversed(text.lets.items()):
        above = {*re.findall(r"[A-Za-z_]\w*", str(value))}
        if name in words:
            free = isinstance(value, int) or (text.nodes and above & {"nodes", "ports"})
            found, words = [*found, name] if free else found, words | (set() if free else above)
    return found[::-1] + [name for name in ("nodes", "ports") if text.nodes and name in words]


def main(source, certificate):
    source = Path(source).read_bytes().decode()
    claimed, text = json.loads(Path(certificate).read_bytes()), Text(source)
    names, smallest = sizes_of(text, source), claimed["sizes"]
    need([*smallest] == names, f"the sizes are {', '.join(names) or 'none'}")
    need(all(type(least) is int and least >= 0 for least in smallest.values()), "a smallest size is no number")
    families, lines = Families(text, smallest), []
    for number, case, bits in families.cells:
        atoms = Atoms(families, case, bits)
        variables = sorted({name for form in atoms.forms.values() for name in form} - {"", *names}) + names
        cutoffs = {size: cutoff(atoms, variables, size) for size in names}
        lines.append({"line": number, "atoms": sorted(atoms.forms), "modulus": atoms.modulus, "cutoffs": cutoffs})
    cutoffs = {size: max([smallest[size], *(line["cutoffs"][size] for line in lines)]) for size in names}
    below = [(value,) for value in range(*smallest.values())] if len(names) == 1 else []
    seen, looked_at = {}, 0
    for values in [*below, *product(*(range(smallest[size], cutoffs[size] + 1) for size in names))]:
        at = dict(zip(names, values, strict=True))
        exists = all(put(form, {n: const(v) for n, v in at.items()}).get("", 0) >= 0 for form in families.valid)
        try:
            for kind, cell in [*text.kinds(at)]:
                seen.setdefault(json.dumps(kind), {"blocks": kind[0], "ports": kind[1], "sizes": at, "cell": cell})
            looked_at += 1
        except NoProgramError as error:  # from the smallest sizes on, only an extent may say so
            need(values in below or not exists, f"the text is no program at {at}: {error}")
    found = {"format": "bitwright kinds certificate 1", "text_sha256": sha256(source.encode()).hexdigest()}
    found |= {"sizes": smallest, "cutoffs": cutoffs, "modulus": lcm(*(line["modulus"] for line in lines)), "lines": lines}
    found |= {"kinds": sorted(seen.values(), key=lambda one: (one["blocks"], one["ports"]))}
    for name in claimed.keys() | found.keys():
        same = json.dumps(claimed.get(name), sort_keys=True) == json.dumps(found.get(name), sort_keys=True)
        need(same and name in found, f"the certificate says {name} = {str(claimed.get(name))[:300]}, but it is {found.get(name)}")
    said = ", ".join(f"{size} >= {least}" for size, least in smallest.items()) or "the one size it has"
    print(f"HOLDS: all cells are of {len(seen)} kinds, for {said}; {looked_at} sizes were expanded")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (OSError, ValueError, TypeError, KeyError, AttributeError, SyntaxError) as error:
        need(False, f"{type(error).__name__}: {error} (give RULES.bw CERTIFICATE.json)", 2)
