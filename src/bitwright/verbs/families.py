"""A program for every size, from executions at a few sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, ProgramError, counted, option
from bitwright.common.files.executions import Executions
from bitwright.inference.families.blocks import Blocks, fit_arrays
from bitwright.inference.families.lines import NAMES
from bitwright.inference.families.search import Fitted, FoundFamilies, find_families
from bitwright.inference.families.text import find_runs, lines_of_runs, open_line, rule_lines, unseen_lines
from bitwright.rules import Algorithm, Program
from bitwright.rules.layout import KEYWORDS
from bitwright.rules.text import RuleText
from bitwright.runs.progress import Progress
from bitwright.runs.successors import successors
from bitwright.verbs.inference import Inference, InferredRules

_MOST_LISTED = 200  # undetermined rules and unseen configurations in the comments of a file
_MOST_PRINTED = 6  # of each
_MOST_SIZE = 100_000
_STATED = ("ensure", "invariant")
_COPIED = ("input", "output", "start", "steps", "halt", *_STATED)


@dataclass(frozen=True, eq=False, repr=False)
class FamilyInference(InferredRules):
    """A program for every size, inferred from executions at several sizes.

    >>> from bitwright import addition, executions, infer
    >>> found = infer({l: executions(addition(l), "states", states=300) for l in (5, 6, 7)})
    >>> found.verdict, found.algorithm(64).program == addition(64).program
    ('DETERMINED', True)
    """

    executions: Mapping[int, Executions]  # by size
    let: str  # the name of the size
    found: FoundFamilies
    lines: tuple[str, ...] = ()  # the given lines: input, output and others
    from_runs: tuple[str, ...] = ()  # input, start and steps lines that fit the runs

    @cached_property
    def verdict(self) -> str:
        """DETERMINED, SHORTEST, CONTRADICTION, NO FAMILY, or NOT DECIDED within the seconds given.

        DETERMINED: all programs of the stated class that fit are the same, from the size `first` on. SHORTEST: there
        are others, or it is not known that there are none."""
        if self.found.contradiction is not None:
            return "CONTRADICTION"
        if self.found.limit is not None:
            return "NOT DECIDED"
        if self._failure is not None:
            return "NO FAMILY"
        if not self.found.unique_blocks or not self._fitted.determined:
            return "SHORTEST"
        looked_at = range(self.first, max(self.executions) + 4)
        return "SHORTEST" if any(self._at_size(size) is None for size in looked_at) else "DETERMINED"

    @property
    def inferred(self) -> bool:
        """Whether a program reproduces all states."""
        return self.verdict in ("DETERMINED", "SHORTEST")

    @property
    def determined(self) -> bool:
        """Whether it is the only one of its class."""
        return self.verdict == "DETERMINED"

    @property
    def first(self) -> int:
        """The size from which the theorem holds."""
        return self._fitted.needs.first

    @cached_property
    def smallest(self) -> int:
        """The smallest size at which the text is a program, as it is at all sizes above."""
        size = min(self.executions)
        while size > 1 and self._at_size(size - 1) is not None:
            size -= 1
        return size

    def algorithm(self, size: int) -> Algorithm:
        """The program at a size.

        >>> from bitwright import addition, executions, infer
        >>> found = infer({l: executions(addition(l), "states", states=300) for l in (5, 6)})
        >>> found.algorithm(1000)
        Algorithm 'inferred': 3,000 bits, 2,000 blocks, 4,000 templates
        """
        text = "\n".join(["", *self.rules, *self.from_runs, *self.lines])
        return RuleText.of(text).at({self.let: size}, "inferred")

    def text(self) -> str:
        """A rule file: the verdict, the rules with their `let`, and in comments below them what is open.

        >>> from bitwright import addition, executions, infer
        >>> found = infer({l: executions(addition(l), "states", states=300) for l in (5, 6, 7)})
        >>> print(found.text().partition("let")[0])
        # DETERMINED: 5 rules for every l >= 3, from 900 states at l = 5, 6, 7
        <BLANKLINE>
        """
        verdict, *more = self.report(_MOST_LISTED)
        sizes = ", ".join(map(str, self.executions))
        fitted = [f"{line}  # fits the runs at {self.let} = {sizes}" for line in self.from_runs]
        return "\n".join(
            [f"# {verdict}", *self.rules, "", *fitted, *self.lines, "", *(f"# {line}" for line in more), ""]
        )

    def to_dict(self) -> dict[str, Any]:
        """All facts that `bitwright infer --json` prints, except the name of the file."""
        result: dict[str, Any] = {
            "inferred": self.inferred,
            "verdict": self.verdict,
            "let": self.let,
            "sizes": [{"size": size, "states": len(one)} for size, one in self.executions.items()],
        }
        if self.found.contradiction is not None:
            size = self.found.contradiction[0]
            witness = self._at(size).to_dict()
            kept = ("reason", "blocks", "bit", "state", "cleared_by", "contradicting_states")
            return result | {"size": size} | {key: witness[key] for key in kept}
        if not self.inferred:
            return result | {"reason": self._failure}
        fitted = self._fitted
        return result | {
            "coefficients": fitted.evidence.bounds.coefficient,
            "offsets": fitted.evidence.bounds.offset,
            "terms": fitted.needs.terms,
            "slices": fitted.needs.slices,
            "deciding_size": fitted.needs.size,
            "holds_from": self.first,
            "smallest_size": self.smallest,
            "forced": fitted.space.forced,
            "open": fitted.space.open,
            "unseen": len(fitted.space.unseen),
            "shortest_proved": fitted.cover.shortest,
            "rules": self.rules,
            "from_runs": list(self.from_runs),
        }

    @property
    def _fitted(self) -> Fitted:
        if self.found.fitted is None:
            raise InputError(f"there is no program to give: {self.sentence}")
        return self.found.fitted

    @cached_property
    def rules(self) -> list[str]:
        """The lines of the text, from its `let` on."""
        lines = rule_lines(self._fitted.evidence, self._fitted.cover.terms, self.let)
        return [f"let {self.let} = {max(self.executions)}", *lines]

    @cached_property
    def _failure(self) -> str | None:
        """Why no program exists, after running every state of every size; None if one exists."""
        if self.found.limit is not None:
            more = f"give {option('seconds')} more, or the blocks by {option('blocks')}"
            return f"no program was found in {self.found.limit:g} s; {more}"
        if self.found.fitted is None:
            return self.found.reason
        for size, executions in self.executions.items():
            program = self._at_size(size)
            if program is None or (successors(program, executions.before) != executions.after).any():
                return f"the program that fits the larger sizes does not reproduce {self.let} = {size}"
        return None

    def _at_size(self, size: int) -> Program | None:
        """The program at a size, from the rules alone; None if the text is not valid at that size."""
        found = RuleText.of("\n".join(self.rules)).at_or_none({self.let: size})
        return None if found is None else found.program

    def _at(self, size: int) -> Inference:
        assert self.found.contradiction is not None
        return Inference(self.executions[size], None, None, self.found.contradiction[1])

    def report(self, most: int = _MOST_PRINTED) -> Iterator[str]:
        """The verdict, its class, and what the states leave open: at most so many rules and configurations."""
        if self.found.contradiction is not None:
            first, *more = self._at(self.found.contradiction[0]).report()
            yield first.replace("CONTRADICTION:", f"CONTRADICTION at {self.let} = {self.found.contradiction[0]}:", 1)
            yield from more
        elif not self.inferred:
            yield f"{self.verdict}: {self._failure}"
        else:
            yield from self._described()
            if not self.determined:
                yield from self._open(most)

    def _described(self) -> Iterator[str]:
        """The program, its class and its theorem, or why that is not needed or does not apply."""
        let, fit = self.let, self._fitted
        rules = counted(sum("when " in line for line in self.rules), "rule")
        states = counted(sum(map(len, self.executions.values())), "state")
        sizes = ", ".join(map(str, self.executions))
        if self.determined:
            yield f"DETERMINED: {rules} for every {let} >= {self.first}, from {states} at {let} = {sizes}"
        else:
            proved = "" if fit.cover.shortest else " found within the time limit"
            yield f"SHORTEST: {rules}, the shortest text{proved} that reproduces {states} at {let} = {sizes}"
        bounds, needs, space = fit.evidence.bounds, fit.needs, fit.space
        b = bounds.offset
        index = f"x[a*i+b*{let}+c] with |a| <= {bounds.coefficient} and |c| <= {b}"
        yield f"  class       {index}; ranges and slices between b*{let}+c with |c| <= {b}"
        if any(array.halved for array in fit.evidence.arrays):
            yield "              every second position is an array of its own, x[2*j-1] and x[2*j], without slices"
        if (joined := self.found.joined) is not None:
            yield f"  blocks      found: of at most {joined.most} bits, joined alike at every place and size"
        if needs.size is None:
            flat = all(len(array.dimensions) == 1 for array in fit.evidence.arrays)
            what = "with |a| > 1" if flat else "of arrays that grow in two dimensions"
            yield f"  theorem     none for slices {what}; {space.open:,} writes are open at {let} = {space.size}"
        else:
            there = f"{let} = {needs.size}"
            yield f"  theorem     programs of this class that agree at {there} agree at every {let} >= {needs.first}"
            yield f"  open        {counted(space.open, 'write')} at {there}; {space.forced:,} are in every program"
        yield f"  valid       from {let} = {self.smallest}"

    def _open(self, most: int) -> Iterator[str]:
        """What is not decided, and what data would decide it."""
        let, evidence, space, joined = self.let, self._fitted.evidence, self._fitted.space, self.found.joined
        if joined is not None and not joined.unique:
            yield "  blocks      others explain the states too"
        if self.found.larger is not None:
            yield f"  blocks      with larger ones, such as {self.found.larger}, other programs fit or may fit too"
        for family in evidence.families:
            if not family.unique:
                names = " ".join(evidence.arrays[m].name for m in family.members)
                yield f"  blocks      other indices of {names} fit these sizes too"
        if (size := self._fitted.needs.size) is not None:
            yield f"  to decide   states at {let} = {size} or more that show every configuration"
        rules = (open_line(evidence, atom, let) for atom in space.atoms)
        unseen = unseen_lines(evidence, space.unseen, let)
        for what, number, lines in (("not seen", len(space.unseen), unseen), ("open", len(space.atoms), rules)):
            yield from (f"  {what:<11} {line}" for line in islice(lines, most))
            if number > most:
                yield f"  {what:<11} and {number - most:,} more"


def infer_families(
    executions: Mapping[int, Executions],
    blocks: Mapping[int, Blocks] | None,
    let: str,
    lines: str | Sequence[str],
    *,
    seconds: float | None,
    progress: Progress,
) -> FamilyInference:
    """The shortest program for every size, and whether it is the only one of its class."""
    for size in executions:
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= _MOST_SIZE:
            raise InputError(f"a size is an integer from 1 to {_MOST_SIZE:,}, got {shorten(repr(size))}")
    if len(executions) < 2:
        raise InputError(f"a program for every size needs executions of two sizes or more, got {len(executions)}")
    names = {name.partition("[")[0] for one in executions.values() for name in one.names}
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", let) or let in {*NAMES, *KEYWORDS, *names}:
        raise InputError(
            f"the size needs a name that no bit has, other than i, j and words of the language, got '{shorten(let)}'"
        )
    if seconds is not None and (not isinstance(seconds, int | float) or not 0 < seconds < 10**6):
        raise InputError(f"{option('seconds')} is a number above 0 and below a million, got {shorten(repr(seconds))}")
    given = _given_lines(lines)
    ordered = dict(sorted(executions.items()))
    found = find_families(ordered, blocks, seconds, progress, let)
    result = FamilyInference(ordered, let, found, given)
    if found.fitted is not None and not found.fitted.cover.terms:
        raise InputError("these states turn no bit on, so there is no rule to write; give more states")
    if not result.inferred:
        return result
    try:
        entered = replace(result, lines=tuple(line for line in given if line.split(" ")[0] not in _STATED))
        algorithms = {size: entered.algorithm(size) for size in ordered}
        result = replace(result, from_runs=_from_runs(result, algorithms))
        result.algorithm(max(ordered))
    except ProgramError as error:
        problem = str(error).splitlines()[0]
        raise InputError(f"the lines that were given do not fit what was inferred: {problem}") from None
    return result


def _from_runs(result: FamilyInference, algorithms: Mapping[int, Algorithm]) -> tuple[str, ...]:
    """Input, start and steps lines that were not given, if the executions are runs."""
    runs = {size: find_runs(one) for size, one in result.executions.items()}
    seen = {size: one for size, one in runs.items() if one is not None}
    if len(seen) < len(runs):
        return ()
    said = {line.split(" ")[0] for line in result.lines}
    inputs = {size: [bit for word in one.inputs for bit in word.bits] for size, one in algorithms.items()}
    layouts = {size: one.program.layout for size, one in algorithms.items()}
    found = lines_of_runs(fit_arrays(layouts), layouts, seen, inputs if "input" in said else None, result.let)
    if said & {"halt", "steps"}:
        said |= {"halt", "steps"}
    order = sorted(found.items(), key=lambda one: _COPIED.index(one[0]))
    return tuple(line for word, lines in order if word not in said for line in lines)


def _given_lines(lines: object) -> tuple[str, ...]:
    """Lines to add to the rules, given as a list or as one text."""
    several = [*filter(str.strip, lines.splitlines())] if isinstance(lines, str) else lines
    if not isinstance(several, list | tuple):
        raise InputError(f"lines is a list of str, such as ['output y'], got {shorten(repr(lines))}")
    for line in several:
        if not isinstance(line, str) or line.strip().split(" ")[0] not in _COPIED or "\n" in line.strip():
            raise InputError(f"a line begins with one of {', '.join(_COPIED)}, got '{shorten(str(line))}'")
    return tuple(line.strip() for line in several)
