"""Graphs as people have them: files, shapes, networkx, and the values of nodes and edges."""

from bitwright.graphs.named import with_results

__all__ = ["with_results"]
