"""Learning from executions, as Python programs ask for it; the command line has the same in its options."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from bitwright.api.executions import TOLERANCE, WIDER, Wanted, cell_set, executions_for, whole_set
from bitwright.bits import shorten, whole_number
from bitwright.encoding.executions import check_labels
from bitwright.errors import InputError
from bitwright.files.executions import Executions
from bitwright.program import Algorithm, Program
from bitwright.program.given import as_algorithm

if TYPE_CHECKING:
    from bitwright.api.cells import TrainedCells
    from bitwright.networks import Recipe
    from bitwright.networks.executions import ExecutionSet
    from bitwright.program.pattern import Pattern

Source = str | PathLike[str] | Executions
_MOST = 10**6  # runs or states
__all__ = ["TOLERANCE", "WIDER", "executions", "set_of_whole", "train_cells_on", "wanted_of"]


def executions(
    what: Algorithm | Program,
    source: Source = "runs",
    *,
    runs: int | None = None,
    states: int | None = None,
    sample_seed: int = 0,
) -> Executions:
    """States of a program and what each becomes in one step: what `train` learns from, and `infer` works from.

    `source` is `runs` (states that runs of random inputs meet), `states` (random ones), or a .npz file. `runs` asks for
    every step of so many runs, `states` for so many states.

    >>> from bitwright import addition
    >>> found = executions(addition(4), "states", states=100)
    >>> len(found), found.names[:4]
    (100, ('p[1]', 'p[2]', 'p[3]', 'p[4]'))
    """
    asked = wanted_of(source, runs, states, None, sample_seed)
    assert asked is not None
    return executions_for(as_algorithm(what), asked)


def wanted_of(
    source: Source | None, runs: int | None, states: int | None, labels: str | None, sample_seed: int | None
) -> Wanted | None:
    """What is to be learnt from; None for templates. Raises InputError for what does not go together."""
    asked = {"runs": runs, "states": states, "labels": labels, "sample_seed": sample_seed}
    given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    if source is None:
        if given:
            raise InputError(f"{next(iter(given))} goes with source; give source='runs', 'states' or a .npz file")
        return None
    if not isinstance(source, str | PathLike | Executions):
        raise InputError(
            f"networks learn from runs, states or a .npz file of executions, got a {type(source).__name__}"
        )
    for name in ("runs", "states"):
        if name in given and not 1 <= whole_number(given[name], name) <= _MOST:
            raise InputError(f"{name} is a number from 1 to {_MOST:,}, got {shorten(given[name])}")
    whole_number(given.get("sample_seed", 0), "sample_seed", 0, 2**63)
    if labels is not None:
        check_labels(labels)
    return Wanted(source if isinstance(source, Executions) else fspath(source), **given)


def set_of_whole(algorithm: Algorithm, asked: Wanted | None, padding: int) -> ExecutionSet | None:
    """The training set of states of a whole program; None for templates."""
    if asked is None:
        return None
    if padding:
        raise InputError("padding is for templates; leave it out where networks learn from executions")
    return whole_set(algorithm, asked)


def train_cells_on(
    pattern: Pattern, algorithms: Sequence[Algorithm], asked: Wanted, tile: int, recipe: Recipe, **how: Any
) -> TrainedCells:
    """A network of cells that learns from executions; a warning says why, where some local states come out wrong."""
    from warnings import warn

    from bitwright.api.advice import of_cells
    from bitwright.api.cells import train_on_pattern
    from bitwright.errors import BitwrightWarning

    found_set = cell_set(pattern, algorithms, asked, tile)
    found = train_on_pattern(pattern, recipe, executions=found_set, **how)
    if found.tables is not None and not found.proved:
        warn(of_cells(found, found_set, "source='states'"), BitwrightWarning, stacklevel=3)
    return found
