"""A proof task: a network, a domain, and its division into parts, whose findings a journal keeps."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, option
from bitwright.common.files.journal import Journal, add_results
from bitwright.common.workers import Workers, cores, in_threads
from bitwright.common.workers.linear_algebra import NUMPY, one_thread
from bitwright.engines.external import FittedModel
from bitwright.networks import IntegerNetwork
from bitwright.proofs.exhaustion.domains import Domain, RunsDomain, make_domain
from bitwright.proofs.exhaustion.judges import (
    Findings,
    IntegerJudge,
    Judge,
    ModelJudge,
    find,
    nothing_at_stake,
    states_of,
)
from bitwright.rules import Algorithm

if TYPE_CHECKING:
    from bitwright.proofs.exhaustion.device import DeviceProver

_WORK = 1 << 33  # products in a part: a few tenths of a second on a core
_SAMPLE = {"states": 1 << 11, "runs": 1 << 6, "cells": 1 << 11}  # for time estimates
UNITS = {"states": "states", "runs": "inputs", "cells": "local states"}  # units of the parts of a domain
MOST = 1 << 62  # states, or inputs
Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class ProofTask:
    """A network to prove exact in a domain."""

    algorithm: Algorithm
    network: IntegerNetwork | FittedModel
    domain_name: str = "states"
    device: str = "cpu"

    def __reduce__(self) -> tuple[type[ProofTask], tuple[Any, ...]]:
        """Pickles without cached values."""
        return ProofTask, (self.algorithm, self.network, self.domain_name, self.device)

    @cached_property
    def domain(self) -> Domain:
        if isinstance(self.network, FittedModel):
            return states_of(self.network.columns, self.algorithm, self.domain_name)
        return make_domain(self.algorithm, self.domain_name)

    @cached_property
    def judge(self) -> Judge:
        if isinstance(self.network, FittedModel):
            return ModelJudge(self.network)
        return IntegerJudge(self.algorithm.program, self.network)

    @cached_property
    def prover(self) -> DeviceProver:
        """The prover that checks parts on a device."""
        from bitwright.proofs.exhaustion.device import DeviceProver

        return DeviceProver(self)

    @cached_property
    def part(self) -> int:
        """The number of states or inputs in a part; it depends only on the task."""
        program, width = self.domain.program, self.network.shape.width
        steps = min(10_000, self.domain.limit) if isinstance(self.domain, RunsDomain) else 1
        products = width * (program.templates + program.bits) * max(1, steps)
        if self.device != "cpu":
            return max(1 << 12, min(1 << 24, (_WORK << 17) // products))
        return max(64, min(1 << 20, _WORK // products))

    @property
    def unit(self) -> str:
        """The unit in which the domain is counted."""
        return UNITS[self.domain_name]

    @property
    def parts(self) -> int:
        return -(-self.domain.size // self.part)

    def describe(self) -> dict[str, Any]:
        """Everything that determines its findings, as JSON."""
        own = {"program": self.algorithm.program.id, "network": self.network.digest, "part": self.part}
        return own | self.domain.describe() | (self.network.about() if isinstance(self.network, FittedModel) else {})


def prove_part(task: ProofTask, number: int) -> Findings:
    """Checks one part of the domain."""
    first = number * task.part
    return prove_range(task, first, min(first + task.part, task.domain.size))


def prove_range(task: ProofTask, first: int, last: int) -> Findings:
    """Checks these states, or the runs of these inputs."""
    if task.device != "cpu":
        return task.prover.prove(first, last)
    found, judge, bits = Findings(), task.judge, range(task.domain.program.bits)

    def look(matched: Any, numbers: Any, step: int, times: int, own: slice) -> None:
        nonlocal found
        found = found + find(judge(matched, own) if bits[own] else nothing_at_stake(matched), numbers, step, times)

    task.domain.visit(first, last, look)
    return found


def prove(
    task: ProofTask, workers: Workers | None = None, progress: Progress | None = None, file: Path | None = None
) -> Findings:
    """Checks the entire domain; the result depends neither on the workers nor on interruptions.

    With a file, parts that it contains are not checked again, and the others are added to it. `progress` receives the
    number of states or inputs done.
    """
    check_size(task)
    size = task.domain.size

    def look(done: int, _: Findings) -> None:
        if progress:
            progress(min(done * task.part, size), size)

    journal = None if file is None else Journal(file, task.describe())
    with one_thread():
        return add_results(
            Findings(), task.parts, lambda jobs: _results(task, workers or Workers(), jobs), look, journal
        )


def _results(task: ProofTask, workers: Workers, numbers: Iterator[int]) -> Generator[Findings]:
    if workers.kind != "serial":
        exact = isinstance(task.network, IntegerNetwork)
        yield from workers.map(_prove_part_alone, task, numbers, floats=None if exact else NUMPY)
    elif task.device != "cpu":
        yield from (prove_part(task, number) for number in numbers)
    else:
        _ = task.judge, task.domain  # computed once, before threads share them
        yield from in_threads(lambda number: prove_part(task, number), numbers)


def _prove_part_alone(task: ProofTask, number: int) -> Findings:
    with one_thread():
        return prove_part(task, number)


def expected_seconds(task: ProofTask, workers: Workers) -> float:
    """Estimates the time for the whole domain from a sample; a cluster's machines are not known in advance."""
    sample = min(task.domain.size, task.part, _SAMPLE[task.domain_name] << (0 if task.device == "cpu" else 8))
    with one_thread():
        prove_range(task, 0, min(sample, 8))  # excludes one-time setup
        begin = time.perf_counter()
        prove_range(task, 0, sample)
        spent = time.perf_counter() - begin
    together = 1 if task.device != "cpu" else cores() if workers.kind == "serial" else workers.count or cores()
    return spent * task.domain.size / sample / min(together, task.parts)


def duration(seconds: float) -> str:
    """Formats a rough duration in a suitable unit."""
    for unit, size in (("years", 31_557_600), ("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{max(1, round(seconds))} s"


def check_size(task: ProofTask) -> None:
    """Raises InputError for domains that are too large to check."""
    if task.domain.size >= MOST:
        smaller = (
            f"a smaller {option('tile')}" if task.domain_name == "cells" else "a network of cells, or the domain runs,"
        )
        raise InputError(
            f"the domain has {shorten(task.domain.size, 24)} {task.unit}, but the limit is {MOST:,}; use {smaller}"
        )
