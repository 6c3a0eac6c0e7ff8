"""The report of `infer` on a program for every size: the verdict, its class, and what the states leave open."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from bitwright.errors import counted
from bitwright.inference.families.search import Fitted
from bitwright.inference.families.text import open_line, unseen_lines

if TYPE_CHECKING:
    from bitwright.api.families import FamilyInference


def report(result: FamilyInference, most: int) -> Iterator[str]:
    """Lines for a program that was inferred, with a limited number of open rules and unseen configurations."""
    found, let = result.found, result.let
    rules = counted(sum("when " in line for line in result.rules), "rule")
    fitted = found.fitted
    assert fitted is not None  # there are rules
    states = counted(sum(map(len, result.executions.values())), "state")
    sizes = ", ".join(map(str, sorted(result.executions)))
    if result.determined:
        yield f"DETERMINED: {rules} for every {let} >= {result.first}, from {states} at {let} = {sizes}"
    else:
        proved = "" if fitted.cover.shortest else " found within the time limit"
        yield f"SHORTEST: {rules}, the shortest text{proved} that reproduces {states} at {let} = {sizes}"
    bounds = fitted.evidence.bounds
    b = bounds.offset
    index = f"x[a*i+b*{let}+c] with |a| <= {bounds.coefficient} and |c| <= {b}"
    yield f"  class       {index}; ranges and slices between b*{let}+c with |c| <= {b}"
    if any(array.halved for array in fitted.evidence.arrays):
        yield "              every second position is an array of its own, x[2*j-1] and x[2*j], without slices"
    if (joined := found.joined) is not None:
        yield f"  blocks      found: of at most {joined.most} bits, joined alike at every place and size"
    yield from _decided(fitted, let)
    yield f"  valid       from {let} = {result.smallest}"
    if result.determined:
        return
    if joined is not None and not joined.unique:
        yield "  blocks      others explain the states too"
    if found.larger is not None:
        yield f"  blocks      with larger ones, such as {found.larger}, other programs fit or may fit too"
    yield from _open(fitted, let, most)


def _decided(fit: Fitted, name: str) -> Iterator[str]:
    """The theorem, or why it is not needed or does not apply."""
    needs, space = fit.needs, fit.space
    if fit.contained is not None:
        yield f"  theorem     not needed: all that fits lies in what is forced, at every {name} >= {fit.first}"
    elif needs.size is None:
        flat = all(len(array.dimensions) == 1 for array in fit.evidence.arrays)
        what = "with |a| > 1" if flat else "of arrays that grow in two dimensions"
        yield f"  theorem     none for slices {what}; {space.open:,} writes are open at {name} = {space.size}"
    else:
        there = f"{name} = {needs.size}"
        yield f"  theorem     programs of this class that agree at {there} agree at every {name} >= {needs.first}"
        yield f"  open        {counted(space.open, 'write')} at {there}; {space.forced:,} are in every program"


def _open(fit: Fitted, name: str, most: int) -> Iterator[str]:
    """What is not decided, and what would decide it."""
    evidence, space = fit.evidence, fit.space
    for family in evidence.families:
        if not family.unique:
            names = " ".join(evidence.arrays[m].name for m in family.members)
            yield f"  blocks      other indices of {names} fit these sizes too"
    if fit.needs.size is not None:
        yield f"  to decide   states at {name} = {fit.needs.size} or more that show every configuration"
    unseen = unseen_lines(evidence, space.unseen, name)
    yield from _listed("not seen", len(space.unseen), unseen, most)
    yield from _listed("open", len(space.atoms), (open_line(evidence, atom, name) for atom in space.atoms), most)


def _listed(what: str, number: int, lines: Iterator[str], most: int) -> Iterator[str]:
    for line in islice(lines, most):
        yield f"  {what:<11} {line}"
    if number > most:
        yield f"  {what:<11} and {number - most:,} more"
