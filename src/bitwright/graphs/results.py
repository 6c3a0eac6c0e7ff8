"""A graph of networkx with what its nodes put out."""

from __future__ import annotations

from typing import Any

from bitwright.running.run import Run


def with_results(graph: Any, done: Run) -> Any:
    """A copy of a networkx graph whose nodes have what they put out as attributes; what has no value is left out.

    >>> import networkx as nx
    >>> from bitwright import parse, run
    >>> flood = parse("bits x; block x; when x=1 write x far.x; input source = x".replace("; ", chr(10)))
    >>> G = nx.path_graph(3)
    >>> with_results(G, run(flood, graph=G, source=0)).nodes(data=True)
    NodeDataView({0: {'x': 1}, 1: {'x': 1}, 2: {'x': 1}})
    """
    copy = graph.copy()
    for node, own in done.nodes.items():
        copy.nodes[node].update({name: value for name, value in own.items() if value is not None})
    copy.graph.update(done.outputs)
    return copy
