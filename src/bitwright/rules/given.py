"""Arguments that are programs: an algorithm, a program alone, or a node program."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import TYPE_CHECKING

from bitwright.common.errors import InputError
from bitwright.common.lazy import is_a
from bitwright.rules.algorithm import Algorithm
from bitwright.rules.program import Program

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from bitwright.rules.graph.node_program import GraphAlgorithm, NodeProgram

_GRAPHS = "bitwright.rules.graph.node_program"


def is_node_program(what: object) -> TypeIs[NodeProgram]:
    """Whether this is rules for the nodes of graphs."""
    return is_a(what, f"{_GRAPHS}:NodeProgram")


def is_on_graph(what: Algorithm) -> TypeIs[GraphAlgorithm]:
    """Whether this is a node program on a graph."""
    return is_a(what, f"{_GRAPHS}:GraphAlgorithm")


def as_algorithm(what: Algorithm | Program) -> Algorithm:
    """A program alone runs from one state to the next until nothing changes."""
    if isinstance(what, Algorithm):
        return what
    if isinstance(what, Program):
        return Algorithm("program", what)
    if is_node_program(what):
        raise InputError(f"{what.name} is a node program, which runs on a graph: give what.on(graph) here")
    hint = ""
    if isinstance(what, str | PathLike):
        hint = "; open(path) gives one from a file"
    elif isinstance(getattr(what, "program", None), Program):  # a machine
        hint = "; give the program in its attribute: what.program"
    raise InputError(f"give an Algorithm or a Program, got a {type(what).__name__}{hint}")


def by_its_cells(what: Algorithm | Program | NodeProgram) -> Sequence[Algorithm]:
    """An algorithm; of a node program those that together have all its kinds of cells."""
    return what.schemas() if is_node_program(what) else [as_algorithm(what)]
