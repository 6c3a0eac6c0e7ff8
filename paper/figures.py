"""Figures by name: tables, collected job by job and resumed, pictures, and captions, which go into a page."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from importlib import import_module
from math import inf
from pathlib import Path
from typing import Any, TypeVar

from bitwright.common.errors import InputError, suggestion
from bitwright.common.files.storage import make_folder, write_atomically
from bitwright.common.workers import Workers
from bitwright.rules import Algorithm
from paper.style import plot_style
from paper.table import Row, Table, load_table

Tables = Mapping[str, Table]
Progress = Callable[[int, int], None]


def _silent(done: int, of: int) -> None:
    """No progress is shown."""


@dataclass(frozen=True)
class Setting:
    """What the user asks of a figure: how much, where, and of what program where a figure shows one."""

    full: bool = False
    folder: Path = Path("figures")  # tables found here are continued, not begun again
    device: str = "cpu"
    workers: Workers = field(default_factory=Workers)
    until: float = inf  # on the clock time.monotonic(): collect no more after this, with whatever is there
    progress: Progress = _silent
    algorithm: Algorithm | None = None
    values: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """One name of `python -m paper`. Tables and pictures are files of these names."""

    about: str
    tables: Callable[[Setting], Tables]
    pictures: Mapping[str, Callable[[Any, Tables], Any]]  # pyplot and the tables to a Matplotlib figure
    caption: Callable[[Tables], str]
    of_a_program: bool = False  # whether it shows any program that it is given
    train: Callable[[Setting], Tables] | None = None  # of the tables, those that come from trained networks


# In the order of the paper; each lives in a module of its own, which is imported when it is asked for.
FIGURES = (
    *("templates", "predictor", "ensemble-complexity", "orders", "sbn"),
    *("experiment-1", "experiment-2", "beyond", "width-law", "executions"),
)


def find_figure(name: str) -> Figure:
    """The figure of this name."""
    if name not in FIGURES:
        raise InputError(f"there is no figure '{name}'; choose {', '.join(FIGURES)}{suggestion(name, FIGURES)}")
    figure: Figure = import_module(f"paper.{name.replace('-', '_')}").FIGURE
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


def update_page(page: Path, folder: Path) -> int:
    """Replaces the text between `<!-- caption NAME -->` and `<!-- end -->` by NAME's caption; gives how many."""
    try:
        text = page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the page {page}: {error}") from None

    def put(found: re.Match[str]) -> str:
        caption = folder / f"{found[1]}.md"
        kept = caption.read_text(encoding="utf-8").strip() if caption.is_file() else found[2].strip()
        return f"<!-- caption {found[1]} -->\n{kept}\n<!-- end -->"

    updated, count = re.subn(r"<!-- caption ([a-z0-9-]+) -->\n(.*?)<!-- end -->", put, text, flags=re.DOTALL)
    if not count:
        raise InputError(f"{page} has no line '<!-- caption NAME -->' with '<!-- end -->' below it")
    write_atomically(page, updated.encode())
    return count


Common = TypeVar("Common")
_EVERY = 2.0  # seconds between two writings of the file


def collect(
    setting: Setting,
    path: Path,
    columns: Sequence[str],
    jobs: Sequence[Any],
    work: Callable[[Common, Any], list[Row]],
    common: Common,
    needed: bool = True,
) -> Table:
    """The rows of every job, in order; a job that the file has rows of is not done again.

    Without time there are fewer rows; none at all is an error where they are `needed`.

    A job is a frozen dataclass: its fields are the first columns of its rows, and identify it. Whatever ends the work
    early, the rows of finished jobs are in the file.
    """
    names = [astuple(job) for job in jobs]
    done: dict[Row, list[Row]] = {}
    for row in load_table(path, columns).rows:
        done.setdefault(row[: len(names[0])], []).append(row)
    missing = [job for job in jobs if astuple(job) not in done]
    make_folder(path.parent)
    saved, results = time.monotonic(), setting.workers.map(work, common, missing)
    try:
        for number, job in enumerate(missing, 1):
            if time.monotonic() > setting.until:
                break
            done[astuple(job)] = next(results)
            setting.progress(len(jobs) - len(missing) + number, len(jobs))
            if time.monotonic() > saved + _EVERY:
                write_atomically(path, _table(columns, names, done).csv())
                saved = time.monotonic()
    finally:
        close = getattr(results, "close", None)
        if close:
            close()
        if missing and done:
            write_atomically(path, _table(columns, names, done).csv())
    table = _table(columns, names, done)
    if needed and not len(table):
        raise InputError(
            f"no row of {path} was finished in the time given; tables begun before it are kept, and the same command "
            "goes on from there; give more --minutes"
        )
    return table


def _table(columns: Sequence[str], names: Sequence[Row], done: dict[Row, list[Row]]) -> Table:
    return Table.of(columns, (row for name in names for row in done.get(name, ())))
