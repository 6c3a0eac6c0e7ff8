"""The shared table of programs: every engine must give Python's own answer on each of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from graph_cases import graph_cases

from bitwright import Algorithm, Builder, Program, addition, multiplication, permutation, run
from bitwright.common.bits import BoolArray
from bitwright.rules import load, span

EXAMPLES = Path(__file__).parent.parent / "examples"
Values = dict[str, int]


def all_states(algorithm: Algorithm, chunk: int) -> Iterator[BoolArray]:
    """The start states of every input, in chunks: the first input's lowest bit changes fastest."""
    bits = len(algorithm.input_bits)
    for first in range(0, 2**bits, chunk):
        numbers = np.arange(first, min(first + chunk, 2**bits))
        yield algorithm.states(numbers[:, None] >> np.arange(bits) & 1 == 1)


@dataclass(frozen=True)
class Case:
    """An algorithm and its meaning in Python."""

    name: str
    algorithm: Algorithm
    meaning: Callable[..., Values]

    def inputs(self, most: int = 4096, seed: int = 1) -> list[Values]:
        """Every input that is allowed if there are few, else random ones with the corners among them."""
        names = [word.name for word in self.algorithm.inputs]
        widths = [len(word.bits) for word in self.algorithm.inputs]
        if sum(widths) <= 12 and 2 ** sum(widths) <= most:
            every = (dict(zip(names, values, strict=True)) for values in product(*(range(2**w) for w in widths)))
            return [values for values in every if self.algorithm.allows(values)]
        corners = [dict(zip(names, values, strict=True)) for values in product(*((0, 1, 2**w - 1) for w in widths))]
        rng = np.random.default_rng(seed)
        octets = [-(-w // 8) for w in widths]
        rows = (
            [int.from_bytes(rng.bytes(o), "little") % 2**w for o, w in zip(octets, widths, strict=True)]
            for _ in range(most)
        )
        found = corners + [dict(zip(names, row, strict=True)) for row in rows]
        return [values for values in found if self.algorithm.allows(values)][:most]

    def states(self, inputs: list[Values]) -> BoolArray:
        return np.array([self.algorithm.state(values) for values in inputs])

    def __str__(self) -> str:
        return self.name


def _reversed(value: int, width: int) -> int:
    return int(format(value, f"0{width}b")[::-1], 2)


def _rule110(row: int, width: int = 64, generations: int = 40) -> Values:
    cells = [row >> i & 1 for i in range(width)]
    for _ in range(generations):
        cells = [
            110 >> (4 * cells[(i + 1) % width] + 2 * cells[i] + cells[i - 1]) & 1  # left is the higher index
            for i in range(width)
        ]
    return {"row": sum(cell << i for i, cell in enumerate(cells))}


def _cases() -> Iterator[Case]:
    order = [3, 1, 2, 5, 4]
    yield Case(
        "permutation-5",
        permutation(order),
        lambda p: {"p": sum((p >> i & 1) << (place - 1) for i, place in enumerate(order))},
    )
    for l in (1, 2, 5):
        yield Case(f"addition-{l}", addition(l), lambda p, q: {"sum": p + q})
    yield Case("addition-counter-4", addition(4, counter=True), lambda p, q: {"sum": p + q})
    for l in (1, 2, 4):
        yield Case(
            f"multiplication-{l}",
            multiplication(l),
            lambda multiplicand, multiplier: {"product": multiplicand * multiplier},
        )
    meanings: dict[str, Callable[..., Values]] = {
        "permutation": lambda p: {"p": _reversed(p, 5)},
        "addition": lambda p, q: {"sum": p + q},
        "addition-counter": lambda p, q: {"sum": p + q},
        "multiplication": lambda multiplicand, multiplier: {"product": multiplicand * multiplier},
        "subtraction": lambda a, b: {"difference": (a - b) % 1024, "negative": int(a < b)},
        "comparison": lambda a, b: {"less": int(a < b), "equal": int(a == b), "greater": int(a > b)},
        "division": lambda a, b: {"quotient": a // b, "remainder": a % b},
        "modular-multiplication": lambda a, b, m: {"product": a * b % m},
        "gray": lambda x: {"gray": x ^ x >> 1},
        "rule110": lambda row: _rule110(row),
    }
    for path in sorted(EXAMPLES.glob("*.bw")):
        yield Case(f"examples/{path.stem}", load(path), meanings[path.stem])
    for algorithm in graph_cases():
        yield Case(algorithm.name, algorithm, lambda algorithm=algorithm, **values: run(algorithm, values).outputs)


CASES = list(_cases())


def crowded(writers: int, bystanders: int = 0) -> Program:
    """A program in which `writers` templates, each of a block of its own, and one more write the same bit.

    Bystanders are bits that keep themselves on: they raise n without helping the crowded bit.
    """
    b = Builder()
    x, y = b.bits("x", writers), b.bit("crowded")
    i = span(1, writers)
    b.block(x[i])
    b.block(y)
    b.when(x[i] == 1).write(y)
    b.when(y == 1).write(y)
    if bystanders:
        z = b.bits("z", bystanders)
        j = span(1, bystanders)
        b.block(z[j])
        b.when(z[j] == 1).write(z[j])
    return b.build()


def random_program(rng: np.random.Generator, bits: int, largest: int, fan: int) -> Program:
    """Blocks of 1..largest bits in random places, random configurations, each writing up to `fan` random bits."""
    b = Builder()
    x = b.bits("x", bits)
    order, at = rng.permutation(bits) + 1, 0
    while at < bits:
        members = order[at : at + rng.integers(1, largest + 1)]
        at += len(members)
        b.block(*(x[int(i)] for i in members))
        count = int(rng.integers(0, min(2 ** len(members), 12) + 1))
        configs = rng.choice(2 ** len(members), size=count, replace=False) if len(members) < 16 else [0, 65535]
        for config in configs:
            targets = rng.integers(1, bits + 1, size=rng.integers(1, fan + 1))
            b.when(*(x[int(i)] == int(config) >> j & 1 for j, i in enumerate(members))).write(
                *(x[int(i)] for i in targets)
            )
    b.when(x[int(order[0])] == 1).write(x[1]) if not b._rules else None
    return b.build()


def next_state(program: Program, state: BoolArray) -> BoolArray:
    """Eq. (5)-(6), word for word: compare every block with every template of it, OR what matches."""
    successor = np.zeros_like(state)
    for template in range(program.templates):
        members = program.block_members(int(program.template_block[template]))
        wanted = [program.template_config[template] >> place & 1 for place in range(len(members))]
        if all(state[bit] == value for bit, value in zip(members, wanted, strict=True)):
            for bit in program.writes(template):
                successor[bit] = True
    return successor
