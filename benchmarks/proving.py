"""The limit: how fast it runs, and how long proofs take."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import Row, alone, readable, seconds
from benchmarks.stepping import random_states
from bitwright import multiplication, run
from bitwright.engines.make import make_engine
from bitwright.proofs.certificate import certify
from bitwright.theory.closed_form import weights
from bitwright.theory.decisions import declared_range
from bitwright.theory.proof import smallest_examples
from paper.dense import Predictor


def rows() -> Iterator[Row]:
    algorithm = multiplication(10)
    states = random_states(algorithm, 1 << 15)
    for rounding in ("calibrated", "sign"):
        examples = smallest_examples(algorithm.program) if rounding == "sign" else None
        engine = make_engine("limit", algorithm.program, rounding=rounding, examples=examples)
        ours = seconds(lambda e=engine: run(algorithm, states=states, engine=e))
        templates = seconds(lambda: run(algorithm, states=states))
        yield Row(
            f"limit engine, {rounding}, multiplication of 10 bits, batch of {len(states):,}",
            f"{len(states) * 430 / ours / 1e6:,.0f} M state-steps/s",
            f"{templates / ours:.0%} of the speed of the templates engine",
        )
    product = multiplication(64)
    templates = seconds(lambda: run(product, multiplicand=2**64 - 1, multiplier=3), repeat=2)
    for rounding in ("calibrated", "sign"):
        ours = seconds(
            lambda r=rounding: run(product, multiplicand=2**64 - 1, multiplier=3, engine="limit", rounding=r), repeat=2
        )
        yield Row(
            f"limit engine, {rounding}, one 64-bit product with the margin of every step",
            readable(ours),
            f"{templates / ours:.0%} of the speed of the templates engine",
        )
    proof = seconds(lambda: certify(product.program, "sign", declared_range(product), product.examples))
    yield Row("certify 64-bit multiplication, sign", readable(proof), "target 5 s")
    yield Row("certify a program of a million templates, sign", *_million())

    K = 500
    tests = (np.arange(K)[None, :] < np.arange(1, K + 1)[:, None]).astype(float)
    tests /= np.linalg.norm(tests, axis=1)[:, None]
    closed = seconds(lambda: weights(np.arange(1, K + 1), K))
    dense = seconds(lambda: Predictor(np.eye(K), np.eye(K)).mean(tests), repeat=2)
    yield Row(
        "weights of the limit for K = 500 and every n",
        readable(closed),
        f"{dense / closed:,.0f} x as fast as the dense solve ({readable(dense)})",
    )


def _million() -> tuple[str, str]:
    spent, peak = alone(
        "from bitwright import addition; from bitwright.proofs.certificate import certify; "
        "assert certify(addition(250_000).program, 'sign').certified"
    )
    return f"{spent:.1f} s", f"peak memory {peak:.2f} GB; imports and building it included"
