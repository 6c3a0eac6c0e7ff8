"""Integer networks of cells: pattern, weights, and what trying every local state has shown; and their files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from pathlib import Path

from bitwright.algorithms.known import known_algorithm
from bitwright.engines.cells.engine import CellEngine
from bitwright.engines.cells.network import CellTables, are_few, networks_decider
from bitwright.errors import InputError, counted, option, readable, thousandths
from bitwright.networks import AnyNetwork, FloatNetwork, IntegerNetwork, load_any_network
from bitwright.networks.cache import network_files
from bitwright.networks.integer import check_belongs
from bitwright.networks.quantize import Cost
from bitwright.networks.store import read_about
from bitwright.program import Algorithm, Program
from bitwright.program.given import as_algorithm as given
from bitwright.program.pattern import Pattern, read_pattern


@dataclass(frozen=True)
class TrainedCells:
    """An integer network for the cells of a pattern, and what trying every local state has shown.

    All of it is computed from the network, so it also holds after `dataclasses.replace`.
    """

    pattern: Pattern
    network: IntegerNetwork
    trained: tuple[FloatNetwork, ...] = ()  # the weights before they were quantized; a file has none
    cost: Cost | None = None  # of quantizing them
    seeds: int = 1  # that were tried

    def __post_init__(self) -> None:
        if not isinstance(self.network, IntegerNetwork):
            raise InputError(f"a proved network of cells is one of integers, got a {type(self.network).__name__}")
        check_belongs(self.network, self.pattern.program)

    @cached_property
    def tables(self) -> CellTables | None:
        """The network's answer in every local state; None if these are too many to evaluate."""
        if not are_few(self.pattern, self.network.shape.width):
            return None
        return CellTables(networks_decider(self.pattern, [self.network]), range(len(self.pattern.kinds)))

    @property
    def proved(self) -> bool:
        """Whether the network agrees with the rules in every local state: it runs programs of these kinds exactly."""
        return self.tables is not None and not self.tables.wrong

    @property
    def sentence(self) -> str:
        """What trying its local states has shown, in a line."""
        whole = self.pattern.whole is not None
        if self.tables is None:
            what = "states" if whole else "local states"
            return f"{readable(self.pattern.local_states)} {what} are more than are tried, so it is not proved"
        states = counted(self.tables.states, "state" if whole else "local state")
        said = f"proved on all {states}" if self.proved else f"{states}, {self.tables.wrong:,} wrong"
        exact = ": it runs every program of these kinds exactly, whatever its size" if self.proved and not whole else ""
        margin = f"; smallest margin {thousandths(self.tables.margin)}" if isfinite(self.tables.margin) else ""
        return f"{said}{margin}{exact}"

    def engine(self, what: Algorithm | Program, evaluate: bool = False) -> CellEngine:
        """The engine that runs a program by this network; raises InputError if it has a cell of another kind."""
        return CellEngine(given(what).program, self.pattern, [self.network], evaluate=evaluate)


def pattern_in(path: Path, program: Program | None = None) -> Pattern:
    """The cells that a network file was trained on; a file of the whole state is that of a `program`, or a shipped one.

    Raises InputError if the file does not say which cells it has, or is of another program.
    """
    about = read_about(network_files(path)[0])
    if (pattern := read_pattern(about.bits, about.examples)) is not None:
        return pattern
    shipped = None if program else known_algorithm(about.bits, about.examples, about.origin.program_id)
    program = program if shipped is None else shipped.program
    if program is None:
        raise InputError(
            f"{about.path} is of the whole state of a program, and does not say of which; name the program that it is "
            f"for ({option('program')})"
        )
    return Pattern.of_state(program)


def load_cells(paths: Sequence[Path], pattern: Pattern) -> list[AnyNetwork]:
    """The networks of a pattern in these files."""
    return [load_any_network(file, pattern.program) for path in paths for file in network_files(path)]


def check_made_for(network: AnyNetwork, program: Program) -> None:
    """Raises InputError unless the network was made for this very program, and not for cells of it or another one."""
    if network.origin.program_id != program.id:
        found, own = network.origin.program_id[:13], program.id[:13]
        raise InputError(
            f"this network is for another program: id {found}..., this one's is {own}...; one of cells is "
            "given whole, as train and Network.load give it"
        )


def as_algorithm(pattern: Pattern, name: str = "cells") -> Algorithm:
    """A pattern as an algorithm, to train on and to prove."""
    return Algorithm(name, pattern.program)
