"""Makes the claim about the network in an exported file: its sha256, and the result of checking its states."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bitwright.common.errors import counted, readable
from bitwright.exports.model import Exported
from bitwright.networks import IntegerNetwork
from bitwright.proofs.exhaustion.certificate import certify_network
from bitwright.rules import Algorithm
from bitwright.rules.pattern import Pattern

MOST_WORK = 1 << 28  # states times width to check while a file is written, which takes some seconds


@dataclass(frozen=True)
class ExportClaim:
    """The verdict on the network in a file."""

    of_cells: bool
    states: int
    wrong: int | None  # None if there were too many to check

    @property
    def proved(self) -> bool:
        """Whether all states are right; the arithmetic is exact, so this is a proof."""
        return self.wrong == 0

    @property
    def lines(self) -> list[str]:
        """The claim in words; for an unproved network, also how to prove it."""
        what = "local states" if self.of_cells else "states"
        if self.wrong is None:
            return [
                f"none: the {readable(self.states, 10**15)} {what} were not checked when this file was written.",
                "Run bitwright certify --network to prove this network or find its errors.",
            ]
        if self.wrong:
            return [f"NOT EXACT: the network and this file are wrong in {self.wrong:,} of {self.states:,} {what}."]
        follows = "every step of every program of these kinds" if self.of_cells else "every step from every state"
        return [
            f"PROVED for this network: all {self.states:,} {what} were checked and are right.",
            f"Therefore {follows} agrees with the rules.",
            "That this file computes the same function as the network is tested, not proved.",
        ]

    @property
    def note(self) -> str:
        """The claim in one line, to be printed after the file is written."""
        what = f"{readable(self.states, 10**15)} {'local ' * self.of_cells}states"
        if self.wrong is None:
            return f"its {what} were not checked; prove it with: bitwright certify --network"
        return f"proved on all {what}" if self.proved else f"NOT EXACT: wrong in {self.wrong:,} of {what}"


def about_lines(found: Exported, claim: ExportClaim) -> list[str]:
    """Returns the comment at the top of a file, using only characters that cannot end a comment."""
    network, core = found.network, found.core
    of_cells = found.pattern.whole is None
    kinds = f"{counted(len(found.pattern.kinds), 'kind')} of cells" if of_cells else "the whole state"
    lines = [
        f"An integer network for {kinds}, written by bitwright.",
        "",
        f"network  sha256 {network.digest}",
        f"         width {network.shape.width:,}, {counted(len(core.configuration), 'example')}; "
        f"{network.weight_bits}-bit weights",
        f"made for {'pattern' if of_cells else 'program'} {network.origin.program_id}",
    ]
    if found.wires is not None:
        algorithm = found.wires.algorithm
        name = re.sub(r"[^A-Za-z0-9_ .,()-]", "_", algorithm.name)
        lines += [
            f"program  {name}, {algorithm.program.sizes}",
            f"         sha256 {algorithm.program.id}",
        ]
    lines += [
        f"sums     {core.bits}-bit integers: no sum (in any order), hidden value or threshold exceeds {core.largest:,}",
    ]
    labels = ["claim", *[""] * len(claim.lines)]
    return [*lines, *(f"{label:<8} {line}" for label, line in zip(labels, claim.lines, strict=False))]


def claim_of(network: IntegerNetwork, pattern: Pattern) -> ExportClaim:
    """Returns the claim about a network of these cells, after checking all local states unless there are too many."""
    of_cells, states = pattern.whole is None, pattern.local_states
    if states * network.shape.width > MOST_WORK:
        return ExportClaim(of_cells, states, None)
    certificate = certify_network(Algorithm("cells", pattern.program), network)
    return ExportClaim(of_cells, certificate.states, certificate.wrong)
