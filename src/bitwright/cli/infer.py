"""`bitwright infer`: templates from executions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from bitwright.api.open import SIZED
from bitwright.cli.options import json_option, let_option, quiet_option
from bitwright.cli.progress import working
from bitwright.cli.targets import find_algorithm, given_lets
from bitwright.errors import InputError, problems_of, suggestion

if TYPE_CHECKING:
    from bitwright.checking.inference.recovered import Undetermined
    from bitwright.files.executions import Executions
    from bitwright.program import Algorithm, Layout

FIND = "find"


@click.command("infer")
@click.argument("traces", nargs=-1, required=True, metavar="TRACES...", type=click.Path(path_type=Path))
@click.option(
    "--blocks",
    "target",
    metavar="LAYOUT|NAME|TEXT|find",
    help="A rule file or NAME whose blocks are meant, blocks as text such as 'p[1] q[1]; c[1]', or find.",
)
@click.option("--bits", type=int, help="For names of programs: the bit length of the numbers.")
@let_option
@click.option("--output", "-o", type=click.Path(path_type=Path), help="The .bw file to write.")
@click.option(
    "--undetermined",
    type=click.Choice(["off", "on", "refuse"]),
    default="off",
    show_default=True,
    help="Writes that are not determined: left out and listed, written, or the answer no.",
)
@click.option("--against", metavar="FILE|NAME", help="Compare with this program.")
@click.option("--grid", metavar="HxW", help="The states are boards of a cellular automaton on a torus, row by row.")
@click.option("--neighbourhood", help="With --grid: moore (the default), von-neumann or line.")
@click.option(
    "--cell", type=click.Path(path_type=Path), help="With --grid: write the rule of one cell to this .bw file."
)
@json_option
@quiet_option
def command(
    traces: tuple[Path, ...],
    target: str | None,
    bits: int | None,
    output: Path | None,
    undetermined: Undetermined,
    against: str | None,
    grid: str | None,
    neighbourhood: str | None,
    cell: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Recover templates from executions: which writes they confirm, exclude, or leave open.

    \b
    bitwright dataset addition --executions 200 --random -o states.npz
    bitwright infer states.npz --blocks examples/addition.bw -o found.bw
    bitwright infer states.npz --blocks find
    bitwright infer boards.npz --grid 16x16 -o life.bw
    """
    from bitwright.files.executions import joined, load_executions
    from bitwright.files.storage import check_writable

    for file in (output, cell):
        if file is not None:
            if file.suffix != ".bw":
                raise InputError(f"rules are written to a .bw file, got {file}")
            check_writable(file)
    if (target is None) == (grid is None):
        raise InputError(
            "say which bits are read together: --blocks LAYOUT.bw, --blocks 'p[1] q[1]; c[1]', --blocks find, "
            "or --grid HxW for boards"
        )
    with working("reading"):
        executions = joined([(str(path), load_executions(path)) for path in traces])
    if grid is not None:
        from bitwright.cli.infer_boards import infer_boards

        if against is not None or undetermined != "off":
            raise InputError("--against and --undetermined go with --blocks, not with --grid")
        return infer_boards(executions, *_grid(grid), neighbourhood or "moore", output, cell, as_json, quiet)
    if neighbourhood is not None or cell is not None:
        raise InputError("--neighbourhood and --cell go with --grid")
    assert target is not None
    return _infer(executions, target, bits, output, undetermined, against, as_json, quiet)


def _infer(
    executions: Executions,
    target: str,
    bits: int | None,
    output: Path | None,
    undetermined: Undetermined,
    against: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    from bitwright.api.inference import check_same_bits, inferred
    from bitwright.cli import infer_report as report
    from bitwright.program.tables import layout_of_names

    layout = layout_of_names(executions.names)
    other = None if against is None else find_algorithm(against, bits if against in SIZED else None)
    if other is not None:
        check_same_bits(other.program.layout, layout, against or "")
    given, blocks = (None, None) if target == FIND else _blocks(target, bits, layout)
    what = "looking for blocks, looks" if blocks is None else "comparing executions"
    with working(what, at_most=blocks is None) as progress:
        found = inferred(executions, layout, given, blocks, progress)
        comparison = None if other is None or not found.explained else found.compare(other)
    if found.contradiction is not None:
        return report.contradicted(executions, found.contradiction, as_json)
    if not found.explained:
        return report.no_blocks(found, as_json)
    return report.recovered(found, comparison, undetermined, output, as_json, quiet)


def _blocks(target: str, bits: int | None, layout: Layout) -> tuple[Algorithm | None, list[list[int]]]:
    """The blocks that a rule file, the name of a program or a text gives, with the algorithm that has them."""
    from bitwright.api.inference import blocks_of
    from bitwright.program.text.files import read_text
    from bitwright.program.text.layouts import parse_blocks, parse_layout

    if target in SIZED:
        algorithm = find_algorithm(target, bits)
    elif target.lower().endswith(".bw"):
        path = Path(target)
        with problems_of(path):
            algorithm = parse_layout(read_text(path), path.stem, given_lets())
    elif not re.search(r"[\s;\[]", target) and target not in layout:
        hint = suggestion(target, [FIND, *SIZED])
        raise InputError(f"--blocks takes a .bw file, a name, blocks as text, or find, got '{target}'{hint}")
    else:
        return None, parse_blocks(layout, target)
    return algorithm, blocks_of(algorithm, layout, target)


def _grid(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([0-9]{1,5})x([0-9]{1,5})", text, re.ASCII)
    if found is None:
        raise InputError(f"--grid takes rows and columns such as 16x16, got '{text}'")
    return int(found[1]), int(found[2])
