"""`bitwright run`: any program, from a rule file or by its name."""

from __future__ import annotations

from typing import Any

import click

from bitwright.cli.common import (
    bits_option,
    execute,
    find_algorithm,
    order_option,
    parse_values,
    report,
    run_options,
    widest,
)


@click.command("run")
@click.argument("target", metavar="FILE|NAME")
@click.argument("inputs", nargs=-1, metavar="[NAME=NUMBER]...")
@bits_option
@order_option
@run_options
def command(
    target: str,
    inputs: tuple[str, ...],
    bits: int | None,
    order: str | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Run the program in a .bw file on the given numbers."""
    from bitwright.bits import any_digits, width_of

    values = parse_values(inputs)
    fitting = max((width_of(value) for value in values.values()), default=4)
    algorithm = find_algorithm(target, bits, order, fitting)
    done = execute(algorithm, values, quiet=quiet, **options)
    with any_digits():
        lines = [f"{name} = {value}" for name, value in done.outputs.items()]
        bare = [str(value) for value in done.outputs.values()]
        return report(done, widest(algorithm), "\n".join(lines), "\n".join(bare), as_json, quiet)
