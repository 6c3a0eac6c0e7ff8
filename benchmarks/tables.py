"""Runs from a table of answers: a network of cells beside the rules in packed words, which look at every template."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import networkx as nx

from benchmarks.measure import Row, readable, seconds
from bitwright import Algorithm, addition, multiplication, parse, run, train
from bitwright.api.graphs import on_graph
from bitwright.engines.rules import PackedBatch, RuleEngine
from bitwright.program import parse_node_program

EXAMPLES = Path(__file__).parent.parent / "examples"
SMALL = 60  # graphs of 12 nodes


def cases() -> Iterator[tuple[str, Algorithm, dict[str, int], Algorithm, int]]:
    """A name, an algorithm and its inputs, a small one to train on, and how many steps are compared."""
    rng = random.Random(0)
    most = 2**64 - 1
    product = {"multiplicand": most, "multiplier": most}
    yield "product of two 64-bit numbers", multiplication(64), product, multiplication(4), 200
    carry = {"p": 2**10_000 - 1, "q": 1}
    yield "sum of two 10,000-bit numbers, longest carry", addition(10_000), carry, addition(4), 20
    text = (EXAMPLES / "rule110.bw").read_text()
    wide = parse(text.replace("let w = 64", "let w = 10000").replace("steps 41", "steps 2001"))
    yield "rule 110, 10,000 cells, 2,001 steps", wide, {"row": rng.getrandbits(10_000)}, parse(text), 20


def rows() -> Iterator[Row]:
    for name, algorithm, inputs, small, few in cases():
        engine = train(small).engine(algorithm)
        steps = run(algorithm, inputs, engine=engine).steps
        spent = seconds(lambda a=algorithm, i=inputs, e=engine: run(a, i, engine=e), repeat=3)
        packed = PackedBatch(RuleEngine(algorithm.program), algorithm.state(inputs)[None])
        plain = seconds(lambda batch=packed, n=few: [batch.step() for _ in range(n)], repeat=2) / few
        yield Row(
            f"{name}, network of cells",
            f"{readable(spent)}, {steps / spent:,.0f} steps/s",
            f"{plain * steps / spent:,.0f} x the rules in packed words",
        )
    search = parse_node_program((EXAMPLES / "graphs" / "bfs.bw").read_text(), "bfs")
    network = train(search)
    graphs = [on_graph(search, nx.gnm_random_graph(12, 24, seed=seed), {"source": 0}) for seed in range(SMALL)]
    by_network = seconds(lambda: [run(one, network=network) for one in graphs]) / SMALL
    by_rules = seconds(lambda: [run(one) for one in graphs]) / SMALL
    yield Row(
        f"search on {SMALL} graphs of 12 nodes, network of cells",
        f"{readable(by_network)} a graph",
        f"{by_network / by_rules:.2f} x the time of the rules",
    )
