"""Graphs from files, shapes, networkx and matrices, and the values of their nodes and edges."""
