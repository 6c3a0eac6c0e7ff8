"""A program for every size, from executions at a few sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

from bitwright.api.inference import Inference, PathName
from bitwright.bits import shorten, whole_number
from bitwright.errors import InputError, ProgramError, counted, listing, option, short_repr
from bitwright.files.executions import Executions
from bitwright.files.storage import as_path, write_atomically
from bitwright.inference.families.blocks import Blocks, fit_arrays
from bitwright.inference.families.cover import SECONDS
from bitwright.inference.families.runs import find_runs, lines_of_runs
from bitwright.inference.families.search import Fitted, FoundFamilies, find_families
from bitwright.inference.families.text import open_line, rule_lines, unseen_lines
from bitwright.program import Algorithm, parse
from bitwright.program.layout import KEYWORDS
from bitwright.program.text.files import read_text
from bitwright.running.progress import Progress
from bitwright.running.successors import successors

_MOST_LISTED = 200  # open rules, and configurations that were not seen, in the comments of a file
_MOST_PRINTED = 6  # of each
_MOST_SIZE = 100_000
_STATED = ("ensure", "invariant")
_COPIED = ("input", "output", "start", "steps", "halt", *_STATED)


@dataclass(frozen=True, eq=False)
class FamilyInference:
    """What executions at several sizes say of a program for every size.

    >>> from bitwright import addition, executions, infer
    >>> found = infer({l: executions(addition(l), "states", states=300) for l in (5, 6, 7)})
    >>> found.verdict, found.algorithm(64).program == addition(64).program
    ('DETERMINED', True)
    """

    executions: Mapping[int, Executions]  # by size
    let: str  # the name of the size
    found: FoundFamilies
    lines: tuple[str, ...] = ()  # input, output and others, as they were given
    from_runs: tuple[str, ...] = ()  # input, start and steps lines that fit the runs

    @property
    def verdict(self) -> str:
        """DETERMINED, SHORTEST, CONTRADICTION or NO FAMILY.

        DETERMINED: all programs of the stated class that fit are the same, from the size `first` on. SHORTEST: there
        are others, or it is not known that there are none."""
        if self.found.contradiction is not None:
            return "CONTRADICTION"
        if self._failure is not None:
            return "NO FAMILY"
        unique = self._fitted.determined and self.found.unique_blocks and self._valid_above
        return "DETERMINED" if unique else "SHORTEST"

    @property
    def inferred(self) -> bool:
        """Whether there is a program that reproduces all states."""
        return self.verdict in ("DETERMINED", "SHORTEST")

    @property
    def determined(self) -> bool:
        """Whether it is the only one of its class."""
        return self.verdict == "DETERMINED"

    @property
    def first(self) -> int:
        """The size from which on the theorem holds."""
        return self._fitted.needs.first

    @cached_property
    def smallest(self) -> int:
        """The smallest size at which the text is a program, as it is at all sizes above."""
        size = min(self.executions)
        while size > 1 and self._valid(size - 1):
            size -= 1
        return size

    @property
    def sentence(self) -> str:
        """What came of it, in a line."""
        return str(self).partition("\n")[0]

    __repr__ = short_repr

    def __str__(self) -> str:
        return "\n".join(self._said())

    def algorithm(self, size: int) -> Algorithm:
        """The program at a size.

        >>> from bitwright import addition, executions, infer
        >>> found = infer({l: executions(addition(l), "states", states=300) for l in (5, 6)})
        >>> found.algorithm(1000)
        Algorithm 'inferred': 3,000 bits, 2,000 blocks, 4,000 templates
        """
        return parse("\n".join(["", *self._rules, *self.from_runs, *self.lines]), "inferred", {self.let: size})

    def text(self) -> str:
        """A rule file: the verdict, the rules with their `let`, and in comments below them what is open.

        >>> from bitwright import addition, executions, infer
        >>> found = infer({l: executions(addition(l), "states", states=300) for l in (5, 6, 7)})
        >>> print(found.text().partition("let")[0])
        # DETERMINED: 5 rules for every l >= 3, from 900 states at l = 5, 6, 7
        <BLANKLINE>
        """
        verdict, *more = self._head(_MOST_LISTED)
        sizes = ", ".join(map(str, self.executions))
        fitted = [f"{line}  # fits the runs at {self.let} = {sizes}" for line in self.from_runs]
        return "\n".join(
            [f"# {verdict}", *self._rules, "", *fitted, *self.lines, "", *(f"# {line}" for line in more), ""]
        )

    def save(self, path: PathName) -> None:
        """Writes the rules to a .bw file; raises InputError where there are none."""
        write_atomically(as_path(path, "a rule file"), self.text().encode())

    def to_dict(self) -> dict[str, Any]:
        """Everything, as `bitwright infer --json` prints it, but for the name of a file."""
        result: dict[str, Any] = {
            "inferred": self.inferred,
            "verdict": self.verdict,
            "let": self.let,
            "sizes": [{"size": size, "states": len(one)} for size, one in self.executions.items()],
        }
        if self.found.contradiction is not None:
            size = self.found.contradiction[0]
            witness = self._at(size).to_dict()
            kept = ("reason", "bit", "state", "cleared_by", "contradicting_states")
            return result | {"size": size} | {key: witness[key] for key in kept}
        if not self.inferred:
            return result | {"reason": self._failure}
        fitted, space = self._fitted, self._fitted.space
        return result | {
            "coefficients": fitted.evidence.bounds.coefficient,
            "offsets": fitted.evidence.bounds.offset,
            "terms": fitted.needs.terms,
            "slices": fitted.needs.slices,
            "deciding_size": fitted.needs.size,
            "holds_from": self.first,
            "smallest_size": self.smallest,
            "forced": space.forced,
            "open": space.open,
            "unseen": len(space.unseen),
            "shortest_proved": fitted.cover.shortest,
            "rules": self._rules,
            "from_runs": list(self.from_runs),
        }

    @property
    def _fitted(self) -> Fitted:
        if self.found.fitted is None:
            raise InputError(f"there is no program to give: {self.sentence}")
        return self.found.fitted

    @cached_property
    def _rules(self) -> list[str]:
        evidence, cover = self._fitted.evidence, self._fitted.cover
        lines = rule_lines(evidence.arrays, evidence.families, cover.terms, self.let)
        return [f"let {self.let} = {max(self.executions)}", *lines]

    @cached_property
    def _failure(self) -> str | None:
        """Why there is no program; every state of every size is run."""
        if self.found.fitted is None:
            return self.found.reason
        for size, executions in self.executions.items():
            if not (self._valid(size) and self._reproduces(size, executions)):
                return f"the program that fits the larger sizes does not reproduce {self.let} = {size}"
        return None

    @cached_property
    def _valid_above(self) -> bool:
        """Whether the text is a program at the sizes that the theorem speaks of, as far as they are looked at."""
        return all(self._valid(size) for size in range(self.first, max(self.executions) + 4))

    def _valid(self, size: int) -> bool:
        try:
            parse("\n".join(self._rules), "inferred", {self.let: size})
        except ProgramError:
            return False
        return True

    def _reproduces(self, size: int, executions: Executions) -> bool:
        program = parse("\n".join(self._rules), "inferred", {self.let: size}).program
        return bool((successors(program, executions.before) == executions.after).all())

    def _at(self, size: int) -> Inference:
        assert self.found.contradiction is not None
        return Inference(self.executions[size], None, None, self.found.contradiction[1], None)

    def _said(self) -> Iterator[str]:
        if self.found.contradiction is not None:
            size = self.found.contradiction[0]
            yield str(self._at(size)).replace("CONTRADICTION:", f"CONTRADICTION at {self.let} = {size}:", 1)
            return
        if not self.inferred:
            yield f"NO FAMILY: {self._failure}"
            return
        yield from self._head(_MOST_PRINTED)

    def _head(self, most: int) -> Iterator[str]:
        fitted, let = self._fitted, self.let
        bounds, needs, space, evidence = fitted.evidence.bounds, fitted.needs, fitted.space, fitted.evidence
        rules = counted(sum("when " in line for line in self._rules), "rule")
        states = counted(sum(map(len, self.executions.values())), "state")
        sizes = ", ".join(map(str, sorted(self.executions)))
        if self.determined:
            yield f"DETERMINED: {rules} for every {let} >= {self.first}, from {states} at {let} = {sizes}"
        else:
            proved = "" if fitted.cover.shortest else " found within the time limit"
            yield f"SHORTEST: {rules}, the shortest text{proved} that reproduces {states} at {let} = {sizes}"
        b = bounds.offset
        index = f"x[a*i+b*{let}+c] with |a| <= {bounds.coefficient} and |c| <= {b}"
        yield f"  class       {index}; ranges and slices between b*{let}+c with |c| <= {b}"
        if any(array.half is not None for array in evidence.arrays):
            yield "              every second position is an array of its own, x[2*j-1] and x[2*j], without slices"
        if (joined := self.found.joined) is not None:
            yield f"  blocks      found: of at most {joined.most} bits, joined alike at every place and size"
        if needs.size is None:
            yield f"  theorem     none for slices with |a| > 1; {space.open:,} writes are open at {let} = {space.size}"
        else:
            there = f"{let} = {needs.size}"
            yield f"  theorem     programs of this class that agree at {there} agree at every {let} >= {needs.first}"
            yield f"  open        {counted(space.open, 'write')} at {there}; {space.forced:,} are in every program"
        yield f"  valid       from {let} = {self.smallest}"
        if self.determined:
            return
        if joined is not None and not joined.unique:
            yield "  blocks      others explain the states too"
        if self.found.larger is not None:
            yield f"  blocks      with larger ones, such as {self.found.larger}, other programs fit or may fit too"
        for family in evidence.families:
            if not family.unique:
                names = " ".join(evidence.arrays[m].name for m in family.members)
                yield f"  blocks      other indices of {names} fit these sizes too"
        if needs.size is not None:
            yield f"  to decide   states at {let} = {needs.size} or more that show every configuration"
        unseen = unseen_lines(evidence.arrays, evidence.families, space.unseen, let)
        yield from self._listed("not seen", len(space.unseen), unseen, most)
        lines = (open_line(evidence.arrays, evidence.families, atom, let) for atom in space.atoms)
        yield from self._listed("open", len(space.atoms), lines, most)

    def _listed(self, what: str, number: int, lines: Iterator[str] | Sequence[str], most: int) -> Iterator[str]:
        for line in islice(lines, most):
            yield f"  {what:<11} {line}"
        if number > most:
            yield f"  {what:<11} and {number - most:,} more"


def infer_families(
    executions: Mapping[int, Executions],
    blocks: Mapping[int, Blocks] | None,
    *,
    let: str = "l",
    like: PathName | None = None,
    lines: str | Sequence[str] = (),
    coefficients: int | None = None,
    offsets: int | None = None,
    seconds: float = SECONDS,
    progress: Progress | None = None,
) -> FamilyInference:
    """The shortest program for every size, and whether it is the only one of its class."""
    for size in executions:
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= _MOST_SIZE:
            raise InputError(f"a size is an integer from 1 to {_MOST_SIZE:,}, got {shorten(repr(size))}")
    if len(executions) < 2:
        raise InputError(f"a program for every size needs executions of two sizes or more, got {len(executions)}")
    for name, number in (("coefficients", coefficients), ("offsets", offsets)):
        if number is not None:
            whole_number(number, option(name), 1, 8)
    names = {name.partition("[")[0] for one in executions.values() for name in one.names}
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", let) or let in {"i", *KEYWORDS, *names}:
        raise InputError(
            f"the size needs a name that no bit has, other than i and words of the language, got '{shorten(let)}'"
        )
    if not isinstance(seconds, int | float) or not 0 < seconds < 10**6:
        raise InputError(f"{option('seconds')} is a number above 0 and below a million, got {shorten(repr(seconds))}")
    given = (*(() if like is None else _lines(as_path(like, "a rule file"))), *_given_lines(lines))
    ordered = dict(sorted(executions.items()))
    found = find_families(ordered, blocks, coefficients, offsets, seconds, progress)
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
        source = "the lines that were given" if like is None else f"the lines of {like}"
        raise InputError(f"{source} do not fit what was inferred: {str(error).splitlines()[0]}") from None
    return result


def _from_runs(result: FamilyInference, algorithms: Mapping[int, Algorithm]) -> tuple[str, ...]:
    """Input, start and steps lines that were not given, where the executions are runs."""
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


def _given_lines(lines: object) -> list[str]:
    """Lines to be added to the rules, in a list or as one text."""
    several = [*filter(str.strip, lines.splitlines())] if isinstance(lines, str) else lines
    if not isinstance(several, list | tuple):
        raise InputError(f"lines is a list of str, such as ['output y'], got {shorten(repr(lines))}")
    return [_line(line) for line in several]


def _line(line: object) -> str:
    """A line to be added to the rules."""
    if not isinstance(line, str) or line.strip().split(" ")[0] not in _COPIED or "\n" in line.strip():
        raise InputError(f"a line begins with one of {', '.join(_COPIED)}, got '{shorten(str(line))}'")
    return line.strip()


def _lines(path: Path) -> tuple[str, ...]:
    """What a rule file says of inputs, outputs and the end of a run."""
    lines = [line.strip() for line in read_text(path).replace("\\\n", " ").splitlines()]
    return tuple(line for line in lines if line.split(" ")[0] in _COPIED)


def carried_size(lets: Sequence[Mapping[str, int]]) -> str | None:
    """The number in which files differ that carry their sizes; None where they are all of one size, or carry none."""
    differ = sorted(name for name in lets[0] if len({one.get(name) for one in lets}) > 1)
    if not differ or any(one.keys() != lets[0].keys() for one in lets):
        return None
    if len(differ) > 1:
        raise InputError(
            f"the files differ in {listing(differ)}; one number may grow, so give files of the same others"
        )
    return differ[0]


def path_sizes(given: Sequence[str | PathLike[str]]) -> tuple[str, dict[int, list[Path]]] | None:
    """The name of the size, and the files of each, of arguments such as l=5:a.npz; None where no argument has one."""
    found = [re.fullmatch(r"([A-Za-z_][A-Za-z0-9_]*)=([0-9]{1,9}):(.+)", str(one)) for one in given]
    if not any(found):
        return None
    files: dict[int, list[Path]] = {}
    names = set()
    for one, match in zip(given, found, strict=True):
        if match is None:
            raise InputError(f"give the size of every file, such as l=5:{one}, or of none")
        path = Path(match[3])
        if any(path.resolve() == other.resolve() for others in files.values() for other in others):
            raise InputError(f"{path} is given twice; every file has executions of one size")
        names.add(match[1])
        files.setdefault(int(match[2]), []).append(path)
    if len(names) > 1:
        raise InputError(f"all sizes have one name, got {listing(sorted(names))}")
    return names.pop(), files
