"""`bitwright multiply`: the product of two numbers."""

from __future__ import annotations

from typing import Any

import click

from bitwright.cli.options import bits_option, run_options
from bitwright.cli.reporting import execute, report


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
    length = bits if bits is not None else max(width_of(a), width_of(b))
    done = execute(multiplication(length), {"multiplicand": a, "multiplier": b}, quiet=quiet, **options)
    with any_digits():
        return report(done, length, f"{a} * {b} = {done.value}", f"{done.value}", as_json, quiet)
