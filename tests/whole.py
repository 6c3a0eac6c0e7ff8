"""Integer networks for tests, and the definition of what they compute, in Python's own integers."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from bitwright import Algorithm, Program, addition, parse
from bitwright.common.bits import BoolArray
from bitwright.engines.cells.engine import CellEngine
from bitwright.networks import IntegerNetwork, Recipe, quantize, train
from bitwright.proofs.exhaustion.domains import StatesDomain
from bitwright.rules.pattern import Pattern
from bitwright.theory.closed_form import FloatArray

# Bits that nothing writes (idle, seen), a block without templates (idle), a full block (a), and one with two bits.
ODD_RULES = """
bits a b[2] idle seen out[2]
block a
block b[1] b[2]
block idle
block seen
block out[1]
block out[2]
when a=0 write out[1]
when a=1 write a out[2]
when b[1]=1 b[2]=0 write b[1] out[1]
when b[1]=1 b[2]=1 write b[2]
when seen=1 write out[1] out[2]
when out[1]=1 write b[1]
input a b
output out
"""


def every_state(program: Program) -> StatesDomain:
    """The domain of all choices in all blocks of a program."""
    return StatesDomain(Pattern.of_state(program))


def engine_of(program: Program, network: IntegerNetwork) -> CellEngine:
    """The engine of a network of the whole state."""
    return CellEngine(program, Pattern.of_state(program), network)


def outputs_of(engine: CellEngine, states: BoolArray) -> tuple[FloatArray, NDArray[np.int64]]:
    """The sums of a network of the whole state in the units of labels; and n."""
    matched = np.array([np.isin(np.arange(engine.program.templates), engine.program.match(s)) for s in states])
    decider, n = engine.decider, np.count_nonzero(matched, axis=1)
    sums, _ = decider.sums(0, matched, n)
    return sums / decider._network.scale[np.maximum(n, 1) - 1][:, None], n  # type: ignore[attr-defined]


@cache
def odd_program() -> Algorithm:
    return parse(ODD_RULES + "steps 3\n", "odd")


@cache
def trained(bits: int = 3, width: int = 512, seed: int = 0, weight_bits: int = 8) -> IntegerNetwork:
    program = addition(bits).program
    return whole(program, width, seed, weight_bits)


def whole(
    program: Program, width: int, seed: int = 0, weight_bits: int = 8, padding: int = 0, tolerance: float = 1e-3
) -> IntegerNetwork:
    network = train(program, Recipe(width, seed, padding, tolerance))[0]
    return quantize(network, program, weight_bits)[0]


def with_weights(
    network: IntegerNetwork,
    first: NDArray[np.int8] | None = None,
    last: NDArray[np.int8] | None = None,
    thresholds: NDArray[np.int64] | None = None,
) -> IntegerNetwork:
    """The same network with other numbers in it."""
    given = {"first": first, "last": last, "thresholds": thresholds}
    return replace(network, **{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]


def choices(program: Program) -> Iterator[tuple[int, ...]]:
    """The templates that each state of a program matches: one choice in every block, by the words of the definition."""
    options: list[list[int | None]] = []
    for block in range(program.blocks):
        own: list[int | None] = np.flatnonzero(program.template_block == block).tolist()
        if len(own) < 2 ** len(program.block_members(block)):
            own.append(None)
        options.append(own)
    for picked in product(*options):
        yield tuple(sorted(template for template in picked if template is not None))


def sums_by_hand(network: IntegerNetwork, matched: tuple[int, ...]) -> list[int]:
    """G of every bit, in Python's integers."""
    first, last = network.first.tolist(), network.last.tolist()
    hidden = [max(0, sum(row[j] for j in matched)) for row in first]
    return [sum(weight * value for weight, value in zip(row, hidden, strict=True)) for row in last]


def step_by_hand(program: Program, network: IntegerNetwork, matched: tuple[int, ...]) -> list[bool]:
    """The next state that the network decides on."""
    n = len(matched)
    if not n:
        return [False] * program.bits
    columns = {writers: place for place, writers in enumerate(network.writers)}
    row = network.thresholds[n - 1].tolist()
    return [
        total > row[columns[int(writers)]]
        for total, writers in zip(sums_by_hand(network, matched), program.writers.tolist(), strict=True)
    ]


def rules_by_hand(program: Program, matched: tuple[int, ...]) -> list[bool]:
    """The next state of the rules."""
    on = {bit for template in matched for bit in program.writes(template).tolist()}
    return [bit in on for bit in range(program.bits)]


def indicator(program: Program, chosen: list[tuple[int, ...]]) -> NDArray[np.bool_]:
    """States as rows of matched templates."""
    matched = np.zeros((len(chosen), program.templates), dtype=bool)
    for row, templates in zip(matched, chosen, strict=True):
        row[list(templates)] = True
    return matched
