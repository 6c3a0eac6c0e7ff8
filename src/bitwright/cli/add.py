"""`bitwright add`: the sum of two numbers."""

from __future__ import annotations

from typing import Any

import click

from bitwright.cli.options import bits_option, run_options
from bitwright.cli.reporting import execute, report


@click.command("add")
@click.argument("p")
@click.argument("q")
@bits_option
@click.option("--counter", is_flag=True, help="Add the paper's termination counter: the program itself says when.")
@run_options
def command(p: str, q: str, bits: int | None, counter: bool, as_json: bool, quiet: bool, **options: Any) -> int:
    """Add two numbers of any size, bit by bit."""
    from bitwright.algorithms import addition
    from bitwright.bits import any_digits, parse_number, width_of

    a, b = parse_number(p, "the first number"), parse_number(q, "the second number")
    length = bits if bits is not None else max(width_of(a), width_of(b))
    done = execute(addition(length, counter), {"p": a, "q": b}, quiet=quiet, **options)
    with any_digits():
        return report(done, length, f"{a} + {b} = {done.value}", f"{done.value}", as_json, quiet)
