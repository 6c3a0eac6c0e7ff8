"""Program arguments: an algorithm, a bare program, or a node program."""

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
    """Whether this is a program for the nodes of graphs."""
    return is_a(what, f"{_GRAPHS}:NodeProgram")


def is_on_graph(what: Algorithm) -> TypeIs[GraphAlgorithm]:
    """Whether this is a node program on a graph."""
    return is_a(what, f"{_GRAPHS}:GraphAlgorithm")


def as_algorithm(what: Algorithm | Program) -> Algorithm:
    """An algorithm from an argument; a bare program runs until a fixed point."""
    if isinstance(what, Algorithm):
        return what
    if isinstance(what, Program):
        return Algorithm("program", what)
    if is_node_program(what):
        raise InputError(f"{what.name} is a node program, which runs on a graph: pass what.on(graph) instead")
    hint = ""
    if isinstance(what, str | PathLike):
        hint = "; open(path) loads one from a file"
    elif isinstance(getattr(what, "program", None), Program):  # a machine
        hint = "; pass its program: what.program"
    raise InputError(f"give an Algorithm or a Program, got a {type(what).__name__}{hint}")


def by_its_cells(what: Algorithm | Program | NodeProgram) -> Sequence[Algorithm]:
    """An algorithm; for a node program the algorithms that together contain all its kinds of cells."""
    return what.schemas() if is_node_program(what) else [as_algorithm(what)]
