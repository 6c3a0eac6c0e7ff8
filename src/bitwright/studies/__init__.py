"""Each figure and table of the paper, and ours beside it."""

from bitwright.studies.figure import Figure, Setting
from bitwright.studies.figures import FIGURES, make_figure, write_tables
from bitwright.studies.table import Table, load_table

__all__ = ["FIGURES", "Figure", "Setting", "Table", "load_table", "make_figure", "write_tables"]
