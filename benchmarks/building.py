"""Building a program of a million templates."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import Row, alone, readable, seconds
from bitwright import addition
from bitwright.engines.rules import RuleEngine

LENGTH = 250_000


def rows() -> Iterator[Row]:
    build = seconds(lambda: addition(LENGTH), repeat=2)
    plain = seconds(lambda: plain_templates(LENGTH), repeat=2)
    yield Row(
        "build addition of 250,000 bits (10^6 templates)",
        readable(build),
        f"{plain / build:.1f} x as fast as a plain Python loop that lists the templates ({readable(plain)})",
    )
    _, peak = alone(f"from bitwright import addition, run; run(addition({LENGTH}), p=2**{LENGTH}//3, q=2**{LENGTH}//7)")
    yield Row("peak memory of a process that builds and steps it", f"{peak:.2f} GB", "target 2 GB")

    program = addition(LENGTH).program
    engine = RuleEngine(program)
    flight = engine.begin(np.random.default_rng(0).random((1, program.bits)) < 0.5)
    flight.step()  # the first one loads the compiled loop, and looks at everything
    step = seconds(flight.step)
    arrays = [
        *(program.block_start, program.block_bits, program.template_block, program.template_config),
        *(program.write_start, program.write_bits),
    ]
    one_pass = seconds(lambda: [array.copy() for array in arrays])
    yield Row(
        "one step of one state of it",
        readable(step),
        f"{step / one_pass:.2g} x one copy of the program's arrays ({readable(one_pass)})",
    )
    identity = seconds(lambda: addition(LENGTH).program.id, repeat=2) - build
    yield Row("its id (sha256 of 35 MB of canonical text)", readable(identity), "")


def plain_templates(l: int) -> list[tuple[tuple[tuple[str, int], ...], tuple[str, ...]]]:
    """What one would write first: a list of (configuration, writes) with names."""
    found: list[tuple[tuple[tuple[str, int], ...], tuple[str, ...]]] = []
    for i in range(1, l + 1):
        found.append((((f"p[{i}]", 0), (f"q[{i}]", 1)), (f"p[{i}]",)))
        found.append((((f"p[{i}]", 1), (f"q[{i}]", 0)), (f"p[{i}]",)))
        found.append((((f"p[{i}]", 1), (f"q[{i}]", 1)), (f"c[{i}]",)))
        found.append((((f"c[{i}]", 1),), (f"q[{i + 1}]" if i < l else f"c[{i}]",)))
    return found
