"""Attacks every reader: `python -m tests.fuzz --minutes 10 --seed 1`, or `--cases 500` of each; exit 1 on a breach."""

import argparse
import json
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz import commands, data, models, stored, texts
from fuzz.campaign import Report, begin
from fuzz.reader import Reader

READERS = (*texts.READERS, *stored.READERS, *data.READERS, *models.READERS, *commands.READERS)
_BATCH = 100  # cases of a reader in one turn, where time decides how many turns there are


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="which cases; the same seed gives the same ones")
    parser.add_argument("--cases", type=int, default=500, help="of each reader")
    parser.add_argument("--minutes", type=float, help="go on in turns for so long, instead of --cases")
    parser.add_argument("--reader", help="only readers whose name contains this")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--json", action="store_true", help="print the reports as JSON")
    given = parser.parse_args()
    chosen = [reader for reader in READERS if given.reader is None or given.reader in reader.name]
    reports = {reader.name: Report(reader.name) for reader in chosen}
    until = None if given.minutes is None else time.monotonic() + 60 * given.minutes
    first, size = given.first, given.cases if until is None else _BATCH
    for reader in chosen:
        reader.case(given.seed, 0)  # what all cases are made from is made here, once
    while True:
        for report in side_by_side(chosen, given.seed, range(first, first + size)):
            reports[report.reader].add(report)
        first += size
        if until is None or time.monotonic() > until:
            break
    show(list(reports.values()), given.json)
    return 1 if any(report.breached for report in reports.values()) else 0


def side_by_side(readers: list[Reader], seed: int, numbers: range) -> Iterator[Report]:
    """One process for each core; the reports do not depend on how many there are."""
    running: deque[Callable[[], Report]] = deque()
    for reader in readers:
        if len(running) == len(os.sched_getaffinity(0)):
            yield running.popleft()()
        running.append(begin(reader, seed, numbers))
    for finish in running:
        yield finish()


def show(reports: list[Report], as_json: bool) -> None:
    if as_json:
        print(json.dumps([asdict(report) for report in reports]))
        return
    print(f"{'reader':28} {'cases':>9} {'accepted':>9} {'refused':>9} {'breaches':>9} {'most calls':>11}")
    for report in reports:
        numbers = (report.cases, report.accepted, report.refused, report.breached)
        print(f"{report.reader:28} {' '.join(f'{n:>9,}' for n in numbers)} {report.most_work:>11,}")
    for report in reports:
        for breach in report.breaches:
            print(f"\n{report.reader}, case {breach['number']}: {breach['error']}\n{breach['input']}")


if __name__ == "__main__":
    sys.exit(main())
