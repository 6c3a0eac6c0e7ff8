"""`bitwright export`: a network in a form that other tools read, or the data that it is trained on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.cli import options as opt
from bitwright.cli.progress import TerminalTeller
from bitwright.cli.reporting import print_json
from bitwright.cli.targets import Target, lets_for
from bitwright.common.errors import InputError, suggestion
from bitwright.verbs.numbers import parse_values
from bitwright.verbs.open import MachineChoice, is_image, open_subleq

if TYPE_CHECKING:
    from bitwright import Algorithm, NodeProgram
    from bitwright.verbs.open import SubleqProgram

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
_SIZE = ("bits", "order", "machine", "let")
# The options of these forms; the other forms check their own.
_OPTIONS = {
    "integer": ("program", "weight_bits", *_SIZE),
    "dataset": ("padding", *_SIZE),
    "executions": ("source", "sample_seed", *_SIZE),
}
_OF_THESE = ("weight_bits", "padding", "source", "sample_seed")


@opt.verb("export")
@click.argument("target", metavar="NETWORK|FILE|NAME")
@click.option(
    "--to",
    help="; ".join(f"{name}: {what}" for name, what in FORMATS.items()) + ". Without it, the suffix of -o decides.",
)
@click.option(
    "--output",
    "-o",
    required=True,
    type=opt.FILE,
    help="The file to write; with --to vnnlib or rocq the folder, which must be new or empty; with hub a folder.",
)
@click.option(
    "--program",
    metavar="FILE|NAME",
    help="What it was trained for, where the file does not say; of a network of cells, with --to c, js, page, onnx or "
    "rocq, the program to run.",
)
@opt.bits
@opt.order
@opt.lets
@opt.machine
@opt.graph
@click.option(
    "--input",
    "values",
    multiple=True,
    metavar="NAME=NUMBER",
    help="With --to page: inputs whose run the page opens with.",
)
@click.option(
    "--properties", metavar="FROM..TO", help="With --to vnnlib: the states that get a property.  [default: all]"
)
@opt.weight_bits
@opt.padding
@opt.source
@opt.sample_seed
@opt.json
@opt.quiet
def command(target: str, output: Path, to: str | None, as_json: bool, **asked: Any) -> None:
    """Write a network as source text, for other tools or in integers; or write the data that networks learn from.

    \b
    bitwright export adder.safetensors -o adder.c --program addition --bits 16
    bitwright export adder.safetensors -o adder.html --program addition
    bitwright export trained.safetensors --to integer -o integer.safetensors
    bitwright export addition --to dataset -o set.npz
    bitwright export addition --from states:200 -o states.npz
    """
    if to is not None and to not in FORMATS:
        raise InputError(f"--to takes {' or '.join(FORMATS)}, got {to}{suggestion(to, FORMATS)}")
    given = {name: value for name, value in asked.items() if value not in (None, ())}
    data = "executions" if "source" in given else "dataset"
    form = to or {".npz": data, ".safetensors": "integer"}.get(output.suffix)
    if form in _OPTIONS:
        opt.allow_only(f"--to {form}", "to", "output", "as_json", *_OPTIONS[form])
    else:
        opt.refuse(f"does not go with --to {form or 'c or onnx'}", *_OF_THESE)
    of_program = form in ("dataset", "executions")
    program = target if of_program else given.pop("program", None)
    if program is None:
        opt.refuse("goes with --program, whose size it gives", *_SIZE)
    lets = lets_for(program, given.pop("let", ()))
    size = {name: given.pop(name) for name in ("bits", "order", "machine") if name in given}
    asked_for = None if program is None else Target(program, **size, lets=lets)
    tell, network = TerminalTeller(), Path(target)
    if asked_for is not None and of_program:
        document, said = _dataset(asked_for, output, form, given, tell)
    elif form == "integer":
        document, said = _integer(network, output, asked_for, given, tell)
    else:
        document, said = _network(network, output, form, asked_for, given, tell)
    if as_json:
        print_json(document)
        return
    tell.note(said)
    if not of_program:
        click.echo(str(output))


Written = tuple[dict[str, Any], str]  # what --json prints, and a note


def _dataset(program: Target, output: Path, form: str | None, given: dict[str, Any], tell: TerminalTeller) -> Written:
    from bitwright.verbs.executions import Sample, dataset

    more = {"executions": Sample(given.pop("source", "runs"), **given)} if form == "executions" else given
    written = dataset(program.algorithm(), output, progress=tell, **more)
    return written.to_dict(), written.sentence


def _integer(
    network: Path, output: Path, program: Target | None, given: dict[str, Any], tell: TerminalTeller
) -> Written:
    from bitwright.verbs.network import Network, load_networks
    from bitwright.verbs.train import check_outputs

    check_outputs(output, kept=network)
    own = None if program is None else program.algorithm(networks=load_networks(network))
    with tell.working("quantizing"):
        found = Network.combine(load_networks(network, what=own), given.get("weight_bits", 8))
    found.save(output)
    return {"file": str(output), **found.to_dict()}, "\n".join(filter(None, (found.sentence, found.rounding)))


def _network(
    network: Path, output: Path, form: str | None, program: Target | None, given: dict[str, Any], tell: TerminalTeller
) -> Written:
    from bitwright.verbs.exports import export

    first = parse_values(given.pop("values", ()))
    what = None if program is None else _opened(program, network, output.suffix == ".html" or form == "page")
    written = export(network, output, what, to=form, inputs=first, progress=tell, **given)
    return written.to_dict(), written.note


def _opened(target: Target, network: Path, page: bool) -> Algorithm | NodeProgram | SubleqProgram:
    """The program to run; a name in the size that the network was trained for, or in a small one."""
    from bitwright.verbs.exports import default_bits
    from bitwright.verbs.network import load_networks

    if is_image(target.name):
        if target.bits is not None or target.order is not None:
            raise InputError("--bits and --order do not go with machine V; leave them out")
        return open_subleq(target.name, target.machine or MachineChoice())
    networks = [] if network.is_dir() or not network.exists() else load_networks(network)
    return target.program(default_bits=default_bits("page" if page else None), networks=networks, nodes=True)
