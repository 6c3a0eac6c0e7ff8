"""`bitwright train`: one network, trained on a program's templates, in a file."""

from __future__ import annotations

import time
from pathlib import Path

import click

from bitwright.cli.options import bits_option, json_option, machine_option, order_option, padding_option, quiet_option
from bitwright.cli.reporting import note, print_json
from bitwright.cli.targets import find_algorithm
from bitwright.errors import InputError


@click.command("train")
@click.argument("target", metavar="FILE|NAME")
@click.option("--output", "-o", required=True, type=click.Path(path_type=Path), help="The .safetensors file to write.")
@bits_option
@order_option
@machine_option
@click.option("--width", type=int, help="Hidden units; by default a width that has been seen to suffice.")
@click.option("--seed", type=click.IntRange(0, 2**63), default=0, show_default=True)
@click.option(
    "--start", type=click.Choice(["zero", "random"]), default="zero", show_default=True, help="Initial output."
)
@click.option("--plain", is_flag=True, help="Plain gradient descent, as in the theorem, instead of momentum.")
@click.option("--parametrization", type=click.Choice(["ntk", "standard"]), default="ntk", show_default=True)
@click.option("--tolerance", type=float, default=1e-3, show_default=True, help="Largest error on any example.")
@click.option("--trainer", type=click.Choice(["numpy", "torch"]), default="numpy", show_default=True)
@click.option("--device", default="cpu", show_default=True, help="For torch: cpu or cuda.")
@click.option("--threads", type=click.IntRange(1, 1024), default=1, show_default=True, help="Of the linear algebra.")
@padding_option
@json_option
@quiet_option
def command(
    target: str,
    output: Path,
    bits: int | None,
    order: str | None,
    machine: str | None,
    width: int | None,
    seed: int,
    start: str,
    plain: bool,
    parametrization: str,
    tolerance: float,
    trainer: str,
    device: str,
    threads: int,
    padding: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Train one network on the templates of a program, to run it with --engine network --network FILE."""
    from bitwright.learning import Plan, Recipe, save_network, train
    from bitwright.learning.cache import suggested_width

    if trainer == "numpy" and device != "cpu":
        raise InputError(f"the numpy trainer runs on the cpu, got --device {device}; use --trainer torch")
    if output.suffix != ".safetensors":
        raise InputError(f"-o takes a .safetensors file, got {output}")
    program = find_algorithm(target, bits, order, machine=machine).program
    examples = program.templates + (padding or 0)
    plan = Plan(tolerance=tolerance, momentum=not plain, parametrization=parametrization)  # type: ignore[arg-type]
    recipe = Recipe(
        width=suggested_width(examples) if width is None else width,
        seed=seed,
        start=start,  # type: ignore[arg-type]
        plan=plan,
        padding=padding or 0,
        trainer=trainer,
        device=device,
        threads=threads,
    )
    begin = time.perf_counter()
    network, history = train(program, recipe)
    seconds = time.perf_counter() - begin
    save_network(network, program, output)
    if as_json:
        print_json(
            {
                "file": str(output),
                "examples": examples,
                "width": recipe.width,
                "steps": history.steps,
                "error": history.error[-1],
                "loss": history.loss[-1],
                "seconds": round(seconds, 3),
                "program_id": program.id,
            }
        )
        return
    note(
        f"trained {examples:,} examples at width {recipe.width:,} in {history.steps:,} steps and {seconds:.2f} s; "
        f"largest error {history.error[-1]:.2g}",
        quiet,
    )
    click.echo(str(output))
