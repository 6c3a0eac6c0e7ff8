"""Graphs from files, shapes, networkx and matrices, and the values of their nodes and edges."""

from bitwright.graphs.named import with_results

__all__ = ["with_results"]
