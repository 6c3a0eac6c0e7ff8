"""Arguments that are programs: an algorithm, a program alone, or a node program."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike

from bitwright.errors import InputError
from bitwright.program.algorithm import Algorithm
from bitwright.program.graph.node_program import NodeProgram
from bitwright.program.program import Program


def as_algorithm(what: Algorithm | Program) -> Algorithm:
    """A program alone runs from one state to the next until nothing changes."""
    if isinstance(what, Algorithm):
        return what
    if isinstance(what, Program):
        return Algorithm("program", what)
    if isinstance(what, NodeProgram):
        raise InputError(f"{what.name} is a node program, which runs on a graph: give what.on(graph) here")
    hint = ""
    if isinstance(what, str | PathLike):
        hint = "; open(path) gives one from a file"
    elif isinstance(getattr(what, "program", None), Program):  # a machine
        hint = "; give the program in its attribute: what.program"
    raise InputError(f"give an Algorithm or a Program, got a {type(what).__name__}{hint}")


def by_its_cells(what: Algorithm | Program | NodeProgram) -> Sequence[Algorithm]:
    """An algorithm; of a node program those that together have all its kinds of cells."""
    return what.schemas() if isinstance(what, NodeProgram) else [as_algorithm(what)]
