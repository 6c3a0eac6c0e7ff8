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
from bitwright.api.engines import EngineChoice, choose_engine
from bitwright.api.notes import say_compiling
from bitwright.bits import BoolArray, whole_number
from bitwright.engines.protocol import Engine
from bitwright.errors import InputError
from bitwright.files.storage import as_path
from bitwright.program import Algorithm, NodeProgram, Program
from bitwright.program.given import as_algorithm, by_its_cells
from bitwright.running import run as running
from bitwright.running.observers import Watch
from bitwright.running.progress import Progress, as_progress
from bitwright.running.run import BatchRun, Run

if TYPE_CHECKING:
    from bitwright.api.network import Network
    from bitwright.checking.certificate import Certificate
    from bitwright.checking.validation import Validation
    from bitwright.checking.validation.given import Given
    from bitwright.engines.cells.trained import TrainedCells
    from bitwright.networks import AnyNetwork

    Networks = (
        str | PathLike[str] | Network | AnyNetwork | TrainedCells | Sequence[str | PathLike[str] | Network | AnyNetwork]
    )


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
    chosen, told = _engine(algorithm, engine, network, settings), as_progress(progress, "steps, at most")
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
    chosen = _engine(algorithm, engine, network, settings)
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


def ensemble_sizes(
    what: Algorithm | Program,
    delta: float = 0.01,
    *,
    scope: str = "inputs",
    masked: bool = True,
    n: str | None = None,
    padding: int | None = None,
    cells: bool = False,
    tile: int = 1,
) -> dict[str, Any]:
    """How many networks must be averaged to be wrong with probability at most `delta`, for each rounding.

    `scope` is what shall come out right: one `input`, all `inputs`, or all steps of all `runs`. Unless `masked`, the
    sign rule guesses bits that nothing writes, as in the paper. With `cells` these are networks of the program's cells.

    >>> from bitwright import addition
    >>> ensemble_sizes(addition(10))["calibrated"]["networks"]
    50
    >>> ensemble_sizes(addition(10), cells=True)["calibrated"]["networks"]
    2
    """
    from bitwright.checking.ranges import matches_range
    from bitwright.theory import check_scope, sizes

    algorithm = as_algorithm(what)
    asked = check_scope(scope)
    if (pattern := pattern_asked([algorithm], cells, tile, n, padding)) is not None:
        from bitwright.checking.cells import cell_sizes

        if not masked:
            raise InputError("masked is for whole states; leave it out, or cells")
        return cell_sizes(pattern, delta, asked, padding=padding)
    if n == "reachable":
        say_compiling()
    return sizes(algorithm, delta, asked, matches_range(algorithm, n), padding=padding, masked=masked)


def validate(
    what: Algorithm | Program,
    *,
    oracle: Given | None = None,
    oracle_arrays: Given | None = None,
    engine: str | Engine | None = None,
    network: Networks | None = None,
    random: int | None = None,
    sample_seed: int = 0,
    limit: int | None = None,
    workers: str | int = "1",
    resume: str | PathLike[str] | None = None,
    progress: Progress | bool | None = None,
    **settings: Any,
) -> Validation:
    """Runs every input (or `random` ones) through an engine, and compares every step with the rules.

    Without an engine's name it is `network` where a network is given, else `limit`.

    Outputs are compared with an oracle; without one, with what the rules give. It is any function that takes the inputs
    by name and gives the output, or a dictionary of outputs; None where a run never ends. `oracle_arrays` is one that
    takes NumPy arrays of inputs, which is much faster. With several workers, or a file to `resume` from, the function
    is in a file, and named as "module:function". `progress` is True for lines on standard error, or a function of the
    inputs done and of all.

    >>> from bitwright import addition
    >>> validate(addition(3), oracle=lambda p, q: p + q).verdict
    'exact'
    >>> validate(addition(3), oracle_arrays=lambda p, q: p | q).tally.failures[0].inputs
    {'p': 1, 'q': 1}
    """
    from bitwright.checking import validation
    from bitwright.workers import Workers

    algorithm = as_algorithm(what)
    chosen = _engine(algorithm, engine, network, settings, default="limit")
    for name, value in (("random", random), ("sample_seed", sample_seed)):
        if value is not None:
            whole_number(value, name)
    file = None if resume is None else as_path(resume, "the file to resume from")
    asked = validation.given_oracle(algorithm, oracle, oracle_arrays)
    task = validation.make_task(algorithm, chosen, asked, random, sample_seed, limit)
    if task.sliced:
        say_compiling()
    who = Workers.parse(str(workers), str(settings.get("device", "cpu")))
    return validation.validate(task, who, as_progress(progress, "inputs"), file)


SETTINGS = (
    *("rounding", "padding", "networks", "seed", "width", "device", "precision", "compiled", "whole", "evaluate"),
    *("cells", "tile"),
)


_OPTIONS = ("inputs", "graph", "engine", "network", "limit", "record", "progress", "watch")  # of `run`, beside them


def _engine(
    algorithm: Algorithm,
    engine: str | Engine | None,
    network: Networks | None,
    settings: Mapping[str, Any],
    default: str = "templates",
) -> Engine:
    check_options(settings, SETTINGS, "an engine")
    if not isinstance(engine, str | None):
        if not hasattr(engine, "begin"):
            raise InputError(
                f"an engine is a name such as 'limit', or one that was made, got a {type(engine).__name__}"
            )
        if settings or network is not None:
            raise InputError("an engine that is given whole has its settings already; leave them out")
        return engine
    from bitwright.api.network import averaged_cells, unwrapped
    from bitwright.engines.cells.trained import TrainedCells, check_made_for
    from bitwright.networks import FloatNetwork, IntegerNetwork

    if engine in (None, "network") and (averaged := averaged_cells(algorithm, network, settings)) is not None:
        return averaged
    network = [unwrapped(item) for item in network] if isinstance(network, list | tuple) else unwrapped(network)
    if isinstance(network, list | tuple) and any(isinstance(item, TrainedCells) for item in network):
        raise InputError("one network of cells runs a program: give it by itself, not in a list")
    if isinstance(network, TrainedCells):
        if engine not in (None, "network") or [name for name in settings if name != "evaluate"]:
            raise InputError("a network of cells has its settings already; leave out all but evaluate")
        return network.engine(algorithm, **settings)
    one = isinstance(network, str | PathLike | FloatNetwork | IntegerNetwork)
    if not one and not isinstance(network, list | tuple | None):
        raise InputError(f"give networks, or the paths of their files, got a {type(network).__name__}")
    if network is not None and not one and not network:
        raise InputError("give at least one network, or leave it out")
    given: list[Any] = [] if network is None else [network] if one else list(network)
    name = ("network" if given else default) if engine is None else engine
    if other := [item for item in given if not isinstance(item, str | PathLike | FloatNetwork | IntegerNetwork)]:
        raise InputError(f"give networks, or the paths of their files, got a {type(other[0]).__name__} among them")
    held = [item for item in given if isinstance(item, FloatNetwork | IntegerNetwork)]
    files = tuple(Path(item) for item in given if isinstance(item, str | PathLike))
    if held and files:
        raise InputError("give networks or their files, not both")
    for item in held if not settings.get("cells") else ():
        check_made_for(item, algorithm.program)
    return choose_engine(algorithm, EngineChoice(name, files=files, **settings), held or None)
