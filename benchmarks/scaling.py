"""Throughput against the number of worker processes, the law that fits it, and where it ends.

    python -m benchmarks.scaling [--workers 1,2,4,8,16] [--seconds 1.5] [--output FILE.jsonl] [--figure FILE.svg]

Prints one JSON line a measurement. Each kind of work is what a command hands out: a part of `certify --network`, a
batch of `validate`, a member of an ensemble; `loops` counts, and shows what the cores themselves give side by side.
All go through `bitwright.workers`, as on the command line. A rate is taken between the moment when every worker has
given a result and the last result; the time before that is the start.

The law is Gunther's: n workers do n / (1 + s (n - 1) + k n (n - 1)) times as much as one. Its s is the share that has
to wait for others (with s alone it is Amdahl's law, with the limit 1 / s), its k what workers take from each other.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from bitwright import addition, multiplication, permutation, train
from bitwright.api.cells import quantized
from bitwright.engines.make import make_engine
from bitwright.files.storage import write_atomically
from bitwright.networks import Recipe
from bitwright.networks.ensemble import Study, train_block
from bitwright.program.pattern import Pattern
from bitwright.proofs.exhaustion import ProofTask
from bitwright.proofs.exhaustion.task import _prove_part_alone
from bitwright.running.successors import random_states
from bitwright.validation import Arithmetic, make_task
from bitwright.validation.judge import run_batch_of
from bitwright.validation.task import prepare
from bitwright.workers import Workers, cores

EMPTY = 4_000  # jobs that do nothing, to see what handing out costs


@dataclass(frozen=True)
class Work:
    """One kind of jobs: what does them, what they share, and how many different ones there are."""

    name: str
    about: str
    work: Callable[[Any, int], Any]
    common: Any
    jobs: int


def count(common: int, job: int) -> int:
    """What the cores give: no memory, no products."""
    return sum(range(common)) + job


def nothing(common: int, job: int) -> int:  # noqa: ARG001
    return job


def kinds() -> Iterator[Work]:
    yield Work("loops", "sums of Python's integers", count, 8_000_000, 1 << 30)
    adder = addition(10)
    network, _ = quantized(
        [train(adder, tile="all", integer=False, width=4_096).weights], Pattern.of_state(adder.program), runs=adder
    )
    proof = ProofTask(adder, network)
    yield Work("certify", "parts of all states of 10-bit addition, width 4,096", _prove_part_alone, proof, proof.parts)
    product = multiplication(12)
    engine = make_engine("limit", product.program, rounding="calibrated")
    ready = prepare(make_task(product, engine, Arithmetic("multiplication")))
    yield Work("validate", "batches of all products of 12 bits", run_batch_of, ready, ready.task.batches)
    order = permutation([*range(2, 11), 1])
    study = Study(order.program, Recipe(50_000, start="random"), random_states(order, 100, 0), keep=True)
    yield Work("ensemble", "members of width 50,000, permutations of 10 bits", train_block, study, 1 << 30)


def numbers(kind: Work) -> Iterator[int]:
    number = 0
    while True:
        yield number % kind.jobs
        number += 1


def alone(kind: Work) -> float:
    """Seconds that a job takes in this process, once what is made once is there."""
    kind.work(kind.common, 0)
    begin = time.perf_counter()
    kind.work(kind.common, 1 % kind.jobs)
    return time.perf_counter() - begin


def measure(kind: Work, workers: int, jobs: int) -> dict[str, Any]:
    """So many jobs, after one for each worker."""
    begin = time.perf_counter()
    results = Workers("processes", workers).map(kind.work, kind.common, islice(numbers(kind), workers + jobs))
    for _ in range(workers):
        next(results)
    started = time.perf_counter()
    done = sum(1 for _ in results)
    spent = time.perf_counter() - started
    return {"jobs": done, "start_s": round(started - begin, 3), "seconds": round(spent, 3), "rate": done / spent}


def fit(workers: Sequence[int], rates: Sequence[float]) -> dict[str, Any]:
    """s and k of the law, by least squares in n r(1) / r(n) - 1 = s (n - 1) + k n (n - 1); neither is negative."""
    n, rate = np.array(workers, dtype=float), np.array(rates)
    slower = n * rate[0] / n[0] / rate - 1
    columns = np.stack([n - n[0], n * (n - n[0])], axis=1)
    best: tuple[float, float, float] | None = None
    for free in ((0, 1), (0,), (1,), ()):
        found = np.zeros(2)
        if free and len(n) > len(free):
            found[list(free)] = np.linalg.lstsq(columns[:, list(free)], slower, rcond=None)[0]
        error = float(np.sqrt(np.mean((columns @ found - slower) ** 2)))
        if (found >= 0).all() and (best is None or error < best[0]):
            best = (error, *found.tolist())
    assert best is not None  # with both 0 it is always allowed
    error, s, k = best
    law = n / (1 + s * (n - n[0]) + k * n * (n - n[0]))
    return {
        "s": round(s, 5),
        "k": round(k, 6),
        "law": [round(float(value), 2) for value in law / law[0]],
        "error": round(error, 4),
        "most_times": None if s == 0 and k == 0 else round(_peak(s, k)[1], 1),
        "at_workers": None if k == 0 else round(_peak(s, k)[0]),
    }


def _peak(s: float, k: float) -> tuple[float, float]:
    """Where more workers do not help any more, and how many times as fast as one it is there."""
    if k == 0:
        return float("inf"), 1 / s
    n = max(1.0, ((1 - s) / k) ** 0.5)
    return n, n / (1 + s * (n - 1) + k * n * (n - 1))


def run(workers: Sequence[int], seconds: float) -> Iterator[dict[str, Any]]:
    yield {"what": "machine", "cores": cores(), "load": round(os.getloadavg()[0], 1), "workers": list(workers)}
    least = measure(Work("nothing", "", nothing, 0, 1 << 30), 2, EMPTY)
    handing = 1 / least["rate"]
    yield {"what": "handing out", "jobs": EMPTY, "seconds_a_job": round(handing, 7)}
    for kind in kinds():
        took = alone(kind)
        found = []
        for n in workers:
            found.append(measure(kind, n, max(2 * n, round(n * seconds / took))))
            yield {
                "what": kind.name,
                "about": kind.about,
                "workers": n,
                **found[-1],
                "times": round(found[-1]["rate"] / found[0]["rate"], 2),
                "of_this_process": round(found[-1]["rate"] * took, 2),
            }
        yield {
            "what": "law",
            "of": kind.name,
            "workers": list(workers),
            "times": [round(line["rate"] / found[0]["rate"], 2) for line in found],
            **fit(workers, [line["rate"] for line in found]),
            # One process hands out all jobs: at this many workers it does nothing else.
            "handing_out_ends_at": round(found[0]["rate"] ** -1 * workers[0] / handing),
        }


def draw(lines: Sequence[dict[str, Any]], path: Path) -> None:
    from io import BytesIO

    from paper.style import MARKERS, plot_style

    laws = [line for line in lines if line["what"] == "law"]
    with plot_style() as pyplot:
        figure, axes = pyplot.subplots()
        for law, marker in zip(laws, MARKERS, strict=False):
            n = np.linspace(law["workers"][0], law["workers"][-1], 200)
            rest = n - law["workers"][0]
            curve = n / (1 + law["s"] * rest + law["k"] * n * rest) / law["workers"][0]
            (drawn,) = axes.plot(n, curve)
            label = f"{law['of']}: s = {law['s']:.3f}, k = {law['k']:.4f}"
            axes.plot(law["workers"], law["times"], marker, color=drawn.get_color(), label=label)
        most = max(law["workers"][-1] for law in laws)
        axes.plot([1, most], [1, most], ":", color="#555555", label="no loss")
        axes.set(xlabel="worker processes", ylabel="throughput, times that of one", xlim=(0, None), ylim=(0, None))
        axes.legend()
        kept = BytesIO()
        figure.savefig(kept, format=path.suffix[1:], metadata={"Date": None} if path.suffix == ".svg" else None)
    write_atomically(path, kept.getvalue())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", default="1,2", help="numbers of processes, the smallest first")
    parser.add_argument("--seconds", type=float, default=1.5, help="about how long each measurement takes")
    parser.add_argument("--output", type=Path, help="also write the lines to this file")
    parser.add_argument("--figure", type=Path, help="draw the curves into this .svg or .png (needs Matplotlib)")
    given = parser.parse_args()
    lines = []
    for line in run([int(word) for word in given.workers.split(",")], given.seconds):
        print(json.dumps(line), flush=True)
        lines.append(line)
    if given.output:
        write_atomically(given.output, "".join(json.dumps(line) + "\n" for line in lines).encode())
    if given.figure:
        draw(lines, given.figure)


if __name__ == "__main__":
    main()
