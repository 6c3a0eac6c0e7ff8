"""Validations as tests ask for them: an engine by its name, with its settings beside it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bitwright import Algorithm, Network
from bitwright.validation import Oracle, Task, make_task
from bitwright.verbs.engines import engine_for


@dataclass(frozen=True)
class Arithmetic:
    """Python's own integers as an oracle."""

    operation: str
    order: tuple[int, ...] = ()
    name = "Python's integers"

    def __call__(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        if self.operation == "addition":
            return {"sum": values["p"] + values["q"]}
        if self.operation == "multiplication":
            return {"product": values["multiplicand"] * values["multiplier"]}
        return {"p": sum((values["p"] >> i & 1) << (place - 1) for i, place in enumerate(self.order))}


def task_of(
    algorithm: Algorithm,
    engine: str = "limit",
    oracle: Oracle | None = None,
    random: int | None = None,
    sample_seed: int = 0,
    limit: int | None = None,
    plain: bool = False,
    network: Network | None = None,
    **settings: Any,
) -> Task:
    """`settings` are those of the engine: rounding, padding, networks, ..."""
    chosen = engine_for(algorithm, engine, network, settings)
    return make_task(algorithm, chosen, oracle, random, sample_seed, limit, plain)
