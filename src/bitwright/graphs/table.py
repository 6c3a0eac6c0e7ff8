"""Tables of values for the nodes of a graph: a line for each node, a column for each value."""

from __future__ import annotations

from pathlib import Path

from bitwright.bits import shorten
from bitwright.errors import InputError, listing
from bitwright.graphs.lines import rows, separator_of
from bitwright.graphs.named import NamedGraph
from bitwright.program.text.files import read_text


def read_table(path: str | Path, graph: NamedGraph) -> dict[str, dict[int, str]]:
    """Columns of a table by name, as {node: text}; its first line names the columns, its first column the nodes."""
    path = Path(path)
    suffix = path.suffix.lower()
    text = read_text(path, suffix or ".csv", "a table")
    lines = rows(text, separator_of(text, suffix), path)
    top, header = next(lines, (1, []))
    if len(header) < 2 or len(set(header)) < len(header) or not all(header[1:]):
        raise InputError(
            f"{path}:{top}: the first line of a table names its columns, such as node,id; "
            f"got {shorten(','.join(header))!r}"
        )
    found: dict[str, dict[int, str]] = {name: {} for name in header[1:]}
    at: dict[int, int] = {}  # line of each node
    for line, columns in lines:
        if len(columns) != len(header):
            raise InputError(
                f"{path}:{line}: the first line names {len(header)} columns, this line has {len(columns)}: "
                f"{shorten(','.join(columns))!r}"
            )
        try:
            node = graph.number(columns[0])
        except InputError as error:
            raise InputError(f"{path}:{line}: {error}") from None
        if node in at:
            raise InputError(f"{path}:{line}: {graph.node_label(node)} has a line already, line {at[node]}")
        at[node] = line
        for name, value in zip(header[1:], columns[1:], strict=True):
            if value:
                found[name][node] = value
    if len(at) < graph.topology.nodes:
        missing = [f"'{shorten(name)}'" for number, name in enumerate(graph.names) if number not in at]
        raise InputError(f"{path} has no line for node {listing(missing)}")
    return found
