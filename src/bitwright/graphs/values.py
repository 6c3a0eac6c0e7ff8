"""Collects input values of a node program from the command line, Python, a table, or attributes of the graph."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import index
from pathlib import Path
from typing import Any

import numpy as np

from bitwright.common.bits import parse_signed, shorten
from bitwright.common.errors import InputError, counted, listing, suggestion
from bitwright.graphs.files import read_table
from bitwright.graphs.named import NamedGraph, Values
from bitwright.rules.graph.schema import NodeWord
from bitwright.rules.layout import IntArray

_LONGEST = 1_000  # most characters of a number
_MOST_DASHES = 100  # most dashes in an edge A-B; any of them may separate the two names
_BY_TUPLE = "for names with dashes use an attribute, or (u, v) in Python"
_LARGEST = 2**63 - 1  # largest integer in an array


def parse_assignments(pairs: Sequence[str]) -> dict[str, str]:
    """Parses texts of the form NAME=VALUE into a dictionary.

    >>> parse_assignments(["source=a,b", "id=order"])
    {'source': 'a,b', 'id': 'order'}
    """
    values: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        name = name.strip()
        if not equals or not name:
            raise InputError(f"an input of a node program must be NAME=VALUE, got '{shorten(pair)}'")
        if name in values:
            raise InputError(f"{shorten(name)} is given twice: '{shorten(values[name])}' and '{shorten(value)}'")
        values[name] = value
    return values


def values_for(
    words: Sequence[NodeWord],
    graph: NamedGraph,
    given: Mapping[str, Any],
    table: str | Path | None = None,
    program: str = "the program",
    lets: Sequence[str] = (),
) -> dict[str, IntArray]:
    """Returns an array for each input: a value per node or per port, or one number for the graph.

    A missing input is read from the column of the same name in `table`, or else from an attribute of the graph. `lets`
    are the overridable numbers of the program, which the message about a value that is too large mentions.
    """
    known = [word.name for word in words]
    for name in given:
        if name not in known:
            inputs = f"its inputs are {listing(known)}" if known else "it has no inputs"
            raise InputError(f"{program} has no input '{shorten(name)}'{suggestion(name, known) or f'; {inputs}'}")
    columns = {} if table is None else read_table(table, graph)
    return {word.name: _Input(word, graph, columns, program, lets).array(given.get(word.name)) for word in words}


class _Input:
    """An input of a program on a graph. Items are its nodes or edges; both ports of an edge get its value."""

    def __init__(
        self, word: NodeWord, graph: NamedGraph, columns: Values, program: str, lets: Sequence[str] = ()
    ) -> None:
        self.word, self.graph, self.columns, self.program, self.lets = word, graph, columns, program, lets
        self.of_nodes = word.place == "node"
        self.kind = "node" if self.of_nodes else "edge"
        self.label = graph.node_label if self.of_nodes else graph.edge_label
        self.count = graph.topology.nodes if self.of_nodes else graph.topology.edges
        # whether the input is a set of items, which get 1 while all others get 0
        self.marks = word.width == 1 and not word.unique and word.place != "whole"
        self.least, most = word.range
        self.most = min(most, _LARGEST)

    def array(self, given: Any) -> IntArray:  # (nodes,), (ports,) or (1,)
        topology, name = self.graph.topology, self.word.name
        if self.word.place == "whole":
            return np.array([self._for_graph(given)], dtype=np.int64)
        if isinstance(given, np.ndarray) and given.dtype.kind in "OSU":
            given = given.tolist()
        if (by_place := self._one_each(given)) is not None:
            count, what = (topology.nodes, "node") if self.of_nodes else (topology.ports, "port")
            if len(by_place) != count:
                raise InputError(f"{name} needs {counted(count, 'value')}, one for each {what}, got {len(by_place):,}")
            edge = range(count) if self.of_nodes else topology.port_edge.tolist()
            values = self._numbers(dict(enumerate(by_place)), count, lambda place: self.label(edge[place]))
        else:
            values = self._numbers(self._by_item(given), self.count, self.label)
            if not self.of_nodes:
                values = values[topology.port_edge]
        return values

    def _one_each(self, given: Any) -> list[Any] | None:
        """Returns values that are given in order, one per node or port, or None for any other form."""
        if isinstance(given, np.ndarray):
            if given.ndim != 1:
                raise InputError(
                    f"{self.word.name} must be a one-dimensional array, got {counted(given.ndim, 'dimension')}"
                )
            return list(given.tolist())
        if not isinstance(given, list | tuple | range):
            return None
        flags = bool(given) and all(isinstance(value, bool | np.bool_) for value in given)
        return list(given) if flags or not self.marks else None  # otherwise they are names of nodes or edges

    def _by_item(self, given: Any) -> dict[int, Any]:
        """Returns values by number of a node or edge; omitted items are missing, or 0 if the input is a set."""
        name, known = self.word.name, self._known()
        if given is None:
            alike = next((other for other in known if other.lower() == name.lower()), name)
            if alike in known or not self.count:  # without items there are no values
                return dict(known.get(alike, {}))
            hint = f"; the {self.kind}s have {listing(list(known))}" if known else ""
            raise InputError(f"{self.program} needs {name}{self._how}{hint}")
        if isinstance(given, str):
            return self._from_text(given)
        found: dict[int, Any] = {}
        if isinstance(given, Mapping):
            for key, value in given.items():
                self._put(found, self._items(key), value)
            return self._beside(found)
        if not self.marks:
            raise InputError(f"{name} needs a value for each {self.kind}, got {shorten(repr(given))}{self._how}")
        single = self._is_item(given) or not isinstance(given, Iterable)
        for key in [given] if single else given:
            found.update(dict.fromkeys(self._items(key), 1))
        return found

    def _from_text(self, text: str) -> dict[int, Any]:
        graph, known = self.graph, self._known()
        if self.marks and self.of_nodes and text in graph.numbers:
            return {graph.numbers[text]: 1}
        if text.startswith("@"):
            if text[1:] in known or not self.count:
                return dict(known.get(text[1:], {}))
            names = list(known)
            hint = suggestion(text[1:], names) or (f"; choose from {listing(names)}" if names else "; they have none")
            raise InputError(f"{self.kind}s have no attribute '{shorten(text[1:])}'{hint}")
        if self.of_nodes and text in ("order", "name"):
            return dict(enumerate(range(graph.topology.nodes) if text == "order" else graph.names))
        found: dict[int, Any] = {}
        others: str | None = None
        for item in map(str.strip, text.split(",")):
            if not item:
                raise InputError(f"{self.word.name} has an empty value in '{shorten(text)}'{self._how}")
            if self.marks and self._is_item(item):
                self._put(found, self._items(item), 1)
                continue
            key, colon, value = item.rpartition(":")
            if not colon and not self.marks:
                raise InputError(f"{self.word.name} has no value in '{shorten(item)}'{self._how}")
            key, value = (key.strip(), value) if colon else (item, "1")
            if key != "*":
                self._put(found, self._named(key), value)
            elif others is None:
                others = value
            else:
                raise InputError(f"{self.word.name} has *: twice")
        return self._beside(found) if others is None else {**dict.fromkeys(range(self.count), others), **found}

    def _beside(self, found: dict[int, Any]) -> dict[int, Any]:
        """Adds the values of the table or the graph for items that are not named, unless the input is a set."""
        return found if self.marks else {**self._known().get(self.word.name, {}), **found}

    def _named(self, key: str) -> list[int]:
        """Returns the items with a name: a node, or the edges A-B."""
        if self.of_nodes:
            return [self.graph.number(key)]
        dashes = [at for at, letter in enumerate(key) if letter == "-"]
        if not dashes:
            raise InputError(f"{self.word.name} takes edges, but '{shorten(key)}' is not an edge{self._how}")
        if len(dashes) > _MOST_DASHES:
            raise InputError(f"'{shorten(key)}' has more than {_MOST_DASHES} dashes; {_BY_TUPLE}")
        splits = [(key[:at].strip(), key[at + 1 :].strip()) for at in dashes]
        pairs = [pair for pair in splits if all(name in self.graph.numbers for name in pair)]
        if len(pairs) > 1:
            raise InputError(f"'{shorten(key)}' matches several edges; {_BY_TUPLE}")
        return self._items(pairs[0] if pairs else splits[0])

    def _is_item(self, key: Any) -> bool:
        """Returns whether a value is the name of a node, or a pair of names for an edge."""
        if self.of_nodes:
            return str(key) in self.graph.numbers
        return isinstance(key, tuple) and len(key) == 2 and all(str(name) in self.graph.numbers for name in key)

    def _items(self, key: Any) -> list[int]:
        if self.of_nodes:
            return [self.graph.number(key)]
        if not isinstance(key, tuple) or len(key) != 2:
            raise InputError(f"{self.word.name} takes edges as pairs of nodes (u, v), got {shorten(repr(key))}")
        if not (edges := self.graph.edges_between(*map(self.graph.number, key))):
            between = "from '{}' to '{}'" if self.graph.topology.directed else "between '{}' and '{}'"
            raise InputError(f"the graph has no edge {between.format(*(shorten(str(name)) for name in key))}")
        return edges

    def _put(self, found: dict[int, Any], items: Iterable[int], value: Any) -> None:
        for item in items:
            if item in found:
                raise InputError(f"{self.word.name} contains {self.label(item)} twice")
            found[item] = value

    def _known(self) -> Values:
        graph = self.graph
        return ChainMap(self.columns, graph.node_values) if self.of_nodes else graph.edge_values  # type: ignore[arg-type]

    def _for_graph(self, given: Any) -> int:
        name, known = self.word.name, self.graph.graph_values
        if isinstance(given, str) and given.startswith("@"):
            if (attribute := given[1:]) not in known:
                raise InputError(
                    f"the graph has no attribute '{shorten(attribute)}'{suggestion(attribute, list(known))}"
                )
            given = known[attribute]
        elif given is None:
            if name not in known:
                raise InputError(f"{self.program} needs {name}{self._how}")
            given = known[name]
        return self._whole(given, name)

    def _numbers(self, found: Mapping[int, Any], count: int, label: Callable[[int], str]) -> IntArray:
        name = self.word.name
        values = [0] * count
        for item, value in found.items():
            if value is not None:
                values[item] = self._whole(value, name, label, item)
        missing = [] if self.marks else [item for item in range(count) if found.get(item) is None]
        if missing:
            more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
            raise InputError(f"{name} of {label(missing[0])}{more} is missing{self._how}")
        return np.array(values, dtype=np.int64)

    def _whole(self, value: Any, name: str, label: Callable[[int], str] | None = None, item: int = 0) -> int:
        """Converts a value to a number within bounds."""
        number = whole_number(value)
        if number is not None and self.least <= number <= self.most:
            return number
        what = f"{name} of {label(item)}" if label else name
        if number is None:
            shown = f"'{shorten(value)}'" if isinstance(value, str) else shorten(repr(value))
            raise InputError(f"{what} must be an integer, got {shown}")
        if number > self.most:
            bits = counted(self.word.width, "bit")
            has = "" if self.word.way == "place" or self.most == _LARGEST else f" to fit in {bits}"
            more = f"; a larger {' or '.join(self.lets)} may allow more" if self.lets and self.most < _LARGEST else ""
            raise InputError(f"{what} must be at most {self.most}{has}, got {shorten(number)}{more}")
        raise InputError(f"{what} must be at least {self.least}, got {shorten(number)}")

    @property
    def _how(self) -> str:
        """The expected form, for the end of a message."""
        name = self.word.name
        if self.word.place == "whole":
            return f": give {name}=NUMBER"
        if self.of_nodes:
            if self.marks:
                return f": give {name}=NODE"
            ways = f"{name}=@ATTRIBUTE or {name}=NODE:VALUE,..."
            return f": give {name}=order, {ways}" if self.word.unique else f": give {ways} or {name}=*:VALUE"
        return f": give {name}=@ATTRIBUTE, {name}=*:VALUE or {name}=A-B{'' if self.marks else ':VALUE'},..."


def whole_number(value: Any) -> int | None:
    """Converts an integer of any type, or a string that contains one, to int; returns None for anything else.

    >>> [whole_number(value) for value in (3, True, 3.0, "0x10", "3.0", 2.5, "x")]
    [3, 1, 3, 16, 3, None, None]
    """
    if isinstance(value, str):
        text = value.strip()
        if len(text) > _LONGEST:
            return None
        if match := re.fullmatch(r"([-+]?[0-9]+)\.0*", text):
            text = match[1]
        try:
            return parse_signed(text.removeprefix("+"))
        except InputError:
            return None
    if isinstance(value, float | np.floating):
        return int(value) if value.is_integer() else None
    if isinstance(value, np.bool_):
        return int(value)
    try:
        return index(value)
    except TypeError:
        return None
