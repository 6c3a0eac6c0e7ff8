"""`bitwright size`: the number of networks an ensemble needs, or the width a network needs."""

from __future__ import annotations

from typing import Any

from bitwright.cli import options as opt
from bitwright.cli.progress import TerminalTeller
from bitwright.cli.reporting import print_result
from bitwright.cli.targets import Target


@opt.verb("size", "FILE|NAME")
def command(target: Target, as_json: bool, **asked: Any) -> None:
    """Compute, for each rounding, how many networks an ensemble needs to be correct with probability 1 - delta.

    With --of network, compute the width that the width law predicts for a single network with calibrated rounding and
    outputs that are initially zero. Nothing is trained. The law holds only to first order in 1/width and proves
    nothing; to prove a network, use certify --network FILE.
    """
    from bitwright.verbs.size import size

    found = size(target.algorithm(cells=asked["tile"] not in (None, "all")), progress=TerminalTeller(as_json), **asked)
    print_result(found, as_json)
