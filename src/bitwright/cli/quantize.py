"""`bitwright quantize`: trained networks become one of whole numbers."""

from __future__ import annotations

import time
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bitwright.cli.options import json_option, quiet_option, weight_bits_option
from bitwright.cli.progress import working
from bitwright.cli.reporting import note, print_json
from bitwright.cli.targets import find_algorithm
from bitwright.errors import InputError, counted

if TYPE_CHECKING:
    from bitwright.networks import IntegerNetwork
    from bitwright.networks.quantize import Cost


@click.command("quantize")
@click.argument("network", metavar="NETWORK", type=click.Path(path_type=Path))
@click.option("--output", "-o", required=True, type=click.Path(path_type=Path), help="The .safetensors file to write.")
@weight_bits_option
@click.option("--program", metavar="FILE|NAME", help="What it was trained for, where the file does not say.")
@json_option
@quiet_option
def command(network: Path, output: Path, weight_bits: int, program: str | None, as_json: bool, quiet: bool) -> None:
    """Round trained weights to whole numbers: same bits on every machine, and a proof by trying every state.

    NETWORK is a .safetensors file, or a folder of members, which become one network of their widths together.
    """
    from bitwright.api.whole import algorithm_in, whole_network
    from bitwright.files.storage import check_writable
    from bitwright.networks import load_network, save_network
    from bitwright.networks.members import network_files
    from bitwright.networks.store import read_about

    if output.suffix != ".safetensors":
        raise InputError(f"-o takes a .safetensors file, got {output}")
    check_writable(output)
    files = network_files(network)
    if any(output.exists() and file.exists() and output.samefile(file) for file in files):
        raise InputError(f"{output} holds the trained weights, which rounding would destroy; choose another file")
    about = read_about(files[0])
    algorithm = algorithm_in(about) if program is None else find_algorithm(program, files=files)
    begin = time.perf_counter()
    with working("rounding"):
        found, cost = whole_network(algorithm, [load_network(file, algorithm.program) for file in files], weight_bits)
    save_network(found, algorithm.program, output)
    if as_json:
        print_json(
            {
                "file": str(output),
                "name": algorithm.name,
                "program_id": algorithm.program.id,
                **about_whole(found, cost),
                "digest": found.digest,
                "seconds": round(time.perf_counter() - begin, 3),
            }
        )
        return
    note(rounding_note(found, cost), quiet)
    click.echo(str(output))


def about_whole(network: IntegerNetwork, cost: Cost) -> dict[str, object]:
    """What is known of a network of whole numbers, for JSON."""
    return {
        "integer": True,
        "weight_bits": network.weight_bits,
        "bytes": network.bytes,
        "width": network.shape.width,
        "members": network.rounded.members,
        "sample_states": cost.states,
        "sample_margin_before": finite(cost.margin_before),
        "sample_margin": finite(cost.margin),
    }


def finite(margin: float) -> float | None:
    """A margin for JSON, which has no infinity: None where nothing is at stake."""
    return margin if isfinite(margin) else None


def rounding_note(network: IntegerNetwork, cost: Cost) -> str:
    """What rounding has cost, in a line."""
    from bitwright.api.advice import wider

    rounded = network.rounded
    what = f"{counted(rounded.members, 'network')} side by side, " if rounded.members > 1 else ""
    return (
        f"{what}width {network.shape.width:,}, whole numbers of {network.weight_bits} bits, {network.bytes:,} bytes; "
        f"on {cost.states:,} states the smallest margin went from {cost.margin_before:.3f} to {cost.margin:.3f}"
        + ("" if cost.margin > 0 else f": some bits come out wrong; {wider(network.weight_bits)}")
    )
