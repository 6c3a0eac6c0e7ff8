"""How many examples the sign rule needs, and what can occur within a range of n."""

from __future__ import annotations

from bitwright.errors import InputError
from bitwright.program import Program
from bitwright.theory.feasible import Feasible
from bitwright.theory.proof import smallest_examples_within
from bitwright.theory.ranges import Range, blocks_range


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
