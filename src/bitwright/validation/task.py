"""What is to be validated. Everything that comes from files is read once, at the start."""

from __future__ import annotations

from dataclasses import dataclass, is_dataclass, replace
from hashlib import sha256
from typing import Any
from uuid import uuid4

from bitwright.engines.protocol import Engine
from bitwright.program import Algorithm
from bitwright.validation.functions import Function
from bitwright.validation.inputs import BLOCK, Inputs
from bitwright.validation.oracles import Oracle

_BATCH, _WORK = 1 << 18, 1 << 36  # inputs in a batch, and the most template-steps, so that a batch takes a moment


@dataclass(frozen=True)
class Task:
    """One algorithm, one engine, some inputs and an oracle; without one, the rules themselves say what is right."""

    algorithm: Algorithm
    engine: Engine
    inputs: Inputs
    oracle: Oracle | None
    limit: int
    plain: bool = False  # walk through the engine itself, even where the bit-sliced loops make the same steps

    @property
    def examples(self) -> int:
        """K: the templates, and padding if there is some."""
        return self.engine.examples or self.algorithm.program.templates

    @property
    def sliced(self) -> bool:
        """Whether the bit-sliced loops make the engine's runs."""
        return self.engine.decisions is not None and not self.plain

    @property
    def batch(self) -> int:
        """How many inputs are run at a time; it depends on the task alone, so that batches can be counted."""
        if not self.sliced:
            return BLOCK
        work = self.algorithm.program.templates * min(max(1, self.limit), 1_000)
        return max(BLOCK, min(_BATCH, _WORK // work // BLOCK * BLOCK))

    @property
    def batches(self) -> int:
        return -(-self.inputs.count // self.batch)

    def size(self, number: int) -> int:
        """How many inputs this batch has; the last one may have fewer than others."""
        return min(self.batch, self.inputs.count - number * self.batch)


@dataclass(frozen=True)
class Prepared:
    """A validation that is ready to start, or under way."""

    task: Task
    token: str  # no other validation has it, so nothing that is kept under it can be mistaken

    def describe(self) -> dict[str, Any]:
        """Everything that the results depend on, as JSON: a validation goes on only where all of it is the same."""
        task, oracle = self.task, self.task.oracle
        content = oracle.digest if isinstance(oracle, Function) else _digest(oracle) if is_dataclass(oracle) else None
        rules = replace(task.algorithm, ensures=(), invariants=())  # they are in the oracle where they count
        return {
            "algorithm": sha256(rules.text().encode()).hexdigest(),
            **task.engine.describe(),
            "inputs": task.inputs.count,
            "random": task.inputs.random,
            "sample seed": task.inputs.seed,
            "oracle": "the rules" if oracle is None else oracle.name,
            "oracle's content": content,
            "step limit": task.limit,
            "batch": task.batch,
            "plain": not task.sliced,
        }


def prepare(task: Task) -> Prepared:
    """Reads the file of a function; networks are read, or trained, when their engine is made."""
    if isinstance(task.oracle, Function):
        task = replace(task, oracle=task.oracle.read())
    return Prepared(task, uuid4().hex)


def _digest(oracle: object) -> str:
    return sha256(repr(oracle).encode()).hexdigest()
