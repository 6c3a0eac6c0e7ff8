"""Estimates the width of a network, for the whole state or for cells, from the width law, without training.

The estimate is first-order and not proved; `certify --network` proves the trained network.
"""

from __future__ import annotations

from math import log

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.rules import Algorithm, Program
from bitwright.rules.pattern import Pattern
from bitwright.runs.successors import random_states
from bitwright.theory.encoding import PackedRules
from bitwright.theory.width_plan import WidthField, regions_of, rounded, worst_needs

MAX_ENTRIES = 1 << 24  # of the labels, K times k; larger programs are not sampled
TRAINABLE = 16  # hidden units for each example: with fewer, training sometimes stalls regardless of the law
_DRAWS, _STATES, _UNITS = 8, 256, 256
_WORK = 2e9  # operations
_LEAST, _MOST = 2_048, 1 << 20  # limits of default widths
_LEAST_CELLS = 128
_PROVABLE = 24.001 * log(2)  # ln of the number of states that a proof can check in minutes


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
    places: list[tuple[BoolArray, BoolArray]] = []
    for region in regions_of(pattern):
        matched = [] if runs is None or not len(runs.input_bits) else [run_matches(runs, states, 0)]
        if not matched or region.log_states < _PROVABLE:
            matched.append(region.sample(states, rng))
        places.append((np.concatenate(matched), region.own))
    needs = worst_needs(WidthField(program, examples), places, draws=_DRAWS, units=_UNITS)
    half = 4 * float(needs.mean()) ** 2  # the expected worst error is half the distance to the threshold
    least = _LEAST_CELLS if pattern.whole is None else _LEAST
    return rounded(max(half, TRAINABLE * examples), least, _MOST)


def _affordable(program: Program) -> int:
    """Returns the number of states to examine for a default width."""
    each = 2 * _DRAWS * _UNITS * (3 * program.templates + 2 * program.bits)
    return max(32, min(_STATES, int(_WORK / each)))


def run_matches(algorithm: Algorithm, count: int, seed: int) -> BoolArray:  # (states, K)
    """Returns the matches of the distinct states in random runs."""
    states = np.unique(random_states(algorithm, count, seed), axis=0)
    return PackedRules(algorithm.program).matched(states)
