"""Computes how many networks an ensemble needs, or how wide a network must be."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING, Any, TypeAlias

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, counted, option, suggestion
from bitwright.proofs.ranges import matches_range
from bitwright.proofs.width import NetworkWidth, network_width
from bitwright.rules import Algorithm, Program
from bitwright.rules.cells import Tile
from bitwright.runs.progress import Progress
from bitwright.theory.decisions import cells_range
from bitwright.theory.ensemble import check_scope, sizes
from bitwright.verbs.open import is_node_program, subject
from bitwright.verbs.progress import Teller, say_compiling, teller
from bitwright.verbs.reports import Summary, refuse
from bitwright.verbs.sizes import by_algorithm, choose_pattern

if TYPE_CHECKING:
    from bitwright.rules import NodeProgram

    Sized: TypeAlias = Algorithm | Program | NodeProgram

OF = ("ensemble", "network")
_SCOPES = {"input": "one input", "inputs": "all inputs", "runs": "all steps of all runs"}


class Size(Summary):
    """For each rounding, the number of networks to average; or the width of a single network.

    >>> from bitwright import addition, size
    >>> print(size(addition(10)))
    addition: networks to average for all inputs, wrong with probability at most 0.01
      sign, Eq. (8)        34,512   sigma^2/mu^2 = 144.9 at n = 2; 1 never written, masked to 0
      sign, tight           8,344   sigma^2/mu^2 = 144.9 at n = 2; 1 never written, masked to 0
      calibrated               50   sigma^2/(w1 - w0)^2 = 0.2143 at n = 20
      calibrated with K = 40; sign with K = 40
      n at most 20, from blocks (every state: at most one match in each block that has templates)
    """

    @property
    def networks(self) -> int | None:
        """The number of networks that suffices with calibrated rounding; None if no finite number does."""
        return self.data["calibrated"]["networks"]  # type: ignore[no-any-return]

    @property
    def width(self) -> int:
        """The width that is expected to suffice for a network with probability 1 - delta."""
        return self.data["width"]  # type: ignore[no-any-return]


def _report_ensemble(name: str, n: dict[str, Any], of: str, scope: str) -> Size:
    trust = f", assuming {n['assumption']} (declared, not proved)" if n["assumption"] else ""
    reach = f", in {n['covers']}" if n["n_source"] == "reachable" else ""
    lines = []
    for label, key in (("sign, Eq. (8)", "sign"), ("sign, tight", "sign_tight"), ("calibrated", "calibrated")):
        count = "unbounded" if n[key]["networks"] is None else f"{n[key]['networks']:,}"
        lines.append(f"  {label:14} {count:>12}   {n[key]['reason']}")
    lines.append("  " + "; ".join(f"{rounding} with K = {K:,}" for rounding, K in n["examples"].items()))
    lines.append(f"  n at most {n['n_max']:,}, from {n['n_source']} ({scope})")
    wrong = f"wrong with probability at most {n['delta']:g}{trust}{reach}"
    return Size(f"{name}: networks to average for {of}, {wrong}", lines, {"name": name} | n)


def _report_width(name: str, found: NetworkWidth) -> Size:
    mean, low, high = found.error.interval
    where = {"states": "all states", "runs": "all runs", "cells": "all local states of its cells"}[found.domain]
    if found.domain == "runs" and not found.every:
        where = f"{found.error.states:,} states of random runs"
    count = f"{found.states:,}" if found.states is not None else f"2^{found.log_states / log(2):.0f}"
    climbed = "" if found.domain == "runs" or found.every else " and of successively worse neighbours"
    climbed += " (stopped before the worst, so the width may be too small)" if found.error.cut else ""
    most = "at most " if found.domain == "runs" else ""
    lines = [
        f"  {most}{count} states; the worst of {found.error.states:,} of them{climbed}, in "
        f"{len(found.error.errors)} draws of a Gaussian field, sample seed {found.seed}",
        f"  worst error {mean:.1f}/sqrt(width), {low:.1f} to {high:.1f} in nine of ten draws; 0.5 is a wrong bit",
        f"  K = {found.examples:,}; no network was trained",
    ]
    same = ("program_id", "domain", "delta", "examples", "states", "every")
    data = {"name": name} | {one: getattr(found, one) for one in same}
    data |= {
        "width": found.expected,
        "log2_states": found.log_states / log(2),
        "error": {"mean": mean, "low": low, "high": high},
        "looked_at": found.error.states,
        "cut": found.error.cut,
        "draws": len(found.error.errors),
        "sample_seed": found.seed,
        "order": 1,
        "proved": False,
    }
    suffices = f"width {found.expected:,} is expected to suffice in {where}"
    return Size(f"{name}: {suffices} (delta {found.delta:g}; first order, not proved)", lines, data)


def size(
    what: Sized,
    delta: float = 0.01,
    *,
    of: str = "ensemble",
    n: str | None = None,
    domain: str | None = None,
    padding: int | None = None,
    tile: Tile | None = None,
    progress: Teller | Progress | bool | None = None,
) -> Size:
    """Computes the number of networks that an ensemble needs for error probability `delta`, or a network's width.

    Nothing is trained. The width law is first order in 1/width and proves nothing; `certify` proves a network.

    Args:
        what: a program; for a node program, its cells.
        delta: the maximum probability that any bit is wrong.
        of: "ensemble", or "network" for the width of a network.
        n: for an ensemble, how the number of matches is bounded: "blocks", "declared" or "reachable", as in `certify`.
        domain: what must be correct: for an ensemble, one "input", all "inputs" (the default) or all steps of all
            "runs"; for a network, all "states" (the default) or only the states that occur in "runs".
        padding: the number of examples that never match.
        tile: size networks of the program's cells, treating this many as one; "all" (the default) is the whole state.
        progress: True for lines on standard error, or a function that takes the work done and the total.

    >>> from bitwright import addition
    >>> size(addition(10)).networks, size(addition(10), tile=1).networks
    (50, 2)
    >>> size(addition(4), of="network").width, size(addition(32), of="network", tile=1).width
    (782, 128)
    """
    if of not in OF:
        raise InputError(
            f"{option('of')} must be ensemble or network, got '{shorten(str(of))}'{suggestion(str(of), OF)}"
        )
    own, tell = subject(what), teller(progress)
    tile = tile or (1 if is_node_program(own) else "all")
    cells = tile != "all"
    if of == "network":
        refuse("cannot be used with a network", n=n)
        if cells:
            refuse("cannot be used with cells, whose local states are all examined", domain=domain, padding=padding)
    asked, algorithms = check_scope("inputs" if of == "network" else domain or "inputs"), by_algorithm([own])
    algorithm = algorithms[0]
    with tell.working("looking for kinds of cells"):
        pattern = choose_pattern(algorithms, tile, n, padding)
    if of == "network":
        if domain not in (None, "states", "runs"):
            choices = suggestion(str(domain), ("states", "runs"))
            raise InputError(f"there is no domain '{shorten(str(domain))}'; choose states or runs{choices}")
        runs = algorithm if domain == "runs" else None
        with tell.working("draws") as told:
            how: dict[str, Any] = {"padding": padding or 0, "seed": 0, "progress": told}
            return _report_width(algorithm.name, network_width(pattern, delta, runs=runs, **how))
    if cells:
        found = sizes(pattern, delta, asked, padding=padding)
        local = "one local state" if asked == "input" else f"all {counted(found['local_states'], 'local state')}"
        right = f"{local} of {counted(found['kinds'], 'kind')}"
        return _report_ensemble(f"cells of {algorithm.name}", found, right, cells_range(pattern).scope)
    if n == "reachable":
        say_compiling(tell)
    with tell.working("running") as told:
        within = matches_range(algorithm, n, told)
    found = sizes(algorithm, delta, asked, within, padding=padding)
    return _report_ensemble(algorithm.name, found, _SCOPES[asked], within.scope)
