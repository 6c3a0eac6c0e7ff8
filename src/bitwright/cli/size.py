"""`bitwright size`: how many networks must be averaged."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from bitwright.cli.options import algorithm_argument, json_option, padding_option, range_option
from bitwright.cli.reporting import StepProgress, print_json
from bitwright.errors import InputError, counted

if TYPE_CHECKING:
    from bitwright.program import Algorithm
    from bitwright.theory.ensemble import Scope


@click.command("size")
@algorithm_argument
@click.option("--delta", type=float, help="Allowed probability of any wrong bit; by default 0.01.")
@click.option(
    "--scope", default="inputs", show_default=True, help="What shall come out right: one input, all inputs, all runs."
)
@click.option("--network", "one_network", is_flag=True, help="How wide one network should be, by measuring some.")
@click.option("--seed", type=click.IntRange(0, 2**63), help="With --network: which networks; by default 0.")
@click.option("--unmasked", is_flag=True, help="Let the sign rule guess bits that nothing writes, as in the paper.")
@click.option("--cells", is_flag=True, help="For networks of cells: K of their pattern, n of one cell, at every size.")
@click.option("--tile", type=click.IntRange(1, 16), help="With --cells: take so many neighbouring cells as one.")
@range_option
@padding_option
@json_option
def command(
    algorithm: Algorithm,
    cells: bool,
    tile: int | None,
    delta: float | None,
    scope: str,
    one_network: bool,
    seed: int | None,
    unmasked: bool,
    source: str | None,
    padding: int | None,
    as_json: bool,
) -> None:
    """Say how many networks an ensemble needs, under each rounding, to be right with probability 1 - delta.

    With --network: how wide one network with a zero-output start and calibrated rounding should be. That is measured on
    networks trained now, not proved.
    """
    from bitwright.checking.ranges import matches_range
    from bitwright.theory import check_scope, sizes

    if tile is not None and not cells:
        raise InputError("--tile goes with --cells")
    if cells:
        if one_network or unmasked or source is not None:
            raise InputError("--network, --n and --unmasked are for whole states; leave them out, or --cells")
        _report_cells(algorithm, tile or 1, 0.01 if delta is None else delta, check_scope(scope), padding, as_json)
        return
    if one_network:
        if delta is not None or unmasked or source is not None:
            raise InputError("--delta, --n and --unmasked are for ensembles; leave them out, or --network")
        _report_width(algorithm, seed or 0, padding or 0, as_json)
        return
    if seed is not None:
        raise InputError("--seed goes with --network; the size of an ensemble is computed, not drawn")
    delta = 0.01 if delta is None else delta
    chosen = check_scope(scope)
    with StepProgress(not as_json, "running") as progress:
        within = matches_range(algorithm, source, progress)
    found = sizes(algorithm, delta, chosen, within, padding=padding, masked=not unmasked)
    if as_json:
        print_json({"name": algorithm.name} | found)
        return
    what = {"input": "one input", "inputs": "all inputs", "runs": "all steps of all runs"}[chosen]
    trust = f", assuming {within.assumption} (declared, not proved)" if within.assumption else ""
    reach = f", in {within.covers}" if within.source == "reachable" else ""
    click.echo(
        f"{algorithm.name}: networks to average for {what}, wrong with probability at most {delta:g}{trust}{reach}"
    )
    _echo_sizes(found)
    click.echo(f"  n at most {within.n_max:,}, from {within.source} ({within.scope})")


def _echo_sizes(found: dict[str, Any]) -> None:
    for name, key in (("sign, Eq. (8)", "sign"), ("sign, tight", "sign_tight"), ("calibrated", "calibrated")):
        size = found[key]
        count = "unbounded" if size["networks"] is None else f"{size['networks']:,}"
        click.echo(f"  {name:14} {count:>12}   {size['reason']}")
    click.echo("  " + "; ".join(f"{rounding} with K = {size:,}" for rounding, size in found["examples"].items()))


def _report_cells(
    algorithm: Algorithm, tile: int, delta: float, scope: Scope, padding: int | None, as_json: bool
) -> None:
    """The same for networks of the program's cells, which serve every size."""
    from bitwright.app.cells import pattern_of
    from bitwright.checking.cells import cell_sizes
    from bitwright.theory.ranges import cells_range

    pattern = pattern_of([algorithm.program], tile)
    found = cell_sizes(pattern, delta, scope, padding=padding)
    name = f"cells of {algorithm.name}"
    if as_json:
        print_json({"name": name} | found)
        return
    what = "one local state" if scope == "input" else f"all {counted(found['local_states'], 'local state')}"
    kinds = counted(found["kinds"], "kind")
    click.echo(f"{name}: networks to average for {what} of {kinds}, wrong with probability at most {delta:g}")
    _echo_sizes(found)
    click.echo(f"  n at most {found['n_max']:,}, from cells ({cells_range(pattern).scope})")


def _report_width(algorithm: Algorithm, seed: int, padding: int, as_json: bool) -> None:
    from bitwright.checking.width import measure_width

    with StepProgress(not as_json, "networks") as progress:
        law = measure_width(algorithm, seed=seed, padding=padding, progress=progress)
    if as_json:
        print_json(
            {
                "name": algorithm.name,
                "width": law.width,
                "constant": law.constant,
                "slope": law.slope,
                "states": law.states,
                "seed": law.seed,
                "measurements": [asdict(m) for m in law.measurements],
                "proved": False,
                "program_id": algorithm.program.id,
            }
        )
        return
    click.echo(f"{algorithm.name}: one network of width {law.width:,}, as far as tested (not proved)")
    for width in sorted({m.width for m in law.measurements}):
        errors = [m.error for m in law.measurements if m.width == width]
        click.echo(
            f"  width {width:>7,}: largest error {max(errors):.3f} in {len(errors)} networks; 0.5 is a wrong bit"
        )
    if law.beyond_doubt:
        click.echo("  errors so small come from the tolerance of training, not from the width")
    else:
        click.echo(f"  error = {law.constant:.1f}/sqrt(width), so 1/4 or less there; fitted exponent {law.slope:.2f}")
    click.echo(f"  seen in {law.states:,} states of random runs, seed {law.seed}")
