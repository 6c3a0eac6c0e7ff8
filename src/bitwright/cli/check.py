"""`bitwright check`: every problem of a program file, with line and column, and what it can hardly mean."""

from __future__ import annotations

import click

from bitwright.cli.options import json_option, let_option, quiet_option, verb
from bitwright.cli.progress import TerminalTeller
from bitwright.cli.reporting import print_json
from bitwright.cli.streams import print_lines
from bitwright.cli.targets import given_lets

_MOST = 20  # warnings that a person is shown


@verb("check")
@click.argument("file")
@let_option
@json_option
@quiet_option
def command(file: str, as_json: bool, quiet: bool) -> int:
    """List every problem of a .bw, .sbn, .sq or .dec file. Exit 1 if there is one.

    Warnings are about rules that never match, outputs that nothing writes and the like; they are no problems.
    """
    from bitwright.api.check import check
    from bitwright.errors import counted

    found, tell = check(file, given_lets()), TerminalTeller(quiet)
    if as_json:
        print_json(found.to_dict())
        return 0 if found.ok else 1
    if not found.ok:
        print_lines(f"{file}:{problem}" for problem in found.problems)
        click.echo(f"bitwright: {found.sentence}", err=True)
    elif not quiet:
        click.echo(found.sentence)
    for warning in found.warnings[:_MOST]:
        where = f"{file}:{warning.line}:{warning.column}" if warning.line else file
        tell.note(f"{where}: warning: {warning.message}")
    if len(found.warnings) > _MOST:
        tell.note(f"and {counted(len(found.warnings) - _MOST, 'more warning')}; --json lists all")
    return 0 if found.ok else 1
