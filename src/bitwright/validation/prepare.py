"""A task with all that it takes from files, read once: this is what is validated, whatever becomes of the files.

It travels to other processes as it is, so that every one of them checks the same.
"""

from __future__ import annotations

from dataclasses import dataclass, is_dataclass, replace
from hashlib import sha256
from typing import Any
from uuid import uuid4

from bitwright.validation.functions import Function
from bitwright.validation.task import Task


@dataclass(frozen=True)
class Prepared:
    """One validation that is about to be done, or on its way."""

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
