"""The lemma (same pattern, same kind) and the theorem (no new kind beyond the cut-off), on random texts."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from functools import cache
from itertools import product

from cases import for_each
from long import LONG, seeds
from proofs.kinds.random_texts import RandomText

from bitwright.common.errors import ProgramError
from bitwright.proofs.kinds import KindsProof, prove_kinds
from bitwright.proofs.kinds.affine import ONE, Affine, solve
from bitwright.proofs.kinds.atoms import Atoms, atoms_of
from bitwright.proofs.kinds.lines import Lines
from bitwright.proofs.kinds.proof import SizedText
from bitwright.rules.program import Program

_NAME = re.compile(r"(\w+)(?:\[([\d,]+)\])?")


def value(form: Affine, point: dict[str, int]) -> Fraction:
    """A form at a point, written out."""
    return sum((factor * (1 if name == ONE else point[name]) for name, factor in form.terms), Fraction(0))


def points_of(atoms: Atoms, program: Program, sizes: dict[str, int], cell: int) -> list[dict[str, int]]:
    """The indices that this cell may have in one case of a line: those at which the line names its first bit."""
    bits = [bit for block in program.cells.bits(cell, program) for bit in block]
    first = atoms.cell.bits[0]
    found = []
    for bit in bits:
        match = _NAME.fullmatch(program.layout.name_of(bit))
        assert match
        if match[1] != first.array:
            continue
        place = [int(part) for part in match[2].split(",")] if match[2] else []
        indices = sorted(set().union(*(form.names for form in atoms.forms)) - sizes.keys())
        equations = [low - at for (low, _), at in zip(first.ranges, place, strict=True)]
        solved, _ = solve(
            [form.put({name: Affine.of(size) for name, size in sizes.items()}) for form in equations], indices
        )
        numbers = {name: form.constant for name, form in solved.items()}
        point = {**sizes, **{name: int(number) for name, number in numbers.items() if number is not None}}
        if any(number is None or number.denominator > 1 for number in numbers.values()):
            continue
        inside = all(value(form, point) >= 0 for form in atoms.cell.case.known)
        rest = all(value(form, point) % by == left for (form, by), left in atoms.cell.case.remainders.items())
        if inside and rest and [value(low, point) for low, _ in first.ranges] == place:
            found.append(point)
    return found


def check_lemma(text: str, smallest: Mapping[str, int], most: int) -> int:
    """Raises unless equal patterns have equal kinds at all sizes up to this; gives how many cells were looked at."""
    sized = SizedText.read(text)
    lines = Lines(sized.rules, smallest, sized.lets, False)
    valid = lines.extents_at_least_one()
    cases = [atoms_of(cell, lines.blocks, lines.rules, valid) for cell in lines.cells]
    kind_of: dict[object, object] = {}
    looked_at = 0
    for values in product(*(range(least, most + 1) for least in smallest.values())):
        program = sized.at(*values)
        sizes = dict(zip(smallest, values, strict=True))
        for cell in range(len(program.cells)):
            line = int(program.cells.families.places[program.cells.families.of[cell]].removeprefix("line "))
            kind = int(program.kinds.of[cell])
            content = program.kinds.kinds[kind] if kind >= 0 else None
            mine = [
                (number, point)
                for number, case in enumerate(cases)
                if case.cell.token.line == line
                for point in points_of(case, program, sizes, cell)
            ]
            assert mine, "a cell of no case"
            looked_at += 1
            for number, point in mine[:1]:
                forms = sorted(cases[number].forms, key=str)
                signs = tuple((value(form, point) > 0) - (value(form, point) < 0) for form in forms)
                pattern = (number, signs, tuple(p % cases[number].modulus for p in point.values()))
                assert kind_of.setdefault(pattern, content) == content, (text, point)
    return looked_at


def proofs(texts: Iterable[RandomText]) -> Iterator[tuple[RandomText, KindsProof]]:
    """Those that are programs in their own size, and are proved."""
    for made in texts:
        with suppress(ProgramError):
            proof = prove_kinds(made.text)
            if proof.verdict == "proved":
                yield made, proof


@cache
def small() -> list[tuple[RandomText, KindsProof]]:
    return list(proofs(RandomText(seed, small=True) for seed in seeds(5, of=1_000)))


def test_the_same_pattern_is_the_same_kind() -> None:
    assert sum(check_lemma(made.text, proof.smallest, 14 if LONG else 7) for made, proof in small()) > 300


GAP = """let l = 9
bits x[l] y[l] p[2*l]
block x[i] y[i] for i in 1..l
block p[i] for i in 1..2*l
when x[i]=1 y[i]=0 write p[1..i] for i in 1..l
when x[i]=0 y[i]=1 write p[2*i-1..2*l] for i in 1..l
when x[i]=1 y[i]=1 write p[*] for i in 1..l
"""  # the third alone writes some bit where the first two leave a gap, from i = 3 on
ORDER = """let l = 9
bits m[l,2] r
block m[i,1] m[l+1-i,2] for i in 1..l
block r
when m[i,1]=1 write r for i in 1..l
"""  # which bit of a block comes first changes in the middle
SPLIT = """let l = 9
bits p[l] q[l]
block p[i] q[i] for i in 1..l if i<=4
block p[i] for i in 5..l
block q[i] for i in 5..l
cell p[i] for i in 1..l
cell q[i] for i in 5..l
when p[i]=1 write p[i] for i in 1..l
"""  # how many bits a block has changes in the middle

PLACE = """let l = 9
bits p[l+3]
block p[i] for i in 1..l+3
when p[3]=1 write nothing
when p[i]=1 write p[i] for i in 5..l
"""  # one cell has a rule of its own


@for_each("text", [GAP, ORDER, SPLIT, PLACE])
def test_the_same_pattern_is_the_same_kind_in_hard_texts(text: str) -> None:
    proof = prove_kinds(text)
    assert len(proof.kinds) > 1
    assert check_lemma(text, proof.smallest, 14 if LONG else 10) > 60


def test_the_same_pattern_is_the_same_kind_with_several_sizes_and_indices() -> None:
    large = (RandomText(seed) for seed in seeds(0, of=1_000) or [9])
    assert sum(check_lemma(made.text, proof.smallest, 8 // len(made.sizes)) for made, proof in proofs(large)) > 1_000


def test_no_kind_is_new_beyond_the_cutoff() -> None:
    assert len(small()) > 4
    for made, proof in small():
        (least,), (L0,) = proof.smallest.values(), proof.L0.values()
        known, sized = {one.kind for one in proof.kinds}, SizedText.read(made.text)
        for size in {*range(least, min(3 * L0, 60 if LONG else 20)), 3 * L0 - 1, 3 * L0}:
            program = sized.at(size)
            assert program is None or set(program.kinds.kinds) <= known, (made.text, size)
