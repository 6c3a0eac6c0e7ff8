"""Templates from executions: which rules explain what was seen, how sure that is, and a program of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from os import PathLike, fspath
from pathlib import Path

from bitwright.checking.inference.contradiction import Contradiction, find_contradiction
from bitwright.checking.inference.elimination import Elimination, Evidence
from bitwright.checking.inference.find_blocks import MAX_FOUND, FoundBlocks, find_blocks
from bitwright.checking.inference.recovered import Comparison, Recovered, Undetermined, compare
from bitwright.errors import InputError, counted, problems_of
from bitwright.files.executions import Executions, load_executions
from bitwright.program import Algorithm, Layout, Program
from bitwright.program.tables import layout_of_names
from bitwright.program.text.layouts import parse_blocks, parse_layout
from bitwright.running.observers import Progress

FIND = "find"
_MOST_LISTED = 1_000  # writes that are not determined, in the comments of a file
Blocks = str | PathLike[str] | Algorithm | Program | Sequence[Sequence[str]]


@dataclass(frozen=True, eq=False)
class Inference:
    """What executions say of the rules behind them.

    >>> from bitwright import addition, executions, infer
    >>> found = infer(executions(addition(2), "states", states=300), blocks=addition(2))
    >>> found.explained, found.program() == addition(2).program, found.compare(addition(2)).agrees
    (True, True, True)
    """

    executions: Executions
    given: Algorithm | None  # whose blocks were meant
    search: FoundBlocks | None  # None where the blocks were given
    contradiction: Contradiction | None
    recovered: Recovered | None  # the writes that are confirmed, excluded and open; None where nothing explains all

    @property
    def explained(self) -> bool:
        """Whether some rules with these blocks explain all executions."""
        return self.recovered is not None

    @property
    def determined(self) -> bool:
        """Whether these are the only ones."""
        return self.recovered is not None and self.recovered.determined

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

    def program(self, undetermined: Undetermined = "off") -> Program:
        """The program of the confirmed writes; those left open are `off` or `on`, or a reason to `refuse`.

        >>> from bitwright import addition, executions, infer
        >>> infer(executions(addition(2), "states", states=300)).program()
        <Program: 6 bits, 4 blocks, 8 templates>
        """
        return self._found().program(undetermined)

    def compare(self, what: Algorithm | Program) -> Comparison:
        """Which templates of a program the executions confirm, and which they speak against."""
        return compare(self._found(), what.program if isinstance(what, Algorithm) else what)

    def text(self, undetermined: Undetermined = "off") -> str:
        """A rule file: how sure it is, the writes that are not determined, and the rules.

        >>> from bitwright import addition, executions, infer
        >>> print(infer(executions(addition(2), "states", states=300), addition(2)).text().splitlines()[0])
        # inferred from 300 states: 8 writes confirmed, 0 not determined
        """
        found, program = self._found(), self.program(undetermined)
        writes = counted(found.confirmed, "write")
        states = counted(len(self.executions), "state")
        head = [f"# inferred from {states}: {writes} confirmed, {found.undetermined:,} not determined"]
        if found.seen < found.configurations:
            head.append(f"# {found.configurations - found.seen:,} configurations of blocks were not seen")
        if found.undetermined:
            head.append(f"# not determined, and {'left out' if undetermined != 'on' else 'written below'}:")
            lines = list(islice(found.open_lines(), _MOST_LISTED + 1))
            head += [f"#   {line}" for line in lines[:_MOST_LISTED]]
            head += ["#   and more"] * (len(lines) > _MOST_LISTED)
        body = Algorithm("inferred", program)
        if self.given is not None:
            body = replace(self.given, program=program, matches=None, examples=None)
        return "\n".join([*head, body.text()])

    def _found(self) -> Recovered:
        if self.recovered is None:
            raise InputError(f"there are no rules to give: {self.reason}")
        return self.recovered


def infer(
    executions: Executions | str | PathLike[str], blocks: Blocks = FIND, *, progress: Progress | None = None
) -> Inference:
    """Recovers templates from executions: which writes they confirm, exclude, or leave open.

    `blocks` says which bits are read together: those of an algorithm, of a rule file (.bw), a text such as
    "p[1] q[1]; c[1]", or lists of names; `find` looks for the smallest that explain the executions.

    >>> from bitwright import addition, executions
    >>> states = executions(addition(2), "states", states=300)
    >>> infer(states, "p[i] q[i] for i in 1..2; c[1]; c[2]").program().templates
    8
    """
    held = executions if isinstance(executions, Executions) else _loaded(executions)
    layout = layout_of_names(held.names)
    given, chosen = _blocks(blocks, layout)
    return inferred(held, layout, given, chosen, progress)


def inferred(
    executions: Executions,
    layout: Layout,
    given: Algorithm | None,
    blocks: Sequence[Sequence[int]] | None,
    progress: Progress | None = None,
) -> Inference:
    """The same for blocks of bits by their numbers; None: they are looked for, and `progress` hears of looks."""
    search = find_blocks(executions, progress=progress) if blocks is None else None
    chosen = blocks if search is None else search.blocks
    if chosen is None:
        return Inference(executions, given, search, None, None)
    if (found := find_contradiction(Elimination(Evidence(executions), chosen))) is not None:
        return Inference(executions, given, search, found, None)
    return Inference(executions, given, search, None, Recovered(executions, layout, chosen))


def check_same_bits(wanted: Layout, layout: Layout, name: str) -> None:
    """Raises InputError for a program of other bits than executions have."""
    if wanted != layout:
        shown, has = (" ".join(map(str, one.fields[:8])) for one in (wanted, layout))
        raise InputError(
            f"{name} has other bits than the executions: {shown}, and they have {has}; give the size that they are of"
        )


def blocks_of(algorithm: Algorithm, layout: Layout, name: str) -> list[list[int]]:
    """The blocks of an algorithm, after looking that its bits are those of the executions."""
    program = algorithm.program
    check_same_bits(program.layout, layout, name)
    return [program.block_members(block).tolist() for block in range(program.blocks)]


def _loaded(path: str | PathLike[str]) -> Executions:
    if not isinstance(path, str | PathLike):
        raise InputError(f"give executions, or the .npz file that holds some, got a {type(path).__name__}")
    return load_executions(Path(path))


def _blocks(asked: Blocks, layout: Layout) -> tuple[Algorithm | None, list[list[int]] | None]:
    """The blocks that are meant, with the algorithm that has them; None to look for some."""
    if isinstance(asked, Program):
        asked = Algorithm("program", asked)
    if isinstance(asked, Algorithm):
        return asked, blocks_of(asked, layout, asked.name)
    if isinstance(asked, str | PathLike):
        text = fspath(asked)
        if text == FIND:
            return None, None
        if not text.lower().endswith(".bw"):
            return None, parse_blocks(layout, text)
        from bitwright.program.text.files import read_text

        with problems_of(text):
            algorithm = parse_layout(read_text(Path(text)), Path(text).stem, {})
        return algorithm, blocks_of(algorithm, layout, text)
    if not isinstance(asked, list | tuple) or not all(isinstance(block, list | tuple) for block in asked):
        raise InputError(
            f"blocks are an algorithm, a .bw file, a text, lists of names, or 'find', got a {type(asked).__name__}"
        )
    return None, parse_blocks(layout, "; ".join(" ".join(map(str, block)) for block in asked))
