"""Proves which kinds of cells a rule text has at every size, by checking all sizes up to the theorem's cut-off."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import product
from math import ceil, lcm, prod
from typing import Any, Literal

from bitwright.common.errors import ProgramError, counted, listing
from bitwright.proofs.claims import ONE_SIZE, Claim
from bitwright.proofs.kinds.affine import ONE, Affine
from bitwright.proofs.kinds.atoms import atoms_of, cutoff
from bitwright.proofs.kinds.lines import Lines, NotCoveredError
from bitwright.proofs.sizes import CoveredSizes
from bitwright.rules import Algorithm, NodeProgram, NodeSchema
from bitwright.rules.cells import Kind
from bitwright.rules.expressions import Constant, Expression
from bitwright.rules.pattern import first_cells
from bitwright.rules.program import Program
from bitwright.rules.text import RuleText, parse_any, syntax
from bitwright.rules.text.rule_text import words_of

GRAPH = {"nodes": 16, "ports": 48}  # numbers of a graph and their defaults
_CELL_LINES = syntax.BitsDeclaration | syntax.Block | syntax.Cell | syntax.WhenClause


@dataclass(frozen=True)
class SizedText:
    """A rule text with variable sizes.

    `sizes` are the independent numbers on which its bits, blocks, cells and rules depend, with their values in the
    text. In a node program they include every `let` that mentions `nodes` or `ports`, since its value varies with the
    graph. `lets` are the numbers derived from sizes.
    """

    rules: RuleText
    sizes: Mapping[str, int]
    lets: Mapping[str, Expression]

    @classmethod
    def read(cls, text: str, given_lets: Collection[str] = ()) -> SizedText:
        """Reads a valid text; the numbers in `given_lets` are sizes even if they could be derived from others."""
        rules = RuleText.of(text)
        graph = GRAPH if rules.tree.is_node_program else {}
        names = {*rules.lets, *graph}
        used = names & words_of(item for item in rules.tree.statements if isinstance(item, _CELL_LINES))
        sizes: dict[str, int] = {}
        follow: dict[str, Expression] = {}
        for name, value in reversed(rules.lets.items()):
            if name in used:
                above = names & words_of([value])
                if isinstance(value, Constant):
                    sizes[name] = value.value
                elif name in given_lets or above & graph.keys():
                    sizes[name] = 4
                else:
                    follow[name] = value
                    used |= above
        sizes |= {name: GRAPH[name] for name in sorted(used & graph.keys())}
        return cls(rules, {name: sizes[name] for name in (*rules.lets, *graph) if name in sizes}, follow)

    @property
    def is_node_program(self) -> bool:
        """Whether its sizes may be those of a graph."""
        return self.rules.tree.is_node_program

    def at(self, *values: int) -> Program | None:
        """Returns the program at these sizes, in the order of `sizes`; None if there is none."""
        numbers = dict(zip(self.sizes, values, strict=True))
        if not self.is_node_program:
            algorithm = self.rules.at_or_none(numbers)
            return None if algorithm is None else algorithm.program
        lets = {name: value for name, value in numbers.items() if name not in GRAPH}
        try:
            return self.rules.schema(lets, *(numbers.get(name, usual) for name, usual in GRAPH.items())).program
        except ProgramError:
            return None


FORMAT = "bitwright kinds certificate 1"
_MOST_SIZES = 4_096  # up to the cut-off
_FIRST_TRIED = 64  # the largest size to try as the smallest at which a text is a program


@dataclass(frozen=True)
class SeenKind:
    """A kind with the first size and cell where it occurs; a cell is named by its first bit."""

    kind: Kind
    sizes: Mapping[str, int]
    cell: str


@dataclass(frozen=True)
class LineProof:
    """The atoms, modulus and cut-offs on which the kinds of one line's cells depend in one case."""

    line: int
    atoms: tuple[Affine, ...]
    modulus: int
    cutoffs: Mapping[str, int]


@dataclass(frozen=True)
class KindsProof:
    """The result about the kinds of a text's cells at every size."""

    verdict: Literal["proved", "not decided"]
    digest: str  # of the text
    smallest: Mapping[str, int]  # the smallest value of each size that the theorem covers
    L0: Mapping[str, int]  # every kind occurs at sizes up to these
    modulus: int
    lines: tuple[LineProof, ...]
    expanded: tuple[tuple[int, ...], ...]  # the sizes that were checked
    kinds: tuple[SeenKind, ...]
    refusal: str | None = None  # the line and the reason, if the theorem does not cover the text
    of_text: bool = True  # whether it is about a rule text instead of a fixed program

    def __bool__(self) -> bool:
        return self.verdict == "proved"

    @property
    def about(self) -> CoveredSizes:
        """The sizes covered; individual programs may be smaller than the smallest size of the theorem."""
        if len(self.smallest) == 1:
            return CoveredSizes(dict(zip(self.smallest, min(self.expanded), strict=True)))
        return CoveredSizes(self.smallest)

    @property
    def method(self) -> str:
        """The method of proof, in a phrase."""
        if self.refusal is not None:
            return f"outside the theorem: {self.refusal}"
        if not self.L0:
            return "a single size"
        named = len(self.L0) > 1
        return "rule families, cut-off " + listing(
            [f"{name}={value}" if named else str(value) for name, value in self.L0.items()]
        )

    def claim(self) -> Claim:
        """Returns the result as a claim about sizes."""
        kinds = counted(len(self.kinds), "kind")
        if self.verdict == "proved":
            sizes = str(self.about) if self.of_text else ONE_SIZE
            where = f" at {self.about.words}" if self.L0 else ""
            sentence = f"all cells are of {kinds}{where} ({self.method})"
            return Claim("sizes", "proved", sizes, self.method, sentence)
        return Claim("sizes", "not decided", "none", self.method, f"not decided at every size: {self.refusal}")

    def certificate(self) -> dict[str, Any]:
        """Returns the proof as JSON; a checker recomputes all of it by expanding every size up to the cut-offs."""
        return {
            "format": FORMAT,
            "text_sha256": self.digest,
            "sizes": dict(self.smallest),
            "cutoffs": dict(self.L0),
            "modulus": self.modulus,
            "lines": [
                {
                    "line": line.line,
                    "atoms": sorted(map(str, line.atoms)),
                    "modulus": line.modulus,
                    "cutoffs": dict(line.cutoffs),
                }
                for line in self.lines
            ],
            "kinds": [
                {"blocks": seen.kind.blocks, "ports": seen.kind.ports, "sizes": dict(seen.sizes), "cell": seen.cell}
                for seen in self.kinds
            ],
        }


def prove_kinds(what: Algorithm | NodeProgram | str) -> KindsProof:
    """Proves which kinds of cells a rule text has at every size, or names the line that the theorem does not cover.

    Cells are those of the text, not tiles of them. If a program was built by Python code, or opened without sizes, only
    that program is checked.

    >>> text = '''let l = 4
    ... bits p[l]
    ... block p[i] for i in 1..l
    ... when p[i]=1 write p[i+1] for i in 1..l-1
    ... when p[l]=1 write nothing'''
    >>> proof = prove_kinds(text)
    >>> print(proof.claim().sentence, [kind.sizes for kind in proof.kinds])
    all cells are of 2 kinds at every size (rule families, cut-off 5) [{'l': 1}, {'l': 2}]
    """
    if isinstance(what, NodeSchema) and what.node_program is not None:
        what = what.node_program
    text = what if isinstance(what, str) else what.sizing.text if what.sizing is not None else None
    if isinstance(what, str):
        what = parse_any(what)  # raises ProgramError if it is invalid
    if text is None:
        return replace(_proved(SizedText.read(what.text())), of_text=isinstance(what, NodeProgram))
    return _proved(SizedText.read(text, what.sizing.numbers if what.sizing is not None else ()))


def _proved(sized: SizedText) -> KindsProof:
    digest = sha256(sized.rules.text.encode()).hexdigest()
    try:
        smallest = _smallest(sized)
        while True:  # until the text is a program at every size from the smallest on
            lines, valid = _line_proofs(sized, smallest)
            L0 = {size: max([smallest[size], *(line.cutoffs[size] for line in lines)]) for size in sized.sizes}
            expanded = _expanded(sized, smallest, L0, valid)
            wrong = next((values for values in reversed(expanded) if sized.at(*values) is None), None)
            if wrong is None:
                break
            if len(smallest) > 1 or wrong[0] >= _FIRST_TRIED:
                sizes = ", ".join(f"{name}={value}" for name, value in zip(smallest, wrong, strict=True))
                raise NotCoveredError(f"the text is not a program at {sizes}")
            smallest = {name: value + 1 for name, value in zip(smallest, wrong, strict=True)}
    except NotCoveredError as error:
        return KindsProof("not decided", digest, {}, {}, 0, (), (), (), str(error))
    below = [(value,) for value in range(_first(sized)[0], *smallest.values())] if len(smallest) == 1 else []
    seen, kinds = [], dict[Kind, SeenKind]()
    for values in (*below, *expanded):
        if (program := sized.at(*values)) is not None:
            seen.append(values)
            numbers, firsts = dict(zip(sized.sizes, values, strict=True)), None
            for number, kind in enumerate(program.kinds.kinds):
                if kind not in kinds:
                    firsts = firsts or first_cells(program, program.cells, program.kinds)
                    kinds[kind] = SeenKind(kind, numbers, firsts[number].blocks[0][0])
    modulus, in_order = lcm(*(line.modulus for line in lines)), tuple(kinds[kind] for kind in sorted(kinds))
    return KindsProof("proved", digest, smallest, L0, modulus, lines, tuple(seen), in_order)


def _smallest(sized: SizedText) -> dict[str, int]:
    """Returns the first value of each size at which the text is a program, with the other sizes as in the text.

    The theorem handles extents below 1 that also depend on other sizes.
    """
    extents = _extents(sized)
    smallest = {}
    for (name, usual), first in zip(sized.sizes.items(), _first(sized), strict=True):
        others = [form for form in extents if form.names - {name}]
        for value in range(first, max(usual, _FIRST_TRIED) + 1):
            values = {**sized.sizes, name: value}
            if _negative(others, values) or sized.at(*values.values()) is not None:
                smallest[name] = value
                break
        else:
            raise NotCoveredError(f"the text is not a program at any {name} up to {max(usual, _FIRST_TRIED)}")
    return smallest


def _extents(sized: SizedText) -> list[Affine]:
    return Lines(sized.rules, dict.fromkeys(sized.sizes, 0), sized.lets, False).extents_at_least_one()


def _first(sized: SizedText) -> list[int]:
    """Returns the first value of each size at which no array that depends only on it is empty, or else 0."""
    alone = [form for form in _extents(sized) if len(form.names) == 1]
    return [max((ceil(-form[ONE] / form[name]) for form in alone if form[name] > 0), default=0) for name in sized.sizes]


def _negative(forms: Sequence[Affine], values: Mapping[str, int]) -> bool:
    put = {name: Affine.of(value) for name, value in values.items()}
    return any((form.put(put).constant or 0) < 0 for form in forms)


def _line_proofs(sized: SizedText, smallest: Mapping[str, int]) -> tuple[tuple[LineProof, ...], list[Affine]]:
    lines = Lines(sized.rules, smallest, sized.lets, sized.is_node_program)
    valid = lines.extents_at_least_one()
    proofs = []
    for cell in lines.cells:
        atoms = atoms_of(cell, lines.blocks, lines.rules, valid)
        names = [*sorted(set().union(*(form.names for form in atoms.forms)) - sized.sizes.keys()), *sized.sizes]
        in_order = tuple(sorted(atoms.forms, key=str))
        try:
            cutoffs = {size: cutoff(in_order, names, atoms.modulus, size) for size in sized.sizes}
        except NotCoveredError as error:
            raise NotCoveredError(f"its cells depend on too many comparisons ({error})", cell.token) from None
        proofs.append(LineProof(cell.token.line, in_order, atoms.modulus, cutoffs))
    return tuple(proofs), valid


def _expanded(
    sized: SizedText, smallest: Mapping[str, int], L0: Mapping[str, int], valid: Sequence[Affine]
) -> list[tuple[int, ...]]:
    """Returns all sizes up to the cut-off."""
    ranges = [range(smallest[name], L0[name] + 1) for name in sized.sizes]
    if (points := prod(map(len, ranges))) > _MOST_SIZES:
        raise NotCoveredError(f"there are {points:,} sizes up to the cut-off; at most {_MOST_SIZES:,} can be checked")
    return [at for at in product(*ranges) if not _negative(valid, dict(zip(sized.sizes, at, strict=True)))]
