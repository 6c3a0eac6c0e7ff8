"""What a program computes at its size: proved, refuted by an input, or not decided."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, product
from random import Random

import numpy as np

from bitwright.common.bits import from_bits
from bitwright.common.errors import InputError, counted
from bitwright.proofs.claims import ONE_SIZE, Claim, Outcome
from bitwright.proofs.trials import (
    LATE,
    NONE_ALLOWED,
    Inputs,
    bounds_of,
    random_inputs,
    wrong_input,
    wrong_input_of_all,
)
from bitwright.proofs.unrolling.numbers import goals
from bitwright.proofs.unrolling.runs import RunTooLargeError, unroll
from bitwright.proofs.unrolling.solver import CONFLICTS, NoSolverError, UndecidedError, prove_goals
from bitwright.rules import Algorithm

_TRIED = 64  # random inputs that are run first, and as many extreme ones
_STEPS = 10_000  # that these take at most, where nothing else is declared
_MOST_BITS, _WORK = 16, 1 << 36  # of inputs that are all tried, and template-steps of their runs: some seconds


def prove_at_size(algorithm: Algorithm, *, conflicts: int = CONFLICTS) -> Claim:
    """Proves that every run of an algorithm does what its `ensure` lines say, at the size that it has.

    The structure of all runs comes first, then CaDiCaL with a limit of conflicts, so that the verdict is the same on
    every machine; then all inputs, if they are few.

    >>> from bitwright import addition
    >>> print(prove_at_size(addition(8)).sentence.partition(",")[0])
    proved at size 8 (CaDiCaL
    """
    if conflicts < 1:
        raise InputError(f"the limit of conflicts must be 1 or more, got {conflicts}")
    if not algorithm.ensures:
        return _claim(algorithm, "not stated", "")
    inputs = _tried_inputs(algorithm)
    if not inputs:
        return _claim(algorithm, "not decided", NONE_ALLOWED)
    if (wrong := _wrong_run(algorithm, inputs)) is not None:
        return _claim(algorithm, "refuted", "a run", wrong)
    reasons = []
    for method in (_by_unrolling, _by_trying):
        try:
            return method(algorithm, conflicts)
        except (UndecidedError, RunTooLargeError, NoSolverError) as error:
            reasons.append(str(error))
    return _claim(algorithm, "not decided", "; ".join(reasons))


def _claim(algorithm: Algorithm, verdict: Outcome, method: str, wrong: Inputs | None = None) -> Claim:
    """The claim about the function at the size of an algorithm; `wrong` is an input whose run was replayed."""
    numbers = algorithm.sizing.numbers if algorithm.sizing is not None else {}
    size = ",".join(f"{name}={value}" for name, value in numbers.items()) or ONE_SIZE
    size = size if len(numbers) > 1 else size.rpartition("=")[2]  # the 64 of `let l = 64`
    at = "" if size == ONE_SIZE else f" at size {size}"
    if wrong is not None:
        given = ", ".join(f"{name} = {value}" for name, value in wrong.items())
        sentence = f"refuted: a run with {given} is wrong{at}" if given else f"refuted: its run is wrong{at}"
    else:
        sentence = f"{verdict}{at} ({method})" if method else verdict
    return Claim("function", verdict, size, method, sentence, wrong)


def _by_unrolling(algorithm: Algorithm, conflicts: int) -> Claim:
    """By all steps of a run in one graph."""
    run = unroll(algorithm)
    wanted, given = list(run.ended), list[int]()
    for lines, literals in ((algorithm.ensures, wanted), (algorithm.conditions, given)):
        for line in lines:
            literals += goals(run.graph, line, run.inputs, run.outputs)
    found = prove_goals(run.graph, wanted, given, conflicts)
    if found.holds:
        how = "structure" if found.conflicts is None else f"CaDiCaL, {counted(found.conflicts, 'conflict')}"
        return _claim(algorithm, "proved", how)
    if found.holds is None:
        raise UndecidedError(f"CaDiCaL found no proof within {conflicts:,} conflicts")
    state = algorithm.states(np.array([found.failing], dtype=bool))[0]
    inputs = {word.name: from_bits(state[list(word.bits)], word.signed) for word in algorithm.inputs}
    if wrong_input(algorithm, [inputs]) is None:
        raise UndecidedError(f"CaDiCaL gave an input, {inputs}, whose run is right")
    return _claim(algorithm, "refuted", "CaDiCaL", inputs)


def _by_trying(algorithm: Algorithm, _: int) -> Claim:
    """By running every input, where there are few."""
    bits = len(algorithm.input_bits)
    if bits > _MOST_BITS:
        raise UndecidedError(f"2^{bits} inputs are too many to try all of them")
    limit = min(_STEPS, _WORK // ((1 << bits) * max(1, algorithm.program.templates)))
    if algorithm.steps is not None and algorithm.steps > limit:
        raise UndecidedError(f"all {1 << bits:,} inputs for {algorithm.steps:,} steps are too much to try")
    wrong = wrong_input_of_all(algorithm, limit if algorithm.steps is None else None)
    if wrong is not None and wrong[1] == LATE and algorithm.steps is None:
        raise UndecidedError(f"a run of all inputs takes more than {limit:,} steps")
    if wrong is not None:
        return _claim(algorithm, "refuted", "a run", wrong[0])
    return _claim(algorithm, "proved", f"all {counted(1 << bits, 'input')} tried")


def _tried_inputs(algorithm: Algorithm) -> list[Inputs]:
    """A few extreme and random inputs among those allowed."""
    extremes = [dict.fromkeys((0, min(1, high), low, high)) for low, high in map(bounds_of, algorithm.inputs)]
    names = [word.name for word in algorithm.inputs]
    inputs = [dict(zip(names, values, strict=True)) for values in islice(product(*extremes), _TRIED)]
    inputs += random_inputs(algorithm, _TRIED if names else 0, Random(1))
    return [values for values in inputs if algorithm.allows(values)]


def _wrong_run(algorithm: Algorithm, inputs: Sequence[Inputs]) -> Inputs | None:
    """One of these inputs, if its run is wrong."""
    wrong = wrong_input(algorithm, inputs, _STEPS if algorithm.steps is None else None)
    may_end_later = wrong is not None and wrong[1] == LATE and algorithm.steps is None
    return None if wrong is None or may_end_later else wrong[0]
