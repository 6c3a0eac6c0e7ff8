"""Each figure and table of the paper, and ours beside it."""

from bitwright.experiments.figure import Figure, Setting
from bitwright.experiments.figures import FIGURES, collect_figure, make_figure
from bitwright.experiments.table import Table, load_table

__all__ = ["FIGURES", "Figure", "Setting", "Table", "collect_figure", "load_table", "make_figure"]
