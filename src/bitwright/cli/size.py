"""`bitwright size`: the number of networks an ensemble needs, or the width a network needs."""

from __future__ import annotations

from typing import Any

from bitwright.cli import options as opt
from bitwright.cli.progress import TerminalTeller
from bitwright.cli.reporting import print_result
from bitwright.cli.targets import Target


@opt.verb("size", "FILE|NAME")
def command(target: Target, as_json: bool, **asked: Any) -> None:
    """Give the number of networks an ensemble needs, with each rounding, to be right with probability 1 - delta.

    With --of network, give the width for one network with zero initial outputs and calibrated rounding, by the width
    law. Nothing is trained. The law is first order in 1/width and not a proof; certify --network FILE proves a network.
    """
    from bitwright.verbs.size import size

    found = size(target.algorithm(cells=asked["tile"] not in (None, "all")), progress=TerminalTeller(as_json), **asked)
    print_result(found, as_json)
