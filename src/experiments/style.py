"""One look for all plots: colours that stay apart for colour-blind readers and in print, and no clutter."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from bitwright.errors import InputError

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


@contextmanager
def plot_style() -> Iterator[Any]:
    """Matplotlib's pyplot in our style and without a screen; the figures made inside are closed at the end."""
    if find_spec("matplotlib") is None:
        raise InputError("figures need Matplotlib; install it with: pip install 'bitwright[plot]'")
    import matplotlib as mpl

    mpl.use("Agg")
    from cycler import cycler
    from matplotlib import pyplot

    settings: Any = {
        "figure.figsize": (6.4, 4.0),
        "figure.constrained_layout.use": True,
        "axes.prop_cycle": cycler(color=COLOURS),
        "axes.grid": True,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "grid.alpha": 0.25,
        "font.size": 10,
        "axes.titlesize": 11,
        "axes.titlelocation": "left",
        "legend.fontsize": 8.5,
        "legend.frameon": False,
        "lines.markersize": 4,
        "savefig.dpi": 160,
        "svg.hashsalt": "bitwright",  # the same figure gives the same file
    }
    with mpl.rc_context(settings):
        try:
            yield pyplot
        finally:
            pyplot.close("all")
