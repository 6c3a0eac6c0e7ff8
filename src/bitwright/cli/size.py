"""`bitwright size`: the number of networks an ensemble needs."""

from __future__ import annotations

from typing import Any

from bitwright.cli import options as opt
from bitwright.cli.progress import TerminalTeller
from bitwright.cli.reporting import print_result
from bitwright.cli.targets import Target


@opt.verb("size", "FILE|NAME")
def command(target: Target, as_json: bool, **asked: Any) -> None:
    """Compute, for each rounding, how many networks an ensemble needs to be correct with probability 1 - delta."""
    from bitwright.verbs.size import size

    print_result(size(target.algorithm(), progress=TerminalTeller(as_json), **asked), as_json)
