"""`bitwright size`: how many networks must be averaged."""

from __future__ import annotations

from dataclasses import asdict

import click

from bitwright.cli.options import bits_option, json_option, machine_option, order_option, padding_option
from bitwright.cli.reporting import print_json
from bitwright.cli.targets import find_algorithm


@click.command("size")
@click.argument("target", metavar="FILE|NAME")
@bits_option
@order_option
@machine_option
@click.option("--delta", type=float, default=0.01, show_default=True, help="Allowed probability of any wrong bit.")
@click.option(
    "--scope", default="inputs", show_default=True, help="What shall come out right: one input, all inputs, all runs."
)
@click.option("--unmasked", is_flag=True, help="Let the sign rule guess bits that nothing writes, as in the paper.")
@padding_option
@json_option
def command(
    target: str,
    bits: int | None,
    order: str | None,
    machine: str | None,
    delta: float,
    scope: str,
    unmasked: bool,
    padding: int | None,
    as_json: bool,
) -> None:
    """Say how many networks an ensemble needs, under each rounding, to be right with probability 1 - delta."""
    from bitwright.cli.targets import training_size
    from bitwright.theory import blocks_range, calibrated_size, check_scope, declared_range, sign_size

    algorithm = find_algorithm(target, bits, order, machine=machine)
    chosen = check_scope(scope)
    program = algorithm.program
    within = blocks_range(program) if algorithm.matches is None else declared_range(algorithm)
    padded = training_size(algorithm, "sign", padding)
    printed, tight = (
        sign_size(
            program,
            delta,
            chosen,
            printed=as_printed,
            masked=not unmasked,
            examples=padded,
            within=within,
            steps=algorithm.steps,
        )
        for as_printed in (True, False)
    )
    ours = calibrated_size(
        program, delta, chosen, examples=training_size(algorithm, "calibrated", padding), within=within
    )
    if as_json:
        print_json(
            {
                "delta": delta,
                "scope": chosen,
                "n_max": within.n_max,
                "n_source": within.source,
                "sign": asdict(printed),
                "sign_tight": asdict(tight),
                "calibrated": asdict(ours),
                "program_id": program.id,
            }
        )
        return
    what = {"input": "one input", "inputs": "all inputs", "runs": "all steps of all runs"}[chosen]
    click.echo(f"{algorithm.name}: networks to average for {what}, wrong with probability at most {delta:g}")
    for name, size in (("sign, Eq. (8)", printed), ("sign, tight", tight), ("calibrated", ours)):
        count = "unbounded" if size.networks is None else f"{size.networks:,}"
        click.echo(f"  {name:14} {count:>12}   {size.reason}")
    click.echo(f"  n at most {within.n_max:,}, from {within.source} ({within.scope})")
