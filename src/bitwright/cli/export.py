"""`bitwright export`: a network in a format for other tools, or training data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from bitwright.cli import options as opt
from bitwright.cli.progress import TerminalTeller
from bitwright.cli.reporting import print_json
from bitwright.cli.targets import Target
from bitwright.common.errors import InputError, suggestion
from bitwright.verbs.numbers import parse_values
from bitwright.verbs.open import MachineChoice, is_image, open_subleq

_SIZE = ("bits", "order", "machine", "let")
# The options of these formats; the other formats check their own.
_OPTIONS = {
    "dataset": ("padding", *_SIZE),
    "executions": ("source", *_SIZE),
}
_OF_THESE = ("padding", "source")
Written = tuple[dict[str, Any], str]  # what --json prints, and a note


@opt.verb("export")
@click.argument("target", metavar="NETWORK|FILE|NAME")
@click.argument("inputs", nargs=-1, metavar="[NAME=VALUE]...")
def command(target: str, inputs: tuple[str, ...], output: Path, to: str | None, as_json: bool, **asked: Any) -> None:
    """Write a network as source code or as a model for other tools, or write training data.

    With --to page, NAME=VALUE sets an initial input of the page.

    \b
    bitwright export adder.safetensors -o adder.c --program addition --bits 16
    bitwright export adder.safetensors p=719 q=483 -o adder.html --program addition
    bitwright export addition --to dataset -o set.npz
    bitwright export addition --from states:200 -o states.npz
    """
    if to is not None and to not in opt.FORMATS:
        raise InputError(f"--to takes {' or '.join(opt.FORMATS)}, got {to}{suggestion(to, opt.FORMATS)}")
    given = {name: value for name, value in asked.items() if value not in (None, ())}
    data = "executions" if "source" in given else "dataset"
    form = to or (data if output.suffix == ".npz" else None)
    if form in _OPTIONS:
        opt.allow_only(f"--to {form}", "to", "output", "as_json", *_OPTIONS[form])
    else:
        opt.refuse(f"cannot be used with --to {form or 'c or onnx'}", *_OF_THESE)
    of_program = form in _OPTIONS
    name = target if of_program else given.pop("program", None)
    if name is None:
        opt.refuse("needs --program, whose size it sets", *_SIZE)
    size = {one: given.pop(one) for one in ("bits", "order", "machine") if one in given}
    program = None if name is None else Target(name, **size, lets=parse_values(given.pop("let", ()), "--let"))
    tell, values = TerminalTeller(), parse_values(inputs)
    if of_program and values:
        raise InputError(f"NAME=VALUE works only with --to page; leave out {inputs[0]}")
    if program is not None and of_program:
        document, message = _dataset(program, output, form, given, tell)
    else:
        from bitwright.verbs.exports import export

        what = None if program is None else _opened(program, Path(target), output.suffix == ".html" or form == "page")
        written = export(Path(target), output, what, to=form, inputs=values, progress=tell, **given)
        document, message = written.to_dict(), written.note
    if as_json:
        print_json(document)
        return
    tell.note(message)
    if not of_program:
        click.echo(str(output))


def _dataset(program: Target, output: Path, form: str | None, given: dict[str, Any], tell: TerminalTeller) -> Written:
    from bitwright.verbs.executions import Sample, dataset

    more = {"executions": Sample(given.pop("source", "runs"))} if form == "executions" else given
    written = dataset(program.algorithm(), output, progress=tell, **more)
    return written.to_dict(), written.sentence


def _opened(target: Target, network: Path, page: bool) -> Any:
    """Opens the program to run; a shipped program gets the size that the network was trained for, or a small size."""
    from bitwright.verbs.exports import default_bits
    from bitwright.verbs.network import open_network

    if is_image(target.name):
        if target.bits is not None or target.order is not None:
            raise InputError("--bits and --order cannot be used with machine V; leave them out")
        return open_subleq(target.name, target.machine or MachineChoice())
    held = None if network.is_dir() or not network.exists() else open_network(network)
    return target.program(default_bits=default_bits("page" if page else None), network=held, nodes=True)
