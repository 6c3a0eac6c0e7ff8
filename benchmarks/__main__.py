"""Runs the benchmarks and prints their tables; --write replaces those in docs/explanation/performance.md."""

from __future__ import annotations

import argparse
import subprocess
import sys

from benchmarks import building, certifying, computing, pages, proving, starting, stepping, subleq, tables, validating
from benchmarks.measure import Row
from benchmarks.page import machine, replace_part


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="replace the tables in docs/explanation/performance.md")
    write = parser.parse_args().write
    rows: list[Row] = []
    for module in (building, stepping, tables, computing, proving, certifying, starting, subleq, pages):
        for row in module.rows():
            print(f"{row.what:58} {row.ours:>24}  {row.compared}", flush=True)
            rows.append(row)
    if write:
        replace_part("measured", table(rows))
    validating.report(write)
    on_a_gpu()


def on_a_gpu() -> None:
    """Training and proofs on a CUDA device, as lines of JSON with their shares of what the device can do."""
    from bitwright.api.devices import gpu_name

    if gpu_name() is None:
        print("no CUDA device here: benchmarks.gpu_training and benchmarks.gpu_proofs are left out")
        return
    for module in ("gpu_training", "gpu_proofs"):
        subprocess.run([sys.executable, "-m", f"benchmarks.{module}"], check=True)


def table(rows: list[Row]) -> str:
    lines = [f"{machine()}.", "", "| what | bitwright | in the same run |", "|---|---|---|"]
    lines += [f"| {row.what} | {row.ours} | {row.compared} |" for row in rows]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
