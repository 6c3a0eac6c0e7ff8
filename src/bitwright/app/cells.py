"""Networks of cells, as a person asks for them: the pattern of some programs, a network trained on it, its file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bitwright.errors import InputError
from bitwright.files.storage import as_path
from bitwright.program import Algorithm, Program
from bitwright.program.cells import Kind, cell_kinds
from bitwright.program.pattern import Pattern, read_pattern

if TYPE_CHECKING:
    from bitwright.engines.cells.engine import CellEngine, CellTables
    from bitwright.networks import AnyNetwork, IntegerNetwork, Network, Recipe
    from bitwright.networks.executions import ExecutionSet
    from bitwright.networks.quantize import Cost

SEEDS = 10  # that are tried, one after the other, until a network is right in every local state


def pattern_of(programs: Iterable[Program], tile: int = 1) -> Pattern:
    """One cell of every kind that these programs have, `tile` neighbouring cells taken as one."""
    kinds: set[Kind] = set()
    for program in programs:
        cells = program.cells.tiled(tile)
        kinds.update((program.kinds if tile == 1 else cell_kinds(program, cells)).kinds)
    return Pattern.of(kinds)


def check_tile(algorithm: Algorithm, tile: int) -> None:
    """Raises InputError for a tile that leaves a rest of some chain, a cell of fewer than the others."""
    cells = algorithm.program.cells
    for family, size in enumerate(cells.families.sizes.tolist()):
        if size > 1 and size % tile:
            raise InputError(
                f"a tile of {tile} does not divide the {size:,} cells of '{cells.families.labels[family]}'; "
                "give another size, or several, which bring the rests along"
            )


def pattern_in(path: Path) -> Pattern | None:
    """The pattern that a network file was trained on; None if it was trained on a whole program."""
    from bitwright.networks.members import network_files
    from bitwright.networks.store import read_about

    about = read_about(network_files(path)[0])
    return read_pattern(about.bits, about.examples)


def load_cells(paths: Sequence[Path], pattern: Pattern) -> list[AnyNetwork]:
    """The networks of a pattern in these files."""
    from bitwright.networks import load_any_network
    from bitwright.networks.members import network_files

    return [load_any_network(file, pattern.program) for path in paths for file in network_files(path)]


def as_algorithm(pattern: Pattern, name: str = "cells") -> Algorithm:
    """A pattern as an algorithm, to train on and to prove."""
    return Algorithm(name, pattern.program)


@dataclass(frozen=True)
class TrainedCells:
    """A network of a pattern, and what its local states showed; `run` and `validate` take it as their `network`.

    >>> from bitwright import addition, run, train_cells
    >>> cells = train_cells(addition(4))
    >>> cells.proved, run(addition(200), p=2**199, q=2**199, network=cells).value == 2**200
    (True, True)
    """

    pattern: Pattern
    network: IntegerNetwork
    trained: Network
    cost: Cost
    seeds: int  # that were tried
    tables: CellTables | None  # None where the local states are too many to evaluate

    @property
    def proved(self) -> bool:
        """Whether the network says of every local state what the rules say: then it is exact at every size."""
        return self.tables is not None and not self.tables.wrong

    def engine(self, what: Algorithm | Program, evaluate: bool = False) -> CellEngine:
        """The engine that runs a program by this network; raises InputError if it has a cell of another kind.

        >>> from bitwright import addition, train_cells
        >>> train_cells(addition(4)).engine(addition(12)).cell_facts["local_states"]
        16
        """
        from bitwright.engines.cells.engine import CellEngine

        program = what.program if isinstance(what, Algorithm) else what
        if not isinstance(program, Program):
            raise InputError(f"give an Algorithm or a Program, got a {type(what).__name__}")
        return CellEngine(program, self.pattern, [self.network], evaluate=evaluate)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the network to a .safetensors file, which serves every size.

        >>> from bitwright import addition, run, train_cells
        >>> train_cells(addition(4)).save("adder.safetensors")
        >>> run(addition(9), p=300, q=11, network="adder.safetensors").value
        311
        """
        from bitwright.networks import save_network

        save_network(self.network, self.pattern.program, as_path(path, "a network file"))


def train_on_pattern(
    pattern: Pattern,
    recipe: Recipe,
    weight_bits: int = 8,
    seeds: int = SEEDS,
    make: Callable[[Program, Recipe], Network] | None = None,
    executions: ExecutionSet | None = None,
) -> TrainedCells:
    """Trains on a pattern, rounds, and looks at every local state; where one is wrong, the next seed is tried.

    With `executions` it is trained on these in place of the pattern's templates, and rounded by them alone.
    """
    from bitwright.engines.cells.engine import TABLED, CellTables
    from bitwright.engines.cells.network import CellNetwork
    from bitwright.networks import TrainingError, quantize, train

    make = make or (lambda program, recipe: train(program, recipe, executions=executions)[0])
    if executions is None:
        sample = local_sample(pattern)
    else:
        sample = executions.set.matched, np.ones(executions.set.following.shape, dtype=bool)
    best: TrainedCells | None = None
    problem: TrainingError | None = None
    for tried in range(seeds):
        try:
            trained = make(pattern.program, replace(recipe, seed=recipe.seed + tried))
        except TrainingError as error:  # small widths sometimes stall
            problem = error
            continue
        network, cost = quantize([trained], pattern.program, weight_bits, sample=sample)
        tables = None
        if pattern.local_states <= TABLED:
            tables = CellTables(CellNetwork(pattern, [network]), range(len(pattern.kinds)))
        found = TrainedCells(pattern, network, trained, cost, tried + 1, tables)
        if found.proved or tables is None:
            return found
        if best is None or best.tables is None or tables.wrong < best.tables.wrong:
            best = found
    if best is None:
        raise problem or InputError("no network could be trained")
    return replace(best, seeds=seeds)


def local_sample(pattern: Pattern, most: int = 1_024) -> tuple[np.ndarray, np.ndarray]:
    """Local states of all kinds, what each matches and which ports are its own: to choose the scales of rounding by."""
    from bitwright.engines.cells.local import LocalStates

    rng = np.random.default_rng(0)
    share = max(16, most // len(pattern.kinds))
    matched, own = [], []
    for number, kind in enumerate(pattern.kinds):
        local = LocalStates(kind)
        few = local.count <= share
        numbers = np.arange(local.count) if few else rng.integers(0, local.count, share)
        rows = np.zeros((len(numbers), pattern.program.templates), dtype=bool)
        rows[:, pattern.first_template[number] : pattern.first_template[number + 1]] = local.matched(numbers)
        ports = np.zeros((len(numbers), pattern.program.bits), dtype=bool)
        ports[:, pattern.port_bits(number)] = True
        matched.append(rows)
        own.append(ports)
    return np.concatenate(matched), np.concatenate(own)


def cell_states(pattern: Pattern, most: int, seed: int) -> np.ndarray:  # (states, bits of the pattern)
    """Local states as states of the pattern, all other cells idle: all of them, or so many at random.

    Raises InputError where an idle cell matches something: then no state of the pattern is one of a single cell.
    """
    from bitwright.engines.cells.local import LocalStates

    program = pattern.program
    if matching := program.match(np.zeros(program.bits, dtype=bool)).tolist():
        raise InputError(
            f"a cell with all bits off matches '{program.template_text(matching[0])}', so that cells side by side are "
            "not looked at one by one; run it by the engine network, with cells and several networks"
        )
    total = pattern.local_states
    chosen = np.arange(total) if total <= most else np.random.default_rng(seed).integers(0, total, most)
    states = np.zeros((len(chosen), program.bits), dtype=bool)
    first = 0
    for number, kind in enumerate(pattern.kinds):
        rows = np.flatnonzero((chosen >= first) & (chosen < first + kind.local_states))
        matched = LocalStates(kind).matched(chosen[rows] - first)
        for template in range(kind.templates):
            place = int(pattern.first_template[number]) + template
            block = program.block_members(int(program.template_block[place]))
            on = np.array(block)[int(program.template_config[place]) >> np.arange(len(block)) & 1 == 1]
            states[np.ix_(rows[matched[:, template]], on)] = True
        first += kind.local_states
    return states
