"""`bitwright check`: every problem of a program file, with line and column, and what it can hardly mean."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bitwright.cli.options import json_option, let_option, quiet_option
from bitwright.cli.reporting import note, print_json
from bitwright.cli.streams import print_lines
from bitwright.cli.targets import given_lets

if TYPE_CHECKING:
    from bitwright.errors import Problem

_MOST = 20  # warnings that a person is shown


@click.command("check")
@click.argument("file")
@let_option
@json_option
@quiet_option
def command(file: str, as_json: bool, quiet: bool) -> int:
    """List every problem of a .bw, .sbn, .sq or .dec file. Exit 1 if there is one.

    Warnings are about rules that never match, outputs that nothing writes and the like; they are no problems.
    """
    from bitwright.api.checked import check
    from bitwright.errors import counted

    found = check(file, given_lets())
    problems = found.problems
    if as_json:
        print_json(
            {
                "file": file,
                "name": Path(file).stem,
                "program_id": found.program_id,
                "ok": not problems,
                "problems": _located(problems),
                "warnings": _located(found.warnings),
            }
        )
        return 1 if problems else 0
    if problems:
        print_lines(f"{file}:{problem}" for problem in problems)
        click.echo(f"bitwright: {counted(len(problems), 'problem')} in {file}", err=True)
    elif not quiet:
        doubtful = f", {counted(len(found.warnings), 'warning')}" if found.warnings else ""
        click.echo(f"{file}: no problems{doubtful} ({found.summary})")
    for warning in found.warnings[:_MOST]:
        where = f"{file}:{warning.line}:{warning.column}" if warning.line else file
        note(f"{where}: warning: {warning.message}", quiet)
    if len(found.warnings) > _MOST:
        note(f"and {counted(len(found.warnings) - _MOST, 'more warning')}; --json lists all", quiet)
    return 1 if problems else 0


def _located(problems: Iterable[Problem]) -> list[dict[str, object]]:
    return [{"line": p.line, "column": p.column, "message": p.message} for p in problems]
