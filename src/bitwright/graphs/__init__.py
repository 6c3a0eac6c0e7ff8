"""Graphs as people have them: files, shapes, networkx, and the values of nodes and edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bitwright.lazy import lazy_names

if TYPE_CHECKING:
    from bitwright.graphs.results import with_results as with_results

__all__, __getattr__ = lazy_names(__name__, {"bitwright.graphs.results": "with_results"})
