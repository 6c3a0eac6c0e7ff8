"""`bitwright export`: a network in a form that other tools read, or the data that it is trained on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.api.numbers import parse_values
from bitwright.cli.options import (
    FILE,
    bits_option,
    graph_option,
    json_option,
    lets_option,
    machine_option,
    padding_option,
    places_option,
    quiet_option,
    sample_options,
    verb,
    weight_bits_option,
)
from bitwright.cli.progress import TerminalTeller
from bitwright.cli.reporting import print_json
from bitwright.cli.targets import find_algorithm, find_program, keep_lets
from bitwright.errors import InputError, suggestion

if TYPE_CHECKING:
    from bitwright import Algorithm, NodeProgram
    from bitwright.api.open import MachineChoice, SubleqProgram

Writer = Callable[..., tuple[dict[str, Any], str]]
FORMATS = {
    "c": "one C99 file, with a program that runs",
    "js": "a module of JavaScript, with its types",
    "page": "a page that runs it in a browser, offline",
    "onnx": "a model to run",
    "vnnlib": "a folder for verifiers, with a property for each state and the model",
    "rocq": "a folder in which make has Rocq (Coq) prove it",
    "hub": "a folder for the Hugging Face Hub, with a model card and the certificate",
    "integer": "an integer network, of trained weights or a folder of them",
    "dataset": "the training set of a program, as a NumPy file",
    "executions": "states of a program and their successors, as a NumPy file",
}
# Which options go with these forms; the others look for themselves.
_OPTIONS = {
    "integer": {"program", "weight_bits", "bits", "order", "machine", "let"},
    "dataset": {"padding", "basis_seed", "bits", "order", "machine", "let"},
    "executions": {"source", "runs", "states", "sample_seed", "bits", "order", "machine", "let"},
}
_OF_OTHERS = {"weight_bits", "padding", "basis_seed", "source", "runs", "states", "sample_seed"}


@verb("export")
@click.argument("target", metavar="NETWORK|FILE|NAME")
@click.option(
    "--to",
    help="; ".join(f"{name}: {what}" for name, what in FORMATS.items()) + ". Without it, the suffix of -o decides.",
)
@click.option(
    "--output",
    "-o",
    required=True,
    type=FILE,
    help="The file to write; with --to vnnlib or rocq the folder, which must be new or empty; with hub a folder.",
)
@click.option(
    "--program",
    metavar="FILE|NAME",
    help="What it was trained for, where the file does not say; of a network of cells, with --to c, js, page, onnx or "
    "rocq, the program to run.",
)
@bits_option
@places_option
@lets_option
@machine_option
@graph_option
@click.option(
    "--input",
    "values",
    multiple=True,
    metavar="NAME=NUMBER",
    help="With --to page: the inputs that the page starts with.",
)
@click.option(
    "--properties", metavar="FROM..TO", help="With --to vnnlib: the states that get a property.  [default: all]"
)
@click.option("--vnnlib-version", metavar="VERSION", help="With --to vnnlib: 1.0, the default, or 2.0.")
@weight_bits_option
@padding_option
@click.option(
    "--basis-seed",
    type=click.IntRange(0),
    help="With --to dataset: encode each block in a random orthonormal basis instead of unit vectors.",
)
@sample_options
@json_option
@quiet_option
def command(target: str, output: Path, to: str | None, as_json: bool, quiet: bool, **asked: Any) -> None:
    """Write a network as source text, for other tools or in integers; or write the data that networks learn from.

    \b
    bitwright export adder.safetensors -o adder.c --program addition --bits 16
    bitwright export adder.safetensors -o adder.html --program addition
    bitwright export trained.safetensors --to integer -o integer.safetensors
    bitwright export addition --to dataset -o set.npz
    bitwright export addition --to executions --from states --states 200 -o states.npz
    """
    if to is not None and to not in FORMATS:
        raise InputError(f"--to takes {' or '.join(FORMATS)}, got {to}{suggestion(to, FORMATS)}")
    given = {name: value for name, value in asked.items() if value not in (None, ())}
    data = "executions" if "source" in given else "dataset"
    form = to or {".npz": data, ".safetensors": "integer"}.get(output.suffix)
    for name in given:
        if name not in _OPTIONS[form] if form in _OPTIONS else name in _OF_OTHERS:
            spelt = {"source": "from", "values": "input"}.get(name, name.replace("_", "-"))
            raise InputError(f"--{spelt} does not go with --to {form or 'c or onnx'}; leave it out")
    tell = TerminalTeller(quiet)
    of_program = form in ("dataset", "executions")
    program = target if of_program else given.pop("program", None)
    if program is None and given.keys() & {"bits", "order", "machine", "let"}:
        raise InputError("--bits, --order, --machine and --let go with --program, whose size they give")
    keep_lets(program, given.pop("let", ()))
    size = {name: given.pop(name) for name in ("bits", "order", "machine") if name in given}
    writers: dict[str | None, Writer] = {"integer": _integer, "dataset": _dataset, "executions": _dataset}
    write: Writer = writers.get(form) or _network
    document, note = write(target, output, form, program, size, given, tell)
    if as_json:
        print_json(document)
        return
    tell.note(note)
    if not of_program:
        click.echo(str(output))


def _dataset(
    target: str, output: Path, form: str | None, _: str | None, size: Any, given: dict[str, Any], tell: TerminalTeller
) -> tuple[dict[str, Any], str]:
    from bitwright.api.dataset import dataset
    from bitwright.api.executions import Sample

    sample = Sample(given.pop("source", "runs"), **given) if form == "executions" else None
    more = {} if form == "executions" else given
    written = dataset(find_algorithm(target, **size), output, executions=sample, progress=tell, **more)
    return written.to_dict(), written.sentence


def _integer(
    target: str, output: Path, _: str | None, program: str | None, size: Any, given: Any, tell: TerminalTeller
) -> tuple[dict[str, Any], str]:
    from bitwright.api.network import Network
    from bitwright.api.train import check_outputs

    network = Path(target)
    check_outputs(output, kept=network)
    own = None if program is None else find_algorithm(program, files=[network], **size)
    with tell.working("quantizing"):
        found = Network.combine(network, given.get("weight_bits", 8), own)
    found.save(output)
    return {"file": str(output), **found.to_dict()}, "\n".join(filter(None, (found.sentence, found.rounding)))


def _network(
    target: str, output: Path, form: str | None, program: str | None, size: Any, given: Any, tell: TerminalTeller
) -> tuple[dict[str, Any], str]:
    from bitwright.api.exports import export

    network, first = Path(target), parse_values(given.pop("values", ()))
    page = output.suffix == ".html" or form == "page"
    what = None if program is None else _opened(program, network, page, **size)
    written = export(network, output, what, to=form, inputs=first, progress=tell, **given)
    return written.to_dict(), written.note


def _opened(
    target: str, network: Path, page: bool, bits: int | None = None, machine: MachineChoice | None = None, **size: Any
) -> Algorithm | NodeProgram | SubleqProgram:
    """The program to run; a name in the size that the network was trained for, or in a small one."""
    from bitwright.api.exports import default_bits
    from bitwright.api.open import MachineChoice, is_image, open_subleq
    from bitwright.api.trained import is_of_cells

    if is_image(target):
        if bits is not None or size:
            raise InputError("--bits and --order do not go with machine V; leave them out")
        return open_subleq(target, machine or MachineChoice())
    files = [] if network.is_dir() or not network.exists() or is_of_cells(network) else [network]
    small = default_bits("page" if page else None)
    return find_program(target, bits, default_bits=small, machine=machine, files=files, nodes=True, **size)
