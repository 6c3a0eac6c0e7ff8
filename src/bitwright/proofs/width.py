"""Estimates the width of a network, for the whole state or for cells, from the width law, without training.

The estimate is first-order and not proved; `certify --network` proves the trained network.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, exp, inf, log

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.errors import InputError
from bitwright.proofs.exhaustion.domains import RunsDomain
from bitwright.rules import Algorithm, Program
from bitwright.rules.pattern import Pattern
from bitwright.runs.loop import step_limit
from bitwright.runs.successors import random_states
from bitwright.theory.encoding import PackedRules
from bitwright.theory.ensemble import check_delta
from bitwright.theory.width_plan import (
    SWEEPS,
    Region,
    WidthField,
    WorstError,
    most_sweeps,
    regions_of,
    rounded,
    worst_error,
)

Progress = Callable[[int, int], None]
Place = tuple[BoolArray, BoolArray, Region | None]  # matches of states, bits to check, region to search
MAX_ENTRIES = 1 << 24  # of the labels, K times k; larger programs are not sampled
_DRAWS, _FEWER, _STATES, _UNITS = 40, 12, 1_000, 512  # `_FEWER` draws if the search is slow
_ALL_RUNS = 1 << 15  # if runs have fewer states, with repetitions, all of them are examined
_TRAINABLE = 16  # hidden units for each example: with fewer, training sometimes stalls regardless of the law
_QUICK_DRAWS, _QUICK_STATES, _QUICK_UNITS = 8, 256, 256  # for a default width
_QUICK_WORK = 2e9  # operations
_LEAST, _MOST = 2_048, 1 << 20  # limits of default widths
_LEAST_CELLS = 128
_PROVABLE = 24.001 * log(2)  # ln of the number of states that a proof can check in minutes


@dataclass(frozen=True)
class NetworkWidth:
    """The estimated width of a network with zero initial outputs and calibrated rounding, and its basis.

    >>> from bitwright import addition
    >>> width = network_width(Pattern.of_state(addition(2).program), runs=addition(2))
    >>> width.every
    True
    """

    expected: int  # width at which the worst examined state is right with probability 1 - delta; at least 16 K
    delta: float
    domain: str
    examples: int  # K
    log_states: float  # ln of the number of states; for runs, an upper bound with repetitions
    error: WorstError
    seed: int
    program_id: str  # of the program, or of the pattern for cells
    every: bool  # whether all states were examined, instead of a sample and a search from it

    @property
    def states(self) -> int | None:
        """The number of states; None if it exceeds a double."""
        return round(exp(self.log_states)) if self.log_states < log(2**53) else None


def network_width(
    pattern: Pattern,
    delta: float = 0.01,
    *,
    runs: Algorithm | None = None,
    padding: int = 0,
    seed: int = 0,
    progress: Progress | None = None,
) -> NetworkWidth:
    """Estimates the width of a network of these cells that is right in all local states.

    With `runs`, estimates the width of a network of the whole state that is right in all runs of this algorithm.
    """
    check_delta(delta)
    program, regions = pattern.program, regions_of(pattern)
    _check_size(program)
    if runs is not None:
        (region,) = regions
        count = min(region.log_states, len(runs.input_bits) * log(2) + log(step_limit(runs, None)))
        every = count < log(_ALL_RUNS)
        met = _all_met(runs) if every else run_matches(runs, _STATES, seed)
        places: list[Place] = [(met, region.own, None)]
        counts, domain = [count], "runs"
    else:
        rng = np.random.default_rng(seed)
        places = [(region.sample(_STATES, rng), region.own, region) for region in regions]
        counts, domain = [region.log_states for region in regions], "cells" if pattern.whole is None else "states"
        every = max(counts) < log(_STATES)
    examples = program.templates + padding
    field = WidthField(program, examples)
    slow = most_sweeps(field, _UNITS * _DRAWS * len(places)) < SWEEPS and any(region for *_, region in places)
    draws = _FEWER if slow else _DRAWS
    error = worst_error(field, places, draws=draws, units=_UNITS, seed=seed, progress=progress)
    least = _TRAINABLE * examples if error.errors.any() else 0  # without errors, no state matches two examples
    expected, total = _even(max(least, error.width(delta))), float(np.logaddexp.reduce(counts))
    return NetworkWidth(expected, delta, domain, examples, total, error, seed, program.id, every)


def suggested_width(pattern: Pattern, runs: Algorithm | None = None, padding: int = 0) -> int:
    """Returns the default width of a network.

    It is a power of two at which the worst expected error over sampled states is half of what would make a bit wrong,
    which leaves the other half for all other states. It is at least 16 units for each example.

    The samples are random local states or, for the whole state of an algorithm, states of random `runs`. Arbitrary
    states are added if there are no inputs, or if there are at most 2^24 states, which a proof checks in minutes. If
    the labels have more than 2^24 entries, no states are sampled and the width is the largest default, 2^20.

    >>> from bitwright import addition
    >>> suggested_width(Pattern.of_state(addition(8).program), addition(8))
    4096
    """
    program, examples = pattern.program, pattern.program.templates + padding
    if program.templates * program.bits > MAX_ENTRIES:
        return _MOST
    rng, states = np.random.default_rng(0), max(16, _affordable(program) // len(pattern.kinds))
    places: list[Place] = []
    for region in regions_of(pattern):
        matched = [] if runs is None or not len(runs.input_bits) else [run_matches(runs, states, 0)]
        if not matched or region.log_states < _PROVABLE:
            matched.append(region.sample(states, rng))
        places.append((np.concatenate(matched), region.own, None))
    error = worst_error(WidthField(program, examples), places, draws=_QUICK_DRAWS, units=_QUICK_UNITS)
    half = 4 * float(error.needs.mean()) ** 2  # the expected worst error is half the distance to the threshold
    least = _LEAST_CELLS if pattern.whole is None else _LEAST
    return rounded(max(half, _TRAINABLE * examples), least, _MOST)


def _affordable(program: Program) -> int:
    """Returns the number of states to examine for a default width."""
    each = 2 * _QUICK_DRAWS * _QUICK_UNITS * (3 * program.templates + 2 * program.bits)
    return max(32, min(_QUICK_STATES, int(_QUICK_WORK / each)))


def run_matches(algorithm: Algorithm, count: int, seed: int) -> BoolArray:  # (states, K)
    """Returns the matches of the distinct states in random runs."""
    states = np.unique(random_states(algorithm, count, seed), axis=0)
    return PackedRules(algorithm.program).matched(states)


def _all_met(algorithm: Algorithm) -> BoolArray:  # (states, K)
    """Returns the matches of the distinct states in all runs."""
    batches: list[BoolArray] = []
    domain = RunsDomain(algorithm)
    domain.visit(0, domain.size, lambda matched, *_: batches.append(np.unique(matched, axis=0)))
    return np.unique(np.concatenate(batches), axis=0)


def _check_size(program: Program) -> None:
    if program.templates * program.bits > MAX_ENTRIES:
        raise InputError(
            f"templates times bits must be at most {MAX_ENTRIES:,} to estimate a width, got "
            f"{program.templates * program.bits:,}; estimate the width of a network of cells instead"
        )


def _even(width: float) -> int:
    """Rounds to an even width, since hidden units come in pairs."""
    if width == inf or width > 2**62:
        raise InputError("no trainable width is expected to reach this error probability; use a larger delta")
    return max(2, 2 * ceil(width / 2))
