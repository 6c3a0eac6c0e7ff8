"""Runs, as Python programs ask for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bitwright.app.engines import EngineChoice, choose_engine
from bitwright.bits import BoolArray
from bitwright.engines.protocol import Engine
from bitwright.errors import InputError
from bitwright.program import Algorithm, Program
from bitwright.running import run as running
from bitwright.running.observers import Progress, Watch
from bitwright.running.run import BatchRun, Run

if TYPE_CHECKING:
    from bitwright.networks import Network

    Networks = str | PathLike[str] | Network | Sequence[str | PathLike[str] | Network]


def run(
    what: Algorithm | Program,
    inputs: Mapping[str, int] | None = None,
    *,
    engine: str | Engine | None = None,
    network: Networks | None = None,
    limit: int | None = None,
    record: bool = False,
    progress: Progress | None = None,
    watch: Watch | None = None,
    **values: Any,
) -> Run:
    """Runs an algorithm on input values, given by name or as a dictionary.

    `engine` is an engine, or the name of one; beside a name stand its settings, as `EngineChoice` has them (`rounding`,
    `padding`, `networks`, `seed`, ...). `network` is a trained network or its file. An input that has the name of a
    setting is given in the dictionary.

    >>> from bitwright import addition
    >>> run(addition(10), p=719, q=483).value
    1202
    >>> run(addition(4), {"p": 7, "q": 8}, engine="limit", rounding="sign").value
    15
    """
    algorithm = as_algorithm(what)
    settings = {name: values.pop(name) for name in list(values) if name in SETTINGS}
    chosen = _engine(algorithm, engine, network, settings)
    given = {**(inputs or {}), **values}
    return running.run_with(algorithm, given, chosen, limit=limit, record=record, progress=progress, watch=watch)


def run_batch(
    what: Algorithm | Program,
    states: BoolArray,
    *,
    engine: str | Engine | None = None,
    network: Networks | None = None,
    limit: int | None = None,
    workers: int | None = None,
    margins: bool = False,
    **settings: Any,
) -> BatchRun:
    """Runs many start states at once; the result does not depend on the number of workers.

    `margins` asks for the smallest margin of each run, which costs more than the steps of a fast engine.
    """
    algorithm = as_algorithm(what)
    chosen = _engine(algorithm, engine, network, settings)
    return running.run_batch(algorithm, states, engine=chosen, limit=limit, workers=workers, margins=margins)


SETTINGS = ("rounding", "padding", "networks", "seed", "width", "device", "precision", "compiled")


def as_algorithm(what: Algorithm | Program) -> Algorithm:
    """A program alone runs from one state to the next until nothing changes."""
    if isinstance(what, Algorithm):
        return what
    if isinstance(what, Program):
        return Algorithm("program", what)
    raise InputError(f"give an Algorithm or a Program, got a {type(what).__name__}; open(path) gives one from a file")


def _engine(
    algorithm: Algorithm, engine: str | Engine | None, network: Networks | None, settings: Mapping[str, Any]
) -> Engine:
    if unknown := [name for name in settings if name not in SETTINGS]:
        raise InputError(f"an engine has no setting '{unknown[0]}'; there are {', '.join(SETTINGS)}")
    if not isinstance(engine, str | None):
        if settings or network is not None:
            raise InputError("an engine that is given whole has its settings already; leave them out")
        return engine
    from bitwright.networks import Network

    given = [] if network is None else [network] if isinstance(network, str | PathLike | Network) else list(network)
    name = ("network" if given else "templates") if engine is None else engine
    files = tuple(Path(item) for item in given if not isinstance(item, Network))
    held = [item for item in given if isinstance(item, Network)]
    if held and files:
        raise InputError("give networks or their files, not both")
    return choose_engine(algorithm, EngineChoice(name, files=files, **settings), held or None)
