"""The programs that the page offers, from those that `bitwright examples` writes."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import cache

from bitwright.api.examples import example_files

# Where the programs of a kind are.
FOLDERS = {"rules": "examples", "sbn": "examples/sbn", "subleq": "examples/subleq", "nodes": "examples/graphs"}


@dataclass(frozen=True)
class Example:
    """A file, what it is called on the page, and what it is run with."""

    kind: str
    name: str
    title: str
    inputs: dict[str, str] = field(default_factory=dict)
    language: str = "assembly"
    console: str = ""
    graph: str = ""  # a shape


# In the order in which the page lists them.
EXAMPLES = (
    Example("rules", "subtraction.bw", "Subtraction", {"a": "719", "b": "483"}),
    Example("rules", "comparison.bw", "Comparison", {"a": "719", "b": "483"}),
    Example("rules", "gray.bw", "Gray code", {"x": "1000"}),
    Example("rules", "rule110.bw", "Rule 110", {"row": "1"}),
    Example("sbn", "gcd.sbn", "Greatest common divisor", {"a": "12", "b": "18"}),
    Example("sbn", "sort4.sbn", "Sort four numbers", {"a": "7", "b": "2", "c": "9", "d": "4"}),
    Example("sbn", "multiply.sbn", "Multiplication", {"a": "6", "b": "7"}),
    Example("sbn", "fibonacci.sbn", "Fibonacci numbers", {"n": "9"}),
    Example("sbn", "collatz.sbn", "Collatz", {"n": "6"}),
    Example("sbn", "prime.sbn", "Prime numbers", {"n": "7"}),
    Example("sbn", "gcd.py", "Greatest common divisor", {"a": "12", "b": "18"}, language="python"),
    Example("sbn", "collatz.py", "Collatz", {"n": "4"}, language="python"),
    Example("subleq", "hello.sq", "Hello, world"),
    Example("subleq", "echo.sq", "Echo", console="Everything that is read is printed.\n"),
    Example("subleq", "count.sq", "Count characters and lines", console="two\nlines\n"),
    Example("subleq", "sieve.sq", "Sieve of Eratosthenes"),
    Example("subleq", "sort.sq", "Sort numbers"),
    Example("nodes", "bfs.bw", "Breadth-first search", {"source": "0.0"}, graph="grid:4x6"),
    Example("nodes", "flooding.bw", "Flooding", {"source": "0"}, graph="random:16,24"),
    Example("nodes", "shortest-paths.bw", "Shortest paths", {"source": "0", "weight": "*:3"}, graph="random:12,18"),
    Example("nodes", "leader.bw", "Leader election", {"id": "order"}, graph="ring:8"),
    Example("nodes", "dfs.bw", "Depth-first search", {"source": "0"}, graph="random:12,18"),
    Example("nodes", "life.bw", "Game of Life", {"alive": "1.2,2.3,3.1,3.2,3.3"}, graph="torus:8x8"),
)


@cache
def example_texts() -> list[dict[str, object]]:
    """Every example with its text."""
    kept = {one.name: one for one in example_files()}
    return [{**asdict(one), "text": kept[f"{FOLDERS[one.kind]}/{one.name}"].data.decode()} for one in EXAMPLES]
