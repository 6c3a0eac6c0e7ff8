"""`bitwright run IMAGE`: a SUBLEQ image on machine V, at the terminal or in a pipe.

On stdout what the image writes, then the words asked for or JSON; on stderr what it did.
"""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.api.open import MachineChoice, open_subleq
from bitwright.cli.progress import TerminalTeller as Person
from bitwright.cli.reporting import note, print_json
from bitwright.cli.streams import print_lines
from bitwright.errors import InputError, counted

if TYPE_CHECKING:
    from bitwright.api.images import ComputerRun
    from bitwright.cli.terminal import Terminal

_REASONS = {
    "limit": "stopped at --max-instructions",
    "time": "stopped at --max-seconds",
    "stopped": "stopped",
    "stuck": "nothing moves any more, and it has not halted; the engine has lost its way",
}


def run_image(
    target: str,
    choice: MachineChoice | None,
    *,
    max_instructions: int | None,
    max_seconds: float | None,
    max_steps: int | None,
    files: tuple[Path, ...],
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Loads, runs and reports; exit 0 for a halt, 1 for any other end, 130 after Ctrl-C, 143 after SIGTERM."""
    from bitwright.api.images import run_image as run
    from bitwright.cli.terminal import Terminal

    if max_steps is not None:
        raise InputError("an image is stopped by --max-instructions or --max-seconds; leave out --max-steps")
    if options["signed"] and not options["memory"] and not as_json:
        raise InputError("--signed goes with --memory or --json")
    terminal = Terminal(as_json, max_instructions or 0, quiet)
    done = run(
        open_subleq(target, choice or MachineChoice()),
        terminal,
        network=list(files) or None,
        instructions=max_instructions,
        seconds=max_seconds,
        progress=Person(quiet),
        **options,
    )
    return _report(done, terminal, as_json, quiet)


def _report(done: ComputerRun, terminal: Terminal, as_json: bool, quiet: bool) -> int:
    """Says what came of it, and gives the exit code."""
    reason, tally = done.ending.reason, done.ending.tally
    if as_json:
        print_json(done.to_dict())
    elif done.words:
        if terminal.mid_line:
            click.echo()
        print_lines(line for words, values in done.words for line in words.lines(values, quiet))
    if terminal.signal is None and terminal.stopped:  # nobody reads us any more, so there is nothing to say
        return 0
    if not as_json and not quiet:
        for line in done.sentences:
            note(line)
        if not done.words and not done.machine.shape.dialect.io:
            note("this dialect has no output; --memory FROM:TO shows what is in memory")
    if reason in _REASONS:
        where = "" if done.pc is None else f", at address {done.pc}"
        after = counted(tally.instructions, "instruction")
        click.echo(f"bitwright: {_REASONS[reason]} after {after}{where}", err=True)
    if tally.wrong:
        advice = "use a wider network" if done.engine.digests else "use more --networks"
        wrong = f"{counted(tally.wrong, 'step')} of {tally.steps:,} differ" + "s" * (tally.wrong == 1)
        click.echo(f"bitwright: {wrong} from what the rules give; {advice}", err=True)
    if reason == "stopped":
        return 128 + (terminal.signal or signal.SIGINT)
    return 0 if done.halted and not tally.wrong else 1
