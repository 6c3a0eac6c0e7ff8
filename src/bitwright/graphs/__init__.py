"""Graphs as people have them: files, shapes, networkx, and the values of nodes and edges."""
