"""Node programs to try things with: the examples, and random ones; and graphs and values for them."""

from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from bitwright.rules import NodeProgram, Topology, parse_node_program

FOLDER = Path(__file__).parent.parent / "examples" / "graphs"
TEXTS = {path.stem: path.read_text() for path in sorted(FOLDER.glob("*.bw"))}
EXAMPLES: dict[str, NodeProgram] = {name: parse_node_program(text, name) for name, text in TEXTS.items()}
Edges = list[tuple[int, int]]
Values = dict[str, NDArray[np.int64]]

# From which place, by which path, to which place (see docs/reference/graphs.md).
PATHS = {
    "node": {"node": ["", "far.", "back."], "port": ["all.", "far.", "far.all.", "back.", "next."], "whole": [""]},
    "port": {"node": ["", "far."], "port": ["", "all.", "far.", "far.all.", "next."], "whole": [""]},
    "whole": {"node": ["every."], "port": ["every."], "whole": [""]},
}


def random_edges(rng: Random, nodes: int) -> Edges:
    """Loops and parallel edges among them, and often nodes without an edge."""
    return [(rng.randrange(nodes), rng.randrange(nodes)) for _ in range(rng.randint(0, 2 * nodes))]


def inputs_of(program: NodeProgram, topology: Topology, rng: Random) -> Values:
    """Random values of all inputs, both ports of an edge having the same."""
    found: Values = {}
    for word in program.schema(topology.nodes, topology.ports).inputs:
        low, high = word.range
        if word.name == "source":
            found[word.name] = np.eye(topology.nodes, dtype=np.int64)[rng.randrange(topology.nodes)]
        elif word.unique:
            found[word.name] = np.array(rng.sample(range(low, high + 1), topology.nodes))
        elif word.place == "port":
            by_edge = np.array([rng.randint(low, high) for _ in range(topology.edges)], dtype=np.int64)
            found[word.name] = by_edge[topology.port_edge]
        else:
            found[word.name] = np.array([rng.randint(low, high) for _ in range(topology.nodes)])
    return found


def random_program(rng: Random, directed: bool) -> str:
    """A node program of random blocks, rules and paths; on directed graphs none to the port at the far end."""
    lines, places = [f"graph {'directed' if directed else 'simple'}"] if directed else [], {}
    for place in ("node", "port", "whole"):
        for number in range(rng.randint(1, 4)):
            places[f"{place[0]}{number}"] = place
    by_place = {place: [bit for bit, at in places.items() if at == place] for place in PATHS}
    for place, bits in by_place.items():
        lines.append(f"{'' if place == 'node' else place + ' '}bits {' '.join(bits)}")
    chains = {bit: rng.choice(by_place["node"]) for bit in by_place["port"] if rng.random() < 0.5}
    lines += [f"chain {link} -> {end}" for link, end in chains.items()]
    for place, bits in by_place.items():
        rest = rng.sample(bits, len(bits))
        blocks = []
        while rest:
            block = [rest.pop() for _ in range(min(len(rest), rng.randint(1, 3)))]
            blocks.append(block)
            lines.append(f"block {' '.join(block)}")
            configs = rng.sample(range(2 ** len(block)), rng.randint(1, 2 ** len(block)))
            for config in configs:
                tests = " ".join(f"{bit}={config >> at & 1}" for at, bit in enumerate(block))
                targets = {target(rng, place, places, directed) for _ in range(rng.randint(0, 4))}
                lines.append(f"when {tests} write {' '.join(sorted(targets)) or 'nothing'}")
        if len(blocks) > 1 and rng.random() < 0.4:
            lines.append(f"cell {' '.join(rng.choice(block) for block in rng.sample(blocks, 2))}")
    return "\n".join([*lines, "steps 12"])


def target(rng: Random, start: str, places: dict[str, str], directed: bool) -> str:
    bit = rng.choice(list(places))
    ways = [way for way in PATHS[start][places[bit]] if not (directed and way == "far." and places[bit] == "port")]
    return rng.choice(ways) + bit
