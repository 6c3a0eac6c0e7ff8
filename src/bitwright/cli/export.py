"""`bitwright export`: a network in a form that other people's tools read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.cli.options import json_option, quiet_option
from bitwright.cli.reporting import note, print_json
from bitwright.cli.targets import find_algorithm
from bitwright.errors import InputError, suggestion

if TYPE_CHECKING:
    from bitwright.networks import AnyNetwork
    from bitwright.program import Program


@dataclass(frozen=True)
class _Written:
    """What came of an export."""

    files: list[Path]
    note: str
    about: dict[str, Any]


@dataclass(frozen=True)
class _Format:
    """A form that networks can be written in."""

    suffix: str
    what: str
    write: Callable[[AnyNetwork, Program, Path, Path | None], _Written]


def _onnx(network: AnyNetwork, program: Program, output: Path, onnx: Path | None) -> _Written:
    from bitwright.networks import IntegerNetwork
    from bitwright.networks.onnx_file import save_integer_onnx, save_onnx

    if onnx is not None:
        raise InputError("--onnx goes with --to vnnlib; here -o names the .onnx file")
    if isinstance(network, IntegerNetwork):
        save_integer_onnx(network, program, output)
        return _Written([output], "matched examples to the next state, in operators on integers alone", {})
    save_onnx(network, program, output)
    return _Written([output], "encoded inputs to outputs, in float32", {})


def _vnnlib(network: AnyNetwork, program: Program, output: Path, onnx: Path | None) -> _Written:
    from bitwright.checking.exhaustion.vnnlib import save_vnnlib
    from bitwright.files.storage import check_writable
    from bitwright.networks import IntegerNetwork
    from bitwright.networks.onnx_file import onnx_module, save_sums_onnx

    if not isinstance(network, IntegerNetwork):
        raise InputError("properties are written for networks of whole numbers; make one with: bitwright quantize")
    model = onnx or output.with_name(f"{output.stem}-sums.onnx")  # not the name that --to onnx would be given
    if model.suffix != ".onnx":
        raise InputError(f"--onnx takes an .onnx file, got {model}")
    onnx_module()
    check_writable(model)
    asked = save_vnnlib(network, program, output)
    save_sums_onnx(network, program, model)
    text = f"{asked.states:,} states, {asked.cases:,} cases; the network it speaks of is in {model}, exact in float32"
    return _Written([output, model], text, asdict(asked))


FORMATS = {
    "onnx": _Format(".onnx", "a model to run", _onnx),
    "vnnlib": _Format(".vnnlib", "the property of all states, with its model, for verifiers", _vnnlib),
}


@click.command("export")
@click.argument("network", metavar="NETWORK", type=click.Path(path_type=Path))
@click.option(
    "--to", "form", required=True, help="; ".join(f"{name}: {form.what}" for name, form in FORMATS.items()) + "."
)
@click.option("--output", "-o", required=True, type=click.Path(path_type=Path), help="The file to write.")
@click.option("--onnx", type=click.Path(path_type=Path), help="With --to vnnlib: the model's file, if not beside -o.")
@click.option("--program", metavar="FILE|NAME", help="What it was trained for, where the file does not say.")
@json_option
@quiet_option
def command(
    network: Path, form: str, output: Path, onnx: Path | None, program: str | None, as_json: bool, quiet: bool
) -> None:
    """Write a trained network, or one of whole numbers, for other people's tools."""
    from bitwright.app.whole import algorithm_in
    from bitwright.files.storage import check_writable
    from bitwright.networks import IntegerNetwork, load_any_network
    from bitwright.networks.members import network_files
    from bitwright.networks.store import read_about

    if form not in FORMATS:
        raise InputError(f"--to takes {' or '.join(FORMATS)}, got {form}{suggestion(form, list(FORMATS))}")
    chosen = FORMATS[form]
    if output.suffix != chosen.suffix:
        raise InputError(f"-o takes a {chosen.suffix} file with --to {form}, got {output}")
    check_writable(output)
    files = network_files(network)
    if len(files) > 1:
        raise InputError(f"{network} holds several networks; quantize makes one of them, which can be exported")
    algorithm = algorithm_in(read_about(files[0])) if program is None else find_algorithm(program, files=files)
    found = load_any_network(files[0], algorithm.program)
    written = chosen.write(found, algorithm.program, output, onnx)
    if as_json:
        print_json(
            {
                "file": str(output),
                "files": [str(file) for file in written.files],
                "to": form,
                "name": algorithm.name,
                "program_id": algorithm.program.id,
                "integer": isinstance(found, IntegerNetwork),
                "examples": algorithm.program.templates + found.origin.padding,
                "padding": found.origin.padding,
                "width": found.shape.width,
                "digest": found.digest,
                **written.about,
            }
        )
        return
    note(written.note, quiet)
    click.echo(str(output))
