"""The proofs behind a certificate: every n that can occur, in interval arithmetic.

For the sign rule doubles only choose which situations have to be enclosed; they are good to 1e-13 here, and everything
within 1e-9 of the worst is enclosed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from bitwright.errors import BitwrightError, InputError
from bitwright.program import Program
from bitwright.theory.closed_form import FloatArray, Weights, weights
from bitwright.theory.decisions import mean_is_positive, rho
from bitwright.theory.feasible import Feasible, Situations
from bitwright.theory.intervals import Ball, decimal, enclose, lower_bound, precision
from bitwright.theory.ranges import Range, blocks_range

_CLOSE = 1e-9
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Situation:
    """A bit in a state with n matches, where m of its c writers match."""

    n: int
    writers: int
    matching: int
    bit: int


@dataclass(frozen=True)
class Proof:
    """Where the rounding fails first, if it does, and how far it is from failing."""

    failing: Situation | None
    certainly_fails: bool  # False also where no precision could decide
    margin: float
    margin_enclosure: str
    margin_unset: float | None
    worst: Situation


def prove_calibrated(feasible: Feasible, examples: int, progress: Progress | None, ports: bool = False) -> Proof:
    """w1 - w0 > 0 for every n: then zhat = m, and |m - 1/2| gaps are the margin of a bit of which m writers match.

    With `ports` only bits that are written are read.
    """
    program = feasible.program
    least = {situation.n: situation for situation in _each(feasible.least)}
    some_never_written = not ports and bool((program.writers == 0).any())
    can_be_unset = set(range(feasible.last + 1)) if some_never_written else set(feasible.unset()[0].tolist())
    worst: tuple[Ball, Situation] | None = None
    unset: Ball | None = None
    with precision():
        for n in range(feasible.first, feasible.last + 1):
            half = enclose(n, examples).gap / 2
            _expect(half > 0, n)
            if n in least:
                above = half * (2 * least[n].matching - 1)
                if worst is None or above.lower() < worst[0].lower():
                    worst = above, least[n]
            if n > 1 and n in can_be_unset and (unset is None or half.lower() < unset.lower()):
                unset = half
            _tell(progress, n, feasible.last)
        assert worst is not None
        margin, enclosure = lower_bound(worst[0]), decimal(worst[0])
        margin_unset = None if unset is None else lower_bound(unset)
    return Proof(None, False, margin, enclosure, margin_unset, worst[1])


def prove_sign(feasible: Feasible, examples: int, progress: Progress | None) -> Proof:
    """c w0 + m (w1 - w0) > 0 >= w0 for every n, with the c and m that make it tightest there."""
    failing, certainly = None, False
    with precision():
        for situation in _each(feasible.tightest):
            e = enclose(situation.n, examples)
            _expect(e.unmatched <= 0, situation.n)
            if not e.unmatched * situation.writers + e.gap * situation.matching > 0:
                above = mean_is_positive(examples, situation.n, situation.writers, situation.matching)
                if not above:
                    failing, certainly = situation, above is False
                    break
            _tell(progress, situation.n, feasible.last)
        worst, mean = _lowest_mean(feasible, examples)
        margin, enclosure = lower_bound(mean), decimal(mean)
        n, fewest = feasible.unset()
        at = int(np.searchsorted(n, 2))  # |w0| grows with n, and so do the fewest writers: the first is the worst
        unset = lower_bound(-int(fewest[at]) * enclose(int(n[at]), examples).unmatched) if at < len(n) else None
    return Proof(failing, certainly, margin, enclosure, unset, worst)


def smallest_examples_within(feasible: Feasible) -> int:
    """The smallest K with m (K + 2 pi - 1) > c rho(n) for everything that can occur, and no fewer than templates."""
    tightest = feasible.tightest
    needed = tightest.writers * rho(tightest.matches) / tightest.matching
    close = np.flatnonzero(needed >= needed.max() * (1 - _CLOSE))
    with precision():
        least = [
            s.writers * enclose(s.n, 1).rho / s.matching - (2 * Ball.pi() - 1) for s in _each(tightest.where(close))
        ]
        found = max(int(float(ball.upper().floor().upper())) + 1 for ball in least)
    return max(feasible.program.templates, found)


def least_means(feasible: Feasible, examples: int) -> tuple[Situations, FloatArray]:
    """For every n the set bit with the smallest mean, and that mean, in doubles."""
    w = weights(np.arange(feasible.last + 1), examples)
    worst = feasible.worst(lambda n, c, m: -(w.unmatched[n] * c + w.gap[n] * m))
    return worst, _means(worst, w)[0]


def _lowest_mean(feasible: Feasible, examples: int) -> tuple[Situation, Ball]:
    """The smallest mean of any set bit, enclosed: of all that a double cannot tell from it, the lowest."""
    w = weights(np.arange(feasible.last + 1), examples)
    means, doubt = _means(least_means(feasible, examples)[0], w)
    most = (means + doubt).min()
    best: tuple[Situation, Ball] | None = None
    for batch in feasible.situations():
        means, doubt = _means(batch, w)
        for situation in _each(batch.where(means - doubt <= most)):
            e = enclose(situation.n, examples)
            mean = e.unmatched * situation.writers + e.gap * situation.matching
            if best is None or mean.lower() < best[1].lower():
                best = situation, mean
    assert best is not None
    return best


def _means(found: Situations, w: Weights) -> tuple[FloatArray, FloatArray]:
    """Means, and more than the error that doubles make in them."""
    below, above = w.unmatched[found.matches] * found.writers, w.gap[found.matches] * found.matching
    return below + above, _CLOSE * (above - below)


def _each(found: Situations) -> Iterator[Situation]:
    columns = (found.matches, found.writers, found.matching, found.bits)
    return (Situation(*row) for row in zip(*(column.tolist() for column in columns), strict=True))


def _expect(certain: bool, n: int) -> None:
    """Checks what holds for every n in theory."""
    if not certain:
        raise BitwrightError(f"the signs of w0 and w1 - w0 at n = {n:,} could not be proved; please report this")


def _tell(progress: Progress | None, n: int, last: int) -> None:
    if progress and n % 1024 == 0:
        progress(n, last)


def smallest_examples(program: Program, within: Range | None = None) -> int:
    """The smallest K for which the sign rule is certified: floor(c rho(n)/m - (2 pi - 1)) + 1 at its largest.

    >>> from bitwright import multiplication
    >>> program = multiplication(10).program
    >>> program.templates, smallest_examples(program)
    (202, 272)
    """
    return smallest_examples_within(check_range(program, within or blocks_range(program)))


def check_range(program: Program, within: Range) -> Feasible:
    """What can occur within a range of n; raises InputError where no state has such an n, or sets a bit."""
    if within.n_max < 1:
        raise InputError(f"n must be at least 1, got {within.n_max:,}")
    feasible = Feasible(program, within.n_max)
    if feasible.last < feasible.first:
        raise InputError(
            f"every state matches {feasible.first:,} templates or more, none has n <= {within.n_max:,}; "
            "take n from its blocks"
        )
    if not len(feasible.least.matches):
        within_n = f"with n <= {feasible.last:,} " if len(feasible.written) else ""
        raise InputError(f"no state of this program {within_n}sets a bit, so there is nothing to decide")
    return feasible
