"""What a cluster would take: the time of a large proof and a large validation, predicted from a small part of each.

    python -m benchmarks.predicting [--workers 2] [--device cuda] [--small 8] [--large 80] [--output FILE.jsonl]

Certifying 12-bit addition (all 2^36 states, width 4,096) and validating 14-bit multiplication (all 2^28 inputs). The
rate of a small part predicts what a part ten times as large will take; then that is measured, and the whole predicted
from it. `--workers 1` is one process with all its cores, as on the command line. Prints one JSON line a measurement.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

from bitwright import addition, multiplication, train
from bitwright.api.cells import quantized
from bitwright.engines.make import make_engine
from bitwright.files.storage import write_atomically
from bitwright.program.pattern import Pattern
from bitwright.proofs.exhaustion import ProofTask
from bitwright.proofs.exhaustion.task import _results as proof_results
from bitwright.validation import Arithmetic, make_task
from bitwright.validation.task import prepare
from bitwright.validation.validate import _results as validation_results
from bitwright.validation.validate import _Watch
from bitwright.workers import Workers
from bitwright.workers.linear_algebra import one_thread

Parts = Callable[[Iterator[int]], Generator[Any]]


def proof(workers: Workers, device: str) -> tuple[dict[str, Any], Parts]:
    """The parts of a proof of 12-bit addition."""
    algorithm = addition(12)
    network, _ = quantized(
        [train(algorithm, tile="all", integer=False, width=4_096).weights],
        Pattern.of_state(algorithm.program),
        runs=algorithm,
    )
    task = ProofTask(algorithm, network, "states", device)
    about = {"what": "certify 12-bit addition", "unit": "states", "size": task.domain.size, "part": task.part}
    return about, lambda numbers: proof_results(task, workers, numbers)


def validation(workers: Workers) -> tuple[dict[str, Any], Parts]:
    """The batches of a validation of 14-bit multiplication."""
    algorithm = multiplication(14)
    engine = make_engine("limit", algorithm.program, rounding="calibrated")
    ready = prepare(make_task(algorithm, engine, Arithmetic("multiplication")))
    watch = _Watch(None, ready.task, 0)
    about = {
        "what": "validate 14-bit multiplication",
        "unit": "inputs",
        "size": ready.task.inputs.count,
        "part": ready.task.batch,
    }
    return about, lambda numbers: validation_results(ready, workers, numbers, watch)


def timed(parts: Parts, first: int, count: int, warm: int) -> tuple[float, float]:
    """Seconds of this many parts, and those of all cores together that this process had meanwhile.

    As many parts before them are not counted: they start workers, and compile what is compiled. As many behind them are
    begun and dropped: results come in order while later ones are under way, so without those the last parts counted
    would be done already when the clock starts.
    """
    with one_thread():
        results = parts(iter(range(first, first + warm + count + warm)))
        for _ in range(warm):
            next(results)
        begin, busy = time.perf_counter(), time.process_time()
        for _ in range(count):
            next(results)
        spent = time.perf_counter() - begin, time.process_time() - busy
        results.close()
    return spent


def measure(about: dict[str, Any], parts: Parts, small: int, large: int, warm: int) -> dict[str, Any]:
    spent, busy = timed(parts, 0, small, warm)
    expected = spent * large / small
    taken, busy_then = timed(parts, warm + small, large, warm)
    rate, whole = large * about["part"] / taken, about["size"] / about["part"] / large
    return {
        **about,
        "small_parts": small,
        "small_s": round(spent, 3),
        "large_parts": large,
        "predicted_s": round(expected, 3),
        "measured_s": round(taken, 3),
        "measured_over_predicted": round(taken / expected, 3),
        "rate": round(rate),
        "whole_hours": round(whole * taken / 3600, 3),
        # On cores that others use too these say more; they are not known of other processes and of devices.
        "predicted_core_s": round(busy * large / small, 3),
        "measured_core_s": round(busy_then, 3),
        "whole_core_hours": round(whole * busy_then / 3600, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", default="1", help="as on the command line")
    parser.add_argument("--device", default="cpu", help="of the proof: cpu or cuda")
    parser.add_argument("--small", type=int, default=8, help="parts of the small measurement")
    parser.add_argument("--large", type=int, default=80, help="parts of the larger one")
    parser.add_argument("--only", choices=["certify", "validate"])
    parser.add_argument("--output", type=Path, help="also write the lines to this file")
    given = parser.parse_args()
    workers = Workers.parse(given.workers, given.device)
    warm = 2 * max(1, workers.count)
    lines: list[dict[str, Any]] = []
    for name, make in (
        ("certify", lambda: proof(workers, given.device)),
        ("validate", lambda: validation(workers)),
    ):
        if given.only in (None, name):
            line = measure(*make(), given.small, given.large, warm)
            line |= {"workers": given.workers, "device": given.device if name == "certify" else "cpu"}
            lines.append(line | {"cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1)})
            print(json.dumps(lines[-1]), flush=True)
    if given.output:
        write_atomically(given.output, "".join(json.dumps(line) + "\n" for line in lines).encode())


if __name__ == "__main__":
    main()
