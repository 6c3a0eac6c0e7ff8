"""How wide one network should be, from the width law: of the whole state or of cells, without training any.

To first order, and not proved: `certify --network` proves the network that comes of it.
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
Place = tuple[BoolArray, BoolArray, Region | None]  # what states match, bits that are looked at, where to look further
MAX_ENTRIES = 1 << 24  # of the labels, K times k; beyond, no field is drawn
_DRAWS, _FEWER, _STATES, _UNITS = 40, 12, 1_000, 512  # fewer draws where looking further takes long
_ALL_RUNS = 1 << 15  # states of runs, counted as they are met, that are all looked at
_TRAINABLE = 16  # hidden units an example: with fewer, training sometimes stalls, whatever the law says
_QUICK_DRAWS, _QUICK_STATES, _QUICK_UNITS = 8, 256, 256  # for a default
_QUICK_WORK = 2e9  # operations
_LEAST, _MOST = 2_048, 1 << 20  # of default widths
_LEAST_CELLS = 128
_PROVABLE = 24.001 * log(2)  # ln of the most states that a proof goes through in minutes


@dataclass(frozen=True)
class NetworkWidth:
    """A width for one network with a zero-output start and calibrated rounding, and what it rests on.

    >>> from bitwright import addition
    >>> found = network_width(Pattern.of_state(addition(2).program), runs=addition(2))
    >>> found.every
    True
    """

    expected: int  # at which the worst of the states looked at is right with probability 1 - delta; at least 16 K
    delta: float
    domain: str
    examples: int  # K
    log_states: float  # ln of the number of states; of runs, at most, each as often as it is met
    error: WorstError
    seed: int
    program_id: str  # of the program; of cells, of their pattern
    every: bool  # whether all states were looked at; else some, and from these on to worse ones if there is a region

    @property
    def states(self) -> int | None:
        """The number of states; None where it has more digits than a double."""
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
    """The width for a network of these cells, in all of their local states.

    With `runs`, of the whole state of this algorithm, in the states that runs of its inputs meet.
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
    least = _TRAINABLE * examples if error.errors.any() else 0  # without any, no state matches two examples
    expected, total = _even(max(least, error.width(delta))), float(np.logaddexp.reduce(counts))
    return NetworkWidth(expected, delta, domain, examples, total, error, seed, program.id, every)


def suggested_width(pattern: Pattern, runs: Algorithm | None = None, padding: int = 0) -> int:
    """The default width: a power of two at which the worst error that is expected over sampled states is half of what
    would make a bit wrong, the other half being for all other states; and at least 16 units an example.

    The states are random local states. Of the whole state of an algorithm they are those of random `runs` instead. To
    them come any states where there is nothing to put in, and where all of them together are at most 2^24, which a
    proof goes through in minutes. Where labels have more than 2^24 entries nothing is drawn, and the width is the
    largest default, 2^20.

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
    found = worst_error(WidthField(program, examples), places, draws=_QUICK_DRAWS, units=_QUICK_UNITS)
    half = 4 * float(found.needs.mean()) ** 2  # the expected worst error is half the distance to the threshold
    least = _LEAST_CELLS if pattern.whole is None else _LEAST
    return rounded(max(half, _TRAINABLE * examples), least, _MOST)


def _affordable(program: Program) -> int:
    """States to look at for a default."""
    each = 2 * _QUICK_DRAWS * _QUICK_UNITS * (3 * program.templates + 2 * program.bits)
    return max(32, min(_QUICK_STATES, int(_QUICK_WORK / each)))


def run_matches(algorithm: Algorithm, count: int, seed: int) -> BoolArray:  # (states, K)
    """What different states of random runs match."""
    states = np.unique(random_states(algorithm, count, seed), axis=0)
    return PackedRules(algorithm.program).matched(states)


def _all_met(algorithm: Algorithm) -> BoolArray:  # (states, K)
    """What the different states of all runs match."""
    found: list[BoolArray] = []
    domain = RunsDomain(algorithm)
    domain.visit(0, domain.size, lambda matched, *_: found.append(np.unique(matched, axis=0)))
    return np.unique(np.concatenate(found), axis=0)


def _check_size(program: Program) -> None:
    if program.templates * program.bits > MAX_ENTRIES:
        raise InputError(
            f"the width law is drawn for labels of up to {MAX_ENTRIES:,} entries, templates times bits, and this "
            f"program has {program.templates * program.bits:,}; size the network of its cells instead"
        )


def _even(width: float) -> int:
    """Hidden units come in pairs."""
    if width == inf or width > 2**62:
        raise InputError("no width that could be trained is expected to suffice; give a larger delta")
    return max(2, 2 * ceil(width / 2))
