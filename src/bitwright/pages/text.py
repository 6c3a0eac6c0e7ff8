"""A trace in plain text: one line per step, one column per name, the highest bit on the left."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np

from bitwright.common.errors import InputError, listing, printable
from bitwright.rules import GraphAlgorithm, Layout, Program
from bitwright.rules.trace import Trace


@dataclass(frozen=True)
class Column:
    """One array, or one row of an array of higher rank: a heading over adjacent bits."""

    heading: str
    bits: tuple[int, ...]  # as shown, left to right


def choose_columns(what: Program | Layout, names: Sequence[str] = ()) -> list[Column]:
    """The columns of the given names, or of all names."""
    layout = what.layout if isinstance(what, Program) else what
    if not names:
        names = [field.name for field in layout.fields]
    columns = []
    for field in map(layout.__getitem__, names):
        for row in field.bits().reshape(-1, field.shape[-1] if field.shape else 1).tolist():
            label = layout.name_of(row[0]).rsplit(",", 1)[0] + "]" if len(field.shape) > 1 else field.name
            columns.append(Column(label, tuple(reversed(row))))
    if sum(len(column.bits) for column in columns) > 20_000:
        raise InputError("a picture shows at most 20,000 bits; choose some names")
    return columns


def trace_text(
    trace: Trace,
    names: Sequence[str] = (),
    notes: Iterable[str] = (),
    heading_of: Callable[[str], str] = str,
) -> Iterator[str]:
    """The lines of the picture: `1` for a bit that is on, a dot for a bit that is off.

    Where the program of the trace is known, n counts the matches of each state.
    `notes` are appended to the lines, one for each step. `heading_of` maps the headings of columns.
    """
    columns = [replace(column, heading=heading_of(column.heading)) for column in choose_columns(trace.layout, names)]
    widths = [max(len(column.heading), len(column.bits)) for column in columns]
    margin = max(4, len(str(trace.steps)))
    width_of_n = 0 if trace.source is None else len(str(trace.source.blocks))

    def line(step: object, n: object, cells: Iterable[str], remark: str = "") -> str:
        matches = [] if trace.source is None else [f"{n:>{width_of_n}}"]
        return "  ".join([f"{step:>{margin}}", *matches, *cells, remark]).rstrip()

    yield line("step", "n", (column.heading.ljust(width) for column, width in zip(columns, widths, strict=True)))
    for step, remark in zip_longest(range(len(trace)), notes, fillvalue=""):
        assert isinstance(step, int)
        signs = np.where(trace.state(step), "1", "·")
        cells = ("".join(signs[list(column.bits)]).ljust(width) for column, width in zip(columns, widths, strict=True))
        yield line(step, "" if trace.source is None else len(trace.matches(step)), cells, remark)


def trace_states(trace: Trace, names: Sequence[str] = ()) -> Iterator[dict[str, object]]:
    """The same as data: for every step its number, n, and the bits under each heading, highest first."""
    columns = choose_columns(trace.layout, names)
    for step in range(len(trace)):
        signs = np.where(trace.state(step), "1", "0")
        bits = {column.heading: "".join(signs[list(column.bits)]) for column in columns}
        yield {"step": step, "n": len(trace.matches(step)), "state": bits}


_MOST = 24  # nodes or ports that are listed


def heading_of(algorithm: GraphAlgorithm, heading: str) -> str:
    """`level[2]` as `level[Paris]`, where Paris is the second node; of ports `h[Paris>Rome]`."""
    found = re.fullmatch(r"(\w+)\[(\d+)(.*)\]", heading)
    names = _names(algorithm, _places(algorithm).get(found[1])) if found else []
    return f"{found[1]}[{names[int(found[2]) - 1]}{found[3]}]" if found and names else heading


def order_lines(algorithm: GraphAlgorithm) -> Iterator[str]:
    """The order of nodes, or ports, in columns that have one sign for each."""
    for place in ("node", "port"):
        if place in _places(algorithm).values() and (names := _names(algorithm, place)):
            yield f"{place}s, from the left: {listing(names[::-1], _MOST)}"


def _places(algorithm: GraphAlgorithm) -> dict[str, str]:
    assert algorithm.wiring is not None
    schema = algorithm.wiring.schema
    return {field.name: where for field, where in zip(schema.program.layout.fields, schema.places, strict=False)}


def _names(algorithm: GraphAlgorithm, place: str | None) -> list[str]:
    """The names of all nodes or all ports; empty for the whole graph."""
    assert algorithm.wiring is not None
    nodes, graph = [printable(str(name)) for name in algorithm.names], algorithm.wiring.topology
    if place == "port":
        ends = zip(graph.port_node.tolist(), graph.port_far.tolist(), strict=True)
        return [f"{nodes[here]}>{nodes[there]}" for here, there in ends]
    return nodes if place == "node" else []
