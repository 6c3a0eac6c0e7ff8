"""Tables that take long: made job by job, saved after every job, and resumed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any, TypeVar

from bitwright.errors import InputError
from bitwright.files.storage import make_folder, write_atomically
from experiments.figures import Setting
from experiments.table import Row, Table, load_table

Common = TypeVar("Common")
_EVERY = 2.0  # seconds between two writings of the file


def collect(
    setting: Setting,
    path: Path,
    columns: Sequence[str],
    jobs: Sequence[Any],
    work: Callable[[Common, Any], list[Row]],
    common: Common,
) -> Table:
    """The rows of every job, in order; a job that the file has rows of is not done again.

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
    if not len(table):
        raise InputError(f"nothing was finished in the time given, so {path.name} is empty; give more --minutes")
    return table


def _table(columns: Sequence[str], names: Sequence[Row], done: dict[Row, list[Row]]) -> Table:
    return Table.of(columns, (row for name in names for row in done.get(name, ())))
