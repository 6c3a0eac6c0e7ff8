"""`bitwright size`: how many networks must be averaged, or how wide one must be."""

from __future__ import annotations

from typing import Any

import click

from bitwright.cli import options as opt
from bitwright.cli.progress import TerminalTeller
from bitwright.cli.reporting import print_result
from bitwright.cli.targets import Target


@opt.verb("size")
@opt.program()
@click.option("--delta", type=float, default=0.01, show_default=True, help="Allowed probability of any wrong bit.")
@click.option(
    "--of",
    default="ensemble",
    show_default=True,
    metavar="ensemble|network",
    help="How many networks to average, or how wide one network should be by the width law.",
)
@click.option(
    "--domain",
    help="What must be right. Of an ensemble: one input, all inputs (the default) or all steps of all runs. With --of "
    "network: all states (the default) or those of runs.",
)
@opt.sample_seed
@opt.tile
@opt.matches
@opt.padding
@opt.json
def command(target: Target, as_json: bool, **asked: Any) -> None:
    """Say how many networks an ensemble needs, under each rounding, to be right with probability 1 - delta.

    With --of network: how wide one network with a zero-output start and calibrated rounding should be, from the width
    law. Nothing is trained. The law is of first order in 1/width, and no proof; `certify --network FILE` is one.
    """
    from bitwright.verbs.size import size

    found = size(target.algorithm(cells=asked["tile"] not in (None, "all")), progress=TerminalTeller(as_json), **asked)
    print_result(found, as_json)
