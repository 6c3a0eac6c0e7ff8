"""What `bitwright infer` says: the writes that are known, and contradictions with their witnesses.

People and JSON count states from 1, as they count lines; the arrays in here count from 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from bitwright.cli.reporting import note, print_json
from bitwright.errors import InputError, counted, listing
from bitwright.files.storage import write_atomically

if TYPE_CHECKING:
    from bitwright.api.inference import Inference
    from bitwright.bits import BoolArray
    from bitwright.checking.inference.contradiction import Contradiction
    from bitwright.checking.inference.find_blocks import FoundBlocks
    from bitwright.checking.inference.recovered import Comparison, Recovered, Undetermined
    from bitwright.files.executions import Executions
    from bitwright.program import Program

_ALSO_NOISE = "the data have a wrong bit, or the blocks are others"


def contradicted(executions: Executions, found: Contradiction, as_json: bool) -> int:
    """A contradiction: the answer no."""
    bit, number = executions.names[found.bit], found.state + 1
    suspect = None if found.suspect is None else found.suspect + 1
    if as_json:
        print_json(
            {
                "inferred": False,
                "reason": "contradiction",
                "bit": bit,
                "state": number,
                "cleared_by": [state + 1 for state in found.cleared_by],
                "shortest": found.shortest,
                "contradicting_states": found.states,
                "suspect": suspect,
                "only_suspect": found.only_suspect,
            }
        )
        return 1
    click.echo(f"CONTRADICTION: {bit} is on after state {number:,}, and no rule can have written it")
    click.echo(f"  state {number:,}: {_on(executions, executions.before[found.state])}")
    for state in found.cleared_by:
        click.echo(f"  state {state + 1:,} leaves it off: {_on(executions, executions.before[state])}")
    several = counted(len(found.cleared_by), "state")
    length = "no shorter witness of this state" if found.shortest else "there may be a shorter witness"
    click.echo(f"  {several} show every block of state {number:,} without writing {bit}; {length}")
    click.echo(f"  {counted(found.states, 'state')} of {len(executions):,} cannot be explained; {_ALSO_NOISE}")
    if suspect is not None:
        only = "the only one" if found.only_suspect else "one"
        click.echo(f"  without state {suspect:,}, {only} of which that is true, {bit} has no contradiction")
    return 1


def no_blocks(inference: Inference, as_json: bool) -> int:
    """No blocks of at most 6 bits, or none that were found in time."""
    from bitwright.checking.inference.find_blocks import MAX_FOUND

    executions, found = inference.executions, inference.search
    assert found is not None
    if as_json:
        place = found.unexplained
        print_json(
            {
                "inferred": False,
                "reason": "search ended" if found.gave_up else "no blocks",
                "most_bits": MAX_FOUND,
                "state": None if place is None else place[0] + 1,
                "bit": None if place is None else executions.names[place[1]],
            }
        )
        return 1
    if found.gave_up:
        click.echo("NOT FOUND: the search ended before it knew; give the blocks with --blocks, or more random states")
        return 1
    click.echo(f"NO BLOCKS of at most {MAX_FOUND} bits explain these {counted(len(executions), 'state')}")
    if found.unexplained is not None:
        state, bit = found.unexplained
        click.echo(
            f"  {executions.names[bit]} is on after state {state + 1:,}, for example: no such block can write it"
        )
    click.echo("  the data have a wrong bit, or more bits are read together")
    return 1


def recovered(
    inference: Inference,
    comparison: Comparison | None,
    undetermined: Undetermined,
    output: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """What the data say, the program of it, and how it compares."""
    found, search = inference.recovered, inference.search
    assert found is not None
    refused = undetermined == "refuse" and not found.determined
    program = None if refused or not found.templates(undetermined == "on") else found.program(undetermined)
    if output is not None and not refused:
        if program is None:
            raise InputError("these states confirm no write at all, so there is no program to write; give more states")
        write_atomically(output, inference.text(undetermined).encode())
    right = None if program is None else found.reproduced(program)
    agrees = comparison is None or comparison.agrees
    if as_json:
        print_json(_document(found, search, comparison, program, right, undetermined, output, refused))
    else:
        for line in _lines(found, search, comparison, program, right, undetermined, refused):
            click.echo(line)
        if output is not None and not refused:
            note(f"wrote {output}", quiet)
    return 0 if agrees and not refused else 1


def _lines(
    found: Recovered,
    search: FoundBlocks | None,
    comparison: Comparison | None,
    program: Program | None,
    right: int | None,
    undetermined: Undetermined,
    refused: bool,
) -> Iterator[str]:
    templates = 0 if program is None else program.templates
    states, estimate = len(found.executions), found.estimate
    if refused:
        yield f"NOT DETERMINED by {counted(states, 'state')}: no program is written with --undetermined refuse"
    else:
        yield (
            f"INFERRED: {counted(templates, 'template')} from {counted(states, 'state')} of "
            f"{counted(found.layout.size, 'bit')} in {counted(len(found.blocks), 'block')}"
        )
    if search is not None:
        names = [" ".join(map(found.layout.name_of, block)) for block in found.blocks if len(block) > 1]
        yield f"  blocks      {listing(names, 8) + '; the others are single bits' if names else 'every bit by itself'}"
        others = [" ".join(map(found.layout.name_of, bits)) for bits in search.others]
        if others:
            yield f"  not unique  these could be read together instead of some of them: {listing(others, 4)}"
        else:
            yield "  minimal     no block can be split, and no other choice came up"
    yield f"  seen        {found.seen:,} of {found.configurations:,} configurations of blocks"
    yield (
        f"  writes      {found.confirmed:,} confirmed, {found.cleared:,} cleared, {found.undetermined:,} not determined"
        + (f" ({'left out' if undetermined == 'off' else 'written'})" * bool(found.undetermined and not refused))
    )
    if right is not None:
        yield f"  reproduces  {right:,} of {counted(states, 'state')}"
    if not found.determined and not (search and search.others):
        yield f"  to come     {_to_come(estimate.states, estimate.never)}"
    if comparison is not None:
        yield (
            f"  against     {comparison.agree:,} of {counted(comparison.templates, 'template')} confirmed, "
            f"{comparison.undecided:,} not determined, {len(comparison.wrong):,} different"
        )
        for rule in comparison.wrong[:5]:
            yield f"  different   {rule}"


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


def _document(
    found: Recovered,
    search: FoundBlocks | None,
    comparison: Comparison | None,
    program: Program | None,
    right: int | None,
    undetermined: Undetermined,
    output: Path | None,
    refused: bool,
) -> dict[str, Any]:
    name_of = found.layout.name_of
    return {
        "inferred": not refused,
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
        "undetermined_are": undetermined,
        "templates": None if program is None else program.templates,
        "program_id": None if program is None else program.id,
        "reproduced": right,
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
        "file": None if output is None or refused else str(output),
    }


def _on(executions: Executions, state: BoolArray) -> str:
    """The bits that are on in a state."""
    names = [executions.names[bit] for bit in np.flatnonzero(state).tolist()]
    return listing(names, 12) if names else "all bits off"
