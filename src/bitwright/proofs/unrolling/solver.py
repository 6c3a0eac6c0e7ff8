"""Proves goals with CaDiCaL one after the other, which lets each proof help with the next.

The formula states that some goal fails. The solver refutes the failure of each goal in turn, as an assumption, and
keeps the clauses that it learns. At the end the formula itself is contradictory.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from bitwright.common.errors import InputError
from bitwright.proofs.unrolling.graph import FALSE, TRUE, AndGraph, Literal

CONFLICTS = 200_000  # after which the goals are not decided
_SAMPLES = 256  # random inputs to try first


class UndecidedError(Exception):
    """Raised if neither a proof nor a counterexample was found; the message gives the reason."""


class NoSolverError(InputError):
    """Raised if the solver is not installed."""


@dataclass(frozen=True)
class Answer:
    """Whether goals are always true; `holds` is None if the limit was too low."""

    holds: bool | None
    conflicts: int | None = None  # of the solver; None if it was not needed
    failing: tuple[bool, ...] = ()  # input values for which a goal is false


def prove_goals(
    graph: AndGraph, goals: Sequence[Literal], assumed: Sequence[Literal] = (), most: int = CONFLICTS
) -> Answer:
    """Decides with at most this many conflicts whether every goal is true if all assumed literals are."""
    assumed = [literal for literal in assumed if literal != TRUE]
    goals = [goal for goal in dict.fromkeys(goals) if goal != TRUE]
    if not goals or FALSE in assumed:
        return Answer(True)
    if failing := _sampled(graph, goals, assumed):
        return Answer(False, failing=failing)
    try:
        from pysat.solvers import Cadical195
    except ImportError:
        raise NoSolverError("a solver needs python-sat; install it with: pip install 'bitwright[prove]'") from None
    clauses, variables = _formula(graph, goals, assumed)
    with Cadical195(bootstrap_with=clauses) as solver:
        spent = 0
        for failure in (*([variables[goal ^ 1]] for goal in goals), []):  # finally the formula itself
            solver.conf_budget(max(most - spent, 1))
            satisfiable = solver.solve_limited(failure)
            spent = solver.accum_stats()["conflicts"]
            if satisfiable is None:
                return Answer(None, spent)
            if satisfiable:
                on = {abs(variable): variable > 0 for variable in solver.get_model()}
                failing = tuple(on.get(variables.get(2 * node, 0), False) for node in graph.inputs)
                return Answer(False, spent, failing)
    return Answer(True, spent)


def _formula(
    graph: AndGraph, goals: Sequence[Literal], assumed: Sequence[Literal]
) -> tuple[list[list[int]], dict[Literal, int]]:
    """Returns the CNF (Tseitin) for "all assumed literals are true and some goal is false", and literals' variables."""
    nodes = graph.cone([*goals, *assumed])
    variables = {}
    for place, node in enumerate((*nodes, 0), 1):  # node 0 is the constant, for a goal that is FALSE
        variables[2 * node], variables[2 * node + 1] = place, -place
    clauses = [[-variables[FALSE]]] if FALSE in goals else []
    for node in nodes:
        if graph.right[node]:
            out, a, b = (variables[literal] for literal in (2 * node, graph.left[node], graph.right[node]))
            clauses += ([-out, a], [-out, b], [out, -a, -b])
    clauses.append([variables[goal ^ 1] for goal in goals])
    return clauses + [[variables[literal]] for literal in dict.fromkeys(assumed)], variables


def _sampled(graph: AndGraph, goals: Sequence[Literal], assumed: Sequence[Literal]) -> tuple[bool, ...]:
    """Returns random input values for which a goal is false, or an empty tuple if none were found."""
    rng, ones = random.Random(1), (1 << _SAMPLES) - 1
    values = graph.evaluate([rng.getrandbits(_SAMPLES) for _ in graph.inputs], ones)

    def of(literal: Literal) -> int:
        return values[literal >> 1] ^ (ones if literal & 1 else 0)

    possible = ones
    for literal in assumed:
        possible &= of(literal)
    for goal in goals:
        if wrong := possible & ~of(goal):
            sample = (wrong & -wrong).bit_length() - 1
            return tuple(bool(values[node] >> sample & 1) for node in graph.inputs)
    return ()
