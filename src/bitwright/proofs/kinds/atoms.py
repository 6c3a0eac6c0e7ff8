"""Atoms: affine forms whose signs, together with residues of a cell's indices and sizes, determine the cell's kind.

The small-model theorem gives a size up to which every pattern of signs and residues occurs. A pattern specifies for
each atom f whether f <= -1, f = 0 or f >= 1, and the values of all variables modulo N. With the atoms' normals a and
G = |constant| + 1, over all choices of n independent normals,

    V = max of sum over j of |minor_j| G_j / |det|,    R = the largest entry of a primitive kernel vector of n - 1,

in the coordinate of a size. A pattern with a point has a point at which that size is less than V + n N R, or at most V.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product
from math import ceil, comb, floor, gcd, lcm, prod

from flint import fmpz_mat

from bitwright.proofs.kinds.affine import ONE, Affine, NotExactError, eliminate, feasible, solve
from bitwright.proofs.kinds.lines import BitBox, LineCase, NotCoveredError

# An interval from the largest of the first forms to the smallest of the second.
Ends = tuple[tuple[Affine, ...], tuple[Affine, ...]]
_MOST_CHOICES = 1_000  # ways to assign the bits of a rule to members of a block


@dataclass
class Atoms:
    """The atoms of a cell in one case, with the modulus of the residues."""

    cell: LineCase
    forms: set[Affine] = field(default_factory=set)
    modulus: int = 1

    def add(self, *forms: Affine) -> None:
        """Records that the kind may depend on the signs of these forms."""
        self.forms.update(form.upright() for form in forms if form.constant is None)

    def divisible(self, form: Affine, by: int = 1) -> None:
        """Records that the kind may depend on this form modulo a number, or on whether it is an integer."""
        self.modulus = lcm(self.modulus, abs(by) * form.denominator)


@dataclass(frozen=True)
class _Placed:
    """A block of the cell with its bits, and the conditions under which the cell has this block."""

    bits: tuple[BitBox, ...]
    known: tuple[Affine, ...]


def atoms_of(cell: LineCase, blocks: Sequence[LineCase], rules: Sequence[LineCase], valid: Sequence[Affine]) -> Atoms:
    """Returns all atoms of the cells of one line in one case; forms in `valid` are never negative in a program."""
    atoms = Atoms(cell)
    atoms.add(*cell.case.known, *valid)
    for (form, by), _ in cell.case.remainders.items():
        atoms.divisible(form, by)
    known = (*cell.case.known, *valid)
    blocks_placed = (block for bit in cell.bits for line in blocks for block in _blocks_of(atoms, bit, line, known))
    placed = {block.bits: block for block in blocks_placed}
    for block in placed.values():
        for bits in (*combinations(block.bits, 2), *product(cell.bits, block.bits)):
            atoms.add(*_differences(*bits))
    written: dict[str, set[tuple[Ends, ...]]] = {}
    for block in placed.values():
        for rule in rules:
            for values, here in _matches(rule, block):
                for target in _written(atoms, rule, values, here):
                    written.setdefault(target[0], set()).add(target[1])
    for boxes in written.values():
        for coordinate in zip(*boxes, strict=True):
            _add_order(atoms, coordinate)
    return atoms


def _differences(one: BitBox, other: BitBox) -> Iterator[Affine]:
    """Yields the differences of coordinates if both are bits of one array."""
    if one.array == other.array:
        for (first, _), (second, _) in zip(one.ranges, other.ranges, strict=True):
            yield first - second


def _both(equations: Sequence[Affine]) -> list[Affine]:
    return [side for form in equations for side in (form, -form)]


def _blocks_of(atoms: Atoms, bit: BitBox, block: LineCase, known: tuple[Affine, ...]) -> Iterator[_Placed]:
    """Yields the block of this line that contains the bit, for each member that can be the bit."""
    for member in block.bits:
        if member.array != bit.array:
            continue
        values, left = solve(_differences(member, bit), block.indices)
        here = (*known, *_both(left), *(form.put(values) for form in block.case.known))
        if not feasible(here):
            continue
        if missing := {name for form in _forms_of(block) for name in form.names & block.indices} - values.keys():
            names = ", ".join(sorted(missing))
            raise NotCoveredError(f"{member.array}[...] does not determine the index {names} of its block", block.token)
        atoms.add(*left, *(form.put(values) for form in block.case.known))
        for form in values.values():
            atoms.divisible(form)
        for (form, by), _ in block.case.remainders.items():
            atoms.divisible(form.put(values), by)
        yield _Placed(tuple(bits.put(values) for bits in block.bits), here)


def _forms_of(line: LineCase) -> Iterator[Affine]:
    yield from line.case.known
    yield from (form for form, _ in line.case.remainders)
    yield from (form for bits in line.bits for ends in bits.ranges for form in ends)


def _matches(rule: LineCase, block: _Placed) -> Iterator[tuple[dict[str, Affine], list[Affine]]]:
    """Yields the rows of a rule for this block: the indices that it determines, and the remaining conditions."""
    members = [[bits for bits in block.bits if bits.array == tested.array] for tested in rule.bits]
    if prod(map(len, members)) > _MOST_CHOICES:
        raise NotCoveredError(
            f"the bits of this rule have more than {_MOST_CHOICES:,} possible positions in their block", rule.token
        )
    for chosen in product(*members):
        pairs = zip(rule.bits, chosen, strict=True)
        values, left = solve((form for pair in pairs for form in _differences(*pair)), rule.indices)
        if feasible([*block.known, *_both(left), *(form.put(values) for form in rule.case.known)]):
            yield values, left


def _written(
    atoms: Atoms, rule: LineCase, values: Mapping[str, Affine], left: Sequence[Affine]
) -> Iterator[tuple[str, tuple[Ends, ...]]]:
    """Yields the boxes that the templates of these rows write, and records the conditions for such rows to exist."""
    atoms.add(*left)
    for form in values.values():
        atoms.divisible(form)
        if form.denominator > 1:
            _fixed(rule, form)
    for form in (value.put(values) for value in rule.values):
        _fixed(rule, form)
        atoms.add(form)
    for (form, by), _ in rule.case.remainders.items():
        _fixed(rule, form.put(values))
        atoms.divisible(form.put(values), by)
    known = [form.put(values) for form in rule.case.known]
    free = rule.indices - values.keys()
    atoms.add(*_without(rule, known, free))
    for target in rule.targets:
        box = target.put(values)
        varied = {f"#{at}": ends for at, ends in enumerate(box.ranges) if (ends[0].names | ends[1].names) & free}
        inside = [
            form for name, (first, last) in varied.items() for form in (Affine.of(name) - first, last - Affine.of(name))
        ]
        bounds: dict[str, tuple[list[Affine], list[Affine]]] = {name: ([], []) for name in varied}
        for form in _without(rule, known + inside, free) if varied else ():
            names = form.names & varied.keys()
            if not names:
                atoms.add(form)
                continue
            name = min(names)
            if len(names) > 1:
                raise NotCoveredError(f"the bits of {target.array} that this rule writes are not a box", rule.token)
            end = (Affine.of(name) * form[name] - form) * (1 / form[name])
            atoms.divisible(end)
            bounds[name][form[name] < 0].extend(_rounded(end, up=form[name] > 0))
        ends = [bounds.get(f"#{at}", ([first], [last])) for at, (first, last) in enumerate(box.ranges)]
        yield box.array, tuple((tuple(lows), tuple(highs)) for lows, highs in ends)


def _rounded(end: Affine, up: bool) -> list[Affine]:
    """Returns the possible values of an end rounded to an integer, one form for each remainder."""
    q = end.denominator
    return [end + Affine.of(Fraction(rest if up else -rest, q)) for rest in range(q)]


def _fixed(rule: LineCase, form: Affine) -> None:
    if free := form.names & rule.indices:
        names = ", ".join(sorted(free))
        raise NotCoveredError(f"the tested bits do not determine the index {names} of a value", rule.token)


def _without(rule: LineCase, constraints: Sequence[Affine], free: frozenset[str]) -> list[Affine]:
    try:
        return eliminate(constraints, free) or []
    except NotExactError as error:
        raise NotCoveredError(f"the free index {error} must have the coefficient 1 or -1", rule.token) from None


def _add_order(atoms: Atoms, coordinate: Sequence[Ends]) -> None:
    """Adds the differences that order the ends of intervals; for single points, only those that decide equality."""
    points = all(lows == highs and len(lows) == 1 for lows, highs in coordinate)
    ends = {low for lows, _ in coordinate for low in lows}
    if not points:
        ends |= {high + 1 for _, highs in coordinate for high in highs}
    atoms.add(*(end - other for end, other in combinations(sorted(ends, key=str), 2)))


_MOST_SETS = 200_000


def cutoff(forms: Iterable[Affine], names: Sequence[str], modulus: int, size: str) -> int:
    """Returns L0, the size up to which all patterns of these atoms have a point; `names` are the variables.

    >>> i, l = Affine.of("i"), Affine.of("l")
    >>> cutoff([i - 1, l - i, l - i - 1, l - 1], ["i", "l"], 1, "l")
    5
    """
    n, column = len(names), list(names).index(size)
    reach: dict[tuple[int, ...], Fraction] = {}
    for form in forms:
        normal = [int(form[name]) for name in names]
        divisor = gcd(*normal) * (1 if next(filter(None, normal)) > 0 else -1)
        key = tuple(entry // divisor for entry in normal)
        reach[key] = max(reach.get(key, Fraction(0)), (abs(form[ONE]) + 1) / abs(divisor))
    if comb(len(reach), n) * n > _MOST_SETS:
        raise NotCoveredError(f"{len(reach)} directions in {n} variables are too many")
    largest = Fraction(0)
    for chosen in combinations(reach, n):
        if det := abs(_determinant(chosen)):
            rows = [[row[:column] + row[column + 1 :] for row in chosen if row is not left] for left in chosen]
            total = sum((abs(_determinant(m)) * reach[row] for m, row in zip(rows, chosen, strict=True)), Fraction(0))
            largest = max(largest, total / det)
    longest = 0
    for chosen in combinations(reach, n - 1):
        kernel = [_determinant([row[:at] + row[at + 1 :] for row in chosen]) for at in range(n)]
        if any(kernel):
            longest = max(longest, abs(kernel[column]) // gcd(*kernel))
    return ceil(largest + n * modulus * longest) - 1 if longest else floor(largest)


def _determinant(rows: Sequence[Sequence[int]]) -> int:
    return int(fmpz_mat(len(rows), len(rows), [entry for row in rows for entry in row]).det())
