"""`bitwright validate`: every input of a program through an engine, against an oracle."""

from __future__ import annotations

from dataclasses import replace
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
from bitwright.cli.progress import StepProgress, working
from bitwright.cli.reporting import PREPARING, engine_choice, note, print_json
from bitwright.cli.targets import find_algorithm, parse_order
from bitwright.cli.training import cached_shown
from bitwright.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bitwright.api.open import MachineChoice
    from bitwright.checking.validation import Oracle, Validation
    from bitwright.program import Algorithm
    from bitwright.workers import Workers

_MANY = 1 << 20  # evaluations from which on a GPU is looked for
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
    random: int | None,
    sample_seed: int | None,
    max_steps: int | None,
    workers: str,
    resume: Path | None,
    plain: bool,
    as_json: bool,
    quiet: bool,
    **chosen: Any,
) -> int:
    """Run every input of a program through an engine, step by step, and compare every output with an oracle.

    EXACT: every run ended with the oracle's outputs, and every step was what the rules give. NOT EXACT: something was
    wrong. NOT DECIDED: nothing was wrong, but some runs were cut off by the step limit. Exit 0 for EXACT, else 1.

    The oracle is Python's integers for addition, multiplication and permutation, the plain interpreter for .sbn
    programs, and for rule files the rules themselves unless a function is given.
    """
    from bitwright.algorithms.known import order_of
    from bitwright.api.engines import EngineChoice, choose_engine
    from bitwright.checking.validation import given_oracle, make_task, validate
    from bitwright.running.sliced.runs import COMPILING, to_be_compiled
    from bitwright.workers import Workers

    if sample_seed is not None and random is None:
        raise InputError("--sample-seed says which inputs --random takes; without --random all are run")
    if function is not None and oracle_arrays is not None:
        raise InputError("there is one oracle: give --oracle or --oracle-arrays")
    if is_image(target):
        raise InputError("an image has no inputs to go through; run it, and compare what it prints")
    who = Workers.parse(workers)
    if chosen["seed"] is not None and not EngineChoice(chosen["engine"]).has_networks:
        raise InputError("--seed chooses networks, for --engine sampled or network; --sample-seed chooses inputs")
    choice = engine_choice(chosen, quiet)
    algorithm = find_algorithm(target, bits, order, machine=machine, files=files_of(chosen))
    if files_of(chosen) and target == "permutation" and order is None:
        order = ",".join(map(str, order_of(algorithm)))  # as the network file says
    if chosen["device"] is None and choice.runs_trained:
        choice = replace(choice, device=_device(algorithm, files_of(chosen), random, who, quiet))
    oracle = _own_oracle(target, algorithm, order, machine, max_steps)
    if function is not None or oracle_arrays is not None:
        oracle = given_oracle(algorithm, function, oracle_arrays)
    with working(PREPARING):
        engine = choose_engine(algorithm, choice, train=cached_shown)
        task = make_task(algorithm, engine, oracle, random, sample_seed or 0, max_steps, plain)
    if oracle is None and engine.rounding is None:
        note("without --oracle the rules are their own judge: this tests the engine, not the program", quiet)
    if task.sliced and to_be_compiled():
        note(COMPILING, quiet)
        with working("compiling"):  # by one input, so that no rate counts it
            validate(make_task(algorithm, engine, None, 1, 0, max_steps))
    try:
        with StepProgress(not quiet, "inputs") as progress:
            done = validate(task, who, progress, resume, progress)
    except KeyboardInterrupt:
        note(f"what is done so far is in {resume}; the same command goes on from there", quiet or resume is None)
        raise
    _print(done, target, {"order": order, "machine": machine, "max_steps": max_steps, **chosen}, as_json, quiet)
    return 0 if done.exact else 1


def _device(algorithm: Algorithm, files: Sequence[Path], random: int | None, workers: Workers, quiet: bool) -> str:
    """A GPU for long work through one network of whole numbers, whose bits are the same anywhere; else the CPU."""
    from bitwright.api.devices import gpu_name, is_whole_numbers

    inputs = sum(len(word.bits) for word in algorithm.inputs)
    runs = random if random is not None else 2 ** min(inputs, 64)
    if len(files) != 1 or workers.kind != "serial" or runs * (algorithm.steps or 1) < _MANY:
        return "cpu"
    if not is_whole_numbers(files[0]) or (gpu := gpu_name()) is None:
        return "cpu"
    note(f"on {gpu}", quiet)
    return "cuda"


def _print(done: Validation, target: str, options: dict[str, Any], as_json: bool, quiet: bool) -> None:
    from bitwright.bits import any_digits
    from bitwright.cli.validate_report import broken_bound, document, report

    if as_json:
        with any_digits():
            found = document(done, target, options)
        print_json(found)
    else:
        with any_digits():
            click.echo(done.verdict if quiet else report(done, target, options))
        if done.task.engine.cell_facts is not None:
            from bitwright.running.sentences import cells_sentence

            note(cells_sentence(done.task.engine.cell_facts), quiet)
        failures = done.tally.failures
        if failures and done.tally.wrong == done.tally.inputs and all(one.expected is None for one in failures):
            note("the oracle gave None for every input, which says that no run ends; is a return missing?", quiet)
        note(f"{done.seconds:.2f} s, {done.tally.evaluations / done.seconds:,.0f} evaluations a second", quiet)
    if done.bound_broken and quiet:
        click.echo(f"bitwright: {done.task.algorithm.name}: {'; '.join(broken_bound(done))}", err=True)


def _own_oracle(
    target: str, algorithm: Algorithm, order: str | None, machine: MachineChoice | None, max_steps: int | None
) -> Oracle | None:
    """The independent oracle of what we ship; a rule file has none of its own."""
    from bitwright.checking.validation import Arithmetic, InterpreterOracle
    from bitwright.running.endings import step_limit

    if target in NAMES:
        length = len(algorithm.inputs[0].bits)
        places = tuple(range(length, 0, -1) if order is None else parse_order(order))
        return Arithmetic(target, places if target == "permutation" else ())
    if Path(target).suffix.lower() == ".sbn":
        return InterpreterOracle(open_sbn(target, machine).code, step_limit(algorithm, max_steps))
    return None
