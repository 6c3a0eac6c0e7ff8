"""The number of networks to average (Section 6): Eq. (8) as printed, its tight form, and calibrated rounding.

The average of N independent networks errs on one bit with probability at most exp(-N gap^2/(2 sigma^2)), where gap is
the distance of the mean from the threshold. A union bound over bits, and over every covered input, gives N.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import ceil, isfinite, log
from typing import Any, Literal

import numpy as np

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, check_choice, listing
from bitwright.rules import Algorithm, Program
from bitwright.rules.summary import never_written
from bitwright.theory.closed_form import variance, weights
from bitwright.theory.decisions import Range, blocks_range, check_examples, training_size
from bitwright.theory.proof import Feasible, check_range, least_means
from bitwright.theory.rounding import ROUNDINGS

Scope = Literal["input", "inputs", "runs"]
SCOPES: tuple[Scope, ...] = ("input", "inputs", "runs")


@dataclass(frozen=True)
class EnsembleSize:
    """N for a rounding rule, or None if no finite ensemble suffices; `reason` explains the number."""

    networks: int | None
    reason: str
    worst_n: int | None
    ratio: float | None = None  # the largest sigma^2/gap^2; N is proportional to it


def check_scope(name: str) -> Scope:
    """Returns the domain with this name; raises InputError if there is none."""
    return check_choice("domain", name, SCOPES)


def check_delta(delta: float) -> None:
    """Raises InputError unless the error probability delta lies between 0 and 1."""
    if not isinstance(delta, float | int) or not 0 < delta < 1:
        raise InputError(f"delta must be between 0 and 1, got {shorten(str(delta))}")


def log_inputs(program: Program) -> float:
    """Returns the logarithm of the number of test inputs, prod (t + 1); a block matches one of t templates or none."""
    counts = np.bincount(program.template_block, minlength=program.blocks)
    return float(np.log1p(counts).sum())


def sign_size(
    program: Program,
    delta: float,
    scope: Scope = "inputs",
    *,
    printed: bool = True,
    masked: bool = True,
    examples: int | None = None,
    within: Range | None = None,
    steps: int | None = None,
) -> EnsembleSize:
    """Returns N for the sign rule: Eq. (8) as printed, 8 max(sigma^2/mu^2) ln(2K/delta), or its tight form.

    The tight form allows a one-sided error of `|mu|` instead of `|mu|/2` on the k bits: 2 max(...) ln(k/delta).

    >>> from bitwright import addition
    >>> sign_size(addition(10).program, 0.01).networks, sign_size(addition(10).program, 0.01, printed=False).networks
    (34512, 8344)
    """
    K = program.templates if examples is None else examples
    feasible = check_range(program, within or blocks_range(program))
    n, spread = _spread(feasible, K)
    constant = never_written(program, 5)
    if constant and not masked:
        reason = f"{listing(constant)} is never written, so its mean is 0 and every ensemble guesses it; mask it to 0"
        return EnsembleSize(None, reason, None)
    worst, means = least_means(feasible, K)
    if (means <= 0).any():
        at = int(np.argmax(means <= 0))
        bit, c = program.layout.name_of(int(worst.bits[at])), int(worst.writers[at])
        n_wrong = int(worst.matches[at])
        reason = (
            f"the mean of {bit}, which {c:,} templates write, can have the wrong sign at n = {n_wrong:,}; add padding"
        )
        return EnsembleSize(None, reason, n_wrong)
    gap = np.full(feasible.last + 1, np.inf)  # by n; infinite where no error is possible
    gap[worst.matches] = means
    unset, fewest = feasible.unset()
    gap[unset] = np.minimum(gap[unset], -fewest * weights(unset, K).unmatched)
    ratio = spread / gap[n] ** 2
    union = _union(program, delta, scope, events=2 * K if printed else program.bits)
    if scope == "runs" and printed:
        union += log(max(1, steps or 1))  # the paper's factor m, unneeded if all inputs are covered
    count = int(np.count_nonzero(program.writers == 0))
    mask = f"; {count:,} never written, masked to 0" if constant else ""
    return _size(8 if printed else 2, ratio, union, n, f"sigma^2/mu^2 = {{:.4g}} at n = {{}}{mask}")


def calibrated_size(
    program: Program,
    delta: float,
    scope: Scope = "inputs",
    *,
    examples: int | None = None,
    within: Range | None = None,
) -> EnsembleSize:
    """Returns N for calibrated rounding, with the gap (w1 - w0)/2: 8 max(sigma^2/(w1 - w0)^2) ln(k .../delta).

    >>> from bitwright import addition
    >>> calibrated_size(addition(10).program, 0.01).networks
    50
    """
    K = program.templates if examples is None else examples
    n, spread = _spread(check_range(program, within or blocks_range(program)), K)
    ratio = spread / weights(n, K).gap ** 2
    union = _union(program, delta, scope, events=program.bits)
    return _size(8, ratio, union, n, "sigma^2/(w1 - w0)^2 = {:.4g} at n = {}")


def sizes(
    algorithm: Algorithm, delta: float, scope: Scope, within: Range, *, padding: int | None = None
) -> dict[str, Any]:
    """Returns all three sizes with their K and range of n, in a form for JSON.

    Args:
        algorithm: what the networks are trained on.
        delta: the error probability.
        scope: one input, all inputs, or all runs.
        within: the range of n.
        padding: examples to add to the templates; None for the number that the algorithm declares.
    """
    check_delta(delta)
    program = algorithm.program
    examples = {rounding: training_size(algorithm, rounding, padding) for rounding in ROUNDINGS}
    sign: dict[str, Any] = {"examples": examples["sign"], "within": within, "steps": algorithm.steps}
    return {
        "delta": delta,
        "scope": scope,
        "n_max": within.n_max,
        "n_source": within.source,
        "assumption": within.assumption,
        "covers": within.covers,
        "examples": examples,
        "sign": asdict(sign_size(program, delta, scope, **sign)),
        "sign_tight": asdict(sign_size(program, delta, scope, printed=False, **sign)),
        "calibrated": asdict(calibrated_size(program, delta, scope, examples=examples["calibrated"], within=within)),
        "program_id": program.id,
    }


def _spread(feasible: Feasible, examples: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns every n with a positive variance (it is 0 at n = 1), and sigma^2 for each."""
    check_examples(feasible.program, examples)
    n = np.arange(max(2, feasible.first), feasible.last + 1)
    return n, variance(n, examples)


def _union(program: Program, delta: float, scope: Scope, events: int) -> float:
    """Returns ln(events/delta) for one input, or ln(events prod (t + 1)/delta) for every input."""
    check_delta(delta)
    scope = check_scope(scope)
    return log(events) - log(delta) + (0.0 if scope == "input" else log_inputs(program))


def _size(factor: int, ratio: np.ndarray, union: float, n: np.ndarray, reason: str) -> EnsembleSize:
    if not len(n):
        return EnsembleSize(1, "every input is a training example", None)
    at = int(np.argmax(ratio))
    value = factor * float(ratio[at]) * union
    if not isfinite(value):
        return EnsembleSize(None, "the mean lies on the threshold", int(n[at]))
    worst = float(ratio[at])
    return EnsembleSize(max(1, ceil(value)), reason.format(worst, int(n[at])), int(n[at]), worst)
