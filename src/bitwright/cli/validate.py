"""`bitwright validate`: runs every input of a program, and compares the outputs with an oracle."""

from __future__ import annotations

from typing import Any

import click

from bitwright.cli import options as opt
from bitwright.cli.progress import TerminalTeller, is_quiet, note
from bitwright.cli.reporting import print_json
from bitwright.cli.targets import Target, open_network
from bitwright.common.errors import InputError
from bitwright.verbs.open import is_image


@opt.verb("validate", "FILE|NAME")
def command(target: Target, oracle: str | None, max_steps: int | None, as_json: bool, **asked: Any) -> int:
    """Run every input of a program through an engine, and compare every step with the rules and every output with an
    oracle.

    The verdict is EXACT if every run ended with the oracle's outputs and every step followed the rules, NOT EXACT if
    any output or step was wrong, and NOT DECIDED if none was wrong but some runs could not be judged, for example
    because they reached the step limit. The exit code is 0 for EXACT, otherwise 1.

    The oracle is the first of these that exists: the function given by --oracle, the plain interpreter for .sbn
    programs, the ensure lines if they mention every output, or else the rules. In addition, every ensure line must
    hold after every run.
    """
    from bitwright.verbs.validate import validate

    given = {name: value for name, value in asked.items() if value is not None}
    network = open_network(given)
    if is_image(target.name):
        raise InputError("an image has no inputs to validate; use run, and compare its output")
    what = target.algorithm(network=network)
    done = validate(what, oracle, network=network, steps=max_steps, progress=TerminalTeller(), **given)
    if as_json:
        print_json(done.to_dict())
    else:
        click.echo(done.verdict if is_quiet() else done)
        rate = f", {done.tally.evaluations / max(done.seconds, 1e-9):,.0f} evaluations a second"
        note(f"{done.seconds:.2f} s{rate if 'resume' not in given else ''}")
    if done.bound_broken and is_quiet():
        click.echo(f"bitwright: {done.task.algorithm.name}: {done.broken_bound}", err=True)
    return 0 if done else 1
