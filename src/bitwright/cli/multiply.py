"""`bitwright multiply`: the product of two numbers."""

from __future__ import annotations

from typing import Any

import click

from bitwright.cli.options import bits_option, run_options, verb
from bitwright.cli.reporting import run_shipped


@verb("multiply")
@click.argument("multiplicand")
@click.argument("multiplier")
@bits_option
@run_options
def command(multiplicand: str, multiplier: str, **options: Any) -> int:
    """Multiply two numbers of any size by shift and add."""
    return run_shipped("multiplication", "*", {"multiplicand": multiplicand, "multiplier": multiplier}, **options)
