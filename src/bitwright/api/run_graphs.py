"""Runs of node programs: on one graph, or on many at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, TypeVar
from warnings import warn

from bitwright.api.arguments import check_named, check_once
from bitwright.api.telling import teller
from bitwright.bits import shorten
from bitwright.errors import BitwrightError, BitwrightWarning, InputError, counted, option
from bitwright.files.storage import as_path
from bitwright.program import NodeProgram
from bitwright.running.run import Run

Result = TypeVar("Result")


def run_on_graph(
    program: NodeProgram, graph: Any, inputs: Any, values: Mapping[str, Any], how: Mapping[str, Any]
) -> Run:
    """A run of a node program on one graph; its inputs may be in a table (.csv)."""
    from bitwright.api.graphs import on_graph
    from bitwright.api.run import run

    if graph is None:
        raise InputError(
            f"{program.name} is a node program; give the graph that it is to run on: {option('graph')}, a file, or a "
            "shape such as torus:20x30"
        )
    table = as_path(inputs, "a table of inputs") if isinstance(inputs, str | PathLike) else None
    if table is None:
        check_named(program, inputs)
        values = {**(inputs or {}), **values}
    with teller(how["progress"]).working("wiring the graph"):
        algorithm = on_graph(program, graph, values, table)
    done: Run = run(algorithm, **how)
    return done


def run_on_graphs(
    program: NodeProgram,
    graphs: Sequence[Any],
    inputs: Any,
    values: Mapping[str, Any],
    how: Mapping[str, Any],
    skip: bool,
) -> list[Run] | list[Run | None]:
    """Runs on many graphs, on all cores; all graphs and inputs are looked at before the first run."""
    from bitwright.api.graphs import on_graph
    from bitwright.api.run import run
    from bitwright.workers import in_threads

    if inputs is None or isinstance(inputs, Mapping):
        each: list[Any] = [inputs or {}] * len(graphs)
    else:
        each = list(inputs)
    if len(each) != len(graphs):
        raise InputError(f"there are {len(graphs)} graphs and the inputs of {len(each)}; give those of each graph")
    for one in each:
        check_named(program, one)
        check_once(one, values)
    given = [{**one, **values} for one in each]
    failed: dict[int, str] = {}

    def named(place: int, work: Callable[[], Result]) -> Result | None:
        if place in failed:
            return None
        try:
            return work()
        except BitwrightError as error:
            graph = graphs[place]
            name = f" ({shorten(str(graph))})" if isinstance(graph, str | PathLike) else ""
            failed[place] = f"graphs[{place}]{name}: {error}"
            if skip:
                return None
            raise InputError(failed[place]) from None

    places = range(len(graphs))
    on = list(in_threads(lambda at: named(at, lambda: on_graph(program, graphs[at], given[at])), places))

    def ran(place: int) -> Run:
        algorithm = on[place]
        assert algorithm is not None
        found: Run = run(algorithm, **how)
        return found

    done = list(in_threads(lambda at: named(at, lambda: ran(at)), places))
    if failed:
        first = failed[min(failed)]
        warn(f"{counted(len(failed), 'graph')} of {len(graphs):,} skipped; {first}", BitwrightWarning, stacklevel=3)
    return done
