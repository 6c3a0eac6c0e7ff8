"""How wide networks of large tiles must be, trained and proved on a device: their local states are very many.

Run by `python -m paper.measurements.cells --large`. Wrong networks are refuted cheaply: by the states that rounding
looks at, then a part of the local states at a time, the last first, since states with many matches come out wrong most
easily. A width ends at its first wrong seed.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bitwright.networks import TrainingError
from bitwright.proofs.exhaustion.certificate import margin_of
from bitwright.proofs.exhaustion.judges import Findings
from bitwright.proofs.exhaustion.task import ProofTask, prove_part
from bitwright.rules import Algorithm
from bitwright.rules.pattern import Pattern
from bitwright.verbs.cells import train_on_pattern
from paper.training import Plan, Recipe, descend

SEEDS = range(10)
LARGE = {
    "addition, 8 positions a cell": [512, 1_024, 2_048, 4_096, 8_192],
    "multiplication, tile 4": [1_024, 2_048, 4_096, 8_192, 16_384],
}


class Clock:
    """How much time is left; without a limit always enough."""

    def __init__(self, limit: float | None) -> None:
        self._end = None if limit is None else time.perf_counter() + limit

    def allows(self, seconds: float) -> bool:
        return self._end is None or time.perf_counter() + seconds < self._end


@dataclass(frozen=True)
class Seed:
    """What came of one seed at one width."""

    margin: float | None  # None if some local state comes out wrong
    tried: int  # local states, before it was known
    bytes: int
    training: float  # seconds, with rounding
    proof: float

    @property
    def seconds(self) -> float:
        return self.training + self.proof

    @property
    def sentence(self) -> str:
        verdict = "wrong" if self.margin is None else f"margin {self.margin:.3f}"
        return f"{verdict}, {self.tried:,} states, {self.training:.2f} s and {self.proof:.2f} s"


def one_seed(pattern: Pattern, width: int, seed: int, device: str) -> Seed:
    """Trains, rounds and proves, until a local state comes out wrong."""
    recipe = Recipe(width, seed, plan=Plan(descent="momentum"), device=device)
    begin = time.perf_counter()
    try:
        trained = train_on_pattern(pattern, recipe, seeds=1, descend=descend)
    except TrainingError:
        return Seed(None, 0, 0, time.perf_counter() - begin, 0.0)
    training, network = time.perf_counter() - begin, trained.weights
    assert trained.training is not None
    if (cost := trained.training.cost).margin < 0:
        return Seed(None, cost.states, network.bytes, training, 0.0)
    task, found = ProofTask(Algorithm("cells", pattern.program), network, "cells", device), Findings()
    begin = time.perf_counter()
    for part in reversed(range(task.parts)):
        found = found + prove_part(task, part)
        if found.wrong:
            break
    proof = time.perf_counter() - begin
    return Seed(None if found.wrong else margin_of(network, found), found.states, network.bytes, training, proof)


def one_width(name: str, pattern: Pattern, width: int, device: str, clock: Clock) -> dict[str, Any]:
    """Seed by seed, until one is wrong or time is up."""
    found: list[Seed] = []
    stopped = False
    for seed in SEEDS:
        stopped = not clock.allows(found[-1].seconds if found else 0.0)
        if stopped:
            break
        found.append(one_seed(pattern, width, seed, device))
        print(f"{name}, width {width:,}, seed {seed}: {found[-1].sentence}", file=sys.stderr, flush=True)
        if found[-1].margin is None:
            break
    margins = [one.margin for one in found if one.margin is not None]

    def median(values: Iterable[float]) -> float | None:
        return round(float(np.median(list(values))), 3) if found else None

    return {
        "pattern": name,
        "kinds": len(pattern.kinds),
        "examples": pattern.program.templates,
        "local_states": pattern.local_states,
        "width": width,
        "exact": len(margins),
        "tried": len(found),
        "smallest_margin": round(min(margins), 3) if margins else None,
        "bytes": found[0].bytes if found else None,
        "seconds": median(one.seconds for one in found),
        "training_seconds": median(one.training for one in found),
        "proof_seconds": median(one.proof for one in found),
        "device": device,
        **({"stopped": True} if stopped else {}),
    }


def measure_large(
    patterns: dict[str, Pattern], widths: dict[str, list[int]], device: str, limit: float | None
) -> Iterator[dict[str, Any]]:
    """One line a width, from narrow to wide, until all seeds of a width are right; or until time is up."""
    clock = Clock(limit)
    for name, pattern in patterns.items():
        for width in widths[name]:
            line = one_width(name, pattern, width, device, clock)
            print(json.dumps(line), flush=True)
            yield line
            if "stopped" in line:
                return
            if line["exact"] == len(SEEDS):
                break
