"""`bitwright permute`: the bits of a string, in another order."""

from __future__ import annotations

from typing import Any

import click

from bitwright.api.trained import files_of, trained_algorithm
from bitwright.cli.options import run_options
from bitwright.cli.reporting import execute, report
from bitwright.cli.targets import parse_order, widest


@click.command("permute")
@click.argument("bits")
@click.option("--order", help="Where each bit goes: 3,1,2 moves bit 1 to 3, bit 2 to 1. A --network file says it too.")
@run_options
def command(bits: str, order: str | None, as_json: bool, quiet: bool, **options: Any) -> int:
    """Move every bit of BITS to a new place. Bit 1 is the last character."""
    from bitwright.algorithms import permutation
    from bitwright.bits import bit_string, parse_bit_string
    from bitwright.errors import InputError

    value, length = parse_bit_string(bits, "BITS")
    positions = None if order is None else parse_order(order)
    if positions is not None and len(positions) != length:
        raise InputError(f"--order must name a position for each bit, {length} in all, got {len(positions)}")
    if files := files_of(options):
        algorithm = trained_algorithm("permutation", files, order=positions)
        if widest(algorithm) != length:
            raise InputError(f"this network permutes {widest(algorithm)} bits, got BITS of {length}")
    elif positions is None:
        raise InputError("--order says where each bit goes, such as 3,1,2; or give a trained --network")
    else:
        algorithm = permutation(positions)
    done = execute(algorithm, {"p": value}, quiet=quiet, **options)
    moved = bit_string(done.value, length)
    return report(done, length, f"{bits} -> {moved}", moved, as_json, quiet, value=moved)
