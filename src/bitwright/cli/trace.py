"""`bitwright trace`: every state of a run, as text or as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from bitwright.cli.options import engine_option, machine_option, order_option
from bitwright.cli.reporting import execute, note
from bitwright.cli.targets import find_algorithm, parse_values
from bitwright.errors import InputError

if TYPE_CHECKING:
    from bitwright.program import Algorithm


@click.command("trace")
@click.argument("target", metavar="add|multiply|permute|FILE")
@click.argument("inputs", nargs=-1, metavar="[NUMBER|NAME=NUMBER]...")
@click.option("--output", "-o", type=click.Path(path_type=Path), help="Write a picture to this .svg file.")
@click.option("--only", help="Names to show, such as p,q; by default all.")
@click.option("--bits", type=int, help="Bit length of the numbers; by default the smallest that fits.")
@order_option
@machine_option
@engine_option
@click.option("--rounding", default="calibrated", show_default=True, help="How real outputs become bits.")
@click.option("--max-steps", type=int, help="Stop after this many steps even if the program is not done.")
@click.option("--quiet", "-q", is_flag=True, help="No notes and no progress.")
def command(
    target: str,
    inputs: tuple[str, ...],
    output: Path | None,
    only: str | None,
    bits: int | None,
    order: str | None,
    machine: str | None,
    engine: str,
    rounding: str,
    max_steps: int | None,
    quiet: bool,
) -> int:
    """Show every state of a run: as text, or with -o as an SVG picture.

    \b
    bitwright trace add 11 6
    bitwright trace add 719 483 -o addition.svg
    bitwright trace examples/rule110.bw row=1 --only centre
    """
    from bitwright.bits import any_digits
    from bitwright.storage import write_atomically
    from bitwright.viewer import choose_columns, trace_svg, trace_text

    if engine not in ("templates", "limit", "kernel"):
        raise InputError(f"a trace follows templates, limit or kernel, got '{engine}'; use run for the others")
    if output is not None and output.suffix != ".svg":
        raise InputError(f"-o takes a .svg file, got {output}")
    algorithm, values = _request(target, inputs, bits, order, machine)
    names = only.split(",") if only else []
    choose_columns(algorithm.program, names)
    done = execute(
        algorithm,
        values,
        engine=engine,
        rounding=rounding,
        padding=None,
        max_steps=max_steps,
        quiet=quiet,
        record=True,
    )
    assert done.trace is not None
    with any_digits():
        if output is None:
            for line in trace_text(done.trace, names):
                click.echo(line)
        else:
            given = ", ".join(f"{name} = {value}" for name, value in values.items())
            result = ", ".join(f"{name} = {value}" for name, value in done.outputs.items())
            title = f"{algorithm.name}: {given} gives {result}" if given else f"{algorithm.name}: {result}"
            short = len(title) < 120 and not only and len(done.outputs) == 1
            reading = next(iter(done.outputs)) if short else ""
            readings = [str(algorithm.read(state)[reading]) for state in done.trace.states()] if short else ()
            title = title if len(title) < 120 else algorithm.name
            picture = trace_svg(done.trace, title, names, reading, readings)
            write_atomically(output, picture.encode())
            note(f"wrote {output}: {done.steps:,} steps, {output.stat().st_size / 1024:,.0f} KiB", quiet)
    if not done.halted:
        click.echo(f"bitwright: {algorithm.name} did not halt within {done.steps:,} steps", err=True)
    return 0 if done.halted else 1


def _request(
    target: str, inputs: tuple[str, ...], bits: int | None, order: str | None, machine: str | None
) -> tuple[Algorithm, dict[str, int]]:
    """The algorithm, and its input values by name: `add 11 6` is short for `addition p=11 q=6`."""
    from bitwright.bits import parse_bit_string, parse_number, width_of

    verbs = {"add": "addition", "multiply": "multiplication"}
    if target == "permute":
        if len(inputs) != 1 or not order:
            raise InputError("trace permute takes one string of bits and --order")
        value, _ = parse_bit_string(inputs[0])
        return find_algorithm("permutation", order=order), {"p": value}
    if target in verbs:
        if len(inputs) != 2:
            raise InputError(f"trace {target} takes two numbers, got {len(inputs)}")
        numbers = [parse_number(text) for text in inputs]
        algorithm = find_algorithm(verbs[target], bits, None, max(width_of(number) for number in numbers))
        return algorithm, dict(zip((word.name for word in algorithm.inputs), numbers, strict=True))
    values = parse_values(inputs)
    fitting = max((width_of(value) for value in values.values()), default=4)
    return find_algorithm(target, bits, order, fitting, machine), values
