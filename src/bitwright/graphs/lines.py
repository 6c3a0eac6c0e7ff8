"""Lines of names and values: edge lists, adjacency lists, and tables of values for the nodes of a graph."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, listing
from bitwright.graphs.named import NamedGraph
from bitwright.rules.text.files import read_text

_COMMENT = re.compile(r"(?:^|\s)#.*")


def separator_of(text: str, suffix: str) -> str | None:
    """The separator of columns; None for white space. Files other than .csv and .tsv show it in their first line."""
    if suffix in (".csv", ".tsv"):
        return "," if suffix == ".csv" else "\t"
    first = next((content for line in text.split("\n") if (content := _content(line, None).strip())), "")
    return "," if "," in first.partition("{")[0] else None  # behind the brace may be a dictionary of networkx


def rows(text: str, separator: str | None, path: object) -> Iterator[tuple[int, list[str]]]:
    """The number and the columns of every line that is not blank and no comment.

    Between commas or tabs a column may stand in double quotes.

    >>> list(rows("a b  # an edge\\n\\nc", None, "graph.txt"))
    [(1, ['a', 'b']), (3, ['c'])]
    """
    for number, line in enumerate(text.split("\n"), 1):
        content = _content(line, separator) if "#" in line else line
        if separator is None:
            if columns := content.split():
                yield number, columns
        elif content.strip():
            if '"' in content:
                yield number, _quoted(content, separator, f"{path}:{number}")
            else:
                yield number, [column.strip() for column in content.split(separator)]


def _content(line: str, separator: str | None) -> str:
    """The line without its comment, which is a # and what follows at the beginning or behind white space.

    Where columns may be quoted, a # in quotes does not begin one.
    """
    if separator is None or line.lstrip().startswith("#"):
        return _COMMENT.sub("", line)
    quoted, quote, rest = line.rpartition('"')
    return quoted + quote + _COMMENT.sub("", rest)


def _quoted(line: str, separator: str, place: str) -> list[str]:
    try:
        return [column.strip() for column in next(csv.reader([line], delimiter=separator, strict=True))]
    except csv.Error as error:
        raise InputError(f"{place}: a quote is not closed or a name is too long ({error}): {shorten(line)!r}") from None


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
