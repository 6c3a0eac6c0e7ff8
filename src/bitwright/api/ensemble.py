"""Many networks, and the accuracy of their average, under the paper's rounding or ours."""

from __future__ import annotations

import time
from dataclasses import dataclass
from os import PathLike
from typing import Any

from bitwright.api.arguments import make_recipe
from bitwright.api.cells import as_algorithm, cell_states, pattern_of
from bitwright.api.engines import EngineChoice, check_tile
from bitwright.api.open import subject
from bitwright.api.telling import Teller, teller
from bitwright.bits import whole_number
from bitwright.errors import InputError, option, short_repr
from bitwright.files.storage import as_path
from bitwright.networks import Recipe
from bitwright.networks.ensemble import (
    DEVICE_BLOCK,
    EnsembleJudge,
    LimitCheck,
    Study,
    compare_with_limit,
    grow,
)
from bitwright.program import Algorithm, NodeProgram, Program
from bitwright.program.cells import Tile
from bitwright.proofs.width import suggested_width
from bitwright.running.progress import Progress
from bitwright.running.successors import random_states
from bitwright.theory import check_rounding
from bitwright.workers import Workers

_MOST = 10**7  # networks


@dataclass(frozen=True)
class EnsembleReport:
    """The average of an ensemble on some states, compared with the rules and with the limit."""

    algorithm: Algorithm  # the pattern, for cells
    recipe: Recipe
    rounding: str
    networks: int
    states: int
    accuracy: float  # the share of the states that come out right in every bit
    kind: str  # of limit
    limit: LimitCheck
    digest: str
    seconds: float

    @property
    def sentence(self) -> str:
        """How accurate the average is."""
        return (
            f"{self.networks:,} networks: {self.accuracy:.1%} of {self.states:,} states right in every bit "
            f"({self.rounding} rounding)"
        )

    __repr__ = short_repr

    def __str__(self) -> str:
        return f"{self.sentence}\n{self.limit.sentence()}"

    def to_dict(self) -> dict[str, Any]:
        """What `bitwright train --ensemble --json` prints."""
        program, recipe = self.algorithm.program, self.recipe
        return {
            "name": self.algorithm.name,
            "program_id": program.id,
            "networks": self.networks,
            "accuracy": self.accuracy,
            "rounding": self.rounding,
            "states": self.states,
            "examples": program.templates + recipe.padding,
            "padding": recipe.padding,
            "width": recipe.width,
            "seed": recipe.seed,
            "start": recipe.start,
            "parametrization": recipe.plan.parametrization,
            "kernel": recipe.kernel,
            "limit": self.kind,
            "mean_error": self.limit.mean_error,
            "expected_error": self.limit.expected_error,
            "variance_ratio": self.limit.variance_ratio,
            "digest": self.digest,
            "seconds": round(self.seconds, 3),
        }


def ensemble(
    what: Algorithm | Program | str | PathLike[str],
    networks: int = 100,
    *,
    states: int = 1_000,
    rounding: str | None = None,
    tile: Tile = 1,
    padding: int | None = None,
    file: str | PathLike[str] | None = None,
    workers: str | int = 1,
    progress: Teller | Progress | bool | None = None,
    **settings: Any,
) -> EnsembleReport:
    """Trains many networks and compares their average with the rules and with the limit.

    They are networks of cells, measured in local states of single cells; or with tile="all" of the whole state,
    measured in random states of runs. A `file` of results grows, and training goes on from it. The settings are those
    of a recipe; networks start at random, as in the paper.

    >>> from bitwright import addition
    >>> ensemble(addition(2), 20, tile="all", states=50, width=256).accuracy > 0.5
    True
    """
    whole_number(networks, option("networks"), 1, _MOST)
    whole_number(states, option("states"), 1, 10**6)
    chosen, tell = check_rounding(rounding or "calibrated"), teller(progress)
    cells = check_tile(tile) != "all"
    algorithm = subject(what)
    if isinstance(algorithm, NodeProgram):
        raise InputError(f"{algorithm.name} is a node program; give one of its schemas")
    pattern = pattern_of([algorithm.program], tile)
    runs, algorithm = algorithm, as_algorithm(pattern, f"cells of {algorithm.name}") if cells else algorithm
    added = EngineChoice(rounding=chosen, padding=padding).examples(algorithm) - algorithm.program.templates
    own = {**settings, "start": settings.get("start") or "random", "padding": added}
    recipe = make_recipe(
        lambda padding: suggested_width(pattern, None if cells else runs, padding), own, what="ensemble"
    )
    on_device = recipe.device.startswith("cuda")
    looked = cell_states(pattern, states, recipe.seed) if cells else random_states(algorithm, states, recipe.seed)
    study = Study(algorithm.program, recipe, looked, block=DEVICE_BLOCK if on_device else 1, keep=not on_device)
    judge = EnsembleJudge.of(study, chosen)
    if not judge.matches.any():
        raise InputError("none of these states matches a template, so networks say nothing about them")

    begin, place = time.perf_counter(), None if file is None else as_path(file, "the file of results")
    who = Workers.parse(str(workers), recipe.device)
    try:
        with tell.working("networks") as told:
            found = grow(study, networks, file=place, workers=who, progress=told)
    except KeyboardInterrupt:
        if place is not None:
            tell.note(f"what is trained so far is in {place}; the same command goes on from there")
        raise
    seconds, right = time.perf_counter() - begin, judge.accuracy(found.mean)
    limit = compare_with_limit(study, found, judge.matches)
    return EnsembleReport(
        algorithm, recipe, chosen, found.count, len(looked), right, study.kind, limit, found.digest, seconds
    )
