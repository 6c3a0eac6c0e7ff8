"""Steps of the templates engine: many states at once, and single long runs."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Row, readable, seconds
from bitwright import Algorithm, Program, addition, multiplication, run
from bitwright.common.bits import BoolArray
from bitwright.engines.rules import RuleEngine


def rows() -> Iterator[Row]:
    cores = os.cpu_count() or 1
    for algorithm in (addition(10), multiplication(10)):
        states = random_states(algorithm, 1 << 20 if algorithm.name == "addition" else 1 << 17)
        assert algorithm.steps is not None
        spent = seconds(lambda a=algorithm, s=states: run(a, states=s), repeat=3)
        ours = len(states) * algorithm.steps / spent
        peer = dense_rate(algorithm.program, states[:4096])
        yield Row(
            f"batch of {len(states):,} runs, {algorithm.name} of 10 bits, {cores} cores",
            f"{ours / 1e6:,.0f} M state-steps/s",
            f"{ours / peer:,.0f} x a dense NumPy step, {peer / 1e6:.2f} M",
        )
    fraction, rate = distance_to_limit(addition(10).program)
    yield Row(
        "templates kernel alone, addition of 10 bits, one core",
        f"{rate / 1e6:,.0f} M state-steps/s",
        f"{fraction:.0%} of the least number of word operations at their own speed",
    )
    product = multiplication(64)
    spent = seconds(lambda: run(product, multiplicand=2**64 - 1, multiplier=2**64 - 1), repeat=2)
    yield Row("product of two 64-bit numbers, 16,576 steps", readable(spent), f"{16_576 / spent:,.0f} steps/s")
    sum_ = addition(10_000)
    spent = seconds(lambda: run(sum_, p=2**10_000 - 1, q=1), repeat=2)
    yield Row("sum of two 10,000-bit numbers, longest carry", readable(spent), f"{20_000 / spent:,.0f} steps/s")


def random_states(algorithm: Algorithm, count: int) -> BoolArray:
    rng = np.random.default_rng(0)
    states = np.zeros((count, algorithm.program.bits), dtype=bool)
    states[:, list(algorithm.start)] = True
    for word in algorithm.inputs:
        states[:, list(word.bits)] = rng.random((count, len(word.bits))) < 0.5
    return states


def dense_rate(program: Program, states: BoolArray) -> float:
    """State-steps a second of the textbook way: matrices of literals and writes, and two products."""
    k, K = program.bits, program.templates
    on, care, writes = (np.zeros((k, K), dtype=np.float32) for _ in range(3))
    for t in range(K):
        members = program.block_members(int(program.template_block[t]))
        values = program.template_config[t] >> np.arange(len(members)) & 1
        on[members, t] = 2 * values - 1
        care[members, t] = values
        writes[program.writes(t), t] = 1
    wanted = care.sum(axis=0)

    def step(now: NDArray[np.float32]) -> NDArray[np.float32]:
        matches = (now @ on == wanted).astype(np.float32)
        return (matches @ writes.T > 0).astype(np.float32)

    now = states.astype(np.float32)
    return len(states) / seconds(lambda: step(now), repeat=2)


def distance_to_limit(program: Program) -> tuple[float, float]:
    """How close a step comes to the NOTs, ANDs and ORs it cannot do without, at the speed of plain word operations."""
    engine = RuleEngine(program)
    batch = engine.chunk
    flight = engine.begin(np.random.default_rng(0).random((batch, program.bits)) < 0.5)
    step = seconds(flight.step)
    sizes = np.diff(program.block_start)[program.template_block]
    needed = program.bits + int((sizes - 1).sum()) + len(program.write_bits)
    a, b, c = (np.arange(needed * (batch // 64), dtype=np.uint64) for _ in range(3))
    return seconds(lambda: np.bitwise_and(a, b, out=c)) / step, batch / step
