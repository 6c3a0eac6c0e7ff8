"""`bitwright size`: how many networks must be averaged, or how wide one must be."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any

import click

from bitwright.cli.options import algorithm_argument, json_option, padding_option, range_option
from bitwright.cli.progress import working
from bitwright.cli.reporting import StepProgress, print_json
from bitwright.errors import InputError, counted

if TYPE_CHECKING:
    from bitwright.checking.width import NetworkWidth
    from bitwright.program import Algorithm
    from bitwright.theory.ensemble import Scope


@click.command("size")
@algorithm_argument
@click.option("--delta", type=float, help="Allowed probability of any wrong bit; by default 0.01.")
@click.option("--scope", help="What shall come out right: input (one), inputs (all, the default), runs.")
@click.option("--network", "one_network", is_flag=True, help="How wide one network should be, by the width law.")
@click.option("--domain", help="With --network: right in all states (states, the default), or in those of runs (runs).")
@click.option("--seed", type=click.IntRange(0, 2**63), help="With --network: which states and draws; by default 0.")
@click.option("--unmasked", is_flag=True, help="Let the sign rule guess bits that nothing writes, as in the paper.")
@click.option("--cells", is_flag=True, help="For networks of cells: K of their pattern, n of one cell.")
@click.option("--tile", type=click.IntRange(1, 16), help="With --cells: take so many neighbouring cells as one.")
@range_option
@padding_option
@json_option
def command(
    algorithm: Algorithm,
    cells: bool,
    tile: int | None,
    delta: float | None,
    scope: str | None,
    one_network: bool,
    domain: str | None,
    seed: int | None,
    unmasked: bool,
    source: str | None,
    padding: int | None,
    as_json: bool,
) -> None:
    """Say how many networks an ensemble needs, under each rounding, to be right with probability 1 - delta.

    With --network: how wide one network with a zero-output start and calibrated rounding should be, from the width law.
    Nothing is trained. The law is of first order in 1/width, and no proof; `certify --network FILE` is one.
    """
    delta = 0.01 if delta is None else delta
    if tile is not None and not cells:
        raise InputError("--tile goes with --cells")
    if one_network:
        if unmasked or source is not None or scope is not None:
            raise InputError("--scope, --n and --unmasked are for ensembles; leave them out, or --network")
        _report_width(algorithm, delta, domain, (tile or 1) if cells else None, seed or 0, padding, as_json)
        return
    for given, name in ((seed is not None, "--seed"), (domain is not None, "--domain")):
        if given:
            raise InputError(f"{name} goes with --network; the size of an ensemble is for its limit, and not drawn")
    if cells:
        if unmasked or source is not None:
            raise InputError("--n and --unmasked are for whole states; leave them out, or --cells")
        from bitwright.theory import check_scope

        _report_cells(algorithm, tile or 1, delta, check_scope(scope or "inputs"), padding, as_json)
        return
    _report_ensemble(algorithm, delta, scope or "inputs", unmasked, source, padding, as_json)


def _report_ensemble(
    algorithm: Algorithm,
    delta: float,
    scope: str,
    unmasked: bool,
    source: str | None,
    padding: int | None,
    as_json: bool,
) -> None:
    from bitwright.checking.ranges import matches_range
    from bitwright.theory import check_scope, sizes

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
    """The same for networks of the program's cells."""
    from bitwright.api.cells import pattern_of
    from bitwright.checking.cells import cell_sizes
    from bitwright.theory.ranges import cells_range

    with working("looking for kinds of cells"):
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


def _report_width(
    algorithm: Algorithm,
    delta: float,
    domain: str | None,
    tile: int | None,  # of cells; None for the whole state
    seed: int,
    padding: int | None,
    as_json: bool,
) -> None:
    from bitwright.api.widths import network_width

    if tile is not None and (domain is not None or padding is not None):
        raise InputError("--cells is for all local states, without padding; leave out --domain and --padding")
    with StepProgress(not as_json, "draws") as progress:
        found = network_width(
            algorithm,
            delta,
            domain=domain,
            padding=padding,
            cells=tile is not None,
            tile=tile or 1,
            seed=seed,
            progress=progress,
        )
    mean, low, high = found.error.interval
    if as_json:
        worst = found.worst
        print_json(
            {
                "name": algorithm.name,
                "program_id": found.program_id,
                "domain": found.domain,
                "delta": delta,
                "examples": found.examples,
                "width": found.expected,
                "width_covering": found.covering,
                "states": found.states,
                "log2_states": found.log_states / log(2),
                "worst": {"ratio": worst.ratio, "n": worst.n, "m": worst.matching, "c": worst.writers},
                "error": {"mean": mean, "low": low, "high": high},
                "looked_at": found.error.states,
                "every": found.every,
                "cut": found.error.cut,
                "draws": len(found.error.errors),
                "seed": seed,
                "order": 1,
                "proved": False,
            }
        )
        return
    for line in _lines(algorithm.name, found):
        click.echo(line)


def _lines(name: str, found: NetworkWidth) -> list[str]:
    mean, low, high = found.error.interval
    where = {"states": "all states", "runs": "all runs", "cells": "all local states of its cells"}[found.domain]
    if found.domain == "runs" and not found.every:
        where = f"{found.error.states:,} states of random runs"
    count = f"{found.states:,}" if found.states is not None else f"2^{found.log_states / log(2):.0f}"
    few = f"{found.error.states:,}"
    climbed = "" if found.domain == "runs" or found.every else " and of ever worse neighbours"
    climbed += " (given up before the worst, so perhaps too small)" if found.error.cut else ""
    most = "at most " if found.domain == "runs" else ""
    worst = found.worst
    at = f"at n = {worst.n:,}, m = {worst.matching:,}, c = {worst.writers:,}"
    return [
        f"{name}: width {found.expected:,} is expected to suffice in {where}, {found.covering:,} covers all by the "
        f"union (delta {found.delta:g}; first order, not proved)",
        f"  expected {found.expected:>12,}   worst of {few} states{climbed}, in {len(found.error.errors)} draws of a "
        f"Gaussian field, seed {found.seed}",
        f"  covering {found.covering:>12,}   {most}{count} states; V/(w1 - w0)^2 at most {worst.ratio:.4g}, {at}",
        f"  worst error {mean:.1f}/sqrt(width), {low:.1f} to {high:.1f} in nine draws of ten; 0.5 is a wrong bit",
        f"  K = {found.examples:,}; no network was trained",
    ]
