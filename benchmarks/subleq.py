"""Machine V: building it, and SUBLEQ instructions a second on one core, beside the plain interpreter."""

from __future__ import annotations

import time
from collections.abc import Iterator

from benchmarks.measure import Row, alone, readable
from bitwright.engines.make import make_engine
from bitwright.machines.subleq import MachineV, Shape, assemble_sq, find_dialect, machine_v
from bitwright.machines.subleq.images import start_memory

# Sums all of memory through a pointer in its own code, for ever: reads, writes, self-modification and jumps.
ENDLESS = """
get:    subleq 0, total
        inc get
        jmp get
total:  .data 0
"""


def rows() -> Iterator[Row]:
    for words, width, dialect in ((32, 8, "plain"), (1 << 16, 16, "howerj")):
        shape = Shape(words, width, find_dialect(dialect))
        begin = time.process_time()
        machine = machine_v(shape)
        built = time.process_time() - begin
        image = assemble_sq(ENDLESS).image
        begin = time.process_time()
        interpret(start_memory(shape, image), width, 100_000)
        peer = 100_000 / (time.process_time() - begin)
        name = f"machine V, {words:,} words of {width} bits"
        if words > 1_000:
            _, peak = alone(
                "from bitwright.machines.subleq import Shape, find_dialect, machine_v; "
                f"machine_v(Shape({words}, {width}, find_dialect('{dialect}')))"
            )
            yield Row(f"build {name}", readable(built), f"targets 60 s and 3 GB; peak memory {peak:.2f} GB")
        base = 0.0
        for engine, rounding in (("templates", "calibrated"), ("limit", "calibrated"), ("limit", "sign")):
            rate = steps_a_second(machine, image, engine, rounding)
            base = base or rate
            instructions = rate / machine.timing.steps
            compared = f"{instructions / peer:.2f} x a plain Python interpreter ({peer:,.0f})"
            if engine == "limit":
                compared = f"{rate / base:.0%} of the templates engine"
            yield Row(
                f"{name}, {engine}{f', {rounding}' * (engine == 'limit')}",
                f"{rate / 1e6:.1f} M steps/s, {instructions:,.0f} instructions/s",
                compared,
            )


def interpret(memory: list[int], width: int, count: int) -> None:
    """Executes that many instructions in plain Python, without ports and halts."""
    pc, words, ones, half = 0, len(memory), (1 << width) - 1, 1 << (width - 1)
    for _ in range(count):
        a, b, c = memory[pc % words], memory[(pc + 1) % words], memory[(pc + 2) % words]
        memory[b % words] = result = (memory[b % words] - memory[a % words]) & ones
        pc = (pc + 3) & ones if 0 < result < half else c


def steps_a_second(machine: MachineV, image: list[int], name: str, rounding: str) -> float:
    """On one core, by the time of the processor; the best of three."""
    engine = make_engine(name, machine.program, rounding=rounding)
    batch = engine.begin(machine.start(image)[None], long=True)
    batch.leap(1_000, (machine.halt,), (machine.boundary,))
    best = 0.0
    for _ in range(3):
        begin = time.process_time()
        made = batch.leap(3_000_000, (machine.halt,), (machine.boundary,))
        best = max(best, made / (time.process_time() - begin))
    return best
