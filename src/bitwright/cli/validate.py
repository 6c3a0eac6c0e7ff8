"""`bitwright validate`: every input of a program through an engine, against an oracle."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.api.open import NAMES, is_image, open_sbn
from bitwright.api.trained import files_of
from bitwright.cli.options import (
    ENGINE_HELP,
    bits_option,
    cell_options,
    json_option,
    machine_option,
    order_option,
    quiet_option,
    rounding_options,
    workers_option,
)
from bitwright.cli.progress import TerminalTeller
from bitwright.cli.reporting import print_json
from bitwright.cli.targets import find_algorithm, is_sbn, let_words
from bitwright.errors import InputError

if TYPE_CHECKING:
    from bitwright.api.open import MachineChoice, SbnProgram
    from bitwright.checking.validation import Failure, Validation
    from bitwright.program import Algorithm

ENGINES = ("templates", "limit", "kernel", "sampled", "network")


@click.command("validate")
@click.argument("target", metavar="FILE|NAME")
@bits_option
@order_option
@machine_option
@click.option("--engine", type=click.Choice(ENGINES), default="limit", show_default=True, help=ENGINE_HELP)
@rounding_options
@click.option("--width", type=int, help="For network without a file: the width to train on the spot.")
@click.option("--whole", is_flag=True, help="For network without a file: train on the whole state, not on cells.")
@cell_options
@click.option("--networks", type=click.IntRange(1, 10**9), default=1, help="For sampled, network: how many to average.")
@click.option("--seed", type=click.IntRange(0, 2**63), help="For sampled, network: which networks.  [default: 0]")
@click.option("--device", help="For network: cpu or cuda.  [default: cpu; cuda for long work, if it is there]")
@click.option("--oracle", "function", metavar="MODULE:FUNCTION", help="A Python function that gives the right outputs.")
@click.option("--oracle-arrays", metavar="MODULE:FUNCTION", help="The same for NumPy arrays of inputs; much faster.")
@click.option("--random", type=int, metavar="N", help="Run N random inputs instead of all.")
@click.option("--sample-seed", type=click.IntRange(0, 2**63), help="Which random inputs.  [default: 0]")
@click.option("--max-steps", type=int, help="Cut a run off after this many steps; it is then neither right nor wrong.")
@workers_option
@click.option("--resume", type=click.Path(path_type=Path), help="Keep what is done in this file, and go on from it.")
@click.option("--plain", is_flag=True, help="Walk through the engine itself, not through its bit-sliced form.")
@json_option
@quiet_option
def command(
    target: str,
    bits: int | None,
    order: str | None,
    machine: MachineChoice | None,
    function: str | None,
    oracle_arrays: str | None,
    max_steps: int | None,
    as_json: bool,
    quiet: bool,
    **asked: Any,
) -> int:
    """Run every input of a program through an engine, step by step, and compare every output with an oracle.

    EXACT: every run ended with the oracle's outputs, and every step was what the rules give. NOT EXACT: something was
    wrong. NOT DECIDED: nothing was wrong, but some runs were cut off by the step limit. Exit 0 for EXACT, else 1.

    The oracle is Python's integers for addition, multiplication and permutation, the plain interpreter for .sbn
    programs, and for rule files the rules themselves unless a function is given.
    """
    from bitwright.api.validate import validate

    if function is not None and oracle_arrays is not None:
        raise InputError("there is one oracle: give --oracle or --oracle-arrays")
    given = {name: value for name, value in asked.items() if value is not None}
    files = given.pop("files", ())
    done = validate(
        _subject(target, bits, order, machine, asked),
        function or oracle_arrays,
        arrays=oracle_arrays is not None,
        network=list(files) or None,
        steps=max_steps,
        progress=TerminalTeller(quiet),
        **given,
    )
    again = {**asked, "order": order, "machine": machine, "max_steps": max_steps}
    _print(done, target, again, as_json, quiet)
    return 0 if done.exact else 1


def _subject(
    target: str, bits: int | None, order: str | None, machine: MachineChoice | None, asked: Mapping[str, Any]
) -> Algorithm | SbnProgram | str:
    from bitwright.api.engines import SETTINGS, choice_of

    if is_image(target):
        return target
    if asked["files"]:  # before they are read, to see how large the program is
        choice_of({name: asked.get(name) for name in ("engine", "files", *SETTINGS)}).checked()
    if is_sbn(target, bits, order):
        return open_sbn(target, machine)
    return find_algorithm(target, bits, order, machine=machine, files=files_of(asked))


def _print(done: Validation, target: str, options: Mapping[str, Any], as_json: bool, quiet: bool) -> None:
    from bitwright.checking.validation.report import broken_bound

    if as_json:
        found = done.to_dict()
        for one, failure in zip(found["failures"], done.tally.failures, strict=True):
            one["command"] = _rerun(failure, target, done, options)
        print_json(found)
    else:
        click.echo(done.verdict if quiet else done.report(lambda failure: _rerun(failure, target, done, options)))
        tell = TerminalTeller(quiet)
        if done.task.engine.cell_facts is not None:
            from bitwright.running.sentences import cells_sentence

            tell.note(cells_sentence(done.task.engine.cell_facts, done.tally.evaluations))
        if done.doubt is not None:
            tell.note(done.doubt)
        tell.note(f"{done.seconds:.2f} s, {done.tally.evaluations / done.seconds:,.0f} evaluations a second")
    if done.bound_broken and quiet:
        click.echo(f"bitwright: {done.task.algorithm.name}: {'; '.join(broken_bound(done))}", err=True)


def _rerun(failure: Failure, target: str, done: Validation, options: Mapping[str, Any]) -> str:
    """The command that shows one failure; what `run` would choose otherwise than `validate` is written out."""
    from bitwright.algorithms.known import order_of

    task, order = done.task, options["order"]
    if target == "permutation" and options["files"] and order is None:
        order = ",".join(map(str, order_of(task.algorithm)))  # as the network file says
    name = f"./{target}" if target.startswith("-") else target
    words = ["bitwright", "run", name, *(f"{name}={value}" for name, value in failure.inputs.items())]
    if target in NAMES and order is None:
        words += ["--bits", str(len(task.algorithm.inputs[0].bits))]
    words += let_words()
    if order is not None:
        words += ["--order", order]
    if options["machine"] is not None:
        words += ["--machine", str(options["machine"])]
    words += ["--engine", task.engine.name]
    if task.engine.rounding is not None:
        words += ["--rounding", task.engine.rounding]
    for path in options["files"]:
        words += ["--network", str(path)]
    words += [f"--{option}" for option in ("whole", "cells", "evaluate") if options[option]]
    for option in ("padding", "width", "tile", "max_steps"):
        if options[option] is not None:
            words += [f"--{option.replace('_', '-')}", str(options[option])]
    for option, usual in (("networks", 1), ("seed", 0)):
        if options[option] not in (None, usual):
            words += [f"--{option}", str(options[option])]
    return shlex.join(words)
