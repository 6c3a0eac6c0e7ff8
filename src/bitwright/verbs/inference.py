"""The result of an inference: which writes executions confirm, exclude or leave open, and their program.

People and JSON count states from 1, as they count lines; the arrays in here count from 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from os import PathLike
from typing import Any

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.errors import InputError, Report, counted, listing, option
from bitwright.common.files.executions import Executions
from bitwright.common.files.storage import as_path, write_atomically
from bitwright.inference.contradiction import Contradiction
from bitwright.inference.find_blocks import MAX_FOUND, FoundBlocks
from bitwright.inference.recovered import Recovered
from bitwright.rules import Algorithm, Program

_MOST_LISTED = 1_000  # writes that are not determined, in the comments of a file


class InferredRules(Report):
    """Rules, with a report on how certain they are; false without any."""

    @property
    def inferred(self) -> bool:
        """Whether there are rules."""
        raise NotImplementedError

    def __bool__(self) -> bool:
        return self.inferred

    def text(self) -> str:
        """The text of the rule file; raises InputError if there are none."""
        raise NotImplementedError

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the rules to a .bw file; raises InputError if there are none."""
        write_atomically(as_path(path, "a rule file"), self.text().encode())


@dataclass(frozen=True, eq=False, repr=False)
class Inference(InferredRules):
    """The rules that executions determine, as far as they do.

    >>> from bitwright import addition, executions, infer
    >>> found = infer(executions(addition(2), "states", states=300), blocks=addition(2))
    >>> found.inferred, found.program() == addition(2).program
    (True, True)
    >>> print(found.sentence)
    INFERRED: 8 templates from 300 states of 6 bits in 4 blocks
    """

    executions: Executions
    given: Algorithm | None  # whose blocks were meant
    search: FoundBlocks | None  # None where the blocks were given
    contradiction: Contradiction | None = None
    recovered: Recovered | None = None  # the writes that are confirmed, excluded and open; None where nothing fits

    @property
    def inferred(self) -> bool:
        """Whether some rules with these blocks explain all executions."""
        return self.recovered is not None

    @property
    def determined(self) -> bool:
        """Whether they are the only such rules."""
        return self.recovered is not None and self.recovered.determined

    def report(self) -> Iterator[str]:
        if self.contradiction is not None:
            return self._contradicted(self.contradiction)
        return self._no_blocks() if self.recovered is None else self._recovered(self.recovered)

    def program(self) -> Program:
        """The program of the confirmed writes; those left open are left out.

        >>> from bitwright import addition, executions, infer
        >>> infer(executions(addition(2), "states", states=300)).program()
        <Program: 6 bits, 4 blocks, 8 templates>
        """
        return self._found().program()

    def text(self) -> str:
        """A rule file: how sure it is, the writes that are not determined, and the rules.

        >>> from bitwright import addition, executions, infer
        >>> print(infer(executions(addition(2), "states", states=300), addition(2)).text().splitlines()[0])
        # inferred from 300 states: 8 writes confirmed, 0 not determined
        """
        found, program = self._found(), self.program()
        writes, states = counted(found.confirmed, "write"), counted(len(self.executions), "state")
        head = [f"# inferred from {states}: {writes} confirmed, {found.undetermined:,} not determined"]
        if found.seen < found.configurations:
            head.append(f"# {found.configurations - found.seen:,} configurations of blocks were not seen")
        if found.undetermined:
            lines = list(islice(found.open_lines(), _MOST_LISTED + 1))
            head += ["# not determined, and left out:", *(f"#   {line}" for line in lines[:_MOST_LISTED])]
            head += ["#   and more"] * (len(lines) > _MOST_LISTED)
        body = Algorithm("inferred", program)
        if self.given is not None:
            body = replace(self.given, program=program, matches=None, examples=None)
        return "\n".join([*head, body.text()])

    def to_dict(self) -> dict[str, Any]:
        """All facts that `bitwright infer --json` prints, except the name of the file."""
        names = self.executions.names
        if (found := self.contradiction) is not None:
            return {
                "inferred": False,
                "reason": "contradiction",
                "blocks": [[names[bit] for bit in block] for block in found.blocks],
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
            raise InputError(f"there are no rules to give: {self.sentence}")
        return self.recovered

    def _on(self, state: BoolArray) -> str:
        """The bits that are on in a state."""
        names = [self.executions.names[bit] for bit in np.flatnonzero(state).tolist()]
        return listing(names, 12) if names else "all bits off"

    def _contradicted(self, found: Contradiction) -> Iterator[str]:
        executions = self.executions
        bit, number = executions.names[found.bit], found.state + 1
        yield f"CONTRADICTION: {bit} is on after state {number:,}, and no rule with these blocks can have written it"
        yield f"  blocks      {_shown_blocks(executions.names, found.blocks)}"
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
        search, names, states = self.search, self.executions.names, len(found.executions)
        program = found.program() if found.confirmed else None
        size = f"{counted(len(names), 'bit')} in {counted(len(found.blocks), 'block')}"
        templates = counted(0 if program is None else program.templates, "template")
        yield f"INFERRED: {templates} from {counted(states, 'state')} of {size}"
        if search is not None:
            yield f"  blocks      {_shown_blocks(names, found.blocks)}"
            others = [" ".join(names[bit] for bit in bits) for bits in search.others]
            if others:
                yield f"  not unique  these could be read together instead of some of them: {listing(others, 4)}"
            else:
                yield "  minimal     no block can be split, and no other choice came up"
        yield f"  seen        {found.seen:,} of {found.configurations:,} configurations of blocks"
        writes = f"{found.confirmed:,} confirmed, {found.cleared:,} cleared, {found.undetermined:,} not determined"
        yield f"  writes      {writes}{' (left out)' if found.undetermined else ''}"
        if program is not None:
            yield f"  reproduces  {found.reproduced(program):,} of {counted(states, 'state')}"

    def _document(self, found: Recovered) -> dict[str, Any]:
        names, search = self.executions.names, self.search
        program = found.program() if found.confirmed else None
        return {
            "inferred": self.inferred,
            "determined": found.determined,
            "states": len(found.executions),
            "bits": len(names),
            "blocks": [[names[bit] for bit in block] for block in found.blocks],
            "blocks_found": search is not None,
            "unique": None if search is None else search.unique,
            "others": None if search is None else [[names[bit] for bit in bits] for bits in search.others],
            "configurations": found.configurations,
            "seen": found.seen,
            "confirmed": found.confirmed,
            "cleared": found.cleared,
            "undetermined": found.undetermined,
            "templates": None if program is None else program.templates,
            "program_id": None if program is None else program.id,
            "reproduced": None if program is None else found.reproduced(program),
        }


def _shown_blocks(names: Sequence[str], blocks: Sequence[Sequence[int]]) -> str:
    """The blocks of two bits and more."""
    shown = [" ".join(names[bit] for bit in block) for block in blocks if len(block) > 1]
    if not shown:
        return "every bit by itself"
    return listing(shown, 8) + "; the others are single bits" * (len(shown) < len(blocks))
