"""Formats a trace as plain text: one line per step, one column per name, the highest bit on the left."""

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
    """A heading and its bits: an array, or one row of an array with more dimensions."""

    heading: str
    bits: tuple[int, ...]  # as shown, left to right


def choose_columns(what: Program | Layout, names: Sequence[str] = ()) -> list[Column]:
    """Returns the columns of these names, or of all names."""
    layout = what.layout if isinstance(what, Program) else what
    if not names:
        names = [field.name for field in layout.fields]
    columns = []
    for field in map(layout.__getitem__, names):
        for row in field.bits().reshape(-1, field.shape[-1] if field.shape else 1).tolist():
            label = layout.name_of(row[0]).rsplit(",", 1)[0] + "]" if len(field.shape) > 1 else field.name
            columns.append(Column(label, tuple(reversed(row))))
    if sum(len(column.bits) for column in columns) > 20_000:
        raise InputError("a trace shows at most 20,000 bits; choose some names")
    return columns


def trace_text(
    trace: Trace,
    names: Sequence[str] = (),
    notes: Iterable[str] = (),
    heading_of: Callable[[str], str] = str,
) -> Iterator[str]:
    """Yields the lines of a trace, with `1` for a bit that is on and a dot for a bit that is off.

    If the trace has its program, n is the number of matches of each state. `notes` are appended to the lines, one per
    step. `heading_of` maps the headings of columns.
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
    """Yields the number, n and bits of every step as a dictionary; the highest bit comes first."""
    columns = choose_columns(trace.layout, names)
    for step in range(len(trace)):
        signs = np.where(trace.state(step), "1", "0")
        bits = {column.heading: "".join(signs[list(column.bits)]) for column in columns}
        yield {"step": step, "n": len(trace.matches(step)), "state": bits}


_MOST = 24  # nodes or ports to list


def heading_of(algorithm: GraphAlgorithm, heading: str) -> str:
    """Replaces the number of a node or port by its name: `level[Paris]`, `h[Paris>Rome]`."""
    found = re.fullmatch(r"(\w+)\[(\d+)(.*)\]", heading)
    names = _names(algorithm, _places(algorithm).get(found[1])) if found else []
    return f"{found[1]}[{names[int(found[2]) - 1]}{found[3]}]" if found and names else heading


def order_lines(algorithm: GraphAlgorithm) -> Iterator[str]:
    """Yields the order of nodes and of ports in columns with one character for each."""
    for place in ("node", "port"):
        if place in _places(algorithm).values() and (names := _names(algorithm, place)):
            yield f"{place}s, from the left: {listing(names[::-1], _MOST)}"


def _places(algorithm: GraphAlgorithm) -> dict[str, str]:
    assert algorithm.wiring is not None
    schema = algorithm.wiring.schema
    return {field.name: where for field, where in zip(schema.program.layout.fields, schema.places, strict=False)}


def _names(algorithm: GraphAlgorithm, place: str | None) -> list[str]:
    """Returns the names of all nodes or all ports; none for a value of the graph."""
    assert algorithm.wiring is not None
    nodes, graph = [printable(str(name)) for name in algorithm.names], algorithm.wiring.topology
    if place == "port":
        ends = zip(graph.port_node.tolist(), graph.port_far.tolist(), strict=True)
        return [f"{nodes[here]}>{nodes[there]}" for here, there in ends]
    return nodes if place == "node" else []
