"""Certificates of exactness: for every n that can occur, the limit's mean rounds to the right bits (Theorem 5.1).

Proved in interval arithmetic, for all states at once: a bit with c writers, m >= 1 of which match, must round to 1, and
with m = 0 to 0. Under `sign` that is w1 + (c - 1) w0 > 0 >= w0 for the largest c; under `calibrated`, w1 - w0 > 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf

import flint
import numpy as np

from bitwright.bits import shorten
from bitwright.errors import InputError
from bitwright.lazy import Shown
from bitwright.program import Program
from bitwright.theory.intervals import Ball, Enclosure, decimal, enclose, lower_bound, precision
from bitwright.theory.ranges import Range, blocks_range
from bitwright.theory.rounding import Rounding, check_rounding
from bitwright.version import __version__

FORMAT = "bitwright certificate 1"
MAX_EXAMPLES = 10**9
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Certificate(Shown):
    """The verdict for one program, one rounding, one size of training set and one range of n."""

    certified: bool
    rounding: Rounding
    examples: int  # K with padding
    padding: int
    blocks: int
    bits: int
    writers_max: int
    n_max: int
    n_source: str
    n_scope: str
    margin: float  # lower bound on how far the worst set bit's mean lies above its threshold, in units of the output
    margin_enclosure: str  # the same number with its radius
    margin_unset: float  # the same for unset bits below it, where the outcome is random at all (n >= 2)
    worst_bit: str
    worst_n: int
    fails_from: int | None  # the smallest n at which the rounding can fail
    masked_bits: int  # bits that nothing writes; under `sign` they are fixed to 0
    examples_needed: int  # the smallest K that would certify this range of n
    proposal: str | None
    program_id: str
    version: str = __version__
    arithmetic: str = f"python-flint {flint.__version__}, 128-bit balls"
    format: str = FORMAT


def certify(
    program: Program,
    rounding: Rounding,
    within: Range | None = None,
    examples: int | None = None,
    progress: Progress | None = None,
) -> Certificate:
    """Proves or refutes that the limit, trained on `examples` examples, rounds right for every n in the range."""
    within = within or blocks_range(program)
    rounding = check_rounding(rounding)
    K = program.templates if examples is None else examples
    if K > MAX_EXAMPLES:
        raise InputError(f"a training set has at most {MAX_EXAMPLES:,} examples, got {shorten(K)}")
    if program.templates > K:
        raise InputError(
            f"a training set has at least the program's {program.templates:,} templates, got {K:,} examples"
        )
    if not 1 <= within.n_max <= K:
        raise InputError(f"n must lie between 1 and the {K:,} examples, got {within.n_max:,}")
    writers = int(program.writers.max())
    worst_bit = program.layout.name_of(int(program.writers.argmax()))

    least = int(program.writers[program.writers > 0].min())
    worst: Ball | None = None
    unset = inf
    worst_n, fails_from, needed = 1, None, program.templates
    with precision():
        for n in range(1, within.n_max + 1):
            e = enclose(n, K)
            margin = e.gap / 2 if rounding == "calibrated" else e.matched + (writers - 1) * e.unmatched
            if fails_from is None and not _holds(e, margin):
                fails_from = n
            if worst is None or margin.lower() < worst.lower():
                worst, worst_n = margin, n
            below = margin if rounding == "calibrated" else -least * e.unmatched
            unset = min(unset, lower_bound(below)) if n > 1 else unset
            if rounding == "sign":
                needed = max(needed, _smallest_examples(e, writers))
            if progress and n % 1024 == 0:
                progress(n, within.n_max)
        assert worst is not None
        margin_below, enclosure = lower_bound(worst), decimal(worst)
    certified = fails_from is None
    return Certificate(
        certified=certified,
        rounding=rounding,
        examples=K,
        padding=K - program.templates,
        blocks=program.blocks,
        bits=program.bits,
        writers_max=writers,
        n_max=within.n_max,
        n_source=within.source,
        n_scope=within.scope,
        margin=margin_below,
        margin_enclosure=enclosure,
        margin_unset=unset if unset < inf else margin_below,
        worst_bit=worst_bit,
        worst_n=worst_n,
        fails_from=fails_from,
        masked_bits=int(np.count_nonzero(program.writers == 0)) if rounding == "sign" else 0,
        examples_needed=needed,
        proposal=None if certified else _proposal(program, within, K, needed, worst_bit, writers),
        program_id=program.id,
    )


def smallest_examples(program: Program, within: Range | None = None) -> int:
    """The smallest K for which the sign rule is certified: floor(c rho(n) - (2 pi - 1)) + 1, at the worst n."""
    within = within or blocks_range(program)
    writers = int(program.writers.max())
    with precision():
        needed = [_smallest_examples(enclose(n, 1), writers) for n in range(1, within.n_max + 1)]
    return max([program.templates, within.n_max, *needed])


def _holds(e: Enclosure, margin: Ball) -> bool:
    """Certainly right: the set bits lie above the threshold, and unset ones at or below it."""
    return bool(margin > 0) and bool(e.unmatched <= 0) and bool(e.gap > 0)


def _smallest_examples(e: Enclosure, writers: int) -> int:
    """w1 + (c - 1) w0 > 0 exactly if K > c rho(n) - (2 pi - 1)."""
    least = writers * e.rho - (2 * Ball.pi() - 1)
    return int(float(least.upper().floor().upper())) + 1


def _proposal(program: Program, within: Range, examples: int, needed: int, bit: str, writers: int) -> str:
    with precision():
        worst = max((enclose(n, examples).rho for n in range(2, within.n_max + 1)), key=lambda ball: float(ball.mid()))
        allowed = int(float(((examples + 2 * Ball.pi() - 1) / worst).lower().floor().lower()))
    return (
        f"pad to {needed:,} examples (--padding {needed - program.templates}); or use calibrated rounding, which needs "
        f"no padding; or split the rules that write {bit}: at most {allowed:,} instead of {writers:,} may write one bit"
    )
