"""`bitwright infer --grid`: the rule of a cellular automaton from boards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bitwright.cli.progress import working
from bitwright.cli.reporting import note, print_json
from bitwright.errors import counted
from bitwright.files.storage import write_atomically

if TYPE_CHECKING:
    from bitwright.checking.inference.local_rule import Disagreement, LocalRule
    from bitwright.files.executions import Executions


def infer_boards(
    executions: Executions,
    height: int,
    width: int,
    neighbourhood: str,
    output: Path | None,
    cell: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Says what boards show of their rule, and writes it; a contradiction is the answer no."""
    from bitwright.checking.inference.local_rule import infer_local_rule

    with working("counting configurations"):
        rule = infer_local_rule(executions, height, width, neighbourhood)
    agrees = rule.disagreement is None
    if agrees:
        for path, text in ((output, rule.text), (cell, rule.pattern_text)):
            if path is not None:
                write_atomically(path, text().encode())
    if as_json:
        print_json(_document(rule, output if agrees else None, cell if agrees else None))
        return 0 if agrees else 1
    if rule.disagreement is not None:
        _tell(rule, rule.disagreement)
        return 1
    click.echo(
        f"INFERRED: a rule of {counted(len(rule.writes), 'configuration')} that turn a cell on, "
        f"from {counted(rule.examples, 'cell')} of {counted(len(executions), 'board')}"
    )
    click.echo(f"  seen        {rule.seen:,} of {len(rule.on):,} configurations of the neighbourhood {neighbourhood}")
    if rule.unseen:
        click.echo(f"  not seen    {len(rule.unseen):,}, taken to turn a cell off")
        click.echo(
            f"  to come     about {rule.further_cells():,} cells more of boards of which every cell is a fair coin"
        )
    for path in (output, cell):
        if path is not None:
            note(f"wrote {path}", quiet)
    return 0


def _tell(rule: LocalRule, found: Disagreement) -> None:
    value, others = (1, found.times_off) if found.times_on <= found.times_off else (0, found.times_on)
    rare, usual = (found.on, found.off) if value else (found.off, found.on)
    click.echo("CONTRADICTION: two cells have the same neighbourhood and different next values")
    click.echo(f"  neighbourhood {found.config:0{len(rule.offsets)}b}, the last cell first")
    click.echo(f"  followed by {value} at {_place(rare)}, {counted(found.times_on + found.times_off - others, 'time')}")
    click.echo(f"  followed by {1 - value} at {_place(usual)}, {counted(others, 'time')}")
    click.echo("  the data have a wrong bit, or the neighbourhood is larger")


def _place(place: tuple[int, int, int]) -> str:
    state, row, column = (at + 1 for at in place)
    return f"row {row:,}, column {column:,} after state {state:,}"


def _document(rule: LocalRule, output: Path | None, cell: Path | None) -> dict[str, object]:
    found = rule.disagreement
    return {
        "inferred": found is None,
        "reason": None if found is None else "contradiction",
        "grid": [rule.height, rule.width],
        "neighbourhood": rule.neighbourhood,
        "cells": rule.examples,
        "configurations": len(rule.on),
        "seen": rule.seen,
        "on": rule.writes,
        "not_seen": rule.unseen,
        "further_cells": rule.further_cells(),
        "contradiction": None
        if found is None
        else {
            "configuration": found.config,
            "on_at": [at + 1 for at in found.on],
            "off_at": [at + 1 for at in found.off],
            "times_on": found.times_on,
            "times_off": found.times_off,
        },
        "file": None if output is None else str(output),
        "cell_file": None if cell is None else str(cell),
    }
