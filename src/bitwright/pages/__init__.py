"""Views of a trace: text for terminals, SVG for pages and print, and an interactive HTML page."""

from bitwright.pages.cell_diagram import cell_diagram_svg
from bitwright.pages.graph import graph_page, graph_steps_svg, graph_svg
from bitwright.pages.page import run_title, trace_page
from bitwright.pages.svg import trace_svg
from bitwright.pages.text import choose_columns, trace_states, trace_text

__all__ = [
    "cell_diagram_svg",
    "choose_columns",
    "graph_page",
    "graph_steps_svg",
    "graph_svg",
    "run_title",
    "trace_page",
    "trace_states",
    "trace_svg",
    "trace_text",
]
