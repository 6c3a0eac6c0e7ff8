"""`bitwright size`: how many networks must be averaged, or how wide one must be."""

from __future__ import annotations

from typing import Any

from bitwright.cli import options as opt
from bitwright.cli.progress import TerminalTeller
from bitwright.cli.reporting import print_result
from bitwright.cli.targets import Target


@opt.verb("size", "FILE|NAME")
def command(target: Target, as_json: bool, **asked: Any) -> None:
    """Say how many networks an ensemble needs, under each rounding, to be right with probability 1 - delta.

    With --of network: how wide one network with a zero-output start and calibrated rounding should be, from the width
    law. Nothing is trained. The law is of first order in 1/width, and no proof; `certify --network FILE` is one.
    """
    from bitwright.verbs.size import size

    found = size(target.algorithm(cells=asked["tile"] not in (None, "all")), progress=TerminalTeller(as_json), **asked)
    print_result(found, as_json)
