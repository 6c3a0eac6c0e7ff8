"""Figures by name: tables, pictures and a caption are written next to each other."""

from __future__ import annotations

import io
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from bitwright.errors import InputError, suggestion
from bitwright.files.storage import make_folder, write_atomically
from experiments.figure import Figure, Setting, Tables
from experiments.style import plot_style

# In the order of the paper; each lives in a module of its own, which is imported when it is asked for.
FIGURES = (
    *("templates", "predictor", "ensemble-complexity", "orders", "sbn"),
    *("experiment-1", "experiment-2", "beyond", "width-law", "executions"),
)


def find_figure(name: str) -> Figure:
    """The figure of this name."""
    if name not in FIGURES:
        raise InputError(f"there is no figure '{name}'; choose {', '.join(FIGURES)}{suggestion(name, FIGURES)}")
    figure: Figure = import_module(f"experiments.{name.replace('-', '_')}").FIGURE
    return figure


def write_tables(name: str, setting: Setting, training_only: bool = False) -> tuple[Tables, list[Path]]:
    """Computes or collects a figure's tables and writes them as CSV files; draws nothing.

    With `training_only` just those that come from trained networks, which is what a machine with a GPU is for.
    """
    figure = find_figure(name)
    if setting.algorithm is not None and not figure.of_a_program:
        raise InputError(f"the figure '{name}' shows no single program; leave out --program")
    tables = figure.train(setting) if training_only and figure.train else figure.tables(setting)
    make_folder(setting.folder)
    paths = []
    for stem, table in tables.items():
        paths.append(setting.folder / f"{stem}.csv")
        write_atomically(paths[-1], table.csv())
    return tables, paths


def make_figure(name: str, setting: Setting) -> Iterator[Path]:
    """Writes a figure's .csv, .svg, .png and .md (the caption) files and gives their paths as they are done."""
    figure = find_figure(name)
    with plot_style() as pyplot:  # first, so that a missing Matplotlib is noticed before the work
        tables, paths = write_tables(name, setting)
        yield from paths
        for stem, draw in figure.pictures.items():
            drawing = draw(pyplot, tables)
            for kind in ("svg", "png"):
                picture = io.BytesIO()
                drawing.savefig(picture, format=kind, metadata={"Date": None} if kind == "svg" else None)
                write_atomically(path := setting.folder / f"{stem}.{kind}", picture.getvalue())
                yield path
            pyplot.close(drawing)
    write_atomically(path := setting.folder / f"{name}.md", (figure.caption(tables).strip() + "\n").encode())
    yield path
