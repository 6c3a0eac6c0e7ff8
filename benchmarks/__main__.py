"""Runs the benchmarks and prints one table; with --write it also replaces the table in docs/performance.md."""

from __future__ import annotations

import argparse
import os
import platform
from datetime import date
from pathlib import Path

import numpy as np

from benchmarks import building, computing, proving, starting, stepping, subleq
from benchmarks.measure import Row

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
PAGE = Path(__file__).parent.parent / "docs" / "performance.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="replace the table in docs/performance.md")
    write = parser.parse_args().write
    rows: list[Row] = []
    for module in (building, stepping, computing, subleq, proving, starting):
        for row in module.rows():
            print(f"{row.what:58} {row.ours:>24}  {row.compared}", flush=True)
            rows.append(row)
    if write:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}\n{table(rows)}\n{END}{after}")


def table(rows: list[Row]) -> str:
    machine = (
        f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}"
    )
    lines = [f"Measured {date.today()} on {machine}.", "", "| what | bitwright | in the same run |", "|---|---|---|"]
    lines += [f"| {row.what} | {row.ours} | {row.compared} |" for row in rows]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
