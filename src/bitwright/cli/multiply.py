"""`bitwright multiply`: the product of two numbers."""

from __future__ import annotations

from typing import Any

import click

from bitwright.cli import options as opt
from bitwright.cli.reporting import run_shipped


@opt.verb("multiply")
@click.argument("multiplicand")
@click.argument("multiplier")
def command(multiplicand: str, multiplier: str, **options: Any) -> int:
    """Multiply two numbers of any size by shift and add."""
    return run_shipped("multiplication", "*", {"multiplicand": multiplicand, "multiplier": multiplier}, **options)
