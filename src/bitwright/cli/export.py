"""`bitwright export`: a network in a form that other people's tools read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bitwright.cli.export_page import page_of_cells
from bitwright.cli.options import json_option, quiet_option
from bitwright.cli.progress import working
from bitwright.cli.reporting import note, print_json
from bitwright.cli.targets import find_algorithm, keep_lets, parse_values
from bitwright.errors import InputError, suggestion

if TYPE_CHECKING:
    from bitwright.api.export.writing import Export, Subject


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

    what: str
    source: bool = False  # whether it is a program too: then networks of cells take any program of their kinds
    step: bool = False  # whether it is one where a network of cells comes with a program


FORMATS = {
    "c": _Format("one C99 file, with a program that runs", source=True),
    "js": _Format("a module of JavaScript, with its types", source=True),
    "page": _Format("a page that runs it in a browser, offline", source=True),
    "onnx": _Format("a model to run", step=True),
    "vnnlib": _Format("a folder for verifiers, with a property for each state and the model"),
}


@click.command("export")
@click.argument("network", metavar="NETWORK", type=click.Path(path_type=Path))
@click.option(
    "--to",
    "form",
    help="; ".join(f"{name}: {form.what}" for name, form in FORMATS.items()) + ". Without it, what -o ends in says it.",
)
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(path_type=Path),
    help="The file to write; with --to vnnlib the folder, which must be new or empty.",
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
    form: str | None,
    output: Path,
    states: str | None,
    vnnlib_version: str | None,
    program: str | None,
    bits: int | None,
    let: tuple[str, ...],
    graph: str | None,
    values: tuple[str, ...],
    as_json: bool,
    quiet: bool,
) -> None:
    """Write a trained network, or one of whole numbers, as source text or for other people's tools."""
    from bitwright.api.export.writing import SUFFIXES, WRITERS, write_vnnlib
    from bitwright.files.storage import check_writable
    from bitwright.networks import IntegerNetwork
    from bitwright.networks.members import network_files

    if form is None:
        ends = {suffix: name for name, suffixes in SUFFIXES.items() for suffix in suffixes}
        if (form := ends.get(output.suffix)) is None:
            more = "; --to vnnlib writes a folder" if output.suffix == ".vnnlib" else ""
            raise InputError(f"give --to {' or '.join(FORMATS)}, or -o a file that ends in {' or '.join(ends)}{more}")
    if form not in FORMATS:
        raise InputError(f"--to takes {' or '.join(FORMATS)}, got {form}{suggestion(form, list(FORMATS))}")
    chosen = FORMATS[form]
    if form != "vnnlib" and output.suffix not in SUFFIXES[form]:
        raise InputError(f"-o takes a {' or '.join(SUFFIXES[form])} file with --to {form}, got {output}")
    if form != "vnnlib" and (states is not None or vnnlib_version is not None):
        raise InputError("--states and --vnnlib-version go with --to vnnlib")
    numbers = _numbers(states)
    if program is None and (bits is not None or let):
        raise InputError("--bits and --let go with --program, whose size they give")
    if form != "page" and (graph is not None or values):
        raise InputError("--graph and --input go with --to page")
    keep_lets(program, let)
    if network.suffix.lower() in (".bw", ".sbn", ".sq", ".dec"):
        raise InputError(
            f"{network} is a program; the network comes first, the program behind --program: "
            f"bitwright export NETWORK.safetensors --to {form} --program {network} -o {output}"
        )
    if form != "vnnlib":
        check_writable(output)
    files = network_files(network)
    if len(files) > 1:
        raise InputError(f"{network} holds several networks; quantize makes one of them, which can be exported")
    with working("exporting"):
        asked = _Asked(program, bits, graph, values)
        given = _given(files[0], asked, chosen, form)
        if form == "vnnlib":
            written = write_vnnlib(given, output, numbers, vnnlib_version or "1.0")
        else:
            written = _page(given, asked, output) if form == "page" else WRITERS[form](given, output)
    if as_json:
        found = given.network
        print_json(
            {
                "file": str(output),
                "files": [str(file) for file in written.files],
                "to": form,
                "name": _name(given, program),
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


def _numbers(states: str | None) -> range | None:
    """`0..999`, or one number."""
    if states is None:
        return None
    found = re.fullmatch(r"(\d{1,19})(?:\.\.(\d{1,19}))?", states.strip(), re.ASCII)
    if found is None or int(found[1]) > int(found[2] or found[1]):
        raise InputError(f"--states is a range such as 0..999, got '{states[:40]}'")
    return range(int(found[1]), int(found[2] or found[1]) + 1)


def _page(given: Subject, asked: _Asked, output: Path) -> Export:
    from bitwright.api.export.pages import program_page
    from bitwright.api.export.writing import write_texts

    network, pattern = given.whole_numbers, given.pattern
    if pattern is None:
        if asked.graph is not None:
            raise InputError("--graph goes with node programs")
        assert given.algorithm is not None
        page = program_page(network, None, given.algorithm, parse_values(asked.values))
    else:
        page = page_of_cells(network, pattern, asked.program, asked.bits, asked.graph, asked.values)
    return write_texts({output: page.text}, page.claim, view=page.view)


def _name(given: Subject, program: str | None) -> str:
    if given.algorithm is not None:
        return given.algorithm.name
    return Path(program).stem if program else "cells"


def _given(file: Path, asked: _Asked, chosen: _Format, form: str) -> Subject:
    from bitwright.api.export.writing import Subject
    from bitwright.api.open import is_image
    from bitwright.api.whole import algorithm_in
    from bitwright.networks import load_any_network
    from bitwright.networks.store import read_about
    from bitwright.program.pattern import read_pattern

    about, program, bits = read_about(file), asked.program, asked.bits
    by_cells = chosen.source or (chosen.step and program is not None)
    pattern = read_pattern(about.bits, about.examples) if by_cells else None
    if pattern is None:
        algorithm = algorithm_in(about) if program is None else find_algorithm(program, bits, files=[file])
        return Subject(load_any_network(file, algorithm.program), algorithm.program, None, algorithm)
    if form == "page":  # what it is that runs, its page finds out
        return Subject(load_any_network(file, pattern.program), pattern.program, pattern, None)
    if program is not None and is_image(program):
        raise InputError(
            f"{program} is for machine V, which needs a console; run it with: bitwright run, or take --to page"
        )
    found = None if program is None else find_algorithm(program, bits)
    return Subject(load_any_network(file, pattern.program), pattern.program, pattern, found)
