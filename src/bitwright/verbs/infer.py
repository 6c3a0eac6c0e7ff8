"""Recovers rules from executions, for one size or for every size.

Reports and JSON number states from 1, like lines; arrays number them from 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict, Unpack, overload

import numpy as np

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, ProgramError, Report, counted, listing, option, problems_of, suggestion
from bitwright.common.files.executions import Executions, joined
from bitwright.common.files.storage import as_path, write_atomically
from bitwright.common.files.storage import check_output as check_output
from bitwright.inference import Contradiction, Elimination, Evidence, Recovered, find_contradiction
from bitwright.inference.families.lines import NAMES
from bitwright.inference.families.search import Fitted, FoundFamilies, find_families
from bitwright.inference.families.text import open_line, rule_lines, unseen_lines
from bitwright.inference.find_blocks import MAX_FOUND, FoundBlocks, find_blocks
from bitwright.rules import Algorithm, Layout, Program
from bitwright.rules.layout import KEYWORDS
from bitwright.rules.tables import layout_of_names
from bitwright.rules.text import RuleText, parse_blocks, read_text
from bitwright.runs.progress import Progress
from bitwright.runs.successors import successors
from bitwright.verbs.open import as_algorithm
from bitwright.verbs.progress import Teller, teller

FIND = "find"
Blocks = Algorithm | Program | RuleText | str
_MOST_LISTED = 200  # undetermined writes and unseen configurations in the comments of a file
_MOST_PRINTED = 6  # of each in a report
_MOST_SIZE = 100_000
_COPIED = ("input", "output", "start", "steps", "halt", "ensure", "invariant")


class InferredRules(Report):
    """Inferred rules and a report on how certain they are; falsy if there are none."""

    @property
    def inferred(self) -> bool:
        """Whether there are rules."""
        raise NotImplementedError

    def __bool__(self) -> bool:
        return self.inferred

    def text(self) -> str:
        """Returns the text of the rule file; raises InputError if there are no rules."""
        raise NotImplementedError

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the rules to a .bw file; raises InputError if there are no rules."""
        write_atomically(as_path(path, "a rule file"), self.text().encode())


@dataclass(frozen=True, eq=False, repr=False)
class Inference(InferredRules):
    """The rules for one size, to the extent that the executions determine them.

    >>> from bitwright import addition, executions, infer
    >>> found = infer(executions(addition(2), "states", states=300), blocks=addition(2))
    >>> found.inferred, found.program() == addition(2).program
    (True, True)
    >>> print(found.sentence)
    INFERRED: 8 templates from 300 states of 6 bits in 4 blocks
    """

    executions: Executions
    given: Algorithm | None = None  # the algorithm whose blocks were given
    search: FoundBlocks | None = None  # None if the blocks were given
    contradiction: Contradiction | None = None
    recovered: Recovered | None = None  # the confirmed, excluded and open writes; None if no rules fit

    @property
    def inferred(self) -> bool:
        """Whether some rules with these blocks explain all executions."""
        return self.recovered is not None

    @property
    def determined(self) -> bool:
        """Whether these are the only such rules."""
        return self.recovered is not None and self.recovered.determined

    def program(self) -> Program:
        """Returns the program with the confirmed writes, without the open ones.

        >>> from bitwright import addition, executions, infer
        >>> infer(executions(addition(2), "states", states=300)).program()
        <Program: 6 bits, 4 blocks, 8 templates>
        """
        return self._found().program()

    def text(self) -> str:
        """Returns a rule file: comments on its certainty and on the writes that are not determined, then the rules.

        >>> from bitwright import addition, executions, infer
        >>> print(infer(executions(addition(2), "states", states=300), addition(2)).text().splitlines()[0])
        # inferred from 300 states: 8 writes confirmed, 0 not determined
        """
        found, states = self._found(), counted(len(self.executions), "state")
        writes = counted(found.confirmed, "write")
        head = [f"# inferred from {states}: {writes} confirmed, {found.undetermined:,} not determined"]
        if found.seen < found.configurations:
            head.append(f"# {found.configurations - found.seen:,} configurations of blocks were not seen")
        if found.undetermined:
            lines = list(islice(found.open_lines(), _MOST_LISTED + 1))
            head += ["# not determined, and left out:", *(f"#   {line}" for line in lines[:_MOST_LISTED])]
            head += ["#   and more"] * (len(lines) > _MOST_LISTED)
        body = Algorithm("inferred", found.program())
        if self.given is not None:
            body = replace(self.given, program=body.program, matches=None, examples=None)
        return "\n".join([*head, body.text()])

    def _found(self) -> Recovered:
        if self.recovered is None:
            raise InputError(f"no rules were inferred: {self.sentence}")
        return self.recovered

    def report(self) -> Iterator[str]:
        """Yields the verdict and the evidence for it."""
        names, states = self.executions.names, counted(len(self.executions), "state")
        if self.contradiction is not None:
            yield from self._contradicted(self.contradiction)
        elif self.recovered is not None:
            yield from self._recovered(self.recovered)
        elif self.search is not None and self.search.gave_up:
            advice = f"give the blocks with {option('blocks')}, or more random states"
            yield f"NOT FOUND: the search for blocks exceeded its budget; {advice}"
        else:
            yield f"NO BLOCKS of at most {MAX_FOUND} bits explain these {states}"
            if self.search is not None and self.search.unexplained is not None:
                state, bit = self.search.unexplained
                yield f"  for example, {names[bit]} is on after state {state + 1:,}, which no such block can write"
            yield "  the data contain a wrong bit, or some rule reads more bits"

    def _on(self, state: int) -> str:
        """Returns the number of a state and the bits that are on in it."""
        names = [self.executions.names[bit] for bit in np.flatnonzero(self.executions.before[state]).tolist()]
        return f"{state + 1:,}: {listing(names, 12) if names else 'all bits off'}"

    def _contradicted(self, found: Contradiction) -> Iterator[str]:
        names, bit = self.executions.names, self.executions.names[found.bit]
        yield f"CONTRADICTION: {bit} is on after state {found.state + 1:,}, and no rule with these blocks can write it"
        yield f"  blocks      {_shown_blocks(names, found.blocks)}"
        yield f"  state       {self._on(found.state)}"
        yield from (f"  leaves it off: state {self._on(state)}" for state in found.cleared_by)
        noise = "the data contain a wrong bit, or the blocks are different"
        yield f"  {counted(found.states, 'state')} of {len(self.executions):,} cannot be explained; {noise}"

    def _recovered(self, found: Recovered) -> Iterator[str]:
        names, states, search = self.executions.names, counted(len(self.executions), "state"), self.search
        program = found.program() if found.confirmed else None
        size = f"{counted(len(names), 'bit')} in {counted(len(found.blocks), 'block')}"
        templates = counted(0 if program is None else program.templates, "template")
        yield f"INFERRED: {templates} from {states} of {size}"
        if search is not None:
            yield f"  blocks      {_shown_blocks(names, found.blocks)}"
            others = [" ".join(names[bit] for bit in bits) for bits in search.others]
            unlike = f"not unique  these blocks could replace some of them: {listing(others, 4)}"
            yield f"  {unlike if others else 'minimal     no block can be split, and no alternative was found'}"
        yield f"  seen        {found.seen:,} of {found.configurations:,} configurations of blocks"
        writes = f"{found.confirmed:,} confirmed, {found.cleared:,} cleared, {found.undetermined:,} not determined"
        yield f"  writes      {writes}{' (left out)' if found.undetermined else ''}"
        if program is not None:
            yield f"  reproduces  {found.reproduced(program):,} of {states}"

    def to_dict(self) -> dict[str, Any]:
        """Returns all facts that `bitwright infer --json` prints, except the name of the file."""
        names, search, found = self.executions.names, self.search, self.recovered
        if (wrong := self.contradiction) is not None:
            return {
                "inferred": False,
                "reason": "contradiction",
                "blocks": [[names[bit] for bit in block] for block in wrong.blocks],
                "bit": names[wrong.bit],
                "state": wrong.state + 1,
                "cleared_by": [state + 1 for state in wrong.cleared_by],
                "contradicting_states": wrong.states,
            }
        if found is None:
            place = None if search is None else search.unexplained
            return {
                "inferred": False,
                "reason": "search ended" if search and search.gave_up else "no blocks",
                "most_bits": MAX_FOUND,
                "state": None if place is None else place[0] + 1,
                "bit": None if place is None else names[place[1]],
            }
        program = found.program() if found.confirmed else None
        return {
            "inferred": True,
            "determined": found.determined,
            "states": len(self.executions),
            "bits": len(names),
            "blocks": [[names[bit] for bit in block] for block in found.blocks],
            "blocks_found": search is not None,
            "unique": None if search is None else search.unique,
            "others": None if search is None else [[names[bit] for bit in bits] for bits in search.others],
            **{name: getattr(found, name) for name in ("configurations", "seen", "confirmed", "cleared")},
            "undetermined": found.undetermined,
            "templates": None if program is None else program.templates,
            "program_id": None if program is None else program.id,
            "reproduced": None if program is None else found.reproduced(program),
        }


def _shown_blocks(names: Sequence[str], blocks: Sequence[Sequence[int]]) -> str:
    """Lists the blocks of two or more bits."""
    shown = [" ".join(names[bit] for bit in block) for block in blocks if len(block) > 1]
    if not shown:
        return "every bit by itself"
    return listing(shown, 8) + "; the others are single bits" * (len(shown) < len(blocks))


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
    lines: tuple[str, ...] = ()  # lines from the user: input, output and others

    @cached_property
    def verdict(self) -> str:
        """DETERMINED, SHORTEST, CONTRADICTION or NO FAMILY.

        DETERMINED means that all programs of the stated class that fit are the same, from the size `first` on.
        SHORTEST means that others fit, or may fit.
        """
        if self.found.contradiction is not None:
            return "CONTRADICTION"
        if self._failure is not None:
            return "NO FAMILY"
        sizes = range(self.first, max(self.executions) + 4)
        known = self.found.unique_blocks and self._fitted.determined and all(map(self._at_size, sizes))
        return "DETERMINED" if known else "SHORTEST"

    @property
    def inferred(self) -> bool:
        """Whether a program reproduces all states."""
        return self.verdict in ("DETERMINED", "SHORTEST")

    @property
    def determined(self) -> bool:
        """Whether it is the only such program of its class."""
        return self.verdict == "DETERMINED"

    @property
    def first(self) -> int:
        """The smallest size from which the theorem holds."""
        return self._fitted.needs.first

    @cached_property
    def smallest(self) -> int:
        """The size from which the text is a valid program at every size."""
        size = min(self.executions)
        while size > 1 and self._at_size(size - 1) is not None:
            size -= 1
        return size

    def algorithm(self, size: int) -> Algorithm:
        """Returns the program at a size.

        >>> from bitwright import addition, executions, infer
        >>> found = infer({l: executions(addition(l), "states", states=300) for l in (5, 6)})
        >>> found.algorithm(1000)
        Algorithm 'inferred': 3,000 bits, 2,000 blocks, 4,000 templates
        """
        text = "\n".join(["", *self.rules, *self.lines])
        return RuleText.of(text).at({self.let: size}, "inferred")

    def text(self) -> str:
        """Returns a rule file: the verdict, the rules with their `let` line, and comments on what is open.

        >>> from bitwright import addition, executions, infer
        >>> found = infer({l: executions(addition(l), "states", states=300) for l in (5, 6, 7)})
        >>> print(found.text().partition("let")[0])
        # DETERMINED: 5 rules for every l >= 3, from 900 states at l = 5, 6, 7
        <BLANKLINE>
        """
        verdict, *more = self.report(_MOST_LISTED)
        return "\n".join([f"# {verdict}", *self.rules, "", *self.lines, "", *(f"# {line}" for line in more), ""])

    def to_dict(self) -> dict[str, Any]:
        """Returns all facts that `bitwright infer --json` prints, except the name of the file."""
        result: dict[str, Any] = {
            "inferred": self.inferred,
            "verdict": self.verdict,
            "let": self.let,
            "sizes": [{"size": size, "states": len(one)} for size, one in self.executions.items()],
        }
        if self.found.contradiction is not None:
            size, wrong = self.found.contradiction
            witness = Inference(self.executions[size], contradiction=wrong).to_dict()
            return result | {"size": size} | {key: fact for key, fact in witness.items() if key != "inferred"}
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
        }

    @property
    def _fitted(self) -> Fitted:
        if self.found.fitted is None:
            raise InputError(f"no program was inferred: {self.sentence}")
        return self.found.fitted

    @cached_property
    def rules(self) -> list[str]:
        """The lines of the rule text, beginning with its `let` line."""
        lines = rule_lines(self._fitted.evidence, self._fitted.cover.terms, self.let)
        return [f"let {self.let} = {max(self.executions)}", *lines]

    @cached_property
    def _failure(self) -> str | None:
        """Why there is no program, after running every state of every size; None if there is one."""
        if self.found.fitted is None:
            return self.found.reason
        for size, executions in self.executions.items():
            program = self._at_size(size)
            if program is None or (successors(program, executions.before) != executions.after).any():
                return f"the program that fits the larger sizes does not reproduce {self.let} = {size}"
        return None

    def _at_size(self, size: int) -> Program | None:
        """Returns the program of the rules at a size; None if the text is not valid at that size."""
        found = RuleText.of("\n".join(self.rules)).at_or_none({self.let: size})
        return None if found is None else found.program

    @property
    def _sizes(self) -> str:
        return ", ".join(map(str, self.executions))

    def report(self, most: int = _MOST_PRINTED) -> Iterator[str]:
        """Yields the verdict, its class, and at most `most` rules and configurations that the states leave open."""
        if self.found.contradiction is not None:
            size, wrong = self.found.contradiction
            first, *more = Inference(self.executions[size], contradiction=wrong).report()
            yield first.replace("CONTRADICTION:", f"CONTRADICTION at {self.let} = {size}:", 1)
            yield from more
        elif not self.inferred:
            yield f"{self.verdict}: {self._failure}"
        else:
            yield from self._described()
            if not self.determined:
                yield from self._open(most)

    def _described(self) -> Iterator[str]:
        """Yields the program, its class and its theorem, or why the theorem does not apply."""
        let, fit = self.let, self._fitted
        rules = counted(sum("when " in line for line in self.rules), "rule")
        states = f"{counted(sum(map(len, self.executions.values())), 'state')} at {let} = {self._sizes}"
        if self.determined:
            yield f"DETERMINED: {rules} for every {let} >= {self.first}, from {states}"
        else:
            proved = "" if fit.cover.shortest else " found within the time limit"
            yield f"SHORTEST: {rules}, the shortest text{proved} that reproduces {states}"
        bounds, needs, space = fit.evidence.bounds, fit.needs, fit.space
        b = bounds.offset
        index = f"x[a*i+b*{let}+c] with |a| <= {bounds.coefficient} and |c| <= {b}"
        yield f"  class       {index}; ranges and slices between b*{let}+c with |c| <= {b}"
        if any(array.halved for array in fit.evidence.arrays):
            yield "              every second position is an array of its own, x[2*j-1] and x[2*j], without slices"
        if (joins := self.found.joined) is not None:
            yield f"  blocks      found: at most {joins.most} bits, joined in the same way at every position and size"
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
        """Yields what is not decided, and which data would decide it."""
        let, evidence, space, joins = self.let, self._fitted.evidence, self._fitted.space, self.found.joined
        if joins is not None and not joins.unique:
            yield "  blocks      other blocks explain the states too"
        if self.found.larger is not None:
            yield f"  blocks      with larger blocks, such as {self.found.larger}, other programs fit or may fit too"
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


class _Settings(TypedDict, total=False):
    let: str | None
    lines: Sequence[str]
    progress: Teller | Progress | bool | None


@overload
def infer(executions: Executions, blocks: Blocks = "find", **how: Unpack[_Settings]) -> Inference: ...


@overload
def infer(
    executions: Mapping[int, Executions], blocks: Blocks = "find", **how: Unpack[_Settings]
) -> FamilyInference: ...


@overload
def infer(
    executions: Sequence[Executions], blocks: Blocks = "find", **how: Unpack[_Settings]
) -> Inference | FamilyInference: ...


def infer(
    executions: Executions | Sequence[Executions] | Mapping[int, Executions],
    blocks: Blocks = "find",
    *,
    let: str | None = None,
    lines: Sequence[str] = (),
    progress: Teller | Progress | bool | None = None,
) -> Inference | FamilyInference:
    """Recovers rules from executions, and reports which writes they confirm, exclude or leave open.

    Executions at several sizes yield a program for every size. Its indices have the form `a*i+b*l+c`, with the smallest
    bounds on the coefficients for which a program fits.

    Args:
        executions: states with their successors (`Executions.load` reads a file), a list of these, or a dictionary by
            size, such as `{5: five, 6: six}`. Executions made by bitwright record their size.
        blocks: the bits that are read together: the blocks of a program or of a rule text, or a text such as
            `"p[1] q[1]; c[1]"`. `find` searches for the smallest blocks that explain the executions.
        let: the name of the size; by default, the name recorded in the executions, or `l`.
        lines: rule text added to the program for every size, such as `output sum = c[l] p`.
        progress: True for lines on standard error, or a function that takes the work done and the total.

    >>> from bitwright import addition, executions
    >>> states = executions(addition(2), "states", states=300)
    >>> infer(states, "p[i] q[i] for i in 1..2; c[1]; c[2]").program().templates
    8
    """
    tell = teller(progress)
    name, by_size = _by_size(executions, let)
    if name is not None:
        with tell.working("looking for families, choices of blocks", at_most=True) as report:
            return _infer_families(by_size, name, blocks, _given_lines(lines), report)
    for setting, value in {"let": let, "line": lines or None}.items():
        if value is not None:
            raise InputError(
                f"{option(setting)} works only with executions of several sizes, such as l=5:a.npz l=6:b.npz"
            )
    return _infer_one_size(by_size[0], blocks, tell)


def _infer_one_size(executions: Executions, blocks: Blocks, tell: Teller) -> Inference:
    layout = layout_of_names(executions.names)
    given, chosen = _blocks(blocks, layout, {})
    with tell.working(
        "looking for blocks, looks" if chosen is None else "comparing executions", at_most=chosen is None
    ) as report:
        search = find_blocks(executions, progress=report) if chosen is None else None
        chosen = search.blocks if search else chosen
        if chosen is None:
            return Inference(executions, given, search)
        if (contradiction := find_contradiction(Elimination(Evidence(executions), chosen))) is not None:
            return Inference(executions, given, search, contradiction)
        return Inference(executions, given, search, None, Recovered(executions, layout, chosen))


def _infer_families(
    executions: Mapping[int, Executions], let: str, blocks: Blocks, lines: tuple[str, ...], progress: Progress
) -> FamilyInference:
    """Finds the shortest program for every size, and whether it is the only one of its class."""
    for size in executions:
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= _MOST_SIZE:
            raise InputError(f"a size must be an integer from 1 to {_MOST_SIZE:,}, got {shorten(repr(size))}")
    if len(executions) < 2:
        raise InputError(f"a program for every size needs executions of two sizes or more, got {len(executions)}")
    names = {name.partition("[")[0] for one in executions.values() for name in one.names}
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", let) or let in {*NAMES, *KEYWORDS, *names}:
        raise InputError(f"the name of the size must not be i, j, a keyword or the name of a bit, got '{shorten(let)}'")
    ordered = dict(sorted(executions.items()))
    chosen = {size: _blocks(blocks, layout_of_names(one.names), {let: size})[1] for size, one in ordered.items()}
    known = {size: those for size, those in chosen.items() if those is not None}
    result = FamilyInference(ordered, let, find_families(ordered, known or None, progress, let), lines)
    if result.found.fitted is not None and not result.found.fitted.cover.terms:
        raise InputError("these states turn no bit on, so there is no rule to infer; give more states")
    if not result.inferred:
        return result
    try:
        result.algorithm(max(ordered))
    except ProgramError as error:
        problem = str(error).splitlines()[0]
        raise InputError(f"the given lines do not fit the inferred program: {problem}") from None
    return result


# Arguments of `infer`.


def _given_lines(lines: object) -> tuple[str, ...]:
    """Returns the checked lines to add to the rules."""
    if not isinstance(lines, list | tuple):
        raise InputError(f"lines must be a list of str, such as ['output y'], got {shorten(repr(lines))}")
    for line in lines:
        if not isinstance(line, str) or line.strip().split(" ")[0] not in _COPIED or "\n" in line.strip():
            raise InputError(f"a line must begin with one of {', '.join(_COPIED)}, got '{shorten(str(line))}'")
    return tuple(line.strip() for line in lines)


def _by_size(
    executions: Executions | Sequence[Executions] | Mapping[int, Executions], let: str | None
) -> tuple[str | None, dict[int, Executions]]:
    """Returns the name of the size and the executions by size; no name, and all of them under 0, for a single size."""
    if not isinstance(let, str | None):
        raise InputError(f"{option('let')} must be the name of the size, such as 'l', got {shorten(repr(let))}")
    given: Any = executions.values() if isinstance(executions, Mapping) else executions
    several: list[Executions] = list(given) if isinstance(executions, Mapping | list | tuple) else [given]
    for number, one in enumerate(several, 1):
        if not isinstance(one, Executions):
            got = f"a {type(one).__name__}"
            raise InputError(f"give executions, which Executions.load(path) reads from a .npz file; got {got}")
        if not len(one):
            raise InputError(f"executions number {number} contain no states; give at least one")
    if isinstance(executions, Mapping):
        carried = {name for one in several for name in one.lets}
        return let or (carried.pop() if len(carried) == 1 else "l"), dict(executions)
    if not several:
        raise InputError("give at least one .npz file of executions")
    differ = sorted(name for name in several[0].lets if len({one.lets.get(name) for one in several}) > 1)
    if len(differ) > 1:
        raise InputError(f"the executions differ in {listing(differ)}; they may differ in one number only")
    parts: dict[int, list[tuple[str, Executions]]] = {}
    for number, one in enumerate(several, 1):
        if differ and one.lets.keys() != several[0].lets.keys():
            raise InputError("give the size of every file, such as l=5:a.npz, or of no file")
        parts.setdefault(one.lets[differ[0]] if differ else 0, []).append((f"number {number}", one))
    return (let or differ[0]) if differ else None, {size: joined(those) for size, those in parts.items()}


def open_blocks(target: str | None, lets: Mapping[str, int]) -> Algorithm | RuleText | str:
    """Opens the blocks in a rule file, with these values of its `let` lines; returns any other target as text."""
    if target is None or not target.lower().endswith(".bw"):
        return target or FIND
    rules = RuleText.of(read_text(Path(target)))
    with problems_of(target):
        return rules.at(lets, Path(target).stem, needs_rules=False) if lets else rules


def _blocks(blocks: Blocks, layout: Layout, lets: Mapping[str, int]) -> tuple[Algorithm | None, list[list[int]] | None]:
    """Returns the blocks, or None to search for them, and the algorithm that they come from, if any."""
    if isinstance(blocks, Algorithm) and lets and blocks.sizing is not None and blocks.sizing.text is not None:
        blocks = RuleText.of(blocks.sizing.text)
    if isinstance(blocks, RuleText):
        blocks = blocks.at(lets, "the file of blocks", needs_rules=False)
    if isinstance(blocks, Algorithm | Program):
        program = (algorithm := as_algorithm(blocks)).program
        if program.layout != layout:
            shown, has = (" ".join(map(str, one.fields[:8])) for one in (program.layout, layout))
            raise InputError(
                f"{algorithm.name} has the bits {shown}, but the executions have {has}; give the program at the "
                "size of the executions"
            )
        return algorithm, [program.block_members(block).tolist() for block in range(program.blocks)]
    if not isinstance(blocks, str):
        raise InputError(f"blocks must be an algorithm, rule text, a text or 'find', got a {type(blocks).__name__}")
    if blocks == FIND:
        return None, None
    if not (set(blocks) & set(" ;[\n")) and blocks not in layout:
        raise InputError(
            f"{option('blocks')} takes a .bw file, a name, blocks as text, or 'find', got '{shorten(blocks)}'"
            f"{suggestion(blocks, [FIND])}"
        )
    return None, parse_blocks(layout, blocks)
