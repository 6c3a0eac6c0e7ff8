"""Advice for proofs that take too long: other domains and networks of cells, where these were seen to be feasible."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bitwright.errors import BitwrightError, counted

if TYPE_CHECKING:
    from bitwright.checking.exhaustion import ProofTask
    from bitwright.program import Algorithm
    from bitwright.workers import Workers

HOPELESS = 30 * 86_400  # seconds beyond which neither patience nor a GPU is advised
_FEASIBLE = 3_600  # seconds that what is advised may take
_STEPS = 10_000  # of a run, on average: with more a sample of them would take long


def advice(task: ProofTask, command: str, workers: Workers) -> str:
    """What can be proved in little time instead; `command` trains a network of the program's cells."""
    found = [_of_domain(task, workers), _of_cells(task.algorithm, command)]
    return "; ".join(filter(None, found)) or "no other domain of it is small enough: take a smaller program"


def _of_domain(task: ProofTask, workers: Workers) -> str:
    """The other domain, if trying all of it takes little time."""
    from bitwright.checking.exhaustion import ProofTask
    from bitwright.checking.exhaustion.domains import RunsDomain
    from bitwright.checking.exhaustion.task import MOST, duration, expected_seconds, how_many

    name = "runs" if task.domain_name == "states" else "states"
    other = ProofTask(task.algorithm, task.network, name, task.device)
    try:
        states = other.domain.count_states()
        if states is None or states >= MOST:
            return ""
        if isinstance(other.domain, RunsDomain) and states > _STEPS * other.domain.size:
            return ""
        seconds = expected_seconds(other, workers)
    except BitwrightError:  # too many inputs, or some run does not end
        return ""
    if seconds > _FEASIBLE:
        return ""
    return f"--domain {name} has {how_many(other)}, about {duration(seconds)}"


def _of_cells(algorithm: Algorithm, command: str) -> str:
    """A network of cells, if it has few local states."""
    from bitwright.api.cells import pattern_of
    from bitwright.engines.cells.engine import TABLED

    try:
        states = pattern_of([algorithm.program]).local_states
    except BitwrightError:
        return ""
    if states > TABLED:
        return ""
    return f"a network of its cells has {counted(states, 'local state')}: {command}"
