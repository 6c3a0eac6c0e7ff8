"""`bitwright train`: a network trained on a program's templates, in a file; or several, in a folder."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from bitwright.cli.reporting import StepProgress, note, print_json
from bitwright.cli.targets import find_algorithm
from bitwright.cli.train_from import about_executions, from_options, say_whole, wanted_of
from bitwright.cli.training import train_shown
from bitwright.errors import InputError

if TYPE_CHECKING:
    from bitwright.api.open import MachineChoice
    from bitwright.networks import History, Network, Recipe
    from bitwright.networks.executions import ExecutionSet
    from bitwright.program import Algorithm
    from bitwright.workers import Workers


@click.command("train")
@click.argument("target", metavar="FILE|NAME")
@click.argument("others", nargs=-1, metavar="[FILE|NAME]...")
@click.option(
    "--output",
    "-o",
    required=True,
    type=click.Path(path_type=Path),
    help="A .safetensors file; for several, a folder.",
)
@bits_option
@order_option
@machine_option
@recipe_options(start="zero")
@padding_option
@from_options
@click.option("--networks", type=click.IntRange(1, 10**6), default=1, show_default=True, help="Members to train.")
@click.option("--integer", is_flag=True, help="Round it to whole numbers; several become one network, in one file.")
@click.option("--weight-bits", type=click.IntRange(2, 8), help="With --integer: bits of a weight.  [default: 8]")
@click.option("--cells", is_flag=True, help="Train one small network of integers for all cells of the program.")
@click.option("--tile", type=click.IntRange(1, 16), help="With --cells: take so many neighbouring cells as one.")
@click.option("--sizes", help="With --cells: the kinds of all these sizes, such as 1..64, or l=1..64.")
@click.option("--onnx", type=click.Path(path_type=Path), help="Also write the network as an .onnx file.")
@workers_option
@json_option
@quiet_option
def command(
    target: str,
    others: tuple[str, ...],
    output: Path,
    bits: int | None,
    order: str | None,
    machine: MachineChoice | None,
    padding: int | None,
    networks: int,
    integer: bool,
    weight_bits: int | None,
    cells: bool,
    tile: int | None,
    sizes: str | None,
    onnx: Path | None,
    workers: str,
    as_json: bool,
    quiet: bool,
    **how: Any,
) -> int:
    """Train networks on the templates of a program, to run it with --engine network --network FILE.

    With --cells several programs may be named, which one small network then serves.

    \b
    bitwright train addition --bits 4 -o adder.safetensors
    bitwright train addition --bits 8 --cells --tile 2 --from runs -o adder.safetensors  # never shown a template
    """
    from bitwright.workers import Workers

    helpers = Workers.parse(workers, how["device"])
    wanted = wanted_of(how)
    if wanted is not None and padding:
        raise InputError("--padding is for templates; leave it out with --from")
    algorithm = find_algorithm(target, bits, order, machine=machine, cells=cells)
    if others and not cells:
        raise InputError("one network serves several programs with --cells only; name one, or give --cells")
    if not cells and (tile is not None or sizes is not None):
        raise InputError(f"{'--tile' if tile is not None else '--sizes'} goes with --cells")
    if cells:
        from bitwright.cli.train_cells import train_network_of_cells

        if networks > 1 or padding or onnx is not None or helpers.kind != "serial":
            raise InputError("--cells trains one small network; leave out --networks, --padding, --onnx and --workers")
        return train_network_of_cells(
            algorithm, others, sizes, tile or 1, how, output, weight_bits or 8, as_json, quiet, wanted
        )
    recipe = make_recipe(algorithm, padding=padding or 0, **how)
    if weight_bits is not None and not integer and not cells:
        raise InputError("--weight-bits goes with --integer")
    executions = None
    if wanted is not None:
        from bitwright.api.executions import whole_set

        if networks > 1 and not integer:
            raise InputError("--from trains one network; several are made one with --integer")
        executions = whole_set(algorithm, wanted)
        say_whole(executions, recipe, algorithm.program, quiet)
    if integer:
        if helpers.kind != "serial":
            raise InputError("--workers does not go with --integer; train a folder with --networks, then quantize it")
        _train_whole(algorithm, recipe, executions, networks, output, onnx, weight_bits or 8, as_json, quiet)
    elif networks > 1:
        if onnx is not None:
            raise InputError("--onnx is for one network; leave out --networks")
        _train_folder(algorithm, recipe, networks, output, helpers, as_json, quiet)
    elif helpers.kind != "serial":
        raise InputError(f"--workers {workers} share several networks out; give --networks, or leave out --workers")
    else:
        _train_file(algorithm, recipe, executions, output, onnx, as_json, quiet)
    return 0


def make_recipe(
    algorithm: Algorithm,
    width: int | None,
    seed: int,
    start: str,
    plain: bool,
    balanced: bool,
    parametrization: str,
    tolerance: float,
    trainer: str,
    device: str,
    precision: str,
    threads: int,
    padding: int,
) -> Recipe:
    """A recipe from the options that users give."""
    from bitwright.checking.width import suggested_width
    from bitwright.networks import Plan, Recipe

    if plain and balanced:
        raise InputError("--plain and --balanced exclude each other; choose one")
    if trainer == "numpy" and device != "cpu":
        raise InputError(f"the numpy trainer runs on the cpu, got --device {device}; use --trainer torch")
    if trainer == "torch":
        from bitwright.networks.torch_trainer import check_device

        check_device(device)
    return Recipe(
        width=suggested_width(algorithm, padding) if width is None else width,
        seed=seed,
        start=start,  # type: ignore[arg-type]
        plan=Plan(tolerance, not (plain or balanced), parametrization, balanced=balanced),  # type: ignore[arg-type]
        padding=padding,
        trainer=trainer,
        device=device,
        precision=precision,
        threads=threads,
    )


def _train_file(
    algorithm: Algorithm,
    recipe: Recipe,
    executions: ExecutionSet | None,
    output: Path,
    onnx: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    from bitwright.networks import save_network

    _check_outputs(output, onnx)
    begin = time.perf_counter()
    network, history = train_shown(algorithm.program, recipe, executions)
    seconds = time.perf_counter() - begin
    save_network(network, algorithm.program, output)
    if onnx is not None:
        from bitwright.networks.onnx_file import save_onnx

        save_onnx(network, algorithm.program, onnx)
    if as_json:
        print_json(
            {
                "file": str(output),
                **_about(algorithm, recipe),
                **about_executions(executions),
                "steps": history.steps,
                "error": history.error[-1],
                "loss": history.loss[-1],
                "digest": network.digest,
                "seconds": round(seconds, 3),
            }
        )
        return
    note(_trained(network, history, executions, seconds), quiet)
    click.echo(str(output))


def _train_whole(
    algorithm: Algorithm,
    recipe: Recipe,
    executions: ExecutionSet | None,
    networks: int,
    output: Path,
    onnx: Path | None,
    weight_bits: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Trains networks, and writes the one of whole numbers that stands for them."""
    from bitwright.api.whole import whole_network
    from bitwright.cli.quantize import about_whole, rounding_note
    from bitwright.networks import save_network

    _check_outputs(output, onnx)
    begin = time.perf_counter()
    trained = [train_shown(algorithm.program, replace(recipe, member=member), executions) for member in range(networks)]
    network, cost = whole_network(algorithm, [network for network, _ in trained], weight_bits, executions)
    seconds = time.perf_counter() - begin
    save_network(network, algorithm.program, output)
    if onnx is not None:
        from bitwright.networks.onnx_file import save_integer_onnx

        save_integer_onnx(network, algorithm.program, onnx)
    if as_json:
        print_json(
            {
                "file": str(output),
                **_about(algorithm, recipe),
                **about_executions(executions),
                "steps": max(history.steps for _, history in trained),
                "error": max(history.error[-1] for _, history in trained),
                "loss": max(history.loss[-1] for _, history in trained),
                **about_whole(network, cost),
                "digest": network.digest,
                "seconds": round(seconds, 3),
            }
        )
        return
    note(_trained(*trained[-1], executions, seconds), quiet)
    note(rounding_note(network, cost), quiet)
    click.echo(str(output))


def _check_outputs(output: Path, onnx: Path | None) -> None:
    """Raises InputError now for files that could not be written after the training."""
    from bitwright.files.storage import check_writable

    if output.suffix != ".safetensors":
        raise InputError(f"-o takes a .safetensors file, got {output}")
    if onnx is not None:
        if onnx.suffix != ".onnx":
            raise InputError(f"--onnx takes an .onnx file, got {onnx}")
        from bitwright.networks.onnx_file import onnx_module

        onnx_module()
        check_writable(onnx)
    check_writable(output)


def _trained(network: Network, history: History, executions: ExecutionSet | None, seconds: float) -> str:
    examples = network.shape.inputs if executions is None else executions.set.examples
    return (
        f"trained {examples:,} examples at width {network.shape.width:,} in {history.steps:,} steps and "
        f"{seconds:.2f} s; largest error {history.error[-1]:.2g}"
    )


def _about(algorithm: Algorithm, recipe: Recipe) -> dict[str, object]:
    """What was trained, and how, for JSON."""
    return {
        "name": algorithm.name,
        "algorithm": algorithm.name,
        "program_id": algorithm.program.id,
        "examples": algorithm.program.templates + recipe.padding,
        "padding": recipe.padding,
        "width": recipe.width,
        "seed": recipe.seed,
        "start": recipe.start,
        "parametrization": recipe.plan.parametrization,
        "tolerance": recipe.plan.tolerance,
        "trainer": recipe.trainer,
        "device": recipe.device,
    }


def _train_folder(
    algorithm: Algorithm, recipe: Recipe, networks: int, output: Path, helpers: Workers, as_json: bool, quiet: bool
) -> None:
    from bitwright.networks.members import network_files, train_members
    from bitwright.networks.store import read_about

    if output.suffix == ".safetensors":
        raise InputError(f"{networks:,} networks go into a folder, got the file name {output}")
    begin = time.perf_counter()
    with StepProgress(not quiet, "networks") as progress:
        files = train_members(algorithm.program, recipe, networks, output, helpers, progress)
    seconds = time.perf_counter() - begin
    if as_json:
        print_json(
            {
                "folder": str(output),
                "networks": len(files),
                **_about(algorithm, recipe),
                "digests": [read_about(file).digest for file in files],
                "seconds": round(seconds, 3),
            }
        )
        return
    note(f"{len(files):,} networks of width {recipe.width:,}, in {seconds:.2f} s", quiet)
    there = len(network_files(output))
    note(f"{output} holds {there:,} networks, and all of them will be averaged", quiet or there == len(files))
    click.echo(str(output))
