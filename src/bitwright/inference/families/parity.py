"""One text for even and odd sizes: l = 2h and l = 2g - 1, families in h and in g, with the terms of both paired.

A line s*h + o at even sizes and s*g + p at odd ones is a single expression in l and l // 2 for both, which is h or
g - 1. So terms that differ in their offsets alone are one line of the text. A term of one parity by itself runs over
`1..l%2`, or over `1..1-l%2`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bitwright.inference.families.atoms import Evidences
from bitwright.inference.families.cover import Cover, longest_terms, solve
from bitwright.inference.families.lines import NAMES, Affine, linear_text
from bitwright.inference.families.terms import Term
from bitwright.inference.families.text import Writer

_ALONE = 500  # what a term of one parity costs more
_MARK = re.compile(r"<([-0-9,]+)>")  # how an index is shown until that of the other parity is known


@dataclass(frozen=True)
class _Pair:
    terms: tuple[Term | None, Term | None]  # of even and of odd sizes
    cost: int
    line: str


def paired_cover(
    evidence: tuple[Evidences, Evidences], seconds: float, let: str, half: str
) -> tuple[list[Cover], list[str]] | None:
    """The cheapest terms of even and of odd sizes, and the lines of one text for both.

    None where the blocks of one parity are no families of the other.
    """
    writers = [Writer(one, "", _mark) for one in evidence]
    heads = [[writer.bits(), *map(writer.block, writer.families)] for writer in writers]
    if [_skeleton(line) for line in heads[0]] != [_skeleton(line) for line in heads[1]]:
        return None
    head = [_merged(one, other, let, half) for one, other in zip(*heads, strict=True)]
    columns = [longest_terms(one) for one in evidence]
    pairs = _pairs(writers, [{term: cost for term, (_, cost) in own.items()} for own in columns], let, half)
    useful = [
        frozenset((k, atom) for k, term in enumerate(pair.terms) if term is not None for atom in columns[k][term][0])
        for pair in pairs
    ]
    demands = [frozenset((k, atom) for atom in demand) for k, one in enumerate(evidence) for demand in one.demands]
    chosen, shortest = solve(useful, [pair.cost for pair in pairs], demands, seconds)
    kept = [pairs[number] for number in chosen]
    kinds = [dict.fromkeys(pair.terms[k] for pair in kept) for k in (0, 1)]
    covers = [Cover([term for term in own if term is not None], shortest) for own in kinds]
    return covers, [*head, "", *_grouped([pair.line for pair in kept])]


def _pairs(writers: Sequence[Writer], costs: Sequence[dict[Term, int]], let: str, half: str) -> list[_Pair]:
    """Terms of both parities that are one line, and each by itself."""
    even, odd = ({term: next(writer.rules([term])) for term in own} for writer, own in zip(writers, costs, strict=True))
    alike: dict[str, list[Term]] = {}
    for term, line in odd.items():
        alike.setdefault(_skeleton(line), []).append(term)
    alone = "m" if let == "n" else "n"
    found = []
    for term, line in even.items():
        for other in alike.get(_skeleton(line), []):
            cost = max(costs[0][term], costs[1][other]) + _distance(line, odd[other])
            found.append(_Pair((term, other), cost, _merged(line, odd[other], let, half)))
        once = _only(_merged(line, _shifted(line, -1), let, half), f"{alone} in 1..1-{let}%2")
        found.append(_Pair((term, None), costs[0][term] + _ALONE, once))
    for other, line in odd.items():
        once = _only(_merged(_shifted(line, 1), line, let, half), f"{alone} in 1..{let}%2")
        found.append(_Pair((None, other), costs[1][other] + _ALONE, once))
    return found


def _mark(index: Affine, let: str) -> str:  # noqa: ARG001
    return f"<{','.join(map(str, index))}>"


def _skeleton(line: str) -> str:
    """A line without its offsets."""
    return _MARK.sub(lambda found: f"<{found[1].rpartition(',')[0]}>", line)


def _distance(one: str, other: str) -> int:
    """How far the offsets are apart, from that of a line in l; a difference takes one in l // 2."""
    pairs = zip(_MARK.findall(one), _MARK.findall(other), strict=True)
    marks = [[[int(n) for n in mark.split(",")] for mark in pair] for pair in pairs]
    return sum(abs(2 * (b[-1] - a[-1]) + a[-2]) for a, b in marks)


def _merged(even: str, odd: str, let: str, half: str) -> str:
    """The line with every index in l and h."""
    others = iter(_MARK.findall(odd))

    def both(found: re.Match[str]) -> str:
        *factors, slope, low = map(int, found[1].split(","))
        apart = int(next(others).rpartition(",")[2]) + slope - low  # that of odd sizes in l // 2, where g is one more
        names = [*NAMES[: len(factors)], let, half, ""]
        return linear_text([*factors, apart, slope - 2 * apart, low], names)

    return _MARK.sub(both, even)


def _shifted(line: str, sign: int) -> str:
    """A line of one parity as it is in the size of the other, g = h + 1."""

    def by_slope(found: re.Match[str]) -> str:
        *factors, slope, low = map(int, found[1].split(","))
        return _mark((*factors, slope, low + sign * slope), "")

    return _MARK.sub(by_slope, line)


def _only(line: str, rows: str) -> str:
    """A line for one parity: a row of one place, or of none."""
    return f"{line}{',' if ' for ' in line else ' for'} {rows}"


def _grouped(lines: Sequence[str]) -> list[str]:
    """Lines of the same condition and range as one; those of a condition that was there before begin with `also`."""
    found: dict[tuple[str, str], list[str]] = {}
    for line in sorted(lines):
        when, _, rest = line.partition(" write ")
        writes, _, rows = rest.partition(" for ")
        found.setdefault((when, rows), []).append(writes)
    said: set[str] = set()
    result = []
    for (when, rows), targets in found.items():
        bare = re.sub(r"\[[^]]*\]", "", when)  # a configuration, wherever it is
        result.append(f"{'also ' * (bare in said)}{when} write {' '.join(targets)}{f' for {rows}' * bool(rows)}")
        said.add(bare)
    return result
