"""Validations as tests ask for them: an engine by its name, with its settings beside it."""

from __future__ import annotations

from typing import Any

from bitwright import Algorithm
from bitwright.api.engines import EngineChoice, choose_engine
from bitwright.validation import Oracle, Task, make_task


def task_of(
    algorithm: Algorithm,
    engine: str = "limit",
    oracle: Oracle | None = None,
    random: int | None = None,
    sample_seed: int = 0,
    limit: int | None = None,
    plain: bool = False,
    **settings: Any,
) -> Task:
    """`settings` are those of the engine: rounding, padding, networks, files, ..."""
    chosen = choose_engine(algorithm, EngineChoice(engine, **settings))
    return make_task(algorithm, chosen, oracle, random, sample_seed, limit, plain)
