"""Reads graphs from edge lists, and values of nodes from tables."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from os import PathLike, fspath
from os.path import exists  # unlike Path.exists, accepts names of any length
from pathlib import Path
from typing import Any

import numpy as np

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, listing
from bitwright.common.files.storage import as_path
from bitwright.graphs.named import NamedGraph, from_matrix, from_networkx, is_matrix, is_shape, shaped_graph
from bitwright.rules.graph.schema import Topology
from bitwright.rules.text import read_text

__all__ = ["SUFFIXES", "NamedGraph", "from_networkx", "open_graph", "read_graph"]

_HEADERS = (["source", "target"], ["from", "to"], ["node1", "node2"], ["src", "dst"], ["start", "end"])
_COMMENT = re.compile(r"(?:^|\s)#.*")


def open_graph(what: Any, directed: bool = False) -> NamedGraph:
    """Opens a graph from a file, a shape such as `torus:20x30`, networkx or a matrix; returns a NamedGraph unchanged.

    >>> open_graph("path:3").topology
    <Topology: 3 nodes, 2 edges>
    """
    if isinstance(what, NamedGraph):
        return what
    if isinstance(what, Topology):
        return NamedGraph(what, tuple(map(str, range(what.nodes))), {}, {}, {}, None)
    if isinstance(what, str) and is_shape(what) and not exists(what):
        if directed:
            raise InputError("shapes are undirected; omit directed")
        return shaped_graph(what)
    if isinstance(what, str | PathLike):
        return read_graph(fspath(what), directed)
    if hasattr(what, "adj") and hasattr(what, "nodes"):
        return from_networkx(what)
    if is_matrix(what):
        return from_matrix(what)
    raise InputError(
        f"give a networkx graph, an adjacency matrix, a file or a shape such as torus:20x30, got {type(what).__name__}"
    )


def read_graph(path: str | Path, directed: bool = False) -> NamedGraph:
    """Reads a graph from an edge list; with `directed`, edges point from the first node to the second.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "path.txt"
    ...     _ = path.write_text("a b 3")
    ...     graph = read_graph(path)
    >>> graph.names, graph.edge_values
    (('a', 'b'), {'weight': {0: '3'}})
    """
    path = as_path(path, "a graph file")
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"a graph file must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, got {path}")
    return _edge_list(read_text(path, suffix, "a graph"), path, directed)


def read_table(path: str | Path, graph: NamedGraph) -> dict[str, dict[int, str]]:
    """Reads the columns of a table, each as {node: text}; the first line names columns, the first column nodes."""
    path = Path(path)
    suffix = path.suffix.lower()
    text = read_text(path, suffix or ".csv", "a table")
    lines = _rows(text, _separator_of(text, suffix), path)
    top, header = next(lines, (1, []))
    if len(header) < 2 or len(set(header)) < len(header) or not all(header[1:]):
        raise InputError(
            f"{path}:{top}: the first line of a table must name its columns, such as node,id; "
            f"got {shorten(','.join(header))!r}"
        )
    table: dict[str, dict[int, str]] = {name: {} for name in header[1:]}
    at: dict[int, int] = {}  # line of each node
    for line, columns in lines:
        place = f"{path}:{line}"
        if len(columns) != len(header):
            shown = f"{shorten(','.join(columns))!r}"
            raise InputError(
                f"{place}: the first line names {len(header)} columns, this line has {len(columns)}: {shown}"
            )
        try:
            node = graph.number(columns[0])
        except InputError as error:
            raise InputError(f"{place}: {error}") from None
        if at.setdefault(node, line) != line:
            raise InputError(f"{place}: {graph.node_label(node)} is already on line {at[node]}")
        for name, value in zip(header[1:], columns[1:], strict=True):
            if value:
                table[name][node] = value
    if len(at) < graph.topology.nodes:
        missing = [f"'{shorten(name)}'" for number, name in enumerate(graph.names) if number not in at]
        raise InputError(f"{path} has no line for node {listing(missing)}")
    return table


def _separator_of(text: str, suffix: str) -> str | None:
    """Returns the column separator, or None for white space, from the suffix or the first line."""
    if suffix in (".csv", ".tsv"):
        return "," if suffix == ".csv" else "\t"
    first = next((content for line in text.split("\n") if (content := _content(line, None).strip())), "")
    return "," if "," in first.partition("{")[0] else None  # after the brace there may be a networkx dictionary


def _rows(text: str, separator: str | None, path: object) -> Iterator[tuple[int, list[str]]]:
    """Yields the number and the columns of every line that is neither blank nor a comment.

    With commas or tabs, a column may be in double quotes.

    >>> list(_rows("a b  # an edge\\n\\nc", None, "graph.txt"))
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
    """Returns the line without its comment, which starts with a # at the beginning or after white space.

    If columns may be quoted, a # in quotes does not start a comment.
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


def _edge_list(text: str, path: Path, directed: bool) -> NamedGraph:
    """Reads lines `u v`, `u v 3` or `u,v,3`; a single name is a node; a line `source,target,...` names columns."""
    numbers: dict[str, int] = {}  # nodes are numbered in the order of first use
    ends: list[tuple[int, int]] = []
    lines: list[int] = []  # line of each edge
    names: list[str] | None = None  # names of the value columns, if there is a header
    values: dict[str, dict[int, str]] = {}
    separator = _separator_of(text, path.suffix.lower())
    first = True
    for line, columns in _rows(text, separator, path):
        place, shown = f"{path}:{line}", f"'{shorten(' '.join(columns[:40]))}'"
        if first and separator and [column.lower() for column in columns[:2]] in _HEADERS:
            names = columns[2:]
            if len(set(columns)) < len(columns) or not all(columns):
                raise InputError(f"{place}: column names must be distinct; the header is {shown}")
        elif len(columns) == 1 or not any(columns[1:]):
            if mark := next((mark for mark in ";,\t" if mark in columns[0] and mark != separator), None):
                between = {None: "white space", ",": "commas", "\t": "tabs"}[separator]
                raise InputError(f"{place}: columns must be separated by {between}, not {mark!r}: {shown}")
            if not columns[0]:
                raise InputError(f"{place}: a node has no name; the line is {shown}")
            numbers.setdefault(columns[0], len(numbers))
        else:
            if names is None and (len(columns) > 3 or "".join(columns[2:]).startswith("{'")):
                more = "name more in a first line source,target,... of a .csv (networkx: data=['weight'])"
                raise InputError(f"{place}: an edge needs two nodes and at most one value, got {shown}; {more}")
            if names is not None and len(columns) != len(names) + 2:
                raise InputError(f"{place}: the header names {len(names) + 2} columns, this line has {len(columns)}")
            if not columns[0] or not columns[1]:
                raise InputError(f"{place}: a node has no name; the line is {shown}")
            word = values.get("weight", {}).get(0, "0") if len(lines) == 1 else "0"
            if names is None and separator and not word.isdecimal() and columns[2:] and columns[2].isdecimal():
                raise InputError(f"{path}:{lines[0]}: this looks like a header; name two of its columns source,target")
            for name, value in zip(names or ("weight",), columns[2:], strict=False):
                if value and value != "{}":
                    values.setdefault(name, {})[len(lines)] = value
            near = numbers.setdefault(columns[0], len(numbers))
            ends.append((near, numbers.setdefault(columns[1], len(numbers))))
            lines.append(line)
        first = False
    if not numbers:
        raise InputError(f"{path} contains no edges or nodes; write an edge as: a b")
    known: dict[tuple[int, int], int] = {}
    for pair, line in zip(ends, lines, strict=True):
        if (old := known.setdefault(pair if directed else (min(pair), max(pair)), line)) != line:
            ends_of = " and ".join(f"'{shorten(list(numbers)[end])}'" for end in pair)
            pointing = "" if directed else ", or pass directed if its edges are directed"
            raise InputError(
                f"{path}:{line}: the edge between {ends_of} is already on line {old}; remove one of the lines{pointing}"
            )
    topology = Topology.from_edges(len(numbers), np.array(ends, dtype=np.int64).reshape(-1, 2), directed)
    return NamedGraph(topology, tuple(numbers), {}, values)


SUFFIXES = (".txt", ".edges", ".edgelist", ".csv", ".tsv")
