"""The SBN machines: instructions a second, one run and many, and how that grows with the machine."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import numpy as np

from benchmarks.measure import Row, readable, seconds
from bitwright.engines.rules import PackedBatch, RuleEngine
from bitwright.machines import Code, Instruction, Sizes, interpret, machine_b
from paper.sbn import steps_per_instruction

SIZES = ((8, 8, 8), (32, 32, 16), (128, 256, 16), (256, 1024, 32))


def endless(sizes: Sizes, seed: int = 0) -> Code:
    """Random subtractions, one after the other, and a jump back to the first."""
    rng, last = random.Random(seed), sizes.words - 1
    body = [Instruction(rng.randrange(last - 1), rng.randrange(last - 1), k + 1) for k in range(sizes.instructions - 1)]
    half = 2 ** (sizes.width - 1)
    words = (*(rng.randrange(-half, half) for _ in range(last - 1)), 0, -1)
    return Code((*body, Instruction(last - 1, last, 0)), words, sizes.width)


def rows() -> Iterator[Row]:
    for numbers in SIZES:
        sizes = Sizes(*numbers)
        machine_b.cache_clear()
        begin = time.perf_counter()
        machine = machine_b(sizes)
        building = time.perf_counter() - begin
        code = endless(sizes)
        state = machine.algorithm(code).state({})[None]
        steps = steps_per_instruction(sizes)
        moving = RuleEngine(machine.program).begin(state, long=True)
        following = steps * seconds(lambda b=moving, n=20 * steps: b.leap(n), at_least=0.5) / (20 * steps)
        packed = steps * seconds(PackedBatch(RuleEngine(machine.program), state).step, repeat=2)
        yield Row(
            f"SBN machine B {numbers}, K = {machine.program.templates:,}, one run",
            f"{1 / following:,.0f} instructions/s",
            f"{packed / following:,.0f} x looking at every template; {steps} steps an instruction; "
            f"built in {readable(building)}",
        )
    sizes = Sizes(8, 8, 8)
    machine, steps = machine_b(sizes), steps_per_instruction(sizes)
    states = np.array([machine.algorithm(endless(sizes, seed)).state({}) for seed in range(1_000)])
    engine = RuleEngine(machine.program)
    one = seconds(PackedBatch(engine, states[:1]).step)
    many = seconds(PackedBatch(engine, states).step)
    yield Row(
        "SBN machine B (8, 8, 8), a batch of 1,000 runs, one core",
        f"{1_000 / (many * steps):,.0f} instructions/s",
        f"{1_000 * one / many:,.0f} x one run of the same engine",
    )
    code = endless(sizes)
    run = interpret(code)
    plain = seconds(lambda: next(run))
    yield Row("the plain Python interpreter, for comparison", f"{1 / plain:,.0f} instructions/s", "")
