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
from bitwright.errors import InputError, option, short_repr
from bitwright.files.storage import as_path
from bitwright.networks import Recipe
from bitwright.networks.ensemble import (
    DEVICE_BLOCK,
    EnsembleJudge,
    LimitCheck,
    Statistics,
    Study,
    compare_with_limit,
    grow,
)
from bitwright.program import Algorithm, NodeProgram, Program
from bitwright.program.cells import Tile
from bitwright.proofs.width import suggested_width
from bitwright.running.progress import Progress
from bitwright.running.successors import random_starts, random_states
from bitwright.theory import Range, blocks_range, calibrated_size, check_rounding, sign_size
from bitwright.theory.ranges import cells_range
from bitwright.workers import Workers

_MOST = 10**7  # networks
_NETWORKS = 100  # by default


@dataclass(frozen=True)
class EnsembleReport:
    """The average of an ensemble on some states, compared with the rules and with the limit."""

    algorithm: Algorithm  # the pattern, for cells
    recipe: Recipe
    rounding: str
    networks: int
    states: int
    accuracy: float  # the share of the states that come out right in every bit
    wanted: float | None  # accuracy that was asked for
    kind: str  # of limit
    limit: LimitCheck
    digest: str
    seconds: float

    def __bool__(self) -> bool:
        return self.reached

    @property
    def reached(self) -> bool:
        """Whether the accuracy that was asked for is reached."""
        return self.wanted is None or self.accuracy >= self.wanted

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
    networks: int | None = None,
    *,
    accuracy: float | None = None,
    delta: float | None = None,
    states: int | None = None,
    ones: int | None = None,
    rounding: str | None = None,
    tile: Tile = 1,
    padding: int | None = None,
    file: str | PathLike[str] | None = None,
    workers: str | int = 1,
    progress: Teller | Progress | bool | None = None,
    **settings: Any,
) -> EnsembleReport:
    """Trains many networks and compares their average with the rules and with the limit.

    `networks` are trained, or as many as reach an `accuracy`, or the number that is proved to be wrong with probability
    at most `delta` for one input. They are networks of cells, measured in local states of single cells; or with
    tile="all" of the whole state, measured in random states of runs, or in starts with `ones` bits on. A `file` of
    results grows, and training goes on from it. The settings are those of a recipe; networks start at random, as in the
    paper.

    >>> from bitwright import addition
    >>> ensemble(addition(2), 20, tile="all", states=50, width=256).accuracy > 0.5
    True
    """
    if accuracy is not None and not 0 < accuracy <= 1:
        raise InputError(f"{option('accuracy')} is a fraction above 0 and at most 1, got {accuracy:g}")
    if networks is not None and delta is not None:
        raise InputError(f"{option('delta')} says how many networks to train; leave out {option('networks')}")
    chosen, tell = check_rounding(rounding or "calibrated"), teller(progress)
    cells = check_tile(tile) != "all"
    if cells and ones is not None:
        raise InputError(f"{option('ones')} chooses inputs, and cells have none; take the whole state")
    states = 1_000 if states is None else states
    algorithm = subject(what)
    if isinstance(algorithm, NodeProgram):
        raise InputError(f"{algorithm.name} is a node program; give one of its schemas")
    pattern = pattern_of([algorithm.program], tile)
    within = cells_range(pattern) if cells else blocks_range(algorithm.program)
    runs, algorithm = algorithm, as_algorithm(pattern, f"cells of {algorithm.name}") if cells else algorithm
    added = EngineChoice(rounding=chosen, padding=padding).examples(algorithm) - algorithm.program.templates
    own = {**settings, "start": settings.get("start") or "random", "padding": added}
    recipe = make_recipe(
        lambda padding: suggested_width(pattern, None if cells else runs, padding), own, what="ensemble"
    )
    on_device = recipe.device.startswith("cuda")
    if cells:
        looked = cell_states(pattern, states, recipe.seed)
    elif ones is None:
        looked = random_states(algorithm, states, recipe.seed)
    else:
        looked = random_starts(algorithm, states, recipe.seed, ones)
    study = Study(algorithm.program, recipe, looked, block=DEVICE_BLOCK if on_device else 1, keep=not on_device)
    if networks is None:
        networks = _NETWORKS if delta is None else _proven(study, chosen, delta, within)
    judge = EnsembleJudge.of(study, chosen)
    if not judge.matches.any():
        raise InputError("none of these states matches a template, so networks say nothing about them")

    def enough(found: Statistics) -> bool:
        return accuracy is not None and judge.accuracy(found.mean) >= accuracy

    begin, place = time.perf_counter(), None if file is None else as_path(file, "the file of results")
    who = Workers.parse(str(workers), recipe.device)
    try:
        with tell.working("networks") as told:
            found = grow(study, networks, enough=enough, file=place, workers=who, progress=told)
    except KeyboardInterrupt:
        if place is not None:
            tell.note(f"what is trained so far is in {place}; the same command goes on from there")
        raise
    seconds, right = time.perf_counter() - begin, judge.accuracy(found.mean)
    limit = compare_with_limit(study, found, judge.matches)
    return EnsembleReport(
        algorithm, recipe, chosen, found.count, len(looked), right, accuracy, study.kind, limit, found.digest, seconds
    )


def _proven(study: Study, rounding: str, delta: float, within: Range) -> int:
    """How many networks are proved to suffice for one input with probability 1 - delta, in the limit."""
    program, examples = study.program, study.program.templates + study.recipe.padding
    sized = sign_size if rounding == "sign" else calibrated_size
    size = sized(program, delta, "input", examples=examples, within=within)
    if size.networks is None or size.networks > _MOST:
        raise InputError(f"no number of networks below 10^7 is proven to suffice: {size.reason}")
    return max(1, size.networks)
