"""Runs, as Python programs ask for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bitwright.api.arguments import (
    check_batch,
    check_named,
    check_no_network,
    check_options,
    check_values,
    pattern_asked,
)
from bitwright.api.engines import EngineChoice, Trainer, choose_engine
from bitwright.api.notes import say_compiling
from bitwright.bits import BoolArray
from bitwright.engines.protocol import Engine
from bitwright.errors import InputError
from bitwright.program import Algorithm, NodeProgram, Program
from bitwright.program.given import as_algorithm, by_its_cells
from bitwright.running import run as running
from bitwright.running.observers import Watch
from bitwright.running.progress import Progress, as_progress
from bitwright.running.run import BatchRun, Run

if TYPE_CHECKING:
    from bitwright.checking.certificate import Certificate
    from bitwright.engines.cells.trained import TrainedCells
    from bitwright.networks import AnyNetwork

    Networks = str | PathLike[str] | AnyNetwork | TrainedCells | Sequence[str | PathLike[str] | AnyNetwork]


def run(
    what: Algorithm | Program | NodeProgram,
    inputs: Mapping[str, Any] | None = None,
    *,
    graph: Any = None,
    engine: str | Engine | None = None,
    network: Networks | None = None,
    limit: int | None = None,
    record: bool = False,
    progress: Progress | bool | None = None,
    watch: Watch | None = None,
    **values: Any,
) -> Run:
    """Runs an algorithm on input values, given by name or as a dictionary.

    `engine` is an engine, or the name of one; beside a name stand its settings, as `EngineChoice` has them (`rounding`,
    `padding`, `networks`, `seed`, ...). `network` is a trained network or its file. An input that has the name of a
    setting is given in the dictionary. `progress` is True for lines on standard error, or a function of the steps made
    and the most there can be; `watch` looks at single steps.

    >>> from bitwright import addition
    >>> run(addition(10), p=719, q=483).value
    1202
    >>> run(addition(4), {"p": 7, "q": 8}, engine="limit", rounding="sign").value
    15

    A node program runs on a `graph`: one of networkx, a file, or a shape such as "torus:20x30". Its inputs are given by
    node; `nodes` of the run has what they put out.

    >>> from bitwright import parse_node_program
    >>> flood = parse_node_program("bits x; block x; when x=1 write x far.x; input source = x".replace("; ", chr(10)))
    >>> run(flood, graph="path:3", source="1", limit=1).nodes["2"]
    {'x': 1}
    """
    check_named(what, inputs)
    settings = {name: values.pop(name) for name in list(values) if name in SETTINGS}
    given = {**(inputs or {}), **values}
    if isinstance(what, Algorithm | NodeProgram):
        check_values(what, values, (*_OPTIONS, *SETTINGS))
    if isinstance(what, NodeProgram):
        from bitwright.api.graphs import on_graph

        if graph is None:
            raise InputError(f"{what.name} is a node program; give the graph that it is to run on, graph=...")
        what, given = on_graph(what, graph, given), {}
    elif graph is not None:
        raise InputError("only a node program runs on a graph; leave out graph")
    algorithm = as_algorithm(what)
    chosen, told = asked_engine(algorithm, engine, network, settings), as_progress(progress, "steps, at most")
    return running.run_with(algorithm, given, chosen, limit=limit, record=record, progress=told, watch=watch)


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

    >>> import numpy as np
    >>> from bitwright import addition
    >>> algorithm = addition(4)
    >>> starts = [algorithm.state({"p": p, "q": 9}) for p in range(3)]
    >>> done = run_batch(algorithm, np.array(starts), engine="limit")
    >>> [algorithm.read(state)["sum"] for state in done.states]
    [9, 10, 11]
    """
    algorithm = as_algorithm(what)
    check_batch(states, workers)
    chosen = asked_engine(algorithm, engine, network, settings)
    return running.run_batch(algorithm, states, engine=chosen, limit=limit, workers=workers, margins=margins)


def certify(
    what: Algorithm | Program | NodeProgram | Sequence[Algorithm],
    rounding: str = "calibrated",
    *,
    n: str | None = None,
    padding: int | None = None,
    cells: bool = False,
    tile: int = 1,
    progress: Progress | bool | None = None,
) -> Certificate:
    """Proves or refutes that the limit makes every step right; K and n are those of a run with the same settings.

    `n` says how the number of matches is bounded: `blocks` (proved, the default), `declared` (an assumption, which the
    certificate then names) or `reachable` (met in the runs of all inputs). With `cells` the limit is that of networks
    of the program's cells: n is a cell's own. A node program is certified by its cells, for its
    `graphs`. So are several sizes, given as a list: the kinds of all of them are those of one proof.

    >>> from bitwright import multiplication
    >>> certify(multiplication(10)).sentence
    'certified'
    >>> certify([multiplication(bits) for bits in range(1, 9)], cells=True).sentence
    'certified'
    """
    from bitwright.checking.certificate import certify as prove
    from bitwright.checking.ranges import matches_range
    from bitwright.theory.rounding import check_rounding

    check_no_network(rounding, cells)
    told, chosen = as_progress(progress, "checking"), check_rounding(rounding)
    several: Sequence[Any] = what if isinstance(what, list | tuple) else [what]
    algorithms = [algorithm for one in several for algorithm in by_its_cells(one)]
    cells = cells or any(isinstance(one, NodeProgram) for one in several)
    if (pattern := pattern_asked(algorithms, cells, tile, n, padding)) is not None:
        from bitwright.checking.cells import certify_cells

        return certify_cells(pattern, chosen, pattern.program.templates + (padding or 0), told)
    (algorithm,) = algorithms
    examples = EngineChoice(rounding=chosen, padding=padding).examples(algorithm)
    if n == "reachable":
        say_compiling()
    return prove(algorithm.program, chosen, matches_range(algorithm, n, told), examples, told)


SETTINGS = (
    *("rounding", "padding", "networks", "seed", "width", "device", "precision", "compiled", "whole", "evaluate"),
    *("cells", "tile"),
)


_OPTIONS = ("inputs", "graph", "engine", "network", "limit", "record", "progress", "watch")  # of `run`, beside them


def asked_engine(
    algorithm: Algorithm,
    engine: str | Engine | None,
    network: Networks | None,
    settings: Mapping[str, Any],
    default: str = "templates",
    train: Trainer | None = None,
) -> Engine:
    """The engine that a person asks for: one that was made, or a name and its settings."""
    check_options(settings, SETTINGS, "an engine")
    if not isinstance(engine, str | None):
        if not hasattr(engine, "begin"):
            raise InputError(
                f"an engine is a name such as 'limit', or one that was made, got a {type(engine).__name__}"
            )
        if settings or network is not None:
            raise InputError("an engine that is given whole has its settings already; leave them out")
        return engine
    from bitwright.engines.cells.trained import TrainedCells, check_made_for
    from bitwright.networks import IntegerNetwork, Network

    if isinstance(network, list | tuple) and any(isinstance(item, TrainedCells) for item in network):
        raise InputError("one network of cells runs a program: give it by itself, not in a list")
    if isinstance(network, TrainedCells):
        if engine not in (None, "network") or [name for name in settings if name != "evaluate"]:
            raise InputError("a network of cells has its settings already; leave out all but evaluate")
        return network.engine(algorithm, **settings)
    one = isinstance(network, str | PathLike | Network | IntegerNetwork)
    if not one and not isinstance(network, list | tuple | None):
        raise InputError(f"give networks, or the paths of their files, got a {type(network).__name__}")
    if network is not None and not one and not network:
        raise InputError("give at least one network, or leave it out")
    given: list[Any] = [] if network is None else [network] if one else list(network)  # type: ignore[arg-type]
    name = ("network" if given else default) if engine is None else engine
    if other := [item for item in given if not isinstance(item, str | PathLike | Network | IntegerNetwork)]:
        raise InputError(f"give networks, or the paths of their files, got a {type(other[0]).__name__} among them")
    held = [item for item in given if isinstance(item, Network | IntegerNetwork)]
    files = tuple(Path(item) for item in given if isinstance(item, str | PathLike))
    if held and files:
        raise InputError("give networks or their files, not both")
    for item in held if not settings.get("cells") else ():
        check_made_for(item, algorithm.program)
    return choose_engine(algorithm, EngineChoice(name, files=files, **settings), held or None, train)
