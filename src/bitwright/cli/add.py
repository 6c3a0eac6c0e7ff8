"""`bitwright add`: the sum of two numbers."""

from __future__ import annotations

from typing import Any

import click

from bitwright.api.trained import files_of, trained_algorithm
from bitwright.cli.options import bits_option, run_options
from bitwright.cli.reporting import execute, report
from bitwright.cli.targets import widest


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
    values = {"p": a, "q": b}
    if files := files_of(options):
        algorithm = trained_algorithm("addition", files, bits, values=values, counter=counter)
    else:
        algorithm = addition(max(map(width_of, (a, b))) if bits is None else bits, counter)
    done = execute(algorithm, values, quiet=quiet, **options)
    with any_digits():
        return report(done, widest(algorithm), f"{a} + {b} = {done.value}", f"{done.value}", as_json, quiet)
