"""A task with all that it takes from files, read once: this is what is validated, whatever becomes of the files.

It travels to other processes as it is, so that every one of them checks the same.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, is_dataclass, replace
from hashlib import sha256
from typing import Any
from uuid import uuid4

import numpy as np

from bitwright.checking.validation.functions import Function
from bitwright.checking.validation.task import Task
from bitwright.execution.engines import find_networks
from bitwright.networks import Network


@dataclass(frozen=True)
class Prepared:
    """One validation that is about to be done, or on its way."""

    task: Task
    networks: tuple[Network, ...]  # of the engine `network`
    digests: tuple[str, ...]  # of these networks
    token: str  # no other validation has it, so nothing that is kept under it can be mistaken

    @property
    def examples(self) -> int:
        """K; networks say themselves how many examples they were trained on."""
        own = self.task.algorithm.program.templates
        return own + self.networks[0].origin.padding if self.networks else self.task.examples

    def describe(self) -> dict[str, Any]:
        """Everything that the results depend on, as JSON: a validation goes on only where all of it is the same."""
        task, settings, oracle = self.task, self.task.settings, self.task.oracle
        content = oracle.digest if isinstance(oracle, Function) else _digest(oracle) if is_dataclass(oracle) else None
        return {
            "algorithm": sha256(task.algorithm.text().encode()).hexdigest(),
            "engine": task.engine,
            "rounding": settings.rounding,
            "examples": self.examples,
            "networks": settings.networks,
            "seed": settings.seed,
            "width": settings.width,
            "device": settings.device,
            "precision": settings.precision,
            "trained networks": list(self.digests),
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
    """Reads the networks (or trains them, where none are given), and the file of a function."""
    if isinstance(task.oracle, Function):
        task = replace(task, oracle=task.oracle.read())
    networks: tuple[Network, ...] = ()
    if task.engine == "network":
        networks = tuple(find_networks(task.algorithm.program, task.settings))
    return Prepared(task, networks, tuple(network_digest(network) for network in networks), uuid4().hex)


def network_digest(network: Network) -> str:
    """The sha256 of weights and origin: of what is used, not of the file that it was in."""
    found = sha256(repr(sorted(asdict(network.origin).items())).encode())
    for weights in (network.first, network.last):
        found.update(f"{weights.dtype.str} {weights.shape}".encode())
        found.update(np.ascontiguousarray(weights).data)
    return found.hexdigest()


def _digest(oracle: object) -> str:
    return sha256(repr(oracle).encode()).hexdigest()
