"""Views of runs on graphs: one HTML page to explore, SVG for pages and print."""

from bitwright.pages.graph.page import graph_page
from bitwright.pages.graph.picture import graph_steps_svg, graph_svg

__all__ = ["graph_page", "graph_steps_svg", "graph_svg"]
