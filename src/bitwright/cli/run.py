"""`bitwright run`: any program, from a rule file, an SBN program or by its name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.api.open import is_image, open_sbn
from bitwright.api.trained import files_of
from bitwright.cli.options import (
    bits_option,
    computer_options,
    graph_options,
    machine_option,
    order_option,
    program_options,
)
from bitwright.cli.reporting import execute, note, report
from bitwright.cli.run_graph import graph_algorithm, node_program, refuse_graph, run_graph
from bitwright.cli.targets import find_algorithm, is_sbn, parse_values, widest
from bitwright.errors import InputError, counted, listing

if TYPE_CHECKING:
    from bitwright.api.open import MachineChoice
    from bitwright.bits import BoolArray
    from bitwright.machines import Code
    from bitwright.program import Algorithm
    from bitwright.running.run import Run

COMPUTER = ("max_instructions", "max_seconds", "checkpoint", "resume", "memory", "signed", "start")


@click.command("run")
@click.argument("target", metavar="FILE|NAME")
@click.argument("inputs", nargs=-1, metavar="[NAME=VALUE]...")
@graph_options
@bits_option
@order_option
@machine_option
@click.option("--trace", is_flag=True, help="For .sbn programs: print every instruction as it is executed.")
@click.option("--hex", "as_hex", is_flag=True, help="Print the outputs in hexadecimal, such as 0x2cf.")
@computer_options
@program_options
def command(
    target: str,
    inputs: tuple[str, ...],
    graph: str | None,
    values: Path | None,
    directed: bool,
    bits: int | None,
    order: str | None,
    machine: MachineChoice | None,
    trace: bool,
    as_hex: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Run the program in a .bw or .sbn file on the given numbers, or a SUBLEQ image (.dec, .sq) on machine V.

    Rules for the nodes of graphs run on the graph that --graph names; an input is then NAME=NODE, NAME=@ATTRIBUTE,
    NAME=order, NAME=NODE:VALUE,... or a column of --values.

    An image talks to standard input and output; what it did is said on standard error at the end. Words that it leaves
    in memory are shown by --memory.

    \b
    bitwright run examples/subtraction.bw a=719 b=483
    bitwright run examples/sbn/gcd.sbn a=12 b=18 --engine network
    bitwright run examples/graphs/bfs.bw --graph grid:2x3 source=0.0
    bitwright run examples/subleq/sieve.sq
    """
    from bitwright.bits import width_of

    computer = {name: options.pop(name) for name in COMPUTER}
    if as_hex and (as_json or graph is not None or is_image(target)):
        raise InputError("--hex is for the numbers that a run prints; leave it out with --json, --graph and images")
    if is_image(target):
        if inputs or bits is not None or order is not None or trace:
            raise InputError("an image takes its input from standard input; leave out values, --bits, --order, --trace")
        from bitwright.cli.run_image import run_image

        return run_image(target, machine, as_json=as_json, quiet=quiet, **computer, **options)
    if any(value not in (None, False, ()) for value in computer.values()):
        names = listing([f"--{name.replace('_', '-')}" for name in computer], len(computer))
        raise InputError(f"{names} go with images for machine V (.dec, .sq); there is --max-steps")
    if (program := node_program(target, graph)) is not None:
        if trace or bits is not None or order is not None or machine is not None:
            raise InputError("--bits, --order, --machine and --trace do not go with node programs; there is --let")
        on_graph = graph_algorithm(program, inputs, graph, values, directed)
        return run_graph(on_graph, inputs, as_json, quiet, options)
    refuse_graph(graph, values, directed)
    numbers = parse_values(inputs)
    if trace and as_json:
        raise InputError("--trace prints lines for people; leave it out, or --json")
    if is_sbn(target, bits, order):
        return _run_sbn(target, numbers, machine, trace, as_hex, as_json, quiet, options)
    if trace:
        raise InputError("--trace goes with .sbn programs; for rule files there is: bitwright trace FILE")
    fitting = max((width_of(value) for value in numbers.values()), default=4)
    algorithm = find_algorithm(target, bits, order, fitting, machine, files_of(options))
    _warn(target, algorithm, quiet)
    done = execute(algorithm, numbers, quiet=quiet, **options)
    return _report(done, widest(algorithm), as_hex, as_json, quiet)


def _warn(target: str, algorithm: Algorithm, quiet: bool) -> None:
    """The first thing that a rule file can hardly mean, as `check` says it: a run of it may surprise."""
    from bitwright.program.text.doubts import doubts
    from bitwright.program.text.files import read_text
    from bitwright.program.text.warned import QUICK

    if quiet or Path(target).suffix.lower() != ".bw" or algorithm.program.templates > QUICK:
        return
    if found := doubts(read_text(Path(target)), algorithm):
        first = found[0]
        more = "" if len(found) == 1 else f" (and {counted(len(found) - 1, 'more warning')}: bitwright check {target})"
        note(f"{target}:{first.line}:{first.column}: warning: {first.message}{more}")


def _run_sbn(
    target: str,
    values: dict[str, int],
    choice: MachineChoice | None,
    trace: bool,
    as_hex: bool,
    as_json: bool,
    quiet: bool,
    options: dict[str, Any],
) -> int:
    from bitwright.running.observers import Watch

    program = open_sbn(target, choice)
    machine, code, algorithm = program.machine, program.code, program.algorithm
    count, before = 0, (0, 0)

    def instruction_begins(step: int, state: BoolArray) -> None:
        """Called whenever an instruction begins: says what the one before it has done."""
        nonlocal count, before
        if trace and count:
            click.echo(_instruction(code, *before, machine.address(state), machine.memory(state)))
        elif trace:
            click.echo(f"{'step':>7}  {'address':>7}  instruction")
        count, before = count + 1, (step, machine.address(state))

    done = execute(algorithm, values, quiet=quiet, watch=Watch(machine.boundary, instruction_begins), **options)
    executed = count - 1 if done.halted else count  # the last instruction to begin is the one behind the end
    about = f"machine {machine.kind} with {code.sizes}: {counted(executed, 'SBN instruction')}; "
    more: dict[str, object] = {"machine": machine.kind, "executed": executed, "sizes": vars(code.sizes)}
    return _report(done, code.width, as_hex, as_json, quiet, about, **more)


def _instruction(code: Code, step: int, address: int, after: int, memory: list[int]) -> str:
    """One executed instruction: when, where, what, and what came of it."""
    names = {place: name for name, place in reversed(list(code.names.items()))}
    labels = {place: label for label, place in reversed(list(code.labels.items()))}
    sbn = code.instructions[address]
    a, b = (names.get(place, f"[{place}]") for place in (sbn.a, sbn.b))
    jump = f", go to {labels.get(after, after)}" if memory[sbn.b] < 0 else ""
    return f"{step:>7,}  {address:>7}  {b} -= {a}: {memory[sbn.b]}{jump}"


def _report(done: Run, width: int, as_hex: bool, as_json: bool, quiet: bool, about: str = "", **more: object) -> int:
    from bitwright.bits import any_digits

    with any_digits():
        shown = {name: f"{value:#x}" if as_hex else str(value) for name, value in done.outputs.items()}
        lines = [f"{name} = {value}" for name, value in shown.items()]
        return report(done, width, "\n".join(lines), "\n".join(shown.values()), as_json, quiet, about, **more)
