"""Integer networks of cells: pattern, weights, and the result of checking every local state."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isfinite

from bitwright.common.errors import InputError, counted, readable, thousandths
from bitwright.engines.cells.engine import CellEngine
from bitwright.engines.cells.network import CellTables, are_few, networks_decider
from bitwright.networks import AnyNetwork, FloatNetwork, IntegerNetwork
from bitwright.networks.integer import check_belongs
from bitwright.networks.quantize import Cost
from bitwright.rules import Algorithm, Program
from bitwright.rules.pattern import Pattern


@dataclass(frozen=True)
class TrainedCells:
    """An integer network for the cells of a pattern, with the result of checking every local state.

    The result is computed from the network, so it also holds after `dataclasses.replace`.
    """

    pattern: Pattern
    network: IntegerNetwork
    trained: tuple[FloatNetwork, ...] = ()  # the weights before quantization; not stored in files
    cost: Cost | None = None  # of quantization
    seeds: int = 1  # number of seeds tried

    def __post_init__(self) -> None:
        if not isinstance(self.network, IntegerNetwork):
            raise InputError(f"a proved network of cells must be an integer network, got {type(self.network).__name__}")
        check_belongs(self.network, self.pattern.program)

    @cached_property
    def tables(self) -> CellTables | None:
        """The network's output in every local state; None if there are too many to evaluate."""
        if not are_few(self.pattern, self.network.shape.width):
            return None
        return CellTables(networks_decider(self.pattern, [self.network]), range(len(self.pattern.kinds)))

    @property
    def proved(self) -> bool:
        """Whether the network agrees with the rules in every local state; it then runs these programs exactly."""
        return self.tables is not None and not self.tables.wrong

    @property
    def sentence(self) -> str:
        """One line with the result of checking its local states."""
        whole = self.pattern.whole is not None
        if self.tables is None:
            what = "states" if whole else "local states"
            return f"{readable(self.pattern.local_states)} {what} are too many to check, so it is not proved"
        states = counted(self.tables.states, "state" if whole else "local state")
        verdict = f"proved on all {states}" if self.proved else f"{states}, {self.tables.wrong:,} wrong"
        exact = ": it runs every program of these kinds exactly, whatever its size" if self.proved and not whole else ""
        margin = f"; smallest margin {thousandths(self.tables.margin)}" if isfinite(self.tables.margin) else ""
        return f"{verdict}{margin}{exact}"

    def engine(self, what: Algorithm | Program, evaluate: bool = False) -> CellEngine:
        """The engine that runs a program by this network; raises InputError if it has a cell of another kind."""
        program = what.program if isinstance(what, Algorithm) else what
        return CellEngine(program, self.pattern, [self.network], evaluate=evaluate)


def check_made_for(network: AnyNetwork, program: Program) -> None:
    """Raises InputError unless the network was made for exactly this program, not for cells or another program."""
    if network.origin.program_id != program.id:
        found, own = network.origin.program_id[:13], program.id[:13]
        raise InputError(
            f"this network is for another program: its id is {found}..., this program's is {own}...; "
            "pass a network of cells as returned by train or Network.load"
        )


def as_algorithm(pattern: Pattern, name: str = "cells") -> Algorithm:
    """Returns a pattern as an algorithm for training and proofs."""
    return Algorithm(name, pattern.program)
