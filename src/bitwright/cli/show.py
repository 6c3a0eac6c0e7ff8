"""`bitwright show`: the names, blocks, rules and sizes of a program, or the facts of a network file."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from bitwright.cli import options as opt
from bitwright.cli.progress import note, working
from bitwright.cli.reporting import print_json, print_lines
from bitwright.cli.targets import Target
from bitwright.common.errors import InputError, columns


@opt.verb("show", "FILE|NAME|NETWORK")
def command(target: Target, output: Path | None, text: bool, tile: Any, as_json: bool) -> None:
    """Show the parts of a program, or describe a network or decoder in a .safetensors file.

    The id of a program is the sha256 hash of its canonical text. --tile N shows the kinds of cells and the pattern (a
    program with one cell of each kind).
    """
    from bitwright.verbs.graphs import as_node_program
    from bitwright.verbs.show import cell_kinds, node_report, program_report, save_diagram, tiled

    if Path(target.name).suffix.lower() == ".safetensors":
        opt.allow_only(f"the file of a network, {target.name}", "as_json")
        _show_network(Path(target.name), as_json)
        return
    if output is not None and text:
        raise InputError("--text cannot be used with -o; leave out one of them")
    if tile is None and (program := as_node_program(target.name, target.lets, any_rules=False)) is not None:
        opt.allow_only("a node program", "text", "as_json", "tile", "output", "let")
        if output is None:
            if as_json and not text:
                print_json(program.to_dict())
            else:
                print_lines(program.text_lines() if text else node_report(program))
            return
        tile = 1  # a node program is drawn by its cells
    algorithm = target.algorithm(cells=tile is not None)
    if output is not None:
        with working("drawing"):
            save_diagram(algorithm, output, tile)
        note(f"wrote {output}")
    elif text:
        print_lines((algorithm if tile is None else tiled(algorithm, tile)).text_lines())
    elif tile is not None:
        found = cell_kinds(algorithm, tile)
        if as_json:
            print_json(found.to_dict())
            return
        click.echo(f"{found}\n\n# the pattern: one cell of each kind; ports are bits that nothing reads")
        print_lines(found.pattern.program.text_lines())
    elif as_json:
        print_json(algorithm.to_dict())
    else:
        print_lines(program_report(algorithm))


def _show_network(path: Path, as_json: bool) -> None:
    """Prints the facts of a network or decoder file; reads all of it, to reject a damaged file."""
    from bitwright.verbs.network import Network, is_decoder_file

    if is_decoder_file(path):
        from bitwright.verbs.decoders import describe_file

        found, what = describe_file(path), "TASK"
    else:
        with working("checking its states"):
            network = Network.load(path)
            found, what = {"file": str(path), **network.to_dict()}, network.name or "PROGRAM"
    found["proof"] = f"bitwright certify {what} --network {shlex.quote(str(path))}"
    if as_json:
        print_json(found)
    else:
        print_lines(columns([*_facts(found)]))


def _facts(found: Mapping[str, Any], within: str = "") -> Iterator[list[str]]:
    """Yields facts as rows of a name and a value; the name of a nested fact includes its parent's."""
    for name, value in found.items():
        label = within + name.replace("_", " ")
        if isinstance(value, Mapping):
            yield from _facts(value, f"{label} ")
        elif isinstance(value, list):
            yield [label, "; ".join(map(str, value))]
        elif value is not None:
            shown = ("no", "yes")[value] if isinstance(value, bool) else value
            yield [
                label,
                f"{shown:,}" if isinstance(shown, int) else f"{shown:.3g}" if isinstance(shown, float) else shown,
            ]
