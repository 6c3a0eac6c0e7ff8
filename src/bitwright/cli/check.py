"""`bitwright check`: the problems of a program file, with line and column, and warnings."""

from __future__ import annotations

import click

from bitwright.cli import options as opt
from bitwright.cli.progress import is_quiet, note
from bitwright.cli.reporting import print_lines, print_result
from bitwright.common.errors import counted
from bitwright.verbs.numbers import parse_values

_MOST = 20  # warnings printed without --json


@opt.verb("check")
@click.argument("file")
def command(file: str, let: tuple[str, ...], as_json: bool) -> int:
    """List every problem in a .bw, .sbn, .sq or .dec file, or explain a .task file.

    The exit code is 1 if there is a problem.

    Warnings, for example about a rule that never matches or an output that nothing writes, do not count as problems.
    """
    from bitwright.verbs.check import check

    found = check(file, parse_values(let, "--let"))
    if as_json:
        return print_result(found, as_json)
    if not found.ok:
        print_lines(f"{file}:{problem}" if problem.line else f"{file}: {problem}" for problem in found.problems)
        click.echo(f"bitwright: {found.sentence}", err=True)
    elif not is_quiet():
        click.echo(str(found))
    for warning in found.warnings[:_MOST]:
        where = f"{file}:{warning.line}:{warning.column}" if warning.line else file
        note(f"{where}: warning: {warning.message}")
    if len(found.warnings) > _MOST:
        note(f"and {counted(len(found.warnings) - _MOST, 'more warning')}; --json lists all")
    return 0 if found else 1
