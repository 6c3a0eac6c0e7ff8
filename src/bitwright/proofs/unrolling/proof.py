"""Proves or refutes what a program computes at a single size."""

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

_TRIED = 64  # random inputs to run first, and as many extreme inputs
_STEPS = 10_000  # the limit for these runs if the program declares none
_MOST_BITS, _WORK = 16, 1 << 36  # to run all inputs: the most input bits, and template-steps, which take some seconds


def prove_at_size(algorithm: Algorithm, *, conflicts: int = CONFLICTS) -> Claim:
    """Proves or refutes the `ensure` lines of an algorithm at its current size.

    First the graph of all runs is simplified, then CaDiCaL is used with a limit on conflicts, which makes the verdict
    the same on every machine. If neither decides, all inputs are run, provided there are few.

    >>> from bitwright import addition
    >>> print(prove_at_size(addition(8)).sentence.partition(",")[0])
    proved at size 8 (CaDiCaL
    """
    if conflicts < 1:
        raise InputError(f"the limit on conflicts must be at least 1, got {conflicts}")
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
    """Returns the claim about the function at the size of an algorithm; `wrong` is an input whose run was replayed."""
    numbers = algorithm.sizing.numbers if algorithm.sizing is not None else {}
    size = ",".join(f"{name}={value}" for name, value in numbers.items()) or ONE_SIZE
    size = size if len(numbers) > 1 else size.rpartition("=")[2]  # the 64 of `let l = 64`
    at = "" if size == ONE_SIZE else f" at size {size}"
    if wrong is not None:
        inputs = ", ".join(f"{name} = {value}" for name, value in wrong.items())
        sentence = f"refuted: the run with {inputs} is wrong{at}" if inputs else f"refuted: its run is wrong{at}"
    else:
        sentence = f"{verdict}{at} ({method})" if method else verdict
    return Claim("function", verdict, size, method, sentence, wrong)


def _by_unrolling(algorithm: Algorithm, conflicts: int) -> Claim:
    """Proves or refutes the lines with all steps of all runs in one graph."""
    run = unroll(algorithm)
    wanted, assumed = list(run.ended), list[int]()
    for lines, literals in ((algorithm.ensures, wanted), (algorithm.conditions, assumed)):
        for line in lines:
            literals += goals(run.graph, line, run.inputs, run.outputs)
    answer = prove_goals(run.graph, wanted, assumed, conflicts)
    if answer.holds:
        method = "structure" if answer.conflicts is None else f"CaDiCaL, {counted(answer.conflicts, 'conflict')}"
        return _claim(algorithm, "proved", method)
    if answer.holds is None:
        raise UndecidedError(f"CaDiCaL found no proof within {conflicts:,} conflicts; try a smaller size")
    state = algorithm.states(np.array([answer.failing], dtype=bool))[0]
    inputs = {word.name: from_bits(state[list(word.bits)], word.signed) for word in algorithm.inputs}
    if wrong_input(algorithm, [inputs]) is None:
        raise UndecidedError(f"CaDiCaL reported the input {inputs}, but its run is right; please report this bug")
    return _claim(algorithm, "refuted", "CaDiCaL", inputs)


def _by_trying(algorithm: Algorithm, _: int) -> Claim:
    """Proves or refutes the lines by running every input, if there are few."""
    bits = len(algorithm.input_bits)
    if bits > _MOST_BITS:
        raise UndecidedError(f"2^{bits} inputs are too many to run; at most 2^{_MOST_BITS} are supported")
    limit = min(_STEPS, _WORK // ((1 << bits) * max(1, algorithm.program.templates)))
    if algorithm.steps is not None and algorithm.steps > limit:
        raise UndecidedError(
            f"{algorithm.steps:,} steps are too many to run all {1 << bits:,} inputs; at most {limit:,}"
        )
    wrong = wrong_input_of_all(algorithm, limit if algorithm.steps is None else None)
    if wrong is not None and wrong[1] == LATE and algorithm.steps is None:
        raise UndecidedError(f"some input runs for more than {limit:,} steps; add a steps line if all runs end")
    if wrong is not None:
        return _claim(algorithm, "refuted", "a run", wrong[0])
    return _claim(algorithm, "proved", f"all {counted(1 << bits, 'input')} tried")


def _tried_inputs(algorithm: Algorithm) -> list[Inputs]:
    """Returns a few extreme and random inputs that satisfy the `where` lines."""
    extremes = [dict.fromkeys((0, min(1, high), low, high)) for low, high in map(bounds_of, algorithm.inputs)]
    names = [word.name for word in algorithm.inputs]
    inputs = [dict(zip(names, values, strict=True)) for values in islice(product(*extremes), _TRIED)]
    inputs += random_inputs(algorithm, _TRIED if names else 0, Random(1))
    return [values for values in inputs if algorithm.allows(values)]


def _wrong_run(algorithm: Algorithm, inputs: Sequence[Inputs]) -> Inputs | None:
    """Returns one of these inputs with a wrong run, or None."""
    wrong = wrong_input(algorithm, inputs, _STEPS if algorithm.steps is None else None)
    may_end_later = wrong is not None and wrong[1] == LATE and algorithm.steps is None
    return None if wrong is None or may_end_later else wrong[0]
