"""`bitwright multiply`: the product of two numbers."""

from __future__ import annotations

from typing import Any

import click

from bitwright.api.trained import files_of, trained_algorithm
from bitwright.cli.options import bits_option, run_options
from bitwright.cli.reporting import execute, report
from bitwright.cli.targets import widest


@click.command("multiply")
@click.argument("multiplicand")
@click.argument("multiplier")
@bits_option
@run_options
def command(multiplicand: str, multiplier: str, bits: int | None, as_json: bool, quiet: bool, **options: Any) -> int:
    """Multiply two numbers of any size by shift and add."""
    from bitwright.algorithms import multiplication
    from bitwright.bits import any_digits, parse_number, width_of

    a, b = parse_number(multiplicand, "the first number"), parse_number(multiplier, "the second number")
    values = {"multiplicand": a, "multiplier": b}
    if files := files_of(options):
        algorithm = trained_algorithm("multiplication", files, bits, values=values)
    else:
        algorithm = multiplication(max(map(width_of, (a, b))) if bits is None else bits)
    done = execute(algorithm, values, quiet=quiet, **options)
    with any_digits():
        return report(done, widest(algorithm), f"{a} * {b} = {done.value}", f"{done.value}", as_json, quiet)
