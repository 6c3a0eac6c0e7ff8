"""Appendix E: trained permutations, tested on random inputs with two ones; what both experiments share."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np

from bitwright.rules.algorithms import permutation
from bitwright.runs.successors import random_starts
from bitwright.theory.closed_form import Kind, variance, weights
from paper.members import Growing, LimitMembers, TestSet, TrainedMembers
from paper.training import PARAMETRIZATIONS, Plan, Recipe

COLUMNS = ("source", "parametrization", "k", "trial", "width", "seed", "inputs", "networks", "accuracy", "device")
INPUTS = 1_000
ACCURACY = 0.9
TOLERANCE = 1e-5  # of the training: far below the smallest mean that a sign is read from
LIMITS: dict[str, Kind] = {"ntk": "ntk", "standard": "last-layer"}  # where each parametrization leads
TITLES = {
    "ntk": "NTK parametrization (the paper's theory)",
    "standard": "Standard parametrization (the authors' code)",
}


@dataclass(frozen=True)
class Trial:
    """One ensemble: `source` is trained, or limit (members drawn from the limiting Gaussian, without a width)."""

    source: str
    parametrization: str
    k: int
    trial: int
    width: int | None
    seed: int


def trials(source: str, full: bool, lengths: list[int], count: int, seed: int = 0) -> list[Trial]:
    """All trials, the first of every length before the second of any, in case time runs out."""
    width = None if source == "limit" else 50_000 if full else 2_048
    return [
        Trial(source, parametrization, k, trial, width, seed)
        for trial in range(count)
        for parametrization in PARAMETRIZATIONS
        for k in lengths
    ]


def random_inputs(k: int, trial: int, seed: int) -> TestSet:
    """A random permutation of k bits and 1,000 random inputs with two ones."""
    one, two = np.random.SeedSequence(seed, spawn_key=(k, trial)).generate_state(2).tolist()
    algorithm = permutation((np.random.default_rng(one).permutation(k) + 1).tolist())
    return TestSet.of(algorithm.program, random_starts(algorithm, INPUTS, two, ones=2))


def members_of(job: Trial, test: TestSet, device: str) -> tuple[Growing, str]:
    """The members of a trial's ensemble, and what they come from."""
    kind = LIMITS[job.parametrization]
    seed = int(np.random.SeedSequence(job.seed, spawn_key=(job.k, job.trial, 1)).generate_state(1)[0])
    if job.source == "limit":
        return LimitMembers(test, kind, seed), "limit"
    plan = Plan(TOLERANCE, "plain", parametrization=job.parametrization)  # type: ignore[arg-type]
    recipe = Recipe(job.width or 1, seed, start="random", plan=plan, device=device)
    trained = TrainedMembers(test, recipe)
    return trained, trained.device


def bound(k: int, parametrization: str, delta: float, printed: bool = True, inputs: int = 1) -> float:
    """Eq. (8) for inputs with two ones: 8 max(sigma^2/mu^2) ln(2k/delta); tight: 2 max(sigma^2/mu^2) ln(k/delta).

    Set bits have mean w1 and unset ones, which there are from k = 3 on, w0. That is for one input, whatever it is;
    `inputs` of them are right at the same time for a union over these.
    """
    kind = LIMITS[parametrization]
    w = weights(2, k, kind)
    worst = float(w.matched) if k == 2 else min(float(w.matched), abs(float(w.unmatched)))
    ratio = float(variance(2, k, kind)) / worst**2
    return 8 * ratio * log(2 * k * inputs / delta) if printed else 2 * ratio * log(k * inputs / delta)
