"""Validations as tests ask for them: an engine by its name, with its settings beside it."""

from pathlib import Path
from typing import Any

from bitwright import Algorithm, Network
from bitwright.validation import Oracle, Task, make_task
from bitwright.verbs.engines import EngineChoice, choose_engine


def task_of(
    algorithm: Algorithm,
    engine: str = "limit",
    oracle: Oracle | None = None,
    random: int | None = None,
    sample_seed: int = 0,
    limit: int | None = None,
    plain: bool = False,
    files: tuple[Path, ...] = (),
    **settings: Any,
) -> Task:
    """`files` are of trained networks, `settings` those of the engine: rounding, padding, networks, ..."""
    trained = [Network.load(file, algorithm) for file in files]
    chosen = choose_engine(algorithm, EngineChoice(engine, **settings), trained)
    return make_task(algorithm, chosen, oracle, random, sample_seed, limit, plain)
