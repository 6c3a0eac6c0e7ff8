"""Proofs of integer networks on all cores, beside the rate of float32 matrix products in the same run.

    python -m benchmarks.certifying [--large]

With --large also all 2^24 states of 8-bit addition, which takes minutes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np

from benchmarks.measure import Row, readable, seconds
from bitwright import Algorithm, addition, multiplication
from bitwright.common.workers import cores, in_threads
from bitwright.common.workers.linear_algebra import one_thread
from bitwright.networks import Recipe, train
from bitwright.proofs.exhaustion.certificate import certify_network
from bitwright.rules.pattern import Pattern
from bitwright.verbs.cells import quantized

_SIZE = 2_048


def rows() -> Iterator[Row]:
    yield proof("all 2^18 states of 6-bit addition", addition(6), 4_096, "states", "target 15 s on two cores")
    yield proof("every run of 4-bit multiplication", multiplication(4), 8_192, "runs", "target 10 s on two cores")


def large() -> Iterator[Row]:
    yield proof("all 2^24 states of 8-bit addition", addition(8), 4_096, "states", "target 10 min on two cores")


def proof(what: str, algorithm: Algorithm, width: int, domain: str, target: str) -> Row:
    """A proof, training not counted; the matrix rate is the better of before and after."""
    network, _ = quantized(
        train(algorithm.program, Recipe(width))[0],
        Pattern.of_state(algorithm.program),
        runs=algorithm,
    )
    rate = matrix_rate()
    begin = time.perf_counter()
    found = certify_network(algorithm, network, domain)
    spent = time.perf_counter() - begin
    rate = max(rate, matrix_rate())
    assert found.certified, found.sentence
    program = algorithm.program
    operations = 2 * found.states * width * (program.templates + program.bits)
    return Row(
        f"prove {what}, width {width:,}: {found.states:,} states",
        readable(spent),
        f"{operations / spent / rate:.0%} of {rate / 1e9:,.0f} GFLOP/s, products of {_SIZE:,} x {_SIZE:,} "
        f"float32 matrices on as many threads ({cores()}); {target}",
    )


def matrix_rate() -> float:
    """Float32 operations a second of square products, one on each core, as proofs share out their work."""
    rng = np.random.default_rng(0)
    pairs = [tuple(rng.random((2, _SIZE, _SIZE), dtype=np.float32)) for _ in range(cores())]

    def multiply_all() -> None:
        for _ in in_threads(lambda pair: pair[0] @ pair[1], pairs):
            pass

    with one_thread():
        spent = seconds(multiply_all)
    return 2 * _SIZE**3 * len(pairs) / spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true", help="also all 2^24 states of 8-bit addition")
    given = parser.parse_args()
    for part in (rows, large) if given.large else (rows,):
        for row in part():
            print(f"{row.what:78} {row.ours:>8}  {row.compared}", flush=True)


if __name__ == "__main__":
    main()
