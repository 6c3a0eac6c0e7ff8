"""Node programs as they are meant: sets of bits at nodes, ports and the whole, rule by rule, without our own code.

It reads canonical text, so what a line may say is little: every block, template and target is written out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

Place = tuple[str, ...] | tuple[str, int] | tuple[str, int, int]  # ("node", v), ("port", v, p) or ("whole",)
State = frozenset[tuple[Place, str]]


@dataclass
class Graph:
    """For every node the far end of each of its ports: a node, and a port of it, or None where edges are directed."""

    ports: list[list[tuple[int, int | None]]]

    @classmethod
    def of(cls, nodes: int, edges: Iterable[tuple[int, int]], directed: bool = False) -> Graph:
        ports: list[list[tuple[int, int | None]]] = [[] for _ in range(nodes)]
        for u, v in edges:
            here = len(ports[u])
            ports[u].append((v, None))
            if not directed:
                there = len(ports[v])
                ports[v].append((u, here))
                ports[u][here] = (v, there)
        return cls(ports)

    def places(self, kind: str) -> Iterator[Place]:
        if kind == "whole":
            yield ("whole",)
        for v, own in enumerate(self.ports):
            if kind == "node":
                yield ("node", v)
            elif kind == "port":
                yield from (("port", v, p) for p in range(len(own)))


@dataclass
class Model:
    """A canonical text on a graph."""

    text: str
    graph: Graph
    kind: dict[str, str] = field(default_factory=dict)  # of each declared name
    names: list[str] = field(default_factory=list)  # of all bits
    rules: list[tuple[str, list[tuple[str, bool]], list[str]]] = field(default_factory=list)
    chains: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for line in self.text.splitlines():
            words = line.split()
            if words[0] in ("bits", "port", "whole"):
                stem, _, extent = words[-1].partition("[")
                assert "," not in extent
                self.kind[stem] = "node" if words[0] == "bits" else words[0]
                self.names += [f"{stem}[{i + 1}]" for i in range(int(extent[:-1]))] if extent else [stem]
            elif words[0] == "when":
                at = words.index("write")
                tests = [(name, value == "1") for name, _, value in (word.partition("=") for word in words[1:at])]
                targets = [target for target in words[at + 1 :] if target != "nothing"]
                self.rules.append((self.kind_of(tests[0][0]), tests, targets))
            elif words[0] == "chain":
                self.chains[words[1]] = words[3]

    def kind_of(self, bit: str) -> str:
        return self.kind[bit.partition("[")[0]]

    def step(self, state: State) -> State:
        found = set()
        for kind, tests, targets in self.rules:
            for place in self.graph.places(kind):
                if all(((place, bit) in state) == value for bit, value in tests):
                    for target in targets:
                        found.update(self.reached(place, target))
        return frozenset(found)

    def reached(self, place: Place, target: str) -> Iterator[tuple[Place, str]]:
        """The bits that a target is, from a node, a port or the whole."""
        *path, bit = target.split(".")
        kind = self.kind_of(bit)
        if kind == "whole":
            yield (("whole",), bit)
        elif path == ["every"]:
            yield from ((there, bit) for there in self.graph.places(kind))
        elif path == ["next"]:
            v, p = int(place[1]), int(place[2]) + 1 if place[0] == "port" else 0
            if p < len(self.graph.ports[v]):
                yield (("port", v, p), bit)
            elif bit in self.chains:
                yield (("node", v), self.chains[bit])
        elif path == ["far"]:
            for u, q in self.far(place):
                if kind == "node":
                    yield (("node", u), bit)
                else:
                    assert q is not None
                    yield (("port", u, q), bit)
        elif path == ["back"]:
            for u, own in enumerate(self.graph.ports):
                for p, (v, _) in enumerate(own):
                    if v == int(place[1]):
                        yield (("node", u) if kind == "node" else ("port", u, p), bit)
        elif path == ["far", "all"]:
            for u, _ in self.far(place):
                yield from ((("port", u, p), bit) for p in range(len(self.graph.ports[u])))
        elif path == ["all"]:
            v = int(place[1])
            yield from ((("port", v, p), bit) for p in range(len(self.graph.ports[v])))
        else:
            assert path == []
            yield (place if kind == place[0] else ("node", int(place[1])), bit)

    def far(self, place: Place) -> Sequence[tuple[int, int | None]]:
        own = self.graph.ports[int(place[1])]
        return own if place[0] == "node" else [own[int(place[2])]]

    # The names that the same bits have in the program of the whole graph.

    def named(self, state: State) -> set[str]:
        first = [0]
        for own in self.graph.ports:
            first.append(first[-1] + len(own))
        found = set()
        for place, bit in state:
            stem, _, index = bit.rstrip("]").partition("[")
            number = {"whole": 0, "node": int(place[1]) + 1 if len(place) > 1 else 0}.get(str(place[0]))
            if number is None:
                number = first[int(place[1])] + int(place[2]) + 1
            indices = ",".join(filter(None, (str(number) if number else "", index)))
            found.add(f"{stem}[{indices}]" if indices else stem)
        return found

    def unnamed(self, names: Iterable[str]) -> State:
        """The state in which these bits of the whole graph's program are on."""
        own = {name: bit for bit in self.every() for name in self.named(frozenset([bit]))}
        return frozenset(own[name] for name in names)

    def every(self) -> Iterator[tuple[Place, str]]:
        for name in self.names:
            yield from ((place, name) for place in self.graph.places(self.kind_of(name)))
