"""One look for all figures: colours for colour-blind readers and for print, no clutter, and how numbers are written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from bitwright.common.errors import InputError

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#555555")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
CENTRE, RIGHT = {"ha": "center", "va": "center"}, {"ha": "right", "va": "center"}  # where a text stands


def label(axes: Any, title: str, x: str, y: str) -> None:
    """The title of a plot, and what its axes are."""
    axes.set(title=title, xlabel=x, ylabel=y)


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


def number(value: float, digits: int, plus: bool = False) -> str:
    """A number with this many digits; what is rounded to zero has no sign, others have a plus where it is asked for.

    >>> number(-1e-17, 3), number(-0.0004, 3, plus=True), number(0.25, 2, plus=True), number(-0.5, 1)
    ('0.000', '0.000', '+0.25', '-0.5')
    """
    text = f"{value:{'+' if plus else ''}.{digits}f}"
    return text if text.strip("+-0.") else text.lstrip("+-")
