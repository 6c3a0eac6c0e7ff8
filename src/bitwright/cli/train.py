"""`bitwright train`: a network for the cells of programs, or of the whole state of one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings

import click

from bitwright.cli.options import (
    bits_option,
    json_option,
    machine_option,
    order_option,
    padding_option,
    quiet_option,
    recipe_options,
    workers_option,
)
from bitwright.cli.progress import TerminalTeller
from bitwright.cli.reporting import note, print_json
from bitwright.cli.sizes import keep_sizes
from bitwright.cli.targets import find_algorithm
from bitwright.errors import InputError, counted

if TYPE_CHECKING:
    from bitwright.api.executions import Sample
    from bitwright.api.network import Network
    from bitwright.api.open import MachineChoice


@click.command("train")
@click.argument("target", metavar="FILE|NAME")
@click.argument("others", nargs=-1, metavar="[FILE|NAME]...")
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(path_type=Path),
    help="A .safetensors file; a folder for several networks.",
)
@bits_option
@order_option
@machine_option
@click.option("--whole", is_flag=True, help="Train on the whole state of one program, not on its cells.")
@click.option("--sizes", help="Of cells: the kinds of all these sizes, such as 1..64, or l=1..64.")
@click.option("--tile", type=click.IntRange(1, 16), help="Of cells: take this many neighbouring cells as one.")
@click.option("--seeds", type=click.IntRange(1, 1000), help="Of cells: try up to this many seeds.  [default: 10]")
@click.option(
    "--integer/--float", default=None, help="Integer weights or not.  [default: integers, floats with --whole]"
)
@click.option("--weight-bits", type=click.IntRange(2, 8), help="Bits of an integer weight.  [default: 8]")
@recipe_options(start="zero")
@padding_option
@click.option("--from", "source", metavar="runs|states|FILE", help="Learn from executions instead of templates.")
@click.option("--runs", type=click.IntRange(1, 10**6), help="With --from runs: every step of this many runs.")
@click.option("--states", type=click.IntRange(1, 10**6), help="With --from: this many states.  [default: 20 K]")
@click.option(
    "--labels",
    type=click.Choice(["scaled", "plain"]),
    help="With --from: 1 over sqrt(n), or 1, where a bit is set.  [default: scaled]",
)
@click.option("--sample-seed", type=click.IntRange(0, 2**63), help="With --from: which inputs or states.")
@click.option(
    "--networks",
    type=click.IntRange(1, 10**6),
    default=1,
    show_default=True,
    help="Train this many: side by side as one integer network, or as floats in a folder.",
)
@workers_option
@click.option("--onnx", type=click.Path(path_type=Path), help="Also write the network as an .onnx file.")
@json_option
@quiet_option
def command(
    target: str,
    others: tuple[str, ...],
    output: Path,
    bits: int | None,
    order: str | None,
    machine: MachineChoice | None,
    whole: bool,
    tile: int | None,
    sizes: str | None,
    networks: int,
    integer: bool | None,
    weight_bits: int | None,
    seeds: int | None,
    workers: str,
    onnx: Path | None,
    as_json: bool,
    quiet: bool,
    **how: Any,
) -> int:
    """Train one small integer network for the cells of programs, and try every local state.

    It runs every program with these kinds of cells, in any size; several programs may be named. With --whole the
    network is for the whole state of one program in one size.

    \b
    bitwright train addition --bits 4 -o adder.safetensors
    bitwright train addition --bits 8 --tile 2 --from runs -o adder.safetensors  # never shown a template
    bitwright train addition --bits 4 --whole --integer -o whole.safetensors
    """
    from bitwright.api.train import check_outputs, train, train_members
    from bitwright.errors import BitwrightWarning

    executions = _sample(how)
    folder = networks > 1 and not (not whole if integer is None else integer)
    if folder and (onnx is not None or executions is not None):
        raise InputError("a folder holds networks that are trained on templates; leave out --from and --onnx")
    if not folder:
        check_outputs(output, onnx, workers=workers)
    keep_sizes(sizes)
    first = find_algorithm(target, bits, order, machine=machine, cells=not whole)
    programs = [first, *(find_algorithm(other, cells=not whole) for other in others)]
    options = {"cells": not whole, "sizes": sizes, "tile": tile or 1, "networks": networks, **how}
    tell = None if quiet else TerminalTeller()
    if folder:
        members = train_members(*programs, folder=output, workers=workers, progress=tell, **options)
        if as_json:
            print_json(members.to_dict())
        else:
            note(members.sentence, quiet)
            click.echo(str(output))
        return 0
    options |= {"integer": integer, "weight_bits": weight_bits or 8, "seeds": seeds or 10}
    with catch_warnings(action="ignore", category=BitwrightWarning):  # it is said below
        network = train(*programs, executions=executions, progress=tell, **options)
    network.save(output)
    if onnx is not None:
        network.export(onnx)
    if as_json:
        print_json({"file": str(output), **network.to_dict()})
    else:
        for line in _lines(network, output):
            note(line, quiet)
        click.echo(str(output))
    if network.training is not None and network.training.problem is not None:
        click.echo(f"bitwright: {network.training.problem}", err=True)
        return 1
    return 0


def _sample(how: dict[str, Any]) -> Sample | None:
    """Takes the options that say what to learn from out of all; None without --from."""
    names = ("runs", "states", "labels", "sample_seed")
    given = {name: value for name in names if (value := how.pop(name)) is not None}
    source = how.pop("source")
    if source is None:
        if given:
            raise InputError(f"--{next(iter(given)).replace('_', '-')} goes with --from")
        return None
    from bitwright.api.executions import Sample

    return Sample(source, **given)


def _lines(network: Network, file: Path) -> list[str]:
    """What was trained, and what is known of it."""
    made, origin = network.training, network.weights.origin
    assert made is not None
    tried = "" if made.seeds in (None, 1) else f", after {made.seeds} seeds"
    size = f"{network.sentence} in a {file.stat().st_size:,}-byte file, in {made.seconds:.2f} s{tried}"
    if network.trained_cells is not None:
        return [size, network.trained_cells.sentence]
    descent = f"trained in {counted(origin.steps, 'step')}; largest error {origin.error:.2g}"
    return [size, descent, *([] if network.rounding is None else [network.rounding])]
