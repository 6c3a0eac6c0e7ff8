"""`bitwright add`: the sum of two numbers."""

from __future__ import annotations

from typing import Any

import click

from bitwright.cli import options as opt
from bitwright.cli.reporting import run_shipped


@opt.verb("add")
@click.argument("p")
@click.argument("q")
def command(p: str, q: str, **options: Any) -> int:
    """Add two numbers of any size, bit by bit."""
    return run_shipped("addition", "+", {"p": p, "q": q}, **options)
