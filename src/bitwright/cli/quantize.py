"""`bitwright quantize`: trained networks become one of integers."""

from __future__ import annotations

from pathlib import Path

import click

from bitwright.cli.options import json_option, quiet_option, weight_bits_option
from bitwright.cli.progress import working
from bitwright.cli.reporting import note, print_json
from bitwright.cli.targets import find_algorithm


@click.command("quantize")
@click.argument("network", metavar="NETWORK", type=click.Path(path_type=Path))
@click.option("--output", "-o", required=True, type=click.Path(path_type=Path), help="The .safetensors file to write.")
@weight_bits_option
@click.option("--program", metavar="FILE|NAME", help="What it was trained for, where the file does not say.")
@json_option
@quiet_option
def command(network: Path, output: Path, weight_bits: int, program: str | None, as_json: bool, quiet: bool) -> None:
    """Round trained weights to integers: same bits on every machine, and a proof by trying every state.

    NETWORK is a .safetensors file, or a folder of members, which become one network of their widths together.
    """
    from bitwright.api.network import Network
    from bitwright.api.train import check_outputs

    check_outputs(output, kept=network)
    own = None if program is None else find_algorithm(program, files=[network])
    with working("quantizing"):
        found = Network.combine(network, weight_bits, own)
    found.save(output)
    if as_json:
        print_json({"file": str(output), **found.to_dict()})
        return
    note(found.sentence, quiet)
    note(found.rounding or "", quiet)
    click.echo(str(output))
