"""Runs the benchmarks and prints their tables; with --write it also replaces those in docs/performance.md."""

from __future__ import annotations

import argparse

from benchmarks import building, certifying, computing, pages, proving, starting, stepping, subleq, validating
from benchmarks.measure import Row
from benchmarks.page import machine, replace_part


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="replace the tables in docs/performance.md")
    write = parser.parse_args().write
    rows: list[Row] = []
    for module in (building, stepping, computing, proving, certifying, starting, subleq, pages):
        for row in module.rows():
            print(f"{row.what:58} {row.ours:>24}  {row.compared}", flush=True)
            rows.append(row)
    if write:
        replace_part("measured", table(rows))
    validating.report(write)


def table(rows: list[Row]) -> str:
    lines = [f"{machine()}.", "", "| what | bitwright | in the same run |", "|---|---|---|"]
    lines += [f"| {row.what} | {row.ours} | {row.compared} |" for row in rows]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
