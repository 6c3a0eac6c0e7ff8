"""Lemmas: goals that always hold, proved by CaDiCaL one after the other, so that each helps with the next.

All goals of a lemma make one formula, "one of them fails", that is refuted. Goals are refuted in turn under an assumption; what that
teaches stays, and at the end the formula itself is contradictory. So the proof is one refutation of one CNF.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bitwright.checking.unrolling.graph import FALSE, TRUE, Graph, Literal
from bitwright.errors import InputError

CONFLICTS = 2_000_000  # in a lemma; then it is not decided
_SAMPLES = 256  # random inputs that are tried first


@dataclass(frozen=True)
class Lemma:
    """What came of a lemma: proved, or refuted by values of the inputs, or neither within the limit."""

    name: str
    verdict: str  # "proved", "refuted" or "not decided"
    goals: int = 0  # that were not plain from the graph
    clauses: int = 0
    conflicts: int = 0
    digest: str = ""  # sha256 of the CNF in DIMACS
    failing: dict[int, int] = field(default_factory=dict)  # the value of each input node, where it is refuted


def prove(
    name: str,
    graph: Graph,
    goals: Sequence[Literal],
    given: Sequence[Literal] = (),
    *,
    conflicts: int = CONFLICTS,
    folder: Path | None = None,
) -> Lemma:
    """Proves that every goal holds whenever all given literals do.

    With a folder, writes the formula and its refutation there, as NAME.cnf (DIMACS) and NAME.lrat.
    """
    if FALSE in given:
        return Lemma(name, "proved")
    given = [literal for literal in given if literal != TRUE]
    goals = [goal for goal in dict.fromkeys(goals) if goal != TRUE]
    if not goals:
        return Lemma(name, "proved")
    if failing := _sampled(graph, goals, given):
        return Lemma(name, "refuted", len(goals), failing=failing)
    formula = Formula(graph, goals, given)
    return _refute(name, graph, formula, goals, conflicts, folder)


class Formula:
    """The CNF that says: the given literals hold and one of the goals does not (Tseitin's, one variable for each node)."""

    def __init__(self, graph: Graph, goals: Sequence[Literal], given: Sequence[Literal]) -> None:
        self.nodes = graph.cone([*goals, *given])
        self._variable = {node: place for place, node in enumerate(self.nodes, 1)}
        self._variable[0] = len(self.nodes) + 1  # the constant, where a goal is FALSE
        self.clauses: list[list[int]] = [[-self._variable[0]]] if FALSE in goals else []
        for node in self.nodes:
            if graph.right[node]:
                out, a, b = (self.variable(literal) for literal in (2 * node, graph.left[node], graph.right[node]))
                self.clauses += ([-out, a], [-out, b], [out, -a, -b])
        self.clauses += ([self.variable(literal)] for literal in given)
        self.clauses.append([self.variable(goal ^ 1) for goal in goals])

    def variable(self, literal: Literal) -> int:
        """A literal of the graph as one of the formula; 0 if the formula does not depend on it."""
        found = self._variable.get(literal >> 1, 0)
        return -found if literal & 1 else found

    def text(self) -> str:
        """The formula in DIMACS."""
        head = f"p cnf {max(abs(x) for clause in self.clauses for x in clause)} {len(self.clauses)}\n"
        return head + "".join(" ".join(map(str, clause)) + " 0\n" for clause in self.clauses)


def _sampled(graph: Graph, goals: Sequence[Literal], given: Sequence[Literal]) -> dict[int, int]:
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
            return {node: values[node] >> sample & 1 for node in graph.inputs}
    return {}


def _refute(
    name: str, graph: Graph, formula: Formula, goals: Sequence[Literal], conflicts: int, folder: Path | None
) -> Lemma:
    cadical, pysolvers = _cadical()
    text = formula.text()
    digest, facts = hashlib.sha256(text.encode()).hexdigest(), (len(goals), len(formula.clauses))
    solver = cadical()
    trace = None
    try:
        if folder is not None:
            (folder / f"{name}.cnf").write_text(text)
            trace = (folder / f"{name}.lrat").open("w+b")
            solver.configure({"lrat": 1, "binary": 0})
            solver.prfp = pysolvers.cadical195_tracepr(solver.cadical, trace)
        for clause in formula.clauses:
            solver.add_clause(clause)
        spent = 0
        for goal in (*goals, None):  # the last is the formula itself
            solver.conf_budget(max(conflicts - spent, 1))
            found = solver.solve_limited([] if goal is None else [formula.variable(goal ^ 1)])
            spent = solver.accum_stats()["conflicts"]
            if found is None:
                return Lemma(name, "not decided", *facts, spent, digest)
            if found:
                on = {abs(x): int(x > 0) for x in solver.get_model()}
                failing = {node: on.get(formula.variable(2 * node), 0) for node in graph.inputs}
                return Lemma(name, "refuted", *facts, spent, digest, failing)
        return Lemma(name, "proved", *facts, spent, digest)
    finally:
        solver.delete()
        if trace is not None:
            trace.close()


def _cadical():  # noqa: ANN202
    try:
        import pysolvers
        from pysat.solvers import Cadical195
    except ImportError:
        raise InputError("this needs python-sat; install it with: pip install 'bitwright[prove]'") from None
    return Cadical195, pysolvers
