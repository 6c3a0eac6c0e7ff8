"""Views of a trace: text for terminals, and an interactive HTML page; diagrams of cells."""

from bitwright.pages.cell_diagram import cell_diagram_svg
from bitwright.pages.graph import graph_page
from bitwright.pages.page import run_title, trace_page
from bitwright.pages.text import choose_columns, trace_states, trace_text

__all__ = ["cell_diagram_svg", "choose_columns", "graph_page", "run_title", "trace_page", "trace_states", "trace_text"]
