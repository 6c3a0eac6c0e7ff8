"""Goals that always hold, proved by CaDiCaL one after the other, so that each helps with the next.

All goals make one formula: "one of them fails". The solver refutes the failure of each goal in turn, as an assumption;
what it learns stays, and in the end the formula itself is contradictory.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from bitwright.common.errors import InputError
from bitwright.proofs.unrolling.graph import FALSE, TRUE, AndGraph, Literal

CONFLICTS = 200_000  # then the goals are not decided
_SAMPLES = 256  # random inputs that are tried first


class UndecidedError(Exception):
    """A proof was not found; the message says what could not be proved."""


class NoSolverError(InputError):
    """The solver is not installed."""


@dataclass(frozen=True)
class Answer:
    """Whether goals always hold; None if the limit was too low."""

    holds: bool | None
    conflicts: int | None = None  # of the solver; None where the graph alone shows it
    failing: tuple[bool, ...] = ()  # values of the inputs with which a goal fails


def prove_goals(
    graph: AndGraph, goals: Sequence[Literal], given: Sequence[Literal] = (), most: int = CONFLICTS
) -> Answer:
    """Whether every goal holds whenever all given literals do, within this many conflicts."""
    given = [literal for literal in given if literal != TRUE]
    goals = [goal for goal in dict.fromkeys(goals) if goal != TRUE]
    if not goals or FALSE in given:
        return Answer(True)
    if failing := _sampled(graph, goals, given):
        return Answer(False, failing=failing)
    try:
        from pysat.solvers import Cadical195
    except ImportError:
        raise NoSolverError("a solver needs python-sat; install it with: pip install 'bitwright[prove]'") from None
    clauses, variables = _formula(graph, goals, given)
    with Cadical195(bootstrap_with=clauses) as solver:
        spent = 0
        for assumed in (*([variables[goal ^ 1]] for goal in goals), []):  # the last is the formula itself
            solver.conf_budget(max(most - spent, 1))
            found = solver.solve_limited(assumed)
            spent = solver.accum_stats()["conflicts"]
            if found is None:
                return Answer(None, spent)
            if found:
                on = {abs(variable): variable > 0 for variable in solver.get_model()}
                failing = tuple(on.get(variables.get(2 * node, 0), False) for node in graph.inputs)
                return Answer(False, spent, failing)
    return Answer(True, spent)


def _formula(
    graph: AndGraph, goals: Sequence[Literal], given: Sequence[Literal]
) -> tuple[list[list[int]], dict[Literal, int]]:
    """The CNF of "the given literals hold, and one of the goals does not" (Tseitin), and the variables of literals."""
    nodes = graph.cone([*goals, *given])
    variables = {}
    for place, node in enumerate((*nodes, 0), 1):  # 0: the constant, where a goal is FALSE
        variables[2 * node], variables[2 * node + 1] = place, -place
    clauses = [[-variables[FALSE]]] if FALSE in goals else []
    for node in nodes:
        if graph.right[node]:
            out, a, b = (variables[literal] for literal in (2 * node, graph.left[node], graph.right[node]))
            clauses += ([-out, a], [-out, b], [out, -a, -b])
    clauses.append([variables[goal ^ 1] for goal in goals])
    return clauses + [[variables[literal]] for literal in dict.fromkeys(given)], variables


def _sampled(graph: AndGraph, goals: Sequence[Literal], given: Sequence[Literal]) -> tuple[bool, ...]:
    """Values of the inputs with which a goal fails, if a few random ones show some."""
    rng, ones = random.Random(1), (1 << _SAMPLES) - 1
    values = graph.evaluate([rng.getrandbits(_SAMPLES) for _ in graph.inputs], ones)

    def of(literal: Literal) -> int:
        return values[literal >> 1] ^ (ones if literal & 1 else 0)

    possible = ones
    for literal in given:
        possible &= of(literal)
    for goal in goals:
        if wrong := possible & ~of(goal):
            sample = (wrong & -wrong).bit_length() - 1
            return tuple(bool(values[node] >> sample & 1) for node in graph.inputs)
    return ()
