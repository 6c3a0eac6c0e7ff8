"""Node programs, and the algorithms that they give on graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.errors import InputError, ProgramError, counted
from bitwright.common.lazy import Shown
from bitwright.rules.algorithm import Algorithm, Sizing, Word, check_inputs
from bitwright.rules.cells import Kind
from bitwright.rules.graph.schema import NodeWord, Schema, Topology
from bitwright.rules.graph.wiring import GraphWiring
from bitwright.rules.layout import IntArray
from bitwright.rules.text.node_text import NodeExpansion
from bitwright.rules.text.rule_text import RuleText

_NODES, _PORTS = 16, 48  # default graph size
_SIZES = ((1, 0), (2, 2), (3, 4), (_NODES, _PORTS), (1_000, 4_000))  # sizes at which kinds are determined
_KEPT = 8  # most schemas in the cache
MAX_WIDTH = 62  # most bits of a node's number


@dataclass(frozen=True, eq=False)
class NodeProgram(Shown):
    """Rules that every node of a graph runs; `on` returns the algorithm on a graph.

    >>> from bitwright import parse
    >>> flood = parse("bits x; block x; when x=1 write x far.x; input source = x".replace("; ", chr(10)))
    >>> flood
    NodeProgram 'program': 1 bit of nodes, 1 template
    >>> path = Topology.from_edges(4, [(0, 1), (1, 2)])
    >>> flood.on(path, {"source": np.array([1, 0, 0, 0])})
    Algorithm 'program': 4 bits, 4 blocks, 4 templates
    """

    name: str
    rules: RuleText = field(repr=False)
    lets: Mapping[str, int] = field(default_factory=dict)

    _schemas: dict[tuple[Hashable, ...], Schema] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self.rules.check_lets(self.name, self.lets)
        self.schema()

    @property
    def description(self) -> str:
        """The comment at the top of the rule text."""
        return self.rules.description

    @property
    def sizing(self) -> Sizing | None:
        """The numbers of the program, and the function that rebuilds it with other numbers."""
        return self.rules.sizing(self.name, self.lets)

    def schema(self, nodes: int = _NODES, ports: int = _PORTS) -> Schema:
        """Returns the schema for graphs of this size; most programs have the same schema at all sizes."""
        size = nodes if "nodes" in self.depends_on else _NODES, ports if "ports" in self.depends_on else _PORTS
        values = NodeExpansion(self.rules.tree, self.lets, *size).let_values() if self._only_lets_use_size else None
        key = size if values is None else ("lets", *values)
        if key not in self._schemas:
            if len(self._schemas) >= _KEPT:
                self._schemas.clear()
            self._schemas[key] = self.rules.schema(self.lets, *size)
        return self._schemas[key]

    @cached_property
    def _only_lets_use_size(self) -> bool:
        """Whether no other line mentions the size of the graph."""
        return not self.rules.mentions(("nodes", "ports"), without=self.rules.lets)

    @property
    def inputs(self) -> tuple[NodeWord, ...]:
        """The inputs, which are numbers at every node, at every port, or of the graph."""
        return self.schema().inputs

    @property
    def let_names(self) -> list[str]:
        """The numbers that the rule text defines, which callers may override."""
        return list(self.rules.lets)

    @property
    def outputs(self) -> tuple[NodeWord, ...]:
        """The outputs."""
        return self.schema().outputs

    def to_dict(self) -> dict[str, Any]:
        """Returns the contents that `bitwright show --json` prints, for a graph of 16 nodes if the size matters."""
        schema = self.schema()
        return {
            "name": self.name,
            "program_id": schema.program.id,
            "description": self.description,
            "templates": schema.program.templates,
            "kinds": len(self.kinds),
            "local_states": sum(kind.local_states for kind in self.kinds),
            "names": {place: self.names_at(place) for place in ("node", "port", "whole")},
            "inputs": {word.name: {"place": word.place, "bits": word.width} for word in schema.inputs},
            "outputs": {word.name: {"place": word.place, "bits": word.width} for word in schema.outputs},
            "steps": schema.steps,
            "halt": schema.name_of(schema.halt) if isinstance(schema.halt, int) else schema.halt,
            "graphs": sorted(schema.requires),
            "degree": schema.degree,
            "rules": list(schema.program.rules),
        }

    def names_at(self, place: str) -> list[str]:
        """Returns the arrays and bits declared at every `node`, at every `port`, or once for the `whole`."""
        schema = self.schema()
        fields = zip(schema.program.layout.fields, schema.places, strict=False)
        return [str(field) for field, where in fields if where == place]

    def text_lines(self, nodes: int = _NODES, ports: int = _PORTS) -> Iterator[str]:
        """Yields the canonical rule text for graphs of this size, with every block and template of a node."""
        return self.schema(nodes, ports).text_lines()

    def text(self, nodes: int = _NODES, ports: int = _PORTS) -> str:
        """Returns the canonical rule text as one string; parsing it gives an equivalent program on such graphs."""
        return "\n".join(self.text_lines(nodes, ports)) + "\n"

    @cached_property
    def depends_on(self) -> set[str]:
        """Which of `nodes` and `ports` the text uses; if neither, the program is the same for graphs of all sizes."""
        return self.rules.mentions(("nodes", "ports"), without=self.lets)

    @cached_property
    def _examined(self) -> tuple[tuple[int, int], ...]:
        """The sizes, in nodes and ports, at which kinds are determined; sizes without a valid program are skipped.

        A size has no valid program if, for example, an array would have no bits.
        """
        sizes = []
        for size in _SIZES:
            with suppress(ProgramError):
                self.schema(*size)
                sizes.append(size)
        return tuple(sizes)

    @property
    def graphs(self) -> str:
        """The graphs for which the kinds are complete: `every graph`, or graphs of the examined sizes.

        >>> from bitwright import parse
        >>> flood = ["bits x[l]", "block x[i] for i in 1..l", "when x[i]=1 write x[i] far.x[i] for i in 1..l"]
        >>> parse(chr(10).join(["let l = 4", *flood])).graphs
        'every graph'
        >>> parse(chr(10).join(["let l = digits(nodes)", *flood])).graphs
        'graphs of 1, 2, 3, 16 and 1,000 nodes'
        """
        return graphs_of([self])

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of cells on graphs of several sizes, starting with a single node; usually the same at all sizes."""
        return tuple(sorted({kind for size in self._examined for kind in self.schema(*size).program.kinds.kinds}))

    def schemas(self) -> list[NodeSchema]:
        """Returns ordinary programs whose cells are of all kinds; several programs if the kinds depend on the size."""
        schemas, missing = [], set(self.kinds)
        for size in ((_NODES, _PORTS), *self._examined):
            schema = self.schema(*size)
            if missing & set(schema.program.kinds.kinds):
                missing -= set(schema.program.kinds.kinds)
                words = tuple(Word(word.name, word.bits) for word in schema.outputs)
                options: dict[str, Any] = {"outputs": words, "steps": 1, "sizing": self.sizing}
                schemas.append(NodeSchema(self.name, schema.program, node_program=self, **options))
        return schemas

    def on(
        self, topology: Topology, values: Mapping[str, IntArray] | None = None, names: Sequence[Hashable] | None = None
    ) -> GraphAlgorithm:
        """Returns the algorithm on a graph, given the values of each input: one per node or port, or one for the graph.

        Args:
            names: readable names of the nodes
        """
        if not isinstance(topology, Topology):
            got = type(topology).__name__
            raise InputError(f"on takes a Topology, got {got}; run(program, graph=...) accepts other graphs")
        schema = self.schema(topology.nodes, topology.ports)
        _check_names(topology, names)
        check_graph(self.name, schema, topology, names)
        wiring = GraphWiring(schema, topology)
        on = np.zeros(wiring.layout.size, dtype=bool)
        for bit in schema.start:
            on[wiring.bits(bit, np.arange(wiring.count(wiring.places[bit])))] = True
        check_inputs(self.name, [word.name for word in schema.inputs], dict.fromkeys(values or {}, 0))
        for word in schema.inputs:
            self._set(on, wiring, word, (values or {})[word.name], names)
        whole = [word for word in schema.outputs if word.place == "whole"]
        return GraphAlgorithm(
            name=self.name,
            program=wiring.program,
            outputs=tuple(
                Word(word.name, tuple(int(wiring.bits(bit, np.zeros(1, int))[0]) for bit in word.bits), word.signed)
                for word in whole
            ),
            start=tuple(np.flatnonzero(on).tolist()),
            steps=schema.steps,
            halt=int(wiring.bits(schema.halt, np.zeros(1, int))[0]) if isinstance(schema.halt, int) else schema.halt,
            description=self.description,
            wiring=wiring,
            names=tuple(range(topology.nodes)) if names is None else tuple(names),
        )

    def _set(
        self, on: BoolArray, wiring: GraphWiring, word: NodeWord, values: IntArray, names: Sequence[Hashable] | None
    ) -> None:
        """Writes the values of an input into the state."""
        numbers = _integers(word.name, values)
        count = wiring.count(word.place)
        if numbers.shape != (count,):
            each = "the graph" if word.place == "whole" else f"each {word.place}"
            raise InputError(f"{word.name} needs {counted(count, 'value')}, one for {each}, got shape {numbers.shape}")
        low, high = word.range
        if len(wrong := np.flatnonzero((numbers < low) | (numbers > high))):
            at = int(wrong[0])
            of = f" of node '{at if names is None else names[at]}'" if word.place == "node" else ""
            raise InputError(f"{word.name}{of} must be between {low} and {high}, got {int(numbers[at])}")
        if word.one and np.count_nonzero(numbers) != 1:
            raise InputError(f"{word.name} must be set at exactly one node, got {np.count_nonzero(numbers)}")
        if word.unique:
            order = np.argsort(numbers, kind="stable")
            if len(same := np.flatnonzero(numbers[order][1:] == numbers[order][:-1])):
                first, second = order[same[0]], order[same[0] + 1]
                left, right = (f"'{at if names is None else names[at]}'" for at in (first, second))
                raise InputError(
                    f"nodes {left} and {right} have the same {word.name}, {int(numbers[first])}; use {word.name}=order "
                    "to number them"
                )
        for place, bit in enumerate(word.bits):
            is_on = numbers == place + 1 if word.way == "place" else numbers >> place & 1 == (word.way != "not")
            on[wiring.bits(bit, np.arange(count))] |= is_on
        for target in word.also:
            owner, bits = wiring.reached(word.place, target)
            on[bits[numbers[owner] > 0]] = True

    @property
    def sizes(self) -> str:
        """The sizes in words, such as `2 bits of nodes, 3 templates`."""
        schema = self.schema()
        counts = Counter[str](schema.place_of(bit) for bit in range(schema.bits))
        words = {"node": "of nodes", "port": "of ports", "whole": "of the whole"}
        bits = ", ".join(f"{counted(counts[place], 'bit')} {of}" for place, of in words.items() if counts[place])
        return f"{bits}, {counted(schema.program.templates, 'template')}"

    def __repr__(self) -> str:
        return f"NodeProgram '{self.name}': {self.sizes}"


@dataclass(frozen=True, repr=False)
class NodeSchema(Algorithm):
    """A node program without a graph, with each bit once. Its cells can be shown, trained and proved, but not run.

    >>> from bitwright import parse
    >>> flood = parse(chr(10).join(["bits x", "block x", "when x=1 write x far.x", "input source = x"]))
    >>> [schema.program.layout.names for schema in flood.schemas()]
    [['x', 'far.x']]
    """

    node_program: NodeProgram = field(kw_only=True)


@dataclass(frozen=True, repr=False)
class GraphAlgorithm(Algorithm):
    """A node program on a graph, with its input values; it takes no other inputs.

    >>> from bitwright import parse
    >>> flood = parse(chr(10).join(["bits x", "block x", "when x=1 write x far.x", "input source = x"]))
    >>> algorithm = flood.on(Topology.from_edges(3, [(0, 1)]), {"source": np.array([1, 0, 0])}, names="abc")
    >>> algorithm.names, algorithm.topology
    (('a', 'b', 'c'), <Topology: 3 nodes, 1 edge>)
    >>> algorithm.read_places(algorithm.state({}))
    {'x': [1, 0, 0]}
    """

    wiring: GraphWiring = field(kw_only=True)
    names: tuple[Hashable, ...] = ()  # names of the nodes
    given: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)  # the input values

    @property
    def topology(self) -> Topology:
        """The graph."""
        return self.wiring.topology

    def read_places(self, state: BoolArray, place: str = "node") -> dict[str, list[int | None]]:
        """Returns the outputs of all nodes or ports in a state, with None for outputs without a value."""
        return {word.name: self._values(state, word) for word in self.wiring.schema.outputs if word.place == place}

    def read_nodes(self, state: BoolArray) -> dict[Hashable, dict[str, Any]]:
        """Returns the outputs of each node and of its ports: neighbours for a flag, otherwise pairs with a value."""
        nodes: list[dict[str, Any]] = [{} for _ in self.names]
        for name, values in self.read_places(state).items():
            for node, value in zip(nodes, values, strict=True):
                node[name] = value
        graph, width = self.topology, {word.name: word.width for word in self.wiring.schema.outputs}
        for name, values in self.read_places(state, "port").items():
            for node in nodes:
                node[name] = []
            for near, far, value in zip(graph.port_node.tolist(), graph.port_far.tolist(), values, strict=True):
                if value is not None and (value or width[name] > 1):
                    nodes[near][name].append(self.names[far] if width[name] == 1 else (self.names[far], value))
        return dict(zip(self.names, nodes, strict=True))

    def _values(self, state: BoolArray, word: NodeWord) -> list[int | None]:
        at = np.arange(self.wiring.count(word.place))
        kind = np.int64 if word.width <= MAX_WIDTH else object
        values = np.zeros(len(at), dtype=kind)
        for place, bit in enumerate(word.bits):
            is_on = state[self.wiring.bits(bit, at)] ^ (word.way == "not")
            values += is_on.astype(kind) * (place + 1 if word.way == "place" else 1 << place)
        if word.signed:
            values -= (values >> word.width - 1) * (1 << word.width)
        numbers: list[int | None] = values.tolist()
        if word.where is None:
            return numbers
        present = state[self.wiring.bits(word.where, at)].tolist()
        return [value if has else None for value, has in zip(numbers, present, strict=True)]


def graphs_of(programs: Sequence[NodeProgram]) -> str:
    """Describes the graphs for which the kinds of these node programs are complete, as in `NodeProgram.graphs`.

    The cells are those of the schema, whatever the edges are. Self-loops and parallel edges wire several ports of a
    cell to the same bit, but the theorem about cells only requires that the union of the wired ports be the templates
    that write the bit (docs/explanation/cells.md). A schema that is the same at all sizes therefore has the cells of
    every graph.
    """
    depends_on = set().union(*(program.depends_on for program in programs))
    if not depends_on:
        return "every graph"
    sizes = [size for size in _SIZES if all(size in program._examined for program in programs)]
    if len(depends_on) == 2:
        pairs = [f"{counted(nodes, 'node')} with {counted(ports, 'port')}" for nodes, ports in sizes]
        return f"graphs of {_and(pairs)}"
    (word,) = depends_on
    counts = [nodes if word == "nodes" else ports for nodes, ports in sizes]
    return f"graphs of {_and([f'{count:,}' for count in counts])} {word}"


def _and(words: Sequence[str]) -> str:
    """Joins words as in `1, 2 and 3`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _integers(name: str, values: IntArray) -> IntArray:
    """Converts the values of an input to an array; numbers of more than 63 bits remain Python integers."""
    array = np.asarray(values)
    if array.dtype.kind == "O" and all(isinstance(value, int) for value in array.ravel().tolist()):
        return array
    if array.dtype.kind not in "biu" and array.size:
        raise InputError(f"{name} takes integers, got {array.dtype}")
    return array.astype(np.int64)


def _check_names(topology: Topology, names: Sequence[Hashable] | None) -> None:
    """Raises InputError unless all nodes have different names."""
    if names is None:
        return
    if len(names) != topology.nodes:
        raise InputError(f"names must have one entry for each of {counted(topology.nodes, 'node')}, got {len(names):,}")
    if len(set(names)) < len(names):
        again = next(name for name, times in Counter(names).items() if times > 1)
        raise InputError(f"two nodes have the name {again!r}; names must be distinct")


def check_graph(program: str, schema: Schema, topology: Topology, names: Sequence[Hashable] | None) -> None:
    """Raises InputError if a graph does not meet the requirements of a program."""

    def name(node: int) -> str:
        return f"'{node if names is None else names[node]}'"

    if topology.directed and "directed" not in schema.requires:
        raise InputError(
            f"{program} requires an undirected graph; make the edges undirected, with G.to_undirected() in networkx, "
            "or add 'graph directed' to the program"
        )
    for path, bit in schema.targets:
        if path == "far" and schema.place_of(bit) == "port" and topology.directed:
            raise InputError(f"{program} requires undirected edges, because a directed edge has no port at its far end")
        if topology.board is None and path.partition(".")[0] in ("north", "south", "west", "east"):
            raise InputError(f"'{path}' requires a board; give a shape such as board:20x30 or torus:20x30")
    if "simple" in schema.requires:
        if len(loops := np.flatnonzero(topology.port_node == topology.port_far)):
            at = name(int(topology.port_node[loops[0]]))
            raise InputError(f"{program} requires a graph without loops, but node {at} has one")
        pairs = topology.port_node * topology.nodes + topology.port_far
        distinct, counts = np.unique(pairs, return_counts=True)
        if len(several := np.flatnonzero(counts > 1)):
            left, right = map(name, divmod(int(distinct[several[0]]), topology.nodes))
            raise InputError(
                f"{program} requires at most one edge between two nodes, but {left} and {right} have several"
            )
    if schema.degree is not None and len(wrong := np.flatnonzero(topology.degrees != schema.degree)):
        node = int(wrong[0])
        raise InputError(
            f"{program} requires {counted(schema.degree, 'edge')} at every node, but {name(node)} has "
            f"{int(topology.degrees[node])}"
        )
    if "connected" in schema.requires and (parts := components(topology)).max(initial=0) > 0:
        apart = int(np.flatnonzero(parts > 0)[0])
        raise InputError(f"{program} requires a connected graph, but there is no path from {name(0)} to {name(apart)}")


def components(topology: Topology) -> IntArray:  # (nodes,)
    """Returns the connected component of each node, numbered from 0 by first node."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends = (topology.port_node, topology.port_far)
    matrix = coo_array((np.ones(topology.ports, dtype=np.int8), ends), shape=(topology.nodes, topology.nodes))
    _, labels = connected_components(matrix, directed=False)
    _, first = np.unique(labels, return_index=True)
    return np.asarray(np.argsort(np.argsort(first))[labels])
