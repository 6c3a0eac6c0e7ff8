"""`bitwright export`: a network in a form that other people's tools read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.cli.export_page import page_of_cells
from bitwright.cli.options import json_option, quiet_option
from bitwright.cli.progress import working
from bitwright.cli.reporting import note, print_json
from bitwright.cli.targets import find_algorithm, keep_lets, parse_values
from bitwright.errors import InputError, suggestion

if TYPE_CHECKING:
    from bitwright.app.export import Claim, Exported
    from bitwright.networks import AnyNetwork, IntegerNetwork
    from bitwright.program import Algorithm, Program
    from bitwright.program.pattern import Pattern


@dataclass(frozen=True)
class _Written:
    """What came of an export."""

    files: list[Path]
    note: str
    about: dict[str, Any]


@dataclass(frozen=True)
class _Given:
    """What is to be written: a network, what it was trained for, and for source text the program to run."""

    network: AnyNetwork
    program: Program  # of the network; the pattern's, if it is one of cells
    pattern: Pattern | None
    algorithm: Algorithm | None  # None: a network of cells by itself
    asked: _Asked


@dataclass(frozen=True)
class _Asked:
    """What the command line says of the program to run."""

    program: str | None
    bits: int | None
    graph: str | None
    values: tuple[str, ...]


@dataclass(frozen=True)
class _Format:
    """A form that networks can be written in."""

    suffixes: tuple[str, ...]
    what: str
    write: Callable[[_Given, Path, Path | None], _Written]
    source: bool = False  # whether it is a program too: then networks of cells take any program of their kinds
    step: bool = False  # whether it is one where a network of cells comes with a program
    page: bool = False  # whether it is shown: then it may need a graph or a console


def _onnx(given: _Given, output: Path, onnx: Path | None) -> _Written:
    from bitwright.networks import IntegerNetwork
    from bitwright.networks.onnx_file import save_integer_onnx, save_onnx

    if onnx is not None:
        raise InputError("--onnx goes with --to vnnlib; here -o names the .onnx file")
    if given.pattern is not None and given.algorithm is not None:
        from bitwright.app.export import exported_cells, try_states
        from bitwright.app.export.onnx_step import save_step_onnx

        found = exported_cells(_whole_numbers(given, None), given.pattern, given.algorithm)
        save_step_onnx(found, output)
        claim = try_states(found)
        about = {"states": claim.states, "wrong": claim.wrong, "proved": claim.proved}
        return _Written([output], f"a state to the next one, in operators on integers alone; {claim.note}", about)
    if isinstance(given.network, IntegerNetwork):
        save_integer_onnx(given.network, given.program, output)
        return _Written([output], "matched examples to the next state, in operators on integers alone", {})
    save_onnx(given.network, given.program, output)
    return _Written([output], "encoded inputs to outputs, in float32", {})


def _vnnlib(given: _Given, output: Path, onnx: Path | None) -> _Written:
    from bitwright.checking.exhaustion.vnnlib import save_vnnlib
    from bitwright.files.storage import check_writable
    from bitwright.networks import IntegerNetwork
    from bitwright.networks.onnx_file import onnx_module, save_sums_onnx

    network, program = given.network, given.program
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


def _c(given: _Given, output: Path, onnx: Path | None) -> _Written:
    from bitwright.app.export import c_text, try_states

    found = _source(given, onnx)
    claim = try_states(found)
    return _write_texts({output: c_text(found, claim)}, claim, alone=found.wires is None)


def _js(given: _Given, output: Path, onnx: Path | None) -> _Written:
    from bitwright.app.export import js_text, js_types, try_states
    from bitwright.files.storage import check_writable

    types = output.with_suffix({".mjs": ".d.mts", ".js": ".d.ts"}[output.suffix])
    check_writable(types)
    found = _source(given, onnx)
    claim = try_states(found)
    texts = {output: js_text(found, claim), types: js_types(found)}
    return _write_texts(texts, claim, alone=found.wires is None)


def _page(given: _Given, output: Path, onnx: Path | None) -> _Written:
    from bitwright.app.export.pages import program_page

    network = _whole_numbers(given, onnx)
    asked, pattern = given.asked, given.pattern
    if pattern is None:
        if asked.graph is not None:
            raise InputError("--graph goes with node programs")
        assert given.algorithm is not None
        page = program_page(network, None, given.algorithm, parse_values(asked.values))
    else:
        page = page_of_cells(network, pattern, asked.program, asked.bits, asked.graph, asked.values)
    return _write_texts({output: page.text}, page.claim, view=page.view)


def _whole_numbers(given: _Given, onnx: Path | None) -> IntegerNetwork:
    from bitwright.networks import IntegerNetwork

    if onnx is not None:
        raise InputError("--onnx goes with --to vnnlib")
    if not isinstance(given.network, IntegerNetwork):
        raise InputError("source text is written of networks of whole numbers; make one with: bitwright quantize")
    return given.network


def _source(given: _Given, onnx: Path | None) -> Exported:
    from bitwright.app.export import exported_cells, exported_whole

    network = _whole_numbers(given, onnx)
    if given.pattern is not None:
        return exported_cells(network, given.pattern, given.algorithm)
    assert given.algorithm is not None
    return exported_whole(network, given.algorithm)


def _write_texts(texts: Mapping[Path, str], claim: Claim, alone: bool = False, **more: object) -> _Written:
    from bitwright.files.storage import write_atomically

    for path, text in texts.items():
        write_atomically(path, text.encode())
    sizes = [len(text.encode()) for text in texts.values()]
    about = {"bytes": sizes[0], "states": claim.states, "wrong": claim.wrong, "proved": claim.proved, **more}
    nothing = "; no program in it: --program NAME adds one that runs" if alone else ""
    return _Written(list(texts), f"{sizes[0]:,} bytes; the network: {claim.note}{nothing}", about)


FORMATS = {
    "c": _Format((".c",), "one C99 file, with a program that runs", _c, source=True),
    "js": _Format((".mjs", ".js"), "a module of JavaScript, with its types", _js, source=True),
    "page": _Format((".html",), "a page that runs it in a browser, offline", _page, source=True, page=True),
    "onnx": _Format((".onnx",), "a model to run", _onnx, step=True),
    "vnnlib": _Format((".vnnlib",), "the property of all states, with its model, for verifiers", _vnnlib),
}


@click.command("export")
@click.argument("network", metavar="NETWORK", type=click.Path(path_type=Path))
@click.option(
    "--to", "form", required=True, help="; ".join(f"{name}: {form.what}" for name, form in FORMATS.items()) + "."
)
@click.option("--output", "-o", required=True, type=click.Path(path_type=Path), help="The file to write.")
@click.option("--onnx", type=click.Path(path_type=Path), help="With --to vnnlib: the model's file, if not beside -o.")
@click.option(
    "--program",
    metavar="FILE|NAME",
    help="What it was trained for, where the file does not say; of a network of cells, with --to c, js, page or onnx, "
    "the program to run.",
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
    form: str,
    output: Path,
    onnx: Path | None,
    program: str | None,
    bits: int | None,
    let: tuple[str, ...],
    graph: str | None,
    values: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Write a trained network, or one of whole numbers, as source text or for other people's tools."""
    from bitwright.files.storage import check_writable
    from bitwright.networks import IntegerNetwork
    from bitwright.networks.members import network_files

    if form not in FORMATS:
        raise InputError(f"--to takes {' or '.join(FORMATS)}, got {form}{suggestion(form, list(FORMATS))}")
    chosen = FORMATS[form]
    if output.suffix not in chosen.suffixes:
        raise InputError(f"-o takes a {' or '.join(chosen.suffixes)} file with --to {form}, got {output}")
    if program is None and (bits is not None or let):
        raise InputError("--bits and --let go with --program, whose size they give")
    if not chosen.page and (graph is not None or values):
        raise InputError("--graph and --input go with --to page")
    keep_lets(program, let)
    if network.suffix.lower() in (".bw", ".sbn", ".sq", ".dec"):
        raise InputError(
            f"{network} is a program; the network comes first, the program behind --program: "
            f"bitwright export NETWORK.safetensors --to {form} --program {network} -o {output}"
        )
    check_writable(output)
    files = network_files(network)
    if len(files) > 1:
        raise InputError(f"{network} holds several networks; quantize makes one of them, which can be exported")
    with working("exporting"):
        given = _given(files[0], _Asked(program, bits, graph, values), chosen)
        written = chosen.write(given, output, onnx)
    if as_json:
        found = given.network
        print_json(
            {
                "file": str(output),
                "files": [str(file) for file in written.files],
                "to": form,
                "name": _name(given),
                "program_id": (given.algorithm or given).program.id,
                "integer": isinstance(found, IntegerNetwork),
                "examples": given.program.templates + found.origin.padding,
                "padding": found.origin.padding,
                "width": found.shape.width,
                "digest": found.digest,
                **written.about,
            }
        )
        return
    note(written.note, quiet)
    click.echo(str(output))


def _name(given: _Given) -> str:
    if given.algorithm is not None:
        return given.algorithm.name
    return Path(given.asked.program).stem if given.asked.program else "cells"


def _given(file: Path, asked: _Asked, chosen: _Format) -> _Given:
    from bitwright.app.programs import is_image
    from bitwright.app.whole import algorithm_in
    from bitwright.networks import load_any_network
    from bitwright.networks.store import read_about
    from bitwright.program.pattern import read_pattern

    about, program, bits = read_about(file), asked.program, asked.bits
    by_cells = chosen.source or (chosen.step and program is not None)
    pattern = read_pattern(about.bits, about.examples) if by_cells else None
    if pattern is None:
        algorithm = algorithm_in(about) if program is None else find_algorithm(program, bits, files=[file])
        return _Given(load_any_network(file, algorithm.program), algorithm.program, None, algorithm, asked)
    if chosen.page:  # what it is that runs, its page finds out
        return _Given(load_any_network(file, pattern.program), pattern.program, pattern, None, asked)
    if program is not None and is_image(program):
        raise InputError(
            f"{program} is for machine V, which needs a console; run it with: bitwright run, or take --to page"
        )
    found = None if program is None else find_algorithm(program, bits)
    return _Given(load_any_network(file, pattern.program), pattern.program, pattern, found, asked)
