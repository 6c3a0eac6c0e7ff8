"""Figures by name: each computes a table, and draws it; both are written next to each other."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bitwright.errors import InputError, suggestion
from bitwright.experiments import sbn
from bitwright.experiments.style import plot_style
from bitwright.storage import write_atomically


@dataclass(frozen=True)
class Figure:
    """A table of numbers (`columns`, `rows`) and a drawing of it."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    draw: Callable[[Any], Any]  # pyplot to a Matplotlib figure


FIGURES: dict[str, Callable[[], Figure]] = {
    "sbn": lambda: Figure(sbn.COLUMNS, sbn.rows(), sbn.draw),
}


def make_figure(name: str, folder: Path) -> list[Path]:
    """Writes NAME.csv, NAME.svg and NAME.png into a folder and gives their paths."""
    if name not in FIGURES:
        raise InputError(f"there is no figure '{name}'; choose {', '.join(FIGURES)}{suggestion(name, list(FIGURES))}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror}") from None
    figure = FIGURES[name]()
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(figure.columns)
    writer.writerows(figure.rows)
    paths = [folder / f"{name}.csv"]
    write_atomically(paths[0], table.getvalue().encode())
    with plot_style() as pyplot:
        drawing = figure.draw(pyplot)
        for kind in ("svg", "png"):
            picture = io.BytesIO()
            drawing.savefig(picture, format=kind, metadata={"Date": None} if kind == "svg" else None)
            paths.append(folder / f"{name}.{kind}")
            write_atomically(paths[-1], picture.getvalue())
    return paths
