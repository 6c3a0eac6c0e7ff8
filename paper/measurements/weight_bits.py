"""How many bits an integer weight needs: margin, and smallest exact width, for 8 bits down to 2.

    python -m paper.measurements.weight_bits [--only addition|multiplication|sbn]

Every entry is a proof: networks of three seeds, each tried on all states of its domain. Prints a markdown table and, on
stderr, a line for every network that was tried. About ten minutes on one core.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bitwright import Algorithm, addition, multiplication
from bitwright.machines import assemble
from bitwright.machines.programs import on_sbn_machine
from bitwright.networks import FloatNetwork, Recipe, train
from bitwright.networks.descent import TrainingError
from bitwright.proofs.exhaustion.certificate import certify_network
from bitwright.rules.pattern import Pattern
from bitwright.verbs.cells import quantized

SEEDS = (0, 1, 2)
BITS = (8, 7, 6, 5, 4, 3, 2)
SBN = Path(__file__).parents[2] / "examples" / "sbn" / "add.sbn"


@dataclass(frozen=True, eq=False)
class Case:
    """A program, what is proved of its networks, and at which widths."""

    title: str
    algorithm: Algorithm
    domain: str
    fixed: int  # the width at which margins are compared
    most: int  # the largest width that is tried

    @cache  # noqa: B019 (a case lives as long as the table)
    def trained(self, width: int, seed: int) -> FloatNetwork | None:
        """None where training does not reach its tolerance at so small a width."""
        try:
            return train(self.algorithm.program, Recipe(width, seed))[0]
        except TrainingError:
            return None

    @cache  # noqa: B019
    def margin(self, width: int, seed: int, bits: int) -> float | None:
        """The margin of a network that is proved; None where it is wrong in some state."""
        network = self.trained(width, seed)
        if network is None:
            return None
        found = certify_network(
            self.algorithm, quantized(network, Pattern.of_state(self.algorithm.program), bits)[0], self.domain
        )
        said = f"margin {found.margin:.3f}" if found.certified else f"{found.wrong:,} of {found.states:,} wrong"
        print(f"{self.title}, {bits} bits, width {width:,}, seed {seed}: {said}", file=sys.stderr, flush=True)
        return found.margin if found.certified else None

    def margins(self, width: int, bits: int) -> list[float] | None:
        """Of all seeds; None if one of them fails."""
        found = []
        for seed in SEEDS:
            margin = self.margin(width, seed, bits)
            if margin is None:
                return None
            found.append(margin)
        return found

    def smallest(self, bits: int) -> int | None:
        width = 32
        while width <= self.most:
            if self.margins(width, bits) is not None:
                return width
            width *= 2
        return None


def small_sbn() -> Algorithm:
    """The SBN program `add` with words of 4 bits, on machine B: small enough for every run, many times over."""
    source = SBN.read_text().replace(".width 8", ".width 4")
    return on_sbn_machine(assemble(source, "add"))


def cases() -> dict[str, Case]:
    return {
        "addition": Case("addition of 4 bits, all states", addition(4), "states", 4_096, 1 << 13),
        "multiplication": Case("multiplication of 3 bits, every run", multiplication(3), "runs", 4_096, 1 << 13),
        "sbn": Case("SBN `add`, words of 4 bits, every run", small_sbn(), "runs", 8_192, 1 << 14),
    }


def table(chosen: list[Case]) -> Iterator[str]:
    heads = [part for case in chosen for part in (f"{case.title}: exact from", f"margin at {case.fixed:,}")]
    yield "| bits | " + " | ".join(heads) + " |"
    yield "|---" * (1 + len(heads)) + "|"
    for bits in BITS:
        cells = []
        for case in chosen:
            width, margins = case.smallest(bits), case.margins(case.fixed, bits)
            cells.append(f"none up to {case.most:,}" if width is None else f"{width:,}")
            cells.append("wrong" if margins is None else f"{min(margins):.3f}")
        yield f"| {bits} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    every = cases()
    parser.add_argument("--only", choices=list(every), help="one of the programs")
    only = parser.parse_args().only
    for line in table(list(every.values()) if only is None else [every[only]]):
        print(line, flush=True)


if __name__ == "__main__":
    main()
