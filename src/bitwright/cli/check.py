"""`bitwright check`: every problem of a rule file, with line and column."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bitwright.cli.options import json_option, quiet_option
from bitwright.cli.reporting import note, print_json

if TYPE_CHECKING:
    from bitwright.errors import Problem


@click.command("check")
@click.argument("file")
@json_option
@quiet_option
def command(file: str, as_json: bool, quiet: bool) -> int:
    """List every problem of a .bw, .sbn, .sq or .dec file. Exit 1 if there is one."""
    from bitwright.errors import ProgramError
    from bitwright.machines import load_sbn
    from bitwright.program import load

    problems: tuple[Problem, ...] = ()
    summary, notes = "", list[str]()
    try:
        if Path(file).suffix.lower() == ".sbn":
            summary = str(load_sbn(file).sizes)
        elif Path(file).suffix.lower() == ".sq":
            from bitwright.machines.subleq import load_sq

            assembly = load_sq(file)
            summary, notes = f"{len(assembly.image):,} words", assembly.doubts()
        elif Path(file).suffix.lower() == ".dec":
            from bitwright.machines.subleq import load_image

            summary = f"an image of {len(load_image(file)):,} words"
        else:
            summary = repr(load(file)).partition(": ")[2]
    except ProgramError as error:
        problems = error.problems
    if as_json:
        found = [{"line": p.line, "column": p.column, "message": p.message} for p in problems]
        print_json({"file": file, "ok": not problems, "problems": found, "notes": notes})
    elif problems:
        for problem in problems:
            click.echo(f"{file}:{problem}")
        click.echo(f"bitwright: {len(problems)} problem{'s' * (len(problems) != 1)} in {file}", err=True)
    elif not quiet:
        click.echo(f"{file}: no problems ({summary})")
    for line in notes:
        note(f"note: {line}", quiet)
    return 1 if problems else 0
