"""The width at which one network is expected to be right, from draws of the law's field and a search from the worst.

At this width, the worst of many states in draws of the field is right with probability 1 - delta, to first order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, exp, inf, log, pi, sqrt

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.errors import InputError
from bitwright.common.workers.linear_algebra import one_thread
from bitwright.proofs.exhaustion.domains import RunsDomain
from bitwright.proofs.width import MAX_ENTRIES, TRAINABLE, run_matches
from bitwright.rules import Algorithm, Program
from bitwright.rules.pattern import Pattern
from bitwright.runs.loop import step_limit
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.ensemble import check_delta
from bitwright.theory.width_plan import Draw, Region, WidthField, regions_of

Place = tuple[BoolArray, BoolArray, Region | None]  # matches of states, bits to check, region to search
_DRAWS, _FEWER, _STATES, _UNITS = 40, 12, 1_000, 512  # `_FEWER` draws if the search is slow
_ALL_RUNS = 1 << 15  # if runs have fewer states, with repetitions, all of them are examined
_EULER = 0.5772156649015329
_KEPT = 8  # worst states of a region from which the search for worse states starts
_SWEEPS = 30
_WORK = 4e11  # operations of the search in all draws; larger searches make fewer sweeps


@dataclass(frozen=True)
class WorstError:
    """The largest error over all examined states, times sqrt(h), in several draws of the field."""

    errors: FloatArray  # (draws,) of zhat
    needs: FloatArray  # (draws,) error towards the threshold over the distance to it; sqrt(h) must be larger
    states: int  # number of states examined initially
    cut: bool = False  # whether a search stopped while still finding worse states

    def width(self, delta: float) -> float:
        """Returns the width at which a network fails in some state with probability delta, to first order.

        Maxima of Gaussian fields nearly follow a Gumbel distribution, fitted to the mean and deviation of the draws.
        """
        check_delta(delta)
        scale = float(self.needs.std(ddof=1)) * sqrt(6) / pi
        return float(max(0.0, self.needs.mean() + scale * (-log(-log(1 - delta)) - _EULER)) ** 2)

    @property
    def interval(self) -> tuple[float, float, float]:
        """The mean of the largest error, and the range that contains nine of ten draws."""
        low, high = np.quantile(self.errors, [0.05, 0.95])
        return float(self.errors.mean()), float(low), float(high)


@dataclass(frozen=True)
class NetworkWidth:
    """The estimated width of a network with zero initial outputs and calibrated rounding, and its basis."""

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
    slow = _most_sweeps(field, _UNITS * _DRAWS * len(places)) < _SWEEPS and any(region for *_, region in places)
    draws = _FEWER if slow else _DRAWS
    error = _worst_error(field, places, draws=draws, units=_UNITS, seed=seed)
    least = TRAINABLE * examples if error.errors.any() else 0  # without errors, no state matches two examples
    expected, total = _even(max(least, error.width(delta))), float(np.logaddexp.reduce(counts))
    return NetworkWidth(expected, delta, domain, examples, total, error, seed, program.id, every)


@one_thread()
def _worst_error(
    field: WidthField,
    places: Sequence[Place],
    *,
    draws: int,
    units: int,
    seed: int = 0,
) -> WorstError:
    """Returns the worst errors in draws of the field.

    `places` lists the matches of states (states, K), the bits to check (k,) and an optional region, in which the search
    moves from the worst states to ever worse states, block by block.
    """
    rng = np.random.default_rng([seed, 1])
    errors, needs, cut = np.zeros(draws), np.zeros(draws), False
    sweeps = _most_sweeps(field, units * draws * len(places))
    for number in range(draws):
        draw = field.draw(rng, units)
        for matched, own, region in places:
            error, needed = _look(field, draw, matched, own)
            need = float(needed.max(initial=0.0))
            if region is not None:
                more, worse, unfinished = _climb(field, draw, matched, own, region, needed, sweeps)
                error, need, cut = max(error, more), max(need, worse), cut or unfinished
            errors[number], needs[number] = max(errors[number], error), max(needs[number], need)
    return WorstError(errors, needs, sum(len(matched) for matched, _, _ in places), cut)


def _look(field: WidthField, draw: Draw, matched: BoolArray, own: BoolArray) -> tuple[float, FloatArray]:
    """Returns the largest error, and the largest error of each state towards the threshold, over the distance to it."""
    found = field.errors(draw, matched)[:, own]
    needs = (found / field.distance(matched)[:, own]).max(axis=1, initial=0.0)
    return float(np.abs(found).max(initial=0.0)), needs


def _climb(
    field: WidthField,
    draw: Draw,
    matched: BoolArray,
    own: BoolArray,
    region: Region,
    needs: FloatArray,
    sweeps: int,
) -> tuple[float, float, bool]:
    """Moves from the worst states to their worst neighbours until none is worse; the flag reports a cut-off."""
    start = np.argsort(-needs, kind="stable")[:_KEPT]
    at, best, error, need = matched[start], needs[start], 0.0, 0.0
    for _ in range(sweeps):
        others = neighbours(region, at)  # ordered by change, then by state
        if not len(others):
            return error, need, False
        more, needed = _look(field, draw, others, own)
        error = max(error, more)
        by_change = needed.reshape(-1, len(at))
        change = np.argmax(by_change, axis=0)
        reached = by_change[change, np.arange(len(at))]
        need = max(need, float(reached.max()))
        going = reached > best * (1 + 1e-6)
        if not going.any():
            return error, need, False
        at = others.reshape(-1, *at.shape)[change, np.arange(len(at))][going]
        best = reached[going]
    return error, need, True


def _most_sweeps(field: WidthField, units: int) -> int:
    """Returns how often neighbours are examined, for this many hidden units in total."""
    K, k = field.labels.shape
    each = 2.0 * units * _KEPT * 1.5 * K * (3 * K + 2 * k)  # a block has about one more neighbour than templates
    return int(max(2, min(_SWEEPS, _WORK / each)))


def neighbours(region: Region, matched: BoolArray) -> BoolArray:  # (states, K) -> (more states, K)
    """Returns every state that differs from one of these in one block."""
    block, local = region.local.block_of, matched[:, region.templates]
    rows = []
    for choice in range(len(block)):  # this template replaces the current template of the block
        other = local.copy()
        other[:, block == block[choice]] = False
        other[:, choice] = True
        rows.append(other)
    for at in np.flatnonzero(region.optional):
        other = local.copy()
        other[:, block == at] = False
        rows.append(other)
    return region.placed(np.concatenate(rows))


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
