"""Pages of which parts are measured: such a part stands between marks."""

from __future__ import annotations

import csv
import os
import platform
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import numpy as np

from benchmarks.measure import Row

PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "performance.md"


def replace_part(name: str, text: str, page: Path = PAGE) -> None:
    """Puts `text` between the marks of this name."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    before, _, rest = page.read_text().partition(begin)
    _, _, after = rest.partition(end)
    page.write_text(f"{before}{begin}\n{text}\n{end}{after}")


def write_table(name: str, rows: Sequence[Row], note: str = "", page: Path = PAGE) -> None:
    """Writes all rows to data/NAME.csv beside the page, and renews those that the page shows between its marks."""
    with (page.parent / "data" / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("what", "bitwright", "in the same run"))
        writer.writerows((row.what, row.ours, row.compared.replace("**", "")) for row in rows)
    shown = page.read_text().partition(f"<!-- {name}: begin -->")[2].partition(f"<!-- {name}: end -->")[0]
    lines = [f"{machine()}{note}. [All rows](data/{name}.csv)."]
    lines += ["", "| what | bitwright | in the same run |", "|---|---|---|"]
    lines += [f"| {row.what} | {row.ours} | {row.compared} |" for row in rows if f"| {row.what} |" in shown]
    replace_part(name, "\n".join(lines), page)


def machine() -> str:
    cores = f"{os.cpu_count()} cores, {platform.machine()}"
    return f"Measured {date.today()} on {cores}, Python {platform.python_version()}, NumPy {np.__version__}"
