"""`bitwright show`: a program's names, blocks, rules and sizes; or what a network file is."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.cli import options as opt
from bitwright.cli.progress import note, working
from bitwright.cli.reporting import print_json
from bitwright.cli.run_graph import node_program
from bitwright.cli.streams import print_lines
from bitwright.cli.targets import Target
from bitwright.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

    from bitwright import Algorithm

_DESCENTS = {"balanced": "balanced steps", "momentum": "momentum", "plain": "plain gradient descent"}


@opt.verb("show")
@opt.program("FILE|NAME|NETWORK")
@click.option(
    "--diagram",
    type=opt.FILE,
    help="Write a diagram to this .svg file: by cells where blocks are grouped; otherwise, and of machines, by blocks.",
)
@click.option("--blocks", is_flag=True, help="With --diagram: draw it by blocks.")
@click.option("--text", is_flag=True, help="Print the whole program, with its cells, as canonical rule text instead.")
@opt.tile
@opt.json
def command(
    target: Target,
    diagram: Path | None,
    blocks: bool,
    text: bool,
    tile: Any,
    as_json: bool,
) -> None:
    """Show what a program consists of, or what a .safetensors file of a network is.

    The id of a program is the sha256 of its canonical text. --tile N shows the kinds of its cells, and the pattern that
    has one of each.
    """
    from bitwright.api.show import cell_kinds, node_report, save_diagram, tiled

    if Path(target.name).suffix.lower() == ".safetensors":
        others = {"bits": target.bits, "order": target.order, "machine": target.machine, "diagram": diagram}
        others |= {"text": text or None, "blocks": blocks or None}
        _show_network(Path(target.name), [name for name, value in others.items() if value is not None], as_json)
        return
    if tile is None and (program := node_program(target)) is not None:
        if target.sized or blocks:
            raise InputError("of a node program there is --text, --json, --tile and --diagram")
        if diagram is None:
            if as_json and not text:
                print_json(program.to_dict())
            else:
                print_lines(program.text_lines() if text else node_report(program))
            return
        tile = 1  # that is what there is to draw of it
    algorithm = target.algorithm(cells=tile is not None)
    if blocks and (diagram is None or tile is not None):
        raise InputError("--blocks goes with --diagram, and without --tile")
    if diagram is not None and text:
        raise InputError("--diagram draws and --text prints; leave out one of them")
    if diagram is not None:
        with working("drawing"):
            save_diagram(algorithm, diagram, tile, blocks)
        note(f"wrote {diagram}")
    elif tile is not None and not text:
        found = cell_kinds(algorithm, tile)
        if as_json:
            print_json(found.to_dict())
            return
        click.echo(f"{found}\n\n# the pattern: one cell of each kind; ports are bits that nothing reads")
        print_lines(found.pattern.program.text_lines())
    elif text:
        print_lines((algorithm if tile is None else tiled(algorithm, tile)).text_lines())
    elif as_json:
        print_json(algorithm.to_dict())
    else:
        _tables(algorithm)


def _tables(algorithm: Algorithm) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from bitwright.api.show import Summary

    program, found = algorithm.program, Summary.of(algorithm)
    console = Console(highlight=False)
    console.print(Text.assemble((algorithm.name, "bold"), f"  {algorithm.description}"), soft_wrap=True)

    sizes = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for what, value in found.facts:
        sizes.add_row(what, value)
    console.print(sizes)
    console.print(f"id                {program.id}", soft_wrap=True)

    _table(console, ("name", "bits", "writers of each bit"), found.names)
    _table(console, ("block", "how many", "templates in each"), found.blocks)
    _table(console, ("rule", "templates"), [(_shortened(text), count) for text, count in found.rules])


def _table(console: Console, headings: tuple[str, ...], rows: Sequence[tuple[str, ...]], most: int = 60) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", pad_edge=False)
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="left" if number == 0 else "right", overflow="fold")
    for row in rows[:most]:
        table.add_row(*(Text(cell) for cell in row))
    console.print()
    console.print(table)
    if len(rows) > most:
        console.print(f"... and {len(rows) - most:,} more (--text prints everything)")


def _shortened(text: str, most: int = 300) -> str:
    return text if len(text) <= most else f"{text[:most]} ... ({text.count(' '):,} words; --text prints all)"


def _show_network(path: Path, others: Sequence[str], as_json: bool) -> None:
    """Prints what a network file contains; reads all of it, so that a damaged one is refused."""
    from bitwright.api.network import Network, file_format

    if others:
        raise InputError(f"--{others[0]} goes with programs; {path} is a network, and says what it was trained for")
    with working("trying its states"):
        network = Network.load(path)
        found = network.to_dict()
    proof = f"bitwright certify {network.name or 'PROGRAM'} --network {shlex.quote(str(path))}"
    found = {"file": str(path), "format": file_format(path), **found, "proof": proof}
    if as_json:
        print_json(found)
    else:
        click.echo("\n".join(_lines(found)))


def _learnt_from(found: dict[str, Any]) -> list[str]:
    """A line about the executions that it was trained on, if any."""
    learnt = found.get("executions")
    if learnt is None:
        return []
    runs = "states of runs" if learnt["runs"] is None else f"states of {learnt['runs']:,} runs"
    of = {"runs": runs, "states": "random states", "file": "states of a file"}[learnt["source"]]
    seed = "" if learnt["sample_seed"] is None else f", sample seed {learnt['sample_seed']}"
    return [
        f"  executions {learnt['examples']:,} different examples in {learnt['states']:,} {of}{seed}, "
        f"{learnt['labels']} labels; sha256 {learnt['sha256']}"
    ]


def _lines(found: dict[str, Any]) -> list[str]:
    several = f"{found['members']:,} networks, " if found["members"] > 1 else ""
    kind = f"{found['weight_bits']}-bit integers" if found["integer"] else f"weights of {found['precision']}"
    padding = f", {found['padding']:,} of them padding" if found["padding"] else ", no padding"
    descent = _DESCENTS[found["descent"]]
    return [
        f"{found['file']}: a network of {kind}, trained for {found['trained_for']}",
        f"  width      {found['width']:,}; {found['bytes']:,} bytes",
        f"  examples   K = {found['examples']:,}{padding}; {found['bits']:,} bits",
        f"  training   {several}seed {found['seed']}, member {found['member']}, start {found['start']}, "
        f"{found['parametrization']} parametrization, {descent}, {found['steps']:,} steps by {found['trainer']}",
        *([f"  kernel     {found['kernel']}"] if found["kernel"] else []),
        *_learnt_from(found),
        f"  error      {found['error']:.2g} at most on its examples"
        + (", before quantizing" if found["integer"] else ""),
        *(f"  {name:<10} sha256 {value}" for name, value in found["tensors"].items()),
        f"  network    sha256 {found['digest']}",
        f"  {'program' if 'kinds' not in found else 'pattern'}    {found['program_id']}",
        f"  format     {found['format']}",
        f"  claim      {found['claim']}; {found['proof']} "
        + ("writes a certificate of it with -o" if found["proved"] else "proves it or finds where it is wrong"),
    ]
