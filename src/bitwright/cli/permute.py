"""`bitwright permute`: the bits of a string, in another order."""

from __future__ import annotations

from typing import Any

import click

from bitwright.cli.options import run_options
from bitwright.cli.reporting import execute, report
from bitwright.cli.targets import parse_order


@click.command("permute")
@click.argument("bits")
@click.option("--order", required=True, help="Where each bit goes: 3,1,2 moves bit 1 to 3, bit 2 to 1, bit 3 to 2.")
@run_options
def command(bits: str, order: str, as_json: bool, quiet: bool, **options: Any) -> int:
    """Move every bit of BITS to a new place. Bit 1 is the last character."""
    from bitwright.algorithms import permutation
    from bitwright.bits import bit_string, parse_bit_string
    from bitwright.errors import InputError

    value, length = parse_bit_string(bits, "BITS")
    positions = parse_order(order)
    if len(positions) != length:
        raise InputError(f"--order must name a position for each bit, {length} in all, got {len(positions)}")
    done = execute(permutation(positions), {"p": value}, quiet=quiet, **options)
    moved = bit_string(done.value, length)
    return report(done, length, f"{bits} -> {moved}", moved, as_json, quiet, value=moved)
