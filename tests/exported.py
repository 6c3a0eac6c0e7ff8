"""Networks to export, and what Python says of them: the same questions to source text of any language.

`ask(text, mode, lines)` answers a line for each line. Mode `cells`: kind and configurations of its blocks to ports and
sums; `steps`: a state to the next one; `runs`: a start state to its number of steps, or -1, and the last state.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from long import LONG
from whole import engine_of, odd_program, whole, with_weights

from bitwright import Algorithm, addition, multiplication, parse
from bitwright.engines.cells.engine import CellEngine
from bitwright.engines.protocol import Engine
from bitwright.exports import Exported, exported_cells
from bitwright.networks import IntegerNetwork, Recipe, save_network
from bitwright.networks.integer import decide_bits
from bitwright.rules.pattern import Pattern, pattern_of
from bitwright.rules.text import load_any
from bitwright.runs.run import run_batch
from bitwright.verbs.cells import train_on_pattern

Ask = Callable[[str, str, Sequence[str]], list[str]]

# Two cells of one kind that have the bits of their blocks in different orders; a signed number; an end at rest.
MIRRORED = """
bits x[2] y[2] out[3]
block x[1] y[1]
block x[2] y[2]
block out[i] for i in 1..3
cell x[1] y[1]
cell y[2] x[2]
cell out[i] for i in 1..3
when x[1]=1 y[1]=0 write x[2] out[1]
when x[1]=1 y[1]=1 write out[3]
when y[2]=1 x[2]=0 write y[1] out[2]
when y[2]=1 x[2]=1 write out[1]
when out[i]=1 write out[i] for i in 1..3
input x y
output signed out
halt at fixed point
"""

# A bit on its way: some runs end, at a bit or at rest, and others are at their limit before.
SHIFT = """
bits x[6]
block x[i] for i in 1..6
when x[i]=1 write x[i+1] for i in 1..5
when x[6]=1 write x[6]
input x
steps 3
"""


# Signed numbers, and a run that ends only if it is told to.
SIGNED = """
bits x[4] go
block x[i] for i in 1..4
block go
when x[i]=1 write x[i] for i in 1..4
when go=1 write go
input signed x = x[4] x[3] x[2] x[1]
input go
output signed x = x[4] x[3] x[2] x[1]
halt when go
steps 5
"""


@cache
def cells_network(name: str, width: int = 64, tile: int = 1) -> tuple[Pattern, IntegerNetwork]:
    """A network of the cells of some programs."""
    pattern = pattern_of([one.program for one in PROGRAMS[name]()], tile)
    found = train_on_pattern(pattern, Recipe(width))
    return pattern, found.weights


PROGRAMS: dict[str, Callable[[], list[Algorithm]]] = {
    "addition": lambda: [addition(bits) for bits in (1, 4, 12)],
    "multiplication": lambda: [multiplication(bits) for bits in (1, 2, 3, 4, 5, 6)],
    "mirrored": lambda: [parse(MIRRORED, "mirrored")],
    "shift": lambda: [parse(SHIFT + "halt when x[6]\n", "shift")],
    "rest": lambda: [parse(SHIFT + "halt at fixed point\n", "rest")],
    "counter": lambda: [load_any("examples/addition-counter.bw", {})],
}


@cache
def case(name: str) -> tuple[Exported, Engine]:
    """What is exported, and the engine that it must agree with."""
    kind, what, width, *how = name.split()
    what, _, tile = what.partition("/")
    if kind == "whole":
        algorithm = odd_program() if what == "odd" else addition(3)
        network = changed(whole(algorithm.program, int(width)), *how)
        return exported_cells(network, Pattern.of_state(algorithm.program), algorithm), engine_of(
            algorithm.program, network
        )
    pattern, network = cells_network(what, int(width), int(tile or 1))
    algorithm = PROGRAMS[what]()[-1]
    found = exported_cells(changed(network, *how), pattern, algorithm)
    if how == ["level"]:
        found = exported_cells(with_weights(network, thresholds=level(found)), pattern, algorithm)
    network = found.network
    return found, CellEngine(algorithm.program, pattern, network)


def changed(network: IntegerNetwork, how: str = "") -> IntegerNetwork:
    """As it is, with thresholds that need 64 bits, or with weights that make it wrong in many states."""
    thresholds, last = network.thresholds.copy(), network.last.copy()
    if how == "wide":
        thresholds[-1], thresholds[-2] = 1 << 40, -(1 << 40)
    if how == "wrong":
        last[:, : network.shape.width // 2] = 0
    return with_weights(network, last=last, thresholds=thresholds)


def level(found: Exported) -> np.ndarray:
    """Thresholds that some sum is equal to: then it does not exceed it, and the bit is off."""
    core, thresholds = found.core, found.network.thresholds.copy()
    for kind, _, matched in local_states(found):
        port = int(core.kind_port[kind])
        sums = np.maximum(core.first[:, matched].astype(np.int64).sum(axis=1), 0) @ core.last[:, port].astype(np.int64)
        thresholds[len(matched) - 1, core.column[port]] = sums if matched else thresholds[-1, core.column[port]]
    return thresholds


def signed() -> Exported:
    algorithm = parse(SIGNED, "signed")
    return exported_cells(whole(algorithm.program, 256), Pattern.of_state(algorithm.program), algorithm)


def adder_file(folder: Path) -> Path:
    """The file of a network of the cells of addition."""
    pattern, network = cells_network("addition")
    save_network(network, pattern.program, folder / "net.safetensors")
    return folder / "net.safetensors"


CASES = [
    "whole odd 128 wrong",
    "whole addition 64 wide",
    "cells addition 64 level",
    "cells addition/2 128",
    "cells multiplication 256",
    "cells mirrored 64",
    "cells counter 128",
    "whole odd 128",
    "whole addition 128",
    "cells addition 64",
    "cells addition 64 wrong",
    "cells shift 64",
]
RUNS = [  # cases that are run to their ends, and how often
    ("whole addition 128", 64),
    ("cells multiplication 256", 256 if LONG else 16),
    ("cells mirrored 64", 16),
    ("cells shift 64", 64),
    ("cells rest 64", 64),
    ("cells addition 64 wrong", 200),
    ("whole odd 128", 8),
    ("cells addition 64", 500),
    ("cells counter 128", 200),
]
if not LONG:
    CASES, RUNS = CASES[:7], RUNS[:6]


def local_states(found: Exported) -> Iterator[tuple[int, tuple[int, ...], list[int]]]:
    """Every kind with every choice in its blocks: the configurations, and the examples that they match."""
    core = found.core
    for kind in range(len(core.kind_block) - 1):
        options: list[list[tuple[int, int | None]]] = []
        for block in range(core.kind_block[kind], core.kind_block[kind + 1]):
            first, last = core.block_example[block : block + 2]
            own = {int(core.configuration[at]): int(at) for at in range(first, last)}
            without = [config for config in range(1 << int(core.block_bits[block])) if config not in own]
            options.append([*own.items(), *((config, None) for config in without[:1])])
        for chosen in product(*options):
            configurations = tuple(config for config, _ in chosen)
            yield kind, configurations, [example for _, example in chosen if example is not None]


def check_local_states(name: str, ask: Ask, text: str) -> int:
    """Ports and sums of every local state; how many there were."""
    found, _ = case(name)
    network, program = found.network, found.wires.algorithm.program if found.pattern is None else found.pattern.program
    states = list(local_states(found))
    answers = ask(text, "cells", [" ".join(map(str, (kind, *configs))) for kind, configs, _ in states])
    first, last = network.first.astype(np.int64), network.last.astype(np.int64)
    columns = np.searchsorted(network.writers, program.writers)
    expected = []
    for kind, _, matched in states:
        sums = last @ np.maximum(first[:, matched].sum(axis=1), 0)
        bits, _ = decide_bits(sums[None], np.array([len(matched)]), network, columns)
        own = slice(0, program.bits) if found.pattern is None else found.pattern.port_bits(kind)
        expected.append(" ".join(map(str, (*bits[0, own].astype(int), *sums[own]))))
    assert answers == expected
    return len(states)


def bit_lines(states: np.ndarray) -> list[str]:
    return ["".join(map(str, row)) for row in states.astype(int).tolist()]


def check_steps(name: str, ask: Ask, text: str) -> None:
    """One step from every state, or from some at random."""
    found, engine = case(name)
    bits = found.wires.algorithm.program.bits
    if bits <= 10:
        states = (np.arange(1 << bits)[:, None] >> np.arange(bits) & 1).astype(bool)
    else:
        states = np.random.default_rng(0).integers(0, 2, (2_000 if LONG else 200, bits)).astype(bool)
    batch = engine.begin(states)
    batch.step()
    assert ask(text, "steps", bit_lines(states)) == bit_lines(batch.states())


def check_runs(name: str, ask: Ask, text: str, most: int) -> int:
    """Whole runs, from every input or from this many at random; returns how many there were."""
    found, engine = case(name)
    algorithm = found.wires.algorithm
    count = len(algorithm.input_bits)
    rng = np.random.default_rng(1)
    numbers = np.arange(1 << count) if 1 << count <= most else rng.integers(0, 1 << count, most)
    starts = algorithm.states((numbers[:, None] >> np.arange(count) & 1).astype(bool))
    done = run_batch(algorithm, starts, engine=engine)
    steps = np.where(done.halted, done.steps, -1).tolist()
    wanted = [f"{made} {line}" for made, line in zip(steps, bit_lines(done.states), strict=True)]
    assert ask(text, "runs", bit_lines(starts)) == wanted
    return len(numbers)
