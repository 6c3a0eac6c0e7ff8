"""`bitwright export`: a network in a form that other people's tools read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.cli.options import json_option, quiet_option
from bitwright.cli.progress import TerminalTeller
from bitwright.cli.reporting import print_json
from bitwright.cli.targets import given_lets, keep_lets, keep_program, parse_values
from bitwright.errors import InputError

if TYPE_CHECKING:
    from bitwright.program import Algorithm, NodeProgram

FORMATS = {
    "c": "one C99 file, with a program that runs",
    "js": "a module of JavaScript, with its types",
    "page": "a page that runs it in a browser, offline",
    "onnx": "a model to run",
    "vnnlib": "a folder for verifiers, with a property for each state and the model",
    "rocq": "a folder in which make has Rocq (Coq) prove it",
}


@click.command("export")
@click.argument("network", metavar="NETWORK", type=click.Path(path_type=Path))
@click.option(
    "--to",
    help="; ".join(f"{name}: {what}" for name, what in FORMATS.items()) + ". Without it, what -o ends in says it.",
)
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(path_type=Path),
    help="The file to write; with --to vnnlib or rocq the folder, which must be new or empty.",
)
@click.option(
    "--states",
    metavar="FROM..TO",
    help="With --to vnnlib: the states that get a property, such as 0..999; all of them by default.",
)
@click.option("--vnnlib-version", metavar="VERSION", help="With --to vnnlib: 1.0, the default, or 2.0.")
@click.option(
    "--program",
    metavar="FILE|NAME",
    help="What it was trained for, where the file does not say; of a network of cells, with --to c, js, page, onnx or "
    "rocq, the program to run.",
)
@click.option(
    "--bits", type=int, help="With --program NAME: the bit length of its numbers; 4 by default for networks of cells."
)
@click.option("--let", multiple=True, metavar="NAME=NUMBER", help="With --program FILE: a value of a 'let' line.")
@click.option(
    "--graph", metavar="SHAPE", help="With --to page and a node program: the graph at first, such as grid:4x6."
)
@click.option(
    "--input", "values", multiple=True, metavar="NAME=NUMBER", help="With --to page: what is in the boxes at first."
)
@json_option
@quiet_option
def command(
    network: Path,
    output: Path,
    program: str | None,
    bits: int | None,
    let: tuple[str, ...],
    values: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    **asked: Any,
) -> None:
    """Write a trained network, or an integer network, as source text or for other people's tools."""
    from bitwright.api.exports import export

    if program is None and (bits is not None or let):
        raise InputError("--bits and --let go with --program, whose size they give")
    keep_lets(program, let)
    form = "page" if output.suffix == ".html" else asked["to"]
    what = None if program is None else _opened(program, bits, network, form)
    tell = TerminalTeller(quiet)
    written = export(network, output, what, inputs=parse_values(values), progress=tell, **asked)
    if as_json:
        print_json(written.to_dict())
        return
    tell.note(written.note)
    click.echo(str(output))


def _opened(target: str, bits: int | None, network: Path, form: str | None) -> Algorithm | NodeProgram | str:
    """The program; images are opened where they are run."""
    from bitwright.api.exports import default_bits
    from bitwright.api.open import is_image, opened
    from bitwright.api.trained import is_of_cells
    from bitwright.program import Algorithm

    if is_image(target):
        if bits is not None:
            raise InputError("--bits does not go with machine V; leave it out")
        return target
    files = [] if network.is_dir() or not network.exists() or is_of_cells(network) else [network]
    small = default_bits(form)
    found = opened(target, bits=bits, lets=given_lets(), default_bits=small, files=files, nodes=True)
    if isinstance(found, Algorithm):
        keep_program(target, found)
    return found
