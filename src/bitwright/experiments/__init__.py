"""Each figure and table of the paper, and ours beside it."""

from bitwright.experiments.figures import FIGURES, make_figure

__all__ = ["FIGURES", "make_figure"]
