"""Lemmas: goals that always hold, proved by CaDiCaL one after the other, so that each helps with the next.

All goals of a lemma make one formula: "one of them fails". The solver refutes the failure of each goal in turn, as an
assumption; what it learns stays, and in the end the formula itself is contradictory. So a lemma has one CNF and one
refutation.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from bitwright.common.errors import InputError
from bitwright.proofs.unrolling.graph import FALSE, TRUE, AndGraph, Literal
from bitwright.runs.progress import Progress

CONFLICTS = 200_000  # in a lemma; then it is not decided
_SAMPLES = 256  # random inputs that are tried first


class UndecidedError(Exception):
    """A proof was not found; the message says what could not be proved."""


class NoSolverError(InputError):
    """The solver is not installed."""


@dataclass(frozen=True)
class Lemma:
    """The verdict on a lemma: proved, refuted by values of the inputs, or neither within the limit."""

    name: str
    verdict: str  # "proved", "refuted" or "not decided"
    goals: int = 0  # that were not plain from the graph
    clauses: int = 0
    conflicts: int = 0
    digest: str = ""  # sha256 of the CNF in DIMACS
    failing: dict[int, int] = field(default_factory=dict)  # the value of each input node, where it is refuted

    def __bool__(self) -> bool:
        return self.verdict == "proved"


@dataclass
class Prover:
    """Proves lemmas within a limit, and keeps those that took a solver.

    With a folder it writes each formula and its refutation there, as NAME.cnf (DIMACS) and NAME.lrat.
    """

    conflicts: int = CONFLICTS  # in a lemma
    folder: Path | None = None
    progress: Progress | None = None  # goals proved, and how many there are
    lemmas: list[Lemma] = field(default_factory=list)

    def prove(self, name: str, graph: AndGraph, goals: Sequence[Literal], given: Sequence[Literal] = ()) -> Lemma:
        """Proves that every goal holds whenever all given literals do."""
        given = [literal for literal in given if literal != TRUE]
        goals = [goal for goal in dict.fromkeys(goals) if goal != TRUE]
        if not goals or FALSE in given:
            return Lemma(name, "proved")
        if failing := _sampled(graph, goals, given):
            return Lemma(name, "refuted", len(goals), failing=failing)
        numbered = f"{len(self.lemmas) + 1:03}-{re.sub('[^a-z0-9_]+', '-', name.lower())}"
        lemma = self._refute(numbered, graph, Formula(graph, goals, given), goals)
        if lemma.verdict == "proved":
            self.lemmas.append(lemma)
        elif self.folder is not None:
            for ending in ("cnf", "lrat"):
                (self.folder / f"{numbered}.{ending}").unlink()
        return lemma

    def _refute(self, name: str, graph: AndGraph, formula: Formula, goals: Sequence[Literal]) -> Lemma:
        text = formula.text()
        facts, digest = (len(goals), len(formula.clauses)), hashlib.sha256(text.encode()).hexdigest()
        with ExitStack() as closing:
            solver = closing.enter_context(_solver(formula.clauses, self._trace(name, text, closing)))
            for done, goal in enumerate((*goals, None)):  # the last is the formula itself
                spent = solver.accum_stats()["conflicts"]
                solver.conf_budget(max(self.conflicts - spent, 1))
                found = solver.solve_limited([] if goal is None else [formula.variable(goal ^ 1)])
                spent = solver.accum_stats()["conflicts"]
                if found is None:
                    return Lemma(name, "not decided", *facts, spent, digest)
                if found:
                    on = {abs(x): int(x > 0) for x in solver.get_model()}
                    failing = {node: on.get(formula.variable(2 * node), 0) for node in graph.inputs}
                    return Lemma(name, "refuted", *facts, spent, digest, failing)
                if self.progress is not None and done < len(goals):
                    self.progress(done + 1, len(goals))
        return Lemma(name, "proved", *facts, spent, digest)

    def _trace(self, name: str, text: str, closing: ExitStack) -> BinaryIO | None:
        """The file for the refutation, beside that of the formula."""
        if self.folder is None:
            return None
        (self.folder / f"{name}.cnf").write_text(text)
        return closing.enter_context((self.folder / f"{name}.lrat").open("w+b"))


class Formula:
    """The CNF of "the given literals hold, and one of the goals does not": a variable for each node (Tseitin)."""

    def __init__(self, graph: AndGraph, goals: Sequence[Literal], given: Sequence[Literal]) -> None:
        self.nodes = graph.cone([*goals, *given])
        self._variable = {node: place for place, node in enumerate(self.nodes, 1)}
        self._variable[0] = len(self.nodes) + 1  # the constant, where a goal is FALSE
        self.clauses: list[list[int]] = [[-self._variable[0]]] if FALSE in goals else []
        for node in self.nodes:
            if graph.right[node]:
                out, a, b = (self.variable(literal) for literal in (2 * node, graph.left[node], graph.right[node]))
                self.clauses += ([-out, a], [-out, b], [out, -a, -b])
        self.clauses.append([self.variable(goal ^ 1) for goal in goals])
        # Last: CaDiCaL simplifies what comes after a unit, and numbers the result like a clause of its own.
        self.clauses += ([self.variable(literal)] for literal in dict.fromkeys(given))

    def variable(self, literal: Literal) -> int:
        """A literal of the graph as one of the formula; 0 if the formula does not depend on it."""
        found = self._variable.get(literal >> 1, 0)
        return -found if literal & 1 else found

    def text(self) -> str:
        """The formula in DIMACS."""
        head = f"p cnf {max(abs(x) for clause in self.clauses for x in clause)} {len(self.clauses)}\n"
        return head + "".join(" ".join(map(str, clause)) + " 0\n" for clause in self.clauses)


def _sampled(graph: AndGraph, goals: Sequence[Literal], given: Sequence[Literal]) -> dict[int, int]:
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


@contextmanager
def _solver(clauses: Sequence[Sequence[int]], trace: BinaryIO | None) -> Iterator[Any]:
    """CaDiCaL with these clauses, which writes its proof to a file if there is one."""
    try:
        import pysolvers
        from pysat.solvers import Cadical195
    except ImportError:
        raise NoSolverError("a solver needs python-sat; install it with: pip install 'bitwright[prove]'") from None
    solver = Cadical195()
    try:
        if trace is not None:  # its own with_proof option writes DRAT; LRAT must be asked for first
            solver.configure({"lrat": 1, "binary": 0})
            solver.prfp = pysolvers.cadical195_tracepr(solver.cadical, trace)
        for clause in clauses:
            solver.add_clause(clause)
        yield solver
    finally:
        solver.delete()
