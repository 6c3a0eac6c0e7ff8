"""Draws the report's figures as PDF from the stored tables, in the size in which they are printed.

python -m paper.report.figures [FOLDER]
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from paper.beyond import margin_fit
from paper.figures import find_figure
from paper.report.stored import DOCS, table
from paper.style import COLOURS, MARKERS, plot_style
from paper.table import Table, load_table

WIDTH = 8.4  # inches as drawn; the page shows three quarters of it, so that text of nine points comes out at seven
SMALL = 6.8  # points of legends, as drawn


def ensembles(pyplot: Any) -> Any:
    """Networks to average for addition and multiplication; and how far one network is off, against its width."""
    figure, panels = pyplot.subplots(1, 3, figsize=(WIDTH, 2.75))
    stored = _stored("figures/ensemble-complexity.csv")
    for axes, task in zip(panels, ("addition", "multiplication"), strict=False):
        part = stored.where(task=task)
        for column, label, line, colour in (
            ("sign_printed", "sign rule, as printed", "-", COLOURS[1]),
            ("sign_tight", "sign rule, tight", "-.", COLOURS[4]),
            ("calibrated", "calibrated", "-", COLOURS[0]),
        ):
            axes.plot(part.numbers("bits"), part.numbers(column), line, color=colour, label=label)
        axes.set_yscale("log")
        axes.set_ylim(1, 1e8)
        axes.set_title(task.capitalize())
        axes.set_xlabel("bits")
    panels[0].set_ylabel("networks to average")
    panels[0].legend(loc="upper left", ncols=1)
    margins = _stored("figures/beyond-margin.csv")
    for number, task in enumerate(margins.values("task")):
        part = margins.where(task=task)
        widths, lost, factor, exponent = margin_fit(part)
        label = f"{task} {part.values('bits')[0]}: $h^{{{exponent:.2f}}}$"
        panels[2].plot(widths, lost, MARKERS[number], color=COLOURS[number], label=label)
        panels[2].plot(widths, factor * widths**exponent, "-", color=COLOURS[number], linewidth=1)
    panels[2].axhline(0.5, color="black", linestyle=":", linewidth=0.8)
    panels[2].set_xscale("log", base=2)
    panels[2].set_yscale("log")
    panels[2].set_ylim(0.03, 0.7)
    panels[2].set_yticks([0.05, 0.1, 0.2, 0.5], ["0.05", "0.1", "0.2", "0.5"])
    panels[2].minorticks_off()
    panels[2].set_xlabel("width $h$")
    panels[2].set_title("Worst error of one network")
    panels[2].legend(loc="lower left")
    return figure


def width_law(pyplot: Any) -> Any:
    """The figure of `python -m paper width-law`, with the spreads measured at full size."""
    tables = {
        "width-law": _stored("runs/width-law-h200.csv"),
        "width-law-exact": _stored("figures/width-law-exact.csv"),
    }
    return _drawn(pyplot, "width-law", tables, 3.5)


def executions(pyplot: Any) -> Any:
    """Two panels of the figure of `python -m paper executions`."""
    figure = _drawn(pyplot, "executions", {"executions": _stored("figures/executions.csv")}, 2.9)
    first, *others = figure.axes  # its first panel is left out
    first.remove()
    for place, axes in zip(figure.add_gridspec(1, len(others)), others, strict=True):
        axes.set_subplotspec(place)
    return figure


FIGURES: dict[str, Callable[[Any], Any]] = {"ensembles": ensembles, "width-law": width_law, "executions": executions}


def _drawn(pyplot: Any, name: str, tables: dict[str, Table], height: float) -> Any:
    figure = find_figure(name).pictures[name](pyplot, tables)
    figure.set_size_inches(WIDTH, height)
    for legend in filter(None, (axes.get_legend() for axes in figure.axes)):
        for text in (*legend.get_texts(), legend.get_title()):
            text.set_fontsize(SMALL)
    return figure


def _stored(name: str) -> Table:
    """A table below docs, of whatever columns it has."""
    return load_table(DOCS / name, tuple(table(name)[0]))


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "build"
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in FIGURES.items():
        with plot_style() as pyplot:
            pyplot.rcParams.update(
                {"pdf.fonttype": 42, "legend.fontsize": SMALL, "font.size": 9, "axes.titlesize": 9.5}
            )
            draw(pyplot).savefig(folder / f"{name}.pdf", metadata={"CreationDate": None})


if __name__ == "__main__":
    main()
