"""`bitwright show`: a program's names, blocks, rules and sizes; or what a network file is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bitwright.cli.options import bits_option, json_option, machine_option, order_option
from bitwright.cli.progress import working
from bitwright.cli.reporting import note, print_json
from bitwright.cli.run_graph import node_program
from bitwright.cli.show_network import is_network, show_network
from bitwright.cli.show_nodes import show_nodes
from bitwright.cli.streams import print_lines
from bitwright.cli.targets import find_algorithm
from bitwright.errors import InputError, counted

if TYPE_CHECKING:
    from bitwright.api.open import MachineChoice
    from bitwright.program import Algorithm, Program


@click.command("show")
@click.argument("target", metavar="FILE|NAME|NETWORK")
@bits_option
@order_option
@machine_option
@click.option(
    "--diagram",
    type=click.Path(path_type=Path),
    help="Write a diagram to this .svg file: by cells where blocks are grouped; otherwise, and of machines, by blocks. "
    "Graphviz lays it out where it is installed.",
)
@click.option("--blocks", is_flag=True, help="With --diagram: draw it by blocks.")
@click.option("--text", is_flag=True, help="Print the whole program, with its cells, as canonical rule text instead.")
@click.option(
    "--cells",
    is_flag=True,
    help="Show the kinds of cells and the pattern that has one of each; with --diagram: draw it by cells.",
)
@click.option(
    "--tile", type=click.IntRange(1, 16), help="With --cells or --text: take this many neighbouring cells as one."
)
@json_option
def command(
    target: str,
    bits: int | None,
    order: str | None,
    machine: MachineChoice | None,
    diagram: Path | None,
    blocks: bool,
    text: bool,
    cells: bool,
    tile: int | None,
    as_json: bool,
) -> None:
    """Show what a program consists of, or what a .safetensors file of a network is.

    The id of a program is the sha256 of its canonical text.
    """
    if is_network(target):
        others = {"bits": bits, "order": order, "machine": machine, "diagram": diagram, "text": text or None}
        others |= {"blocks": blocks or None}
        show_network(Path(target), [name for name, value in others.items() if value is not None], as_json)
        return
    if not cells and (program := node_program(target)) is not None:
        if bits is not None or order is not None or machine is not None or tile is not None or blocks:
            raise InputError("of a node program there is --text, --json, --cells and --diagram")
        if diagram is None:
            show_nodes(program, text, as_json)
            return
        cells = True  # that is what there is to draw of it
    algorithm = find_algorithm(target, bits, order, machine=machine, cells=cells)
    if tile is not None and not (cells or text):
        raise InputError("--tile goes with --cells or --text")
    if blocks and (diagram is None or cells):
        raise InputError("--blocks goes with --diagram, and without --cells")
    if diagram is not None and text:
        raise InputError("--diagram draws and --text prints; leave out one of them")
    if diagram is not None:
        _draw(algorithm, diagram, cells, blocks, tile or 1)
    elif cells:
        from bitwright.cli.show_cells import show_cells

        if text:
            raise InputError("--cells shows the kinds of cells; leave out --text")
        show_cells(algorithm, tile or 1, as_json)
    elif text:
        print_lines((algorithm if tile is None else _tiled(algorithm, tile)).text_lines())
    elif as_json:
        print_json(algorithm.to_dict())
    else:
        _tables(algorithm)


def _tiled(algorithm: Algorithm, tile: int) -> Algorithm:
    program = algorithm.program
    return replace(algorithm, program=replace(program, grouped=program.cells.tiled(tile)))


def _draw(algorithm: Algorithm, path: Path, cells: bool, blocks: bool, tile: int) -> None:
    """Kinds of cells or blocks, as asked for; otherwise cells where there are some, but machines by their units."""
    from bitwright.files.storage import write_atomically
    from bitwright.viewer.cell_diagram import cell_diagram_svg
    from bitwright.viewer.diagram import SBN_UNITS, diagram_svg

    if path.suffix != ".svg":
        raise InputError(f"--diagram takes a .svg file, got {path}")
    layout, units, title = algorithm.program.layout, None, f"{algorithm.name}: {algorithm.description}"
    if "T_token_0" in layout:
        units = {"T": "Address tree", "M": "Words", "R": "Reading tree", "P": "Port", "D": "Subtractor"}
        units |= {"C": "Program counter"} | ({"IO": "Console"} if "IO_request" in layout else {})
        units |= {"S": "Sequencer"}
        title = f"Machine V, {algorithm.description.partition(', ')[2]}"
    elif "M_word" in layout or "M_mem_cont" in layout:
        units = SBN_UNITS
        title = f"An SBN machine, as {algorithm.name} needs it"
    with working("drawing"):
        if cells or (algorithm.program.grouped is not None and units is None and not blocks):
            picture = cell_diagram_svg(algorithm.program, algorithm.name, tile)
        else:
            picture = diagram_svg(algorithm.program, title, units)
    write_atomically(path, picture.encode())
    note(f"wrote {path}")


def _tables(algorithm: Algorithm) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from bitwright.errors import listing
    from bitwright.program import summary

    program = algorithm.program
    console = Console(highlight=False)
    console.print(Text.assemble((algorithm.name, "bold"), f"  {algorithm.description}"), soft_wrap=True)

    sizes = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for what, value in (
        ("bits (k)", f"{program.bits:,}"),
        ("blocks (b)", f"{program.blocks:,}"),
        ("templates (K)", f"{program.templates:,}"),
        ("writers of a bit", f"at most {int(program.writers.max()):,}"),
        ("never written", _never_written(program)),
        ("inputs", listing([f"{word.name} ({len(word.bits):,})" for word in algorithm.inputs], 12) or "none"),
        ("outputs", listing([f"{word.name} ({len(word.bits):,})" for word in algorithm.outputs], 12)),
        ("done", _ending(algorithm)),
    ):
        sizes.add_row(what, value)
    console.print(sizes)
    console.print(f"id                {program.id}", soft_wrap=True)

    _table(
        console,
        ("name", "bits", "writers of each bit"),
        [(item.name, f"{item.bits:,}", _span(item.writers_min, item.writers_max)) for item in summary.names(program)],
    )
    _table(
        console,
        ("block", "how many", "templates in each"),
        [
            (" ".join(item.example), f"{item.count:,}", _span(item.templates_min, item.templates_max))
            for item in summary.blocks(program)
        ],
    )
    _table(
        console,
        ("rule", "templates"),
        [(_shortened(item.text), f"{item.count:,}") for item in summary.rules(program)],
    )


def _table(console: Console, headings: tuple[str, ...], rows: list[tuple[str, ...]], most: int = 60) -> None:
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


def _never_written(program: Program) -> str:
    from bitwright.program import summary

    count = int((program.writers == 0).sum())
    shown = summary.never_written(program, 5)
    return (", ".join(shown) + (f" and {count - 5:,} more" if count > 5 else "")) or "none"


def _span(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _ending(algorithm: Algorithm) -> str:
    if algorithm.halt is None:
        return f"after {counted(algorithm.steps or 0, 'step')}"
    when = (
        f"when {algorithm.program.layout.name_of(algorithm.halt)} is on"
        if isinstance(algorithm.halt, int)
        else "when a step changes nothing"
    )
    return when if algorithm.steps is None else f"{when}, in at most {counted(algorithm.steps, 'step')}"


if TYPE_CHECKING:
    from rich.console import Console
