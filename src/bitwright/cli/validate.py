"""`bitwright validate`: runs every input of a program, and compares the outputs with an oracle."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from bitwright.cli import options as opt
from bitwright.cli.progress import TerminalTeller, is_quiet, note
from bitwright.cli.reporting import print_json
from bitwright.cli.targets import Target, open_network, option_words
from bitwright.common.errors import InputError
from bitwright.verbs.open import NAMES, is_image

if TYPE_CHECKING:
    from bitwright.verbs.validate import Failure, Validation

_ARRAYS = "arrays:"  # prefix of an oracle that takes arrays


@opt.verb("validate", "FILE|NAME")
def command(target: Target, oracle: str | None, max_steps: int | None, as_json: bool, **asked: Any) -> int:
    """Run every input of a program through an engine, step by step, and compare every output with an oracle.

    EXACT: every run ended with the oracle's outputs, and every step followed the rules. NOT EXACT: something was
    wrong. NOT DECIDED: nothing was wrong, but some runs reached the step limit. Exit 0 for EXACT, otherwise 1.

    The oracle is Python's integers for addition, multiplication and permutation, and the plain interpreter for .sbn
    programs. For rule files it is the function given by --oracle, the ensure lines if they determine every output, or
    otherwise the rules. Every ensure line must also hold after every run, whatever the oracle.
    """
    from bitwright.verbs.validate import validate

    given = {name: value for name, value in asked.items() if value is not None}
    network = open_network(given)
    if is_image(target.name):
        raise InputError("an image has no inputs to validate; run it and compare its output")
    what = target.algorithm(networks=network)
    arrays = oracle is not None and oracle.startswith(_ARRAYS) and oracle.count(":") > 1
    function = oracle.removeprefix(_ARRAYS) if oracle is not None and arrays else oracle
    done = validate(
        what,
        function,
        arrays=arrays,
        network=network or None,
        steps=max_steps,
        progress=TerminalTeller(),
        **given,
    )
    _print(done, target, asked | {"max_steps": max_steps}, as_json)
    return 0 if done else 1


def _print(done: Validation, target: Target, options: Mapping[str, Any], as_json: bool) -> None:
    from bitwright.verbs.validate import broken_bound, notes

    if as_json:
        found = done.to_dict()
        for one, failure in zip(found["failures"], done.tally.failures, strict=True):
            one["command"] = _rerun(failure, target, done, options)
        print_json(found)
    else:
        click.echo(done.verdict if is_quiet() else done.report(lambda failure: _rerun(failure, target, done, options)))
        for line in notes(done):
            note(line)
    if done.bound_broken and is_quiet():
        click.echo(f"bitwright: {done.task.algorithm.name}: {'; '.join(broken_bound(done))}", err=True)


def _rerun(failure: Failure, target: Target, done: Validation, options: Mapping[str, Any]) -> str:
    """The command that reproduces a failure, with every option whose default differs in `run`."""
    from bitwright.verbs.validate import order_text

    task, order = done.task, target.order
    if target.name == "permutation" and options["files"] and order is None:
        order = order_text(task.algorithm)  # from the network file
    name = f"./{target.name}" if target.name.startswith("-") else target.name
    words = ["bitwright", "run", name, *(f"{name}={value}" for name, value in failure.inputs.items())]
    if target.name in NAMES and order is None:
        words += ["--bits", str(len(task.algorithm.inputs[0].bits))]
    how = {"order": order, "machine": target.machine, "engine": task.engine.name, "rounding": task.engine.rounding}
    words += [*target.let_words(), *option_words(how)]
    words += [word for path in options["files"] for word in ("--network", str(path))]
    names = ("evaluate", "padding", "width", "tile", "max_steps")
    given = {name: options[name] for name in names}
    given |= {"networks": None if options["networks"] == 1 else options["networks"], "seed": options["seed"] or None}
    return shlex.join([*words, *option_words(given)])
