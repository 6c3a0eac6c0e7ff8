"""A program for every size, from executions at a few sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

from bitwright.api.family_report import report
from bitwright.api.inference import Inference, PathName
from bitwright.bits import shorten, whole_number
from bitwright.errors import InputError, ProgramError, listing, option, short_repr
from bitwright.files.executions import Executions
from bitwright.files.storage import as_path, write_atomically
from bitwright.inference.families.blocks import Blocks, fit_arrays
from bitwright.inference.families.lines import NAMES
from bitwright.inference.families.search import Fitted, FoundFamilies, find_families
from bitwright.inference.families.text import find_runs, lines_of_runs, rule_lines
from bitwright.program import Algorithm, Program, parse
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
    """A program for every size, inferred from executions at several sizes.

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

    def __bool__(self) -> bool:
        return self.inferred

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
        """The size from which the theorem holds."""
        return self._fitted.first

    @cached_property
    def smallest(self) -> int:
        """The smallest size at which the text is a program, as it is at all sizes above."""
        size = min(self.executions)
        while size > 1 and self._at_size(size - 1) is not None:
            size -= 1
        return size

    @property
    def sentence(self) -> str:
        """The verdict, in a line."""
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
        return parse("\n".join(["", *self.rules, *self.from_runs, *self.lines]), "inferred", {self.let: size})

    def text(self) -> str:
        """A rule file: the verdict, the rules with their `let`, and in comments below them what is open.

        >>> from bitwright import addition, executions, infer
        >>> found = infer({l: executions(addition(l), "states", states=300) for l in (5, 6, 7)})
        >>> print(found.text().partition("let")[0])
        # DETERMINED: 5 rules for every l >= 3, from 900 states at l = 5, 6, 7
        <BLANKLINE>
        """
        verdict, *more = report(self, _MOST_LISTED)
        sizes = ", ".join(map(str, self.executions))
        fitted = [f"{line}  # fits the runs at {self.let} = {sizes}" for line in self.from_runs]
        return "\n".join(
            [f"# {verdict}", *self.rules, "", *fitted, *self.lines, "", *(f"# {line}" for line in more), ""]
        )

    def save(self, path: PathName) -> None:
        """Writes the rules to a .bw file; raises InputError if there are none."""
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
        """Why there is no program, after running every state of every size; None if there is one."""
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
        """The program of the rules alone at a size; None if the text is none there."""
        try:
            return parse("\n".join(self.rules), "inferred", {self.let: size}).program
        except ProgramError:
            return None

    def _at(self, size: int) -> Inference:
        assert self.found.contradiction is not None
        return Inference(self.executions[size], None, None, self.found.contradiction[1], None)

    def _said(self) -> Iterator[str]:
        if self.found.contradiction is not None:
            size = self.found.contradiction[0]
            yield str(self._at(size)).replace("CONTRADICTION:", f"CONTRADICTION at {self.let} = {size}:", 1)
            return
        if not self.inferred:
            yield f"{self.verdict}: {self._failure}"
            return
        yield from report(self, _MOST_PRINTED)


def infer_families(
    executions: Mapping[int, Executions],
    blocks: Mapping[int, Blocks] | None,
    let: str,
    *,
    like: PathName | None,
    lines: str | Sequence[str],
    coefficients: int | None,
    offsets: int | None,
    seconds: float | None,
    progress: Progress,
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
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", let) or let in {*NAMES, *KEYWORDS, *names}:
        raise InputError(
            f"the size needs a name that no bit has, other than i, j and words of the language, got '{shorten(let)}'"
        )
    if seconds is not None and (not isinstance(seconds, int | float) or not 0 < seconds < 10**6):
        raise InputError(f"{option('seconds')} is a number above 0 and below a million, got {shorten(repr(seconds))}")
    given = (*(() if like is None else _lines(as_path(like, "a rule file"))), *_given_lines(lines))
    ordered = dict(sorted(executions.items()))
    found = find_families(ordered, blocks, coefficients, offsets, seconds, progress, let)
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
    for line in several:
        if not isinstance(line, str) or line.strip().split(" ")[0] not in _COPIED or "\n" in line.strip():
            raise InputError(f"a line begins with one of {', '.join(_COPIED)}, got '{shorten(str(line))}'")
    return [line.strip() for line in several]


def _lines(path: Path) -> tuple[str, ...]:
    """The lines of a rule file about inputs, outputs and the end of a run."""
    lines = [line.strip() for line in read_text(path).replace("\\\n", " ").splitlines()]
    return tuple(line for line in lines if line.split(" ")[0] in _COPIED)


def carried_size(lets: Sequence[Mapping[str, int]]) -> str | None:
    """The name of the size in which these files differ; None if they have one size, or carry none."""
    differ = sorted(name for name in lets[0] if len({one.get(name) for one in lets}) > 1)
    if not differ or any(one.keys() != lets[0].keys() for one in lets):
        return None
    if len(differ) > 1:
        raise InputError(
            f"the files differ in {listing(differ)}; one number may grow, so give files of the same others"
        )
    return differ[0]


def path_sizes(given: Sequence[str | PathLike[str]]) -> tuple[str, dict[int, list[Path]]] | None:
    """The name of the size, and the files at each size, of arguments such as l=5:a.npz; None without sizes."""
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
