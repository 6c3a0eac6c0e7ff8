"""`bitwright check`: every problem of a rule file, with line and column."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bitwright.cli.options import json_option, quiet_option
from bitwright.cli.reporting import print_json

if TYPE_CHECKING:
    from bitwright.errors import Problem


@click.command("check")
@click.argument("file")
@json_option
@quiet_option
def command(file: str, as_json: bool, quiet: bool) -> int:
    """List every problem of a .bw, .sbn or .sq file. Exit 1 if there is one."""
    from bitwright.errors import ProgramError
    from bitwright.machines import load_sbn
    from bitwright.program import load

    problems: tuple[Problem, ...] = ()
    summary = ""
    try:
        if Path(file).suffix.lower() == ".sbn":
            summary = str(load_sbn(file).sizes)
        elif Path(file).suffix.lower() == ".sq":
            from bitwright.machines.subleq import load_sq

            summary = f"{len(load_sq(file).image):,} words"
        else:
            summary = repr(load(file)).partition(": ")[2]
    except ProgramError as error:
        problems = error.problems
    if as_json:
        found = [{"line": p.line, "column": p.column, "message": p.message} for p in problems]
        print_json({"file": file, "ok": not problems, "problems": found})
    elif problems:
        for problem in problems:
            click.echo(f"{file}:{problem}")
        click.echo(f"bitwright: {len(problems)} problem{'s' * (len(problems) != 1)} in {file}", err=True)
    elif not quiet:
        click.echo(f"{file}: no problems ({summary})")
    return 1 if problems else 0
