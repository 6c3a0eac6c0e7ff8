"""Templates from executions: which rules explain what was seen, how sure that is, and a program of it.

People and JSON count states from 1, as they count lines; the arrays in here count from 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from os import PathLike, fspath
from pathlib import Path
from typing import Any, overload

import numpy as np

from bitwright.api.open import SIZED, subject
from bitwright.api.telling import Teller, teller
from bitwright.bits import BoolArray, shorten
from bitwright.checking.inference.contradiction import Contradiction, find_contradiction
from bitwright.checking.inference.elimination import Elimination, Evidence
from bitwright.checking.inference.find_blocks import MAX_FOUND, FoundBlocks, find_blocks
from bitwright.checking.inference.local_rule import LocalRule, infer_local_rule
from bitwright.checking.inference.recovered import ProgramComparison, Recovered, Undetermined, compare
from bitwright.errors import InputError, counted, listing, option, problems_of, suggestion
from bitwright.files.executions import Executions, joined, load_executions
from bitwright.files.storage import as_path, write_atomically
from bitwright.program import Algorithm, Layout, NodeProgram, Program
from bitwright.program.given import as_algorithm
from bitwright.program.tables import layout_of_names
from bitwright.program.text.layouts import parse_blocks, parse_layout
from bitwright.running.progress import Progress

FIND = "find"
_OPEN = ("off", "on", "refuse")
_MOST_LISTED = 1_000  # writes that are not determined, in the comments of a file
PathName = str | PathLike[str]
Given = Executions | PathName | Sequence[PathName]
Blocks = PathName | Algorithm | Program | Sequence[Sequence[str]]


@dataclass(frozen=True, eq=False)
class Inference:
    """What executions say of the rules behind them.

    >>> from bitwright import addition, executions, infer
    >>> found = infer(executions(addition(2), "states", states=300), blocks=addition(2), against=addition(2))
    >>> found.explained, found.program() == addition(2).program, found.comparison.agrees
    (True, True, True)
    >>> print(found.sentence)
    INFERRED: 8 templates from 300 states of 6 bits in 4 blocks
    """

    executions: Executions
    given: Algorithm | None  # whose blocks were meant
    search: FoundBlocks | None  # None where the blocks were given
    contradiction: Contradiction | None
    recovered: Recovered | None  # the writes that are confirmed, excluded and open; None where nothing explains all
    undetermined: Undetermined = "off"  # what becomes of writes that are left open
    comparison: ProgramComparison | None = None  # with a program that was named

    @property
    def explained(self) -> bool:
        """Whether some rules with these blocks explain all executions."""
        return self.recovered is not None

    @property
    def determined(self) -> bool:
        """Whether these are the only ones."""
        return self.recovered is not None and self.recovered.determined

    @property
    def inferred(self) -> bool:
        """Whether there are rules to give: not where nothing explains all, or what is left open is refused."""
        return self.explained and (self.undetermined != "refuse" or self.determined)

    @property
    def reason(self) -> str | None:
        """Why there are no rules; None where there are."""
        if self.recovered is not None:
            return None
        if self.contradiction is not None:
            bit, state = self.executions.names[self.contradiction.bit], self.contradiction.state + 1
            return f"{bit} is on after state {state:,}, and no rule with these blocks can have written it"
        if self.search is not None and self.search.gave_up:
            return "the search for blocks ended before it knew; give the blocks, or more random states"
        return f"no blocks of at most {MAX_FOUND} bits explain these {counted(len(self.executions), 'state')}"

    @property
    def sentence(self) -> str:
        """What came of it, in a line."""
        return str(self).partition("\n")[0]

    def __str__(self) -> str:
        if self.contradiction is not None:
            return "\n".join(self._contradicted(self.contradiction))
        return "\n".join(self._no_blocks() if self.recovered is None else self._recovered(self.recovered))

    def program(self, undetermined: Undetermined | None = None) -> Program:
        """The program of the confirmed writes; those left open are `off` or `on`, or a reason to `refuse`.

        >>> from bitwright import addition, executions, infer
        >>> infer(executions(addition(2), "states", states=300)).program()
        <Program: 6 bits, 4 blocks, 8 templates>
        """
        return self._found().program(undetermined or self.undetermined)

    def compare(self, what: Algorithm | Program) -> ProgramComparison:
        """Which templates of a program the executions confirm, and which they speak against."""
        return compare(self._found(), what.program if isinstance(what, Algorithm) else what)

    def text(self, undetermined: Undetermined | None = None) -> str:
        """A rule file: how sure it is, the writes that are not determined, and the rules.

        >>> from bitwright import addition, executions, infer
        >>> print(infer(executions(addition(2), "states", states=300), addition(2)).text().splitlines()[0])
        # inferred from 300 states: 8 writes confirmed, 0 not determined
        """
        asked = undetermined or self.undetermined
        found, program = self._found(), self.program(asked)
        writes = counted(found.confirmed, "write")
        states = counted(len(self.executions), "state")
        head = [f"# inferred from {states}: {writes} confirmed, {found.undetermined:,} not determined"]
        if found.seen < found.configurations:
            head.append(f"# {found.configurations - found.seen:,} configurations of blocks were not seen")
        if found.undetermined:
            head.append(f"# not determined, and {'left out' if asked != 'on' else 'written below'}:")
            lines = list(islice(found.open_lines(), _MOST_LISTED + 1))
            head += [f"#   {line}" for line in lines[:_MOST_LISTED]]
            head += ["#   and more"] * (len(lines) > _MOST_LISTED)
        body = Algorithm("inferred", program)
        if self.given is not None:
            body = replace(self.given, program=program, matches=None, examples=None, ensures=(), invariants=())
        return "\n".join([*head, body.text()])

    def save(self, path: PathName) -> None:
        """Writes the rules to a .bw file; raises InputError where there are none."""
        found = self._found()
        if not found.templates((self.undetermined or "off") == "on"):
            raise InputError("these states confirm no write at all, so there is no program to write; give more states")
        write_atomically(as_path(path, "a rule file"), self.text().encode())

    def to_dict(self) -> dict[str, Any]:
        """Everything, as `bitwright infer --json` prints it, but for the name of a file."""
        names = self.executions.names
        if (found := self.contradiction) is not None:
            return {
                "inferred": False,
                "reason": "contradiction",
                "bit": names[found.bit],
                "state": found.state + 1,
                "cleared_by": [state + 1 for state in found.cleared_by],
                "shortest": found.shortest,
                "contradicting_states": found.states,
                "suspect": None if found.suspect is None else found.suspect + 1,
                "only_suspect": found.only_suspect,
            }
        if self.recovered is None:
            assert self.search is not None
            place = self.search.unexplained
            return {
                "inferred": False,
                "reason": "search ended" if self.search.gave_up else "no blocks",
                "most_bits": MAX_FOUND,
                "state": None if place is None else place[0] + 1,
                "bit": None if place is None else names[place[1]],
            }
        return self._document(self.recovered)

    def _found(self) -> Recovered:
        if self.recovered is None:
            raise InputError(f"there are no rules to give: {self.reason}")
        return self.recovered

    def _program(self, found: Recovered) -> Program | None:
        """The program, if it may be given and has a template."""
        return self.program() if self.inferred and found.templates(self.undetermined == "on") else None

    def _on(self, state: BoolArray) -> str:
        """The bits that are on in a state."""
        names = [self.executions.names[bit] for bit in np.flatnonzero(state).tolist()]
        return listing(names, 12) if names else "all bits off"

    def _contradicted(self, found: Contradiction) -> Iterator[str]:
        executions = self.executions
        bit, number = executions.names[found.bit], found.state + 1
        yield f"CONTRADICTION: {bit} is on after state {number:,}, and no rule can have written it"
        yield f"  state {number:,}: {self._on(executions.before[found.state])}"
        for state in found.cleared_by:
            yield f"  state {state + 1:,} leaves it off: {self._on(executions.before[state])}"
        several = counted(len(found.cleared_by), "state")
        length = "no shorter witness of this state" if found.shortest else "there may be a shorter witness"
        yield f"  {several} show every block of state {number:,} without writing {bit}; {length}"
        noise = "the data have a wrong bit, or the blocks are others"
        yield f"  {counted(found.states, 'state')} of {len(executions):,} cannot be explained; {noise}"
        if found.suspect is not None:
            only = "the only one" if found.only_suspect else "one"
            yield f"  without state {found.suspect + 1:,}, {only} of which that is true, {bit} has no contradiction"

    def _no_blocks(self) -> Iterator[str]:
        assert self.search is not None
        if self.search.gave_up:
            blocks = option("blocks")
            yield f"NOT FOUND: the search ended before it knew; give the blocks with {blocks}, or more random states"
            return
        yield f"NO BLOCKS of at most {MAX_FOUND} bits explain these {counted(len(self.executions), 'state')}"
        if self.search.unexplained is not None:
            state, bit = self.search.unexplained
            name = self.executions.names[bit]
            yield f"  {name} is on after state {state + 1:,}, for example: no such block can write it"
        yield "  the data have a wrong bit, or more bits are read together"

    def _recovered(self, found: Recovered) -> Iterator[str]:
        search, comparison, program = self.search, self.comparison, self._program(found)
        states, estimate = len(found.executions), found.estimate
        if not self.inferred:
            asked = f"{option('undetermined')} refuse"
            yield f"NOT DETERMINED by {counted(states, 'state')}: no program is written with {asked}"
        else:
            yield (
                f"INFERRED: {counted(0 if program is None else program.templates, 'template')} from "
                f"{counted(states, 'state')} of {counted(found.layout.size, 'bit')} in "
                f"{counted(len(found.blocks), 'block')}"
            )
        if search is not None:
            names = [" ".join(map(found.layout.name_of, block)) for block in found.blocks if len(block) > 1]
            blocks = f"{listing(names, 8)}; the others are single bits" if names else "every bit by itself"
            yield f"  blocks      {blocks}"
            others = [" ".join(map(found.layout.name_of, bits)) for bits in search.others]
            if others:
                yield f"  not unique  these could be read together instead of some of them: {listing(others, 4)}"
            else:
                yield "  minimal     no block can be split, and no other choice came up"
        yield f"  seen        {found.seen:,} of {found.configurations:,} configurations of blocks"
        shown = f" ({'left out' if self.undetermined == 'off' else 'written'})"
        yield (
            f"  writes      {found.confirmed:,} confirmed, {found.cleared:,} cleared, "
            f"{found.undetermined:,} not determined" + shown * bool(found.undetermined and self.inferred)
        )
        if program is not None:
            yield f"  reproduces  {found.reproduced(program):,} of {counted(states, 'state')}"
        if not found.determined and not (search and search.others):
            yield f"  to come     {_to_come(estimate.states, estimate.never)}"
        if comparison is not None:
            yield (
                f"  against     {comparison.agree:,} of {counted(comparison.templates, 'template')} confirmed, "
                f"{comparison.undecided:,} not determined, {len(comparison.wrong):,} different"
            )
            for rule in comparison.wrong[:5]:
                yield f"  different   {rule}"

    def _document(self, found: Recovered) -> dict[str, Any]:
        name_of, search, comparison, program = found.layout.name_of, self.search, self.comparison, self._program(found)
        return {
            "inferred": self.inferred,
            "determined": found.determined,
            "states": len(found.executions),
            "bits": found.layout.size,
            "blocks": [[name_of(bit) for bit in block] for block in found.blocks],
            "blocks_found": search is not None,
            "unique": None if search is None else search.unique,
            "others": None if search is None else [[name_of(bit) for bit in bits] for bits in search.others],
            "configurations": found.configurations,
            "seen": found.seen,
            "confirmed": found.confirmed,
            "cleared": found.cleared,
            "undetermined": found.undetermined,
            "undetermined_are": self.undetermined,
            "templates": None if program is None else program.templates,
            "program_id": None if program is None else program.id,
            "reproduced": None if program is None else found.reproduced(program),
            "further_states": found.estimate.states,
            "never_determined": found.estimate.never,
            "against": None
            if comparison is None
            else {
                "templates": comparison.templates,
                "agree": comparison.agree,
                "undetermined": comparison.undecided,
                "different": list(comparison.wrong),
            },
        }


@overload
def infer(executions: Given, blocks: Blocks | None = None, *, grid: None = None, **more: Any) -> Inference: ...


@overload
def infer(executions: Given, *, grid: tuple[int, int], **more: Any) -> LocalRule: ...


def infer(  # type: ignore[misc]
    executions: Given,
    blocks: Blocks | None = None,
    *,
    grid: tuple[int, int] | None = None,
    neighbourhood: str | None = None,
    undetermined: str = "off",
    against: Algorithm | Program | PathName | None = None,
    lets: Mapping[str, int] | None = None,
    progress: Teller | Progress | bool | None = None,
) -> Inference | LocalRule:
    """Recovers templates from executions, or from their .npz files: which writes they confirm, exclude, or leave open.

    `blocks` says which bits are read together: those of an algorithm, of a rule file (.bw, with `lets` for its `let`
    lines), a text such as "p[1] q[1]; c[1]", or lists of names; `find`, the default, looks for the smallest that
    explain the executions. Writes that stay `undetermined` are `off` or `on`, or a reason to `refuse`. The result is
    compared with the program `against`.

    With a `grid` of rows and columns, such as (16, 16), states are boards of a cellular automaton on a torus, row by
    row, and the result is the rule of one cell. Its `neighbourhood` is moore (the default), von-neumann or line.

    >>> from bitwright import addition, executions
    >>> states = executions(addition(2), "states", states=300)
    >>> infer(states, "p[i] q[i] for i in 1..2; c[1]; c[2]").program().templates
    8
    """
    tell = teller(progress)
    if undetermined not in _OPEN:
        raise InputError(f"{option('undetermined')} is off, on or refuse, got '{shorten(str(undetermined))}'")
    if grid is None and neighbourhood is not None:
        raise InputError(f"{option('neighbourhood')} goes with {option('grid')}")
    if grid is not None:
        if blocks is not None or against is not None or undetermined != "off":
            raise InputError(
                f"{option('blocks')}, {option('against')} and {option('undetermined')} do not go with {option('grid')}"
            )
        size = _grid(grid)
        held = _loaded(executions, tell)
        with tell.working("counting configurations"):
            return infer_local_rule(held, *size, neighbourhood or "moore")
    held = _loaded(executions, tell)
    layout = layout_of_names(held.names)
    other = None if against is None else _other(against, layout)
    given, chosen = _blocks(FIND if blocks is None else blocks, layout, lets or {})
    what = "looking for blocks, looks" if chosen is None else "comparing executions"
    with tell.working(what, at_most=chosen is None) as told:
        found = replace(_inferred(held, layout, given, chosen, told), undetermined=undetermined)  # type: ignore[arg-type]
        if other is None or not found.explained:
            return found
        return replace(found, comparison=found.compare(other))


def _inferred(
    executions: Executions,
    layout: Layout,
    given: Algorithm | None,
    blocks: Sequence[Sequence[int]] | None,
    progress: Progress,
) -> Inference:
    """The same for blocks of bits by their numbers; None: they are looked for, and `progress` hears of looks."""
    search = find_blocks(executions, progress=progress) if blocks is None else None
    chosen = blocks if search is None else search.blocks
    if chosen is None:
        return Inference(executions, given, search, None, None)
    if (found := find_contradiction(Elimination(Evidence(executions), chosen))) is not None:
        return Inference(executions, given, search, found, None)
    return Inference(executions, given, search, None, Recovered(executions, layout, chosen))


def _loaded(given: Given, tell: Teller) -> Executions:
    if isinstance(given, Executions):
        return given
    paths: list[Any] = list(given) if isinstance(given, list | tuple) else [given]
    if not paths:
        raise InputError("give at least one .npz file of executions")
    for path in paths:
        if not isinstance(path, str | PathLike):
            raise InputError(f"give executions, or the .npz file that holds some, got a {type(path).__name__}")
    with tell.working("reading"):
        return joined([(fspath(path), load_executions(Path(path))) for path in paths])


def _grid(given: object) -> tuple[int, int]:
    """Rows and columns, as two numbers or as text."""
    text = "x".join(map(str, given)) if isinstance(given, list | tuple) else str(given)
    found = re.fullmatch(r"([0-9]{1,5})x([0-9]{1,5})", text, re.ASCII)
    if found is None:
        raise InputError(f"{option('grid')} takes rows and columns such as 16x16, got '{shorten(text)}'")
    return int(found[1]), int(found[2])


def _other(against: Algorithm | Program | PathName, layout: Layout) -> Algorithm:
    found = subject(against)
    name = fspath(against) if isinstance(against, str | PathLike) else found.name
    if isinstance(found, NodeProgram):
        raise InputError(f"{name} is a node program; give one of bits, such as what.on(graph)")
    _check_same_bits(found.program.layout, layout, name)
    return found


def _check_same_bits(wanted: Layout, layout: Layout, name: str) -> None:
    """Raises InputError for a program of other bits than executions have."""
    if wanted != layout:
        shown, has = (" ".join(map(str, one.fields[:8])) for one in (wanted, layout))
        raise InputError(
            f"{name} has other bits than the executions: {shown}, and they have {has}; give the size that they are of"
        )


def _blocks(asked: Blocks, layout: Layout, lets: Mapping[str, int]) -> tuple[Algorithm | None, list[list[int]] | None]:
    """The blocks that are meant, with the algorithm that has them; None to look for some."""
    if isinstance(asked, Algorithm | Program):
        algorithm = as_algorithm(asked)
        return algorithm, _blocks_of(algorithm, layout, algorithm.name)
    if isinstance(asked, str | PathLike):
        text = fspath(asked)
        if text == FIND:
            return None, None
        if text in SIZED:
            return _blocks(subject(text), layout, lets)  # type: ignore[arg-type]
        if text.lower().endswith(".bw"):
            from bitwright.program.text.files import read_text

            with problems_of(text):
                algorithm = parse_layout(read_text(Path(text)), Path(text).stem, lets)
            return algorithm, _blocks_of(algorithm, layout, text)
        if not re.search(r"[\s;\[]", text) and text not in layout:
            hint = suggestion(text, [FIND, *SIZED])
            raise InputError(
                f"{option('blocks')} takes a .bw file, a name, blocks as text, or find, got '{shorten(text)}'{hint}"
            )
        return None, parse_blocks(layout, text)
    if not isinstance(asked, list | tuple) or not all(isinstance(block, list | tuple) for block in asked):
        raise InputError(
            f"blocks are an algorithm, a .bw file, a text, lists of names, or 'find', got a {type(asked).__name__}"
        )
    return None, parse_blocks(layout, "; ".join(" ".join(map(str, block)) for block in asked))


def _blocks_of(algorithm: Algorithm, layout: Layout, name: str) -> list[list[int]]:
    """The blocks of an algorithm, after looking that its bits are those of the executions."""
    program = algorithm.program
    _check_same_bits(program.layout, layout, name)
    return [program.block_members(block).tolist() for block in range(program.blocks)]


def _to_come(states: int | None, never: int) -> str:
    parts = []
    if states is None:
        parts.append("more random states than can be made")
    elif states:
        parts.append(
            f"about {counted(states, 'random state')} more, if every bit is a fair coin and open writes are off"
        )
    if never:
        parts.append(f"{counted(never, 'write')} no state can determine: another block writes the bit always")
    return "; ".join(parts)
