"""`bitwright multiply`: the product of two numbers."""

from __future__ import annotations

import click

from bitwright.cli.common import StepProgress, bits_option, report, run_options


@click.command("multiply")
@click.argument("multiplicand")
@click.argument("multiplier")
@bits_option
@run_options
def command(
    multiplicand: str,
    multiplier: str,
    bits: int | None,
    engine: str,
    max_steps: int | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Multiply two numbers of any size by shift and add."""
    from bitwright.algorithms import multiplication
    from bitwright.bits import any_digits, parse_number, width_of
    from bitwright.execution import run

    a, b = parse_number(multiplicand, "the first number"), parse_number(multiplier, "the second number")
    length = bits if bits is not None else max(width_of(a), width_of(b))
    with StepProgress(not quiet) as progress:
        done = run(
            multiplication(length),
            multiplicand=a,
            multiplier=b,
            engine=engine,
            limit=max_steps,
            progress=progress,
        )
    with any_digits():
        return report(done, length, f"{a} * {b} = {done.value}", f"{done.value}", as_json, quiet)
