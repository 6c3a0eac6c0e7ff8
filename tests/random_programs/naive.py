"""Random small programs with cells, as plain data, and what rules and networks make of them, by the definitions."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product

import numpy as np

from bitwright.networks import IntegerNetwork

State = tuple[int, ...]
Templates = tuple[int, ...]
Table = tuple[
    tuple[tuple[int, tuple[int, ...]], ...], tuple[tuple[int, ...], ...]
]  # blocks, ports; see program/cells.py


@dataclass(frozen=True)
class Rules:
    """A program. Templates are a block, its configuration (bit i is that of the i-th member) and written bits."""

    bits: int
    blocks: tuple[tuple[int, ...], ...]
    templates: tuple[tuple[int, int, tuple[int, ...]], ...]
    cells: tuple[tuple[int, ...], ...]  # the blocks of each

    def text(self) -> str:
        name = "x[{}]".format
        lines = [f"bits x[{self.bits}]"]
        lines += [f"block {' '.join(name(bit + 1) for bit in block)}" for block in self.blocks]
        for cell in self.cells:
            lines.append(f"cell {' '.join(name(bit + 1) for block in cell for bit in self.blocks[block])}")
        for block, config, writes in self.templates:
            tests = " ".join(f"{name(bit + 1)}={config >> at & 1}" for at, bit in enumerate(self.blocks[block]))
            lines.append(f"when {tests} write {' '.join(name(bit + 1) for bit in writes) or 'nothing'}")
        return "\n".join([*lines, "input x", "output x", "steps 3", ""])

    # The interpreter: a template matches if its block has its configuration; a bit is on if a match writes it.

    def matched(self, state: Sequence[int]) -> Templates:
        configs = [sum(state[bit] << at for at, bit in enumerate(block)) for block in self.blocks]
        return tuple(t for t, (block, config, _) in enumerate(self.templates) if configs[block] == config)

    def written(self, matched: Templates) -> State:
        on = {bit for template in matched for bit in self.templates[template][2]}
        return tuple(int(bit in on) for bit in range(self.bits))

    def step(self, state: State) -> State:
        return self.written(self.matched(state))

    def every_state(self) -> list[State]:
        return list(product((0, 1), repeat=self.bits))

    # Cells: the table of each, and a cell's own templates in the order of its table.

    def own_templates(self, cell: tuple[int, ...]) -> Templates:
        return tuple(
            t
            for block in cell
            for _, t in sorted((config, t) for t, (of, config, _) in enumerate(self.templates) if of == block)
        )

    def writers_in(self, cell: tuple[int, ...], bit: int) -> tuple[int, ...]:
        return tuple(at for at, t in enumerate(self.own_templates(cell)) if bit in self.templates[t][2])

    def table(self, cell: tuple[int, ...]) -> Table:
        own = [(len(self.blocks[b]), tuple(sorted(c for of, c, _ in self.templates if of == b))) for b in cell]
        ports = {self.writers_in(cell, bit) for bit in range(self.bits)} - {()}
        return tuple((size, configs) for size, configs in own if configs), tuple(sorted(ports))

    @cached_property
    def kinds(self) -> list[Table]:
        return sorted({self.table(cell) for cell in self.cells} - {((), ())})


def random_rules(rng: np.random.Generator, most_bits: int = 7) -> Rules:
    """Up to this many bits; often a few copies of one random cell, that write to each other."""
    copies = int(rng.choice([1, 1, 2, 3]))
    bits = int(rng.integers(1, most_bits // copies + 1))
    blocks: list[tuple[int, ...]] = []
    order = rng.permutation(bits).tolist()
    while order:
        size = int(rng.integers(1, min(3, len(order)) + 1))
        blocks.append(tuple(order[:size]))
        order = order[size:]
    templates: list[tuple[int, int, tuple[tuple[int, int], ...]]] = []  # writes: a bit, and how many copies further
    for number, block in enumerate(blocks):
        count = int(rng.choice([0, 1, 1, 2, 2 ** len(block) - 1, 2 ** len(block)]))
        for config in rng.choice(2 ** len(block), size=min(count, 2 ** len(block)), replace=False).tolist():
            writes = {(int(rng.integers(bits)), int(rng.integers(copies))) for _ in range(int(rng.integers(0, 4)))}
            templates.append((number, config, tuple(sorted(writes))))
    if not templates:
        templates.append((0, 0, ((0, 0),)))
    cells: list[tuple[int, ...]] = []
    rest = rng.permutation(len(blocks)).tolist()
    while rest:
        size = int(rng.integers(1, min(3, len(rest)) + 1))
        cells.append(tuple(rest[:size]))
        rest = rest[size:]
    every = range(copies)
    return Rules(
        bits * copies,
        tuple(tuple(bit + bits * copy for bit in block) for copy in every for block in blocks),
        tuple(
            (block + len(blocks) * copy, config, tuple(bit + bits * ((copy + far) % copies) for bit, far in writes))
            for copy in every
            for block, config, writes in templates
        ),
        tuple(tuple(block + len(blocks) * copy for block in cell) for copy in every for cell in cells),
    )


@lru_cache(maxsize=4096)
def sums(network: IntegerNetwork, matched: Templates) -> list[int]:
    """G of every output, in Python's integers."""
    hidden = [max(0, sum(row[j] for j in matched)) for row in network.first.tolist()]
    return [sum(weight * value for weight, value in zip(row, hidden, strict=True)) for row in network.last.tolist()]


def threshold(network: IntegerNetwork, n: int, writers: int) -> int:
    return int(network.thresholds[n - 1][network.writers.index(writers)])


@dataclass(frozen=True)
class LocalState:
    """What a cell of a kind matches, its number among the pattern's examples, and what is said of its ports."""

    kind: int
    matched: Templates  # in the pattern
    expected: State
    sums: tuple[int, ...]
    thresholds: tuple[int, ...]

    @property
    def given(self) -> State:
        return tuple(int(G > T and len(self.matched) > 0) for G, T in zip(self.sums, self.thresholds, strict=True))

    @property
    def distance(self) -> int | None:
        """Of the port that is nearest to being wrong; None where nothing is at stake."""
        found = zip(self.expected, self.sums, self.thresholds, strict=True)
        away = [G - T if must else T + 1 - G for must, G, T in found]
        return min(away) if away and self.matched else None


def local_state(kinds: Sequence[Table], network: IntegerNetwork, kind: int, configs: Sequence[int]) -> LocalState:
    """A cell of a kind whose blocks have these configurations; the pattern counts examples through its kinds."""
    (blocks, ports), before = kinds[kind], sum(len(c) for own, _ in kinds[:kind] for _, c in own)
    outputs = sum(size for own, _ in kinds[: kind + 1] for size, _ in own) + sum(len(p) for _, p in kinds[:kind])
    numbered = [(at, config) for at, (_, own) in enumerate(blocks) for config in own]
    mine = [t for t, (at, config) in enumerate(numbered) if configs[at] == config]
    matched = tuple(before + t for t in mine)
    G = sums(network, matched)[outputs : outputs + len(ports)]
    T = [threshold(network, max(1, len(mine)), len(port)) for port in ports]
    return LocalState(kind, matched, tuple(int(bool({*mine} & {*port})) for port in ports), tuple(G), tuple(T))


def local_states(kinds: Sequence[Table], network: IntegerNetwork) -> list[LocalState]:
    """Every one of them, once: configurations without a template are alike."""
    found = {}
    for kind, (blocks, _) in enumerate(kinds):
        for configs in product(*(range(1 << size) for size, _ in blocks)):
            one = local_state(kinds, network, kind, configs)
            found[kind, one.matched] = one
    return list(found.values())


def step_by_cells(rules: Rules, network: IntegerNetwork, state: State) -> State:
    """The next state where every cell asks the network for its ports."""
    on = set()
    for cell in rules.cells:
        blocks, ports = rules.table(cell)
        if not blocks:
            continue
        ruled = [block for block in cell if any(of == block for of, _, _ in rules.templates)]
        configs = [sum(state[bit] << at for at, bit in enumerate(rules.blocks[block])) for block in ruled]
        given = local_state(rules.kinds, network, rules.kinds.index((blocks, ports)), configs).given
        active = {port for port, value in zip(ports, given, strict=True) if value}
        on |= {bit for bit in range(rules.bits) if rules.writers_in(cell, bit) in active}
    return tuple(int(bit in on) for bit in range(rules.bits))
