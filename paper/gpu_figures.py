"""On a CUDA device: trains all networks of the full figures and writes their tables; needs no Matplotlib.

    python -m paper.gpu_figures --out FOLDER [--minutes 8]

The tables are continued if they are there. Copy them to any machine and draw with
`python -m paper NAME --full -o FOLDER`, which finds nothing left to train.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import torch

from bitwright.common.errors import BitwrightError
from bitwright.common.files.storage import write_atomically
from paper import Setting, Table, write_tables
from paper.beyond_measure import EVERYTHING

RUNS = Path(__file__).parent.parent / "docs" / "runs" / "h200-training-and-arithmetic.jsonl"
SHARES = {"experiment-1": 0.4, "experiment-2": 0.7, "beyond": 1.0}  # of the time, by when each is to be done


def recorded(folder: Path) -> None:
    """All 10-bit products, a minute's work that `paper.measurements.gpu` has recorded, as a table."""
    path = folder / "beyond-every.csv"
    lines = [json.loads(line) for line in RUNS.read_text().splitlines()]
    device = next(line["name"] for line in lines if line["what"] == "device")
    rows = [
        (
            *("multiplication", line["bits"], line["width"], line["seed"], line["K"], line["inputs"]),
            *(line["evaluations"], line["wrong_steps"], line["wrong_answers"], line["margin"]),
            f"{device}, {line['dtype']}",
        )
        for line in lines
        if line["what"] == "every input of multiplication" and line["wrong_steps"] is not None
    ]
    if rows:
        write_atomically(path, Table.of(EVERYTHING, rows).csv())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args()
    if arguments.device == "cuda" and not torch.cuda.is_available():
        sys.exit("this needs a CUDA device")
    torch.backends.cuda.matmul.allow_tf32 = False
    arguments.out.mkdir(parents=True, exist_ok=True)
    recorded(arguments.out)
    begin, failed = time.monotonic(), False
    for name, share in SHARES.items():

        def progress(done: int, of: int, name: str = name) -> None:
            if done % 20 == 0 or done == of:
                print(f"{time.monotonic() - begin:6.1f} s  {name}: {done} of {of} jobs", file=sys.stderr, flush=True)

        until = begin + 60 * arguments.minutes * share
        setting = Setting(True, arguments.out, arguments.device, until=until, progress=progress)
        try:
            print(*write_tables(name, setting, training_only=True)[1], sep="\n", flush=True)
        except BitwrightError as error:  # the other figures do not depend on it
            failed = True
            print(f"{name}: {error}", file=sys.stderr, flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
