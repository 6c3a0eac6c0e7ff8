"""Runs the benchmarks and prints their tables; --write puts them into docs/explanation, as CSV and on a page."""

from __future__ import annotations

import argparse
import subprocess
import sys

from benchmarks import certifying, computing, proving, starting, stepping, subleq, validating
from benchmarks.measure import Row
from benchmarks.page import write_table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/explanation/data and performance.md")
    write = parser.parse_args().write
    rows: list[Row] = []
    for module in (stepping, computing, proving, certifying, starting, subleq):
        for row in module.rows():
            print(f"{row.what:58} {row.ours:>24}  {row.compared}", flush=True)
            rows.append(row)
    if write:
        write_table("measured", rows)
    validating.report(write)
    on_a_gpu()


def on_a_gpu() -> None:
    """Training and proofs on a CUDA device, as lines of JSON with their shares of what the device can do."""
    from bitwright.verbs.devices import gpu_name

    if gpu_name() is None:
        print("no CUDA device here: benchmarks.gpu_training and benchmarks.gpu_proofs are left out")
        return
    for module in ("gpu_training", "gpu_proofs"):
        subprocess.run([sys.executable, "-m", f"benchmarks.{module}"], check=True)


if __name__ == "__main__":
    main()
