"""Whether networks are as the width law says: their spread, and exactness at the width that `size --network` gives.

    python -m paper.measurements.width_law [--members 400] [--seeds 4] [--out FILE]

Prints one JSON line a measurement. Spread: networks trained by plain descent, measured deviation over the predicted.
Exactness: ten programs of different shape, at the expected width for delta = 0.01; every network is rounded to whole
numbers of 8 bits and proved on its whole domain.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from bitwright import Algorithm, addition, multiplication, parse, permutation
from bitwright.networks import TrainingError
from bitwright.proofs.exhaustion.certificate import certify_network
from bitwright.rules import load
from bitwright.rules.pattern import Pattern, pattern_of
from bitwright.verbs.cells import quantized, train_on_pattern
from paper.network_width import NetworkWidth, network_width
from paper.training import Plan, Recipe, descend, train
from paper.width_law_measure import SpreadJob, spread_rows, star

EXAMPLES = Path(__file__).parents[2] / "examples"
SPREAD = ("permutation 12", "addition 3", "addition 4", "star 12", "cells of addition")
WIDTH = 4_096  # K/width is below 1/200 for all of these
DELTA = 0.01

VOTERS = """
bits p[v] q[v] y
block p[i] q[i] for i in 1..v
block y
when p[i]=1 q[i]=0 write y p[*] for i in 1..v
when p[i]=0 q[i]=1 write y q[*] for i in 1..v
when p[i]=1 q[i]=1 write y      for i in 1..v
when y=1           write y
input p q
output y
steps 1
"""


def voters(count: int) -> Algorithm:
    """Every voter writes one common bit, and most tell all others: 3 templates a voter and one more, many writers."""
    return parse(f"let v = {count}\n{VOTERS}")


@dataclass(frozen=True)
class Case:
    """A program, and the domain in which its networks shall be exact."""

    name: str
    make: Callable[[], Algorithm | Pattern]
    domain: str = "states"


def cases() -> list[Case]:
    """Ten of different shape."""
    return [
        Case("permutation of 12 bits", lambda: permutation([*range(2, 13), 1])),
        Case("addition of 4 bits", lambda: addition(4)),
        Case("addition of 6 bits", lambda: addition(6)),
        Case("multiplication of 3 bits", lambda: multiplication(3), "runs"),
        Case("multiplication of 4 bits", lambda: multiplication(4), "runs"),
        Case("subtraction of 5 bits", lambda: load(EXAMPLES / "subtraction.bw", {"l": 5}), "runs"),
        Case("star of 12 writers", lambda: Algorithm("star", star(12))),
        Case("6 voters", lambda: voters(6)),
        Case("cells of addition, tile 2", lambda: pattern_of([addition(8).program], 2), "cells"),
        Case("cells of multiplication", lambda: pattern_of([multiplication(10).program]), "cells"),
    ]


def spread_lines(members: int, width: int = WIDTH) -> Iterator[dict[str, Any]]:
    for name in SPREAD:
        begin = time.process_time()
        *_, K, ratio, error, bias = spread_rows(None, SpreadJob(name, width, members, 200, 0, "cpu"))[0]
        yield {
            "what": "spread",
            "program": name,
            "K": K,
            "width": width,
            "members": members,
            "ratio": ratio,
            "standard_error": error,
            "bias": bias,
            "cpu_seconds": round(time.process_time() - begin, 2),
        }


def exact_lines(seeds: int, chosen: list[Case] | None = None) -> Iterator[dict[str, Any]]:
    for case in chosen or cases():
        begin = time.process_time()
        made = case.make()
        law: NetworkWidth
        if isinstance(made, Pattern):
            law, proved = network_width(made, DELTA), partial(_cells_margin, made)
        else:
            law, proved = (
                network_width(Pattern.of_state(made.program), DELTA, runs=made if case.domain == "runs" else None),
                partial(_whole_margin, made, case.domain),
            )
        margins = [proved(law.expected, seed) for seed in range(seeds)]
        yield {
            "what": "exact",
            "program": case.name,
            "domain": case.domain,
            "K": law.examples,
            "width": law.expected,
            "seeds": seeds,
            "exact": sum(margin is not None for margin in margins),
            "margins": [None if margin is None else round(margin, 3) for margin in margins],
            "cpu_seconds": round(time.process_time() - begin, 2),
        }


def _whole_margin(algorithm: Algorithm, domain: str, width: int, seed: int) -> float | None:
    """The smallest margin over the domain; None if some bit is wrong."""
    try:
        trained, _ = train(algorithm.program, Recipe(width, seed, plan=Plan(descent="momentum")))
    except TrainingError:
        return None
    found = certify_network(
        algorithm, quantized(trained, Pattern.of_state(algorithm.program), runs=algorithm)[0], domain
    )
    return found.margin if found.certified else None


def _cells_margin(pattern: Pattern, width: int, seed: int) -> float | None:
    try:
        found = train_on_pattern(pattern, Recipe(width, seed, plan=Plan(descent="momentum")), seeds=1, descend=descend)
    except TrainingError:
        return None
    return found.tables.margin if found.tables is not None and found.proved else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--members", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    lines = []
    for line in chain(spread_lines(asked.members), exact_lines(asked.seeds)):
        lines.append(json.dumps(line))
        print(lines[-1], flush=True)
    if asked.out is not None:
        asked.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
