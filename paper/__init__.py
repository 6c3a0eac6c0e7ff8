"""Each figure and table of the paper, and ours beside it."""

from paper.figures import FIGURES, Figure, Setting, make_figure, write_tables
from paper.table import Table, load_table

__all__ = ["FIGURES", "Figure", "Setting", "Table", "load_table", "make_figure", "write_tables"]
