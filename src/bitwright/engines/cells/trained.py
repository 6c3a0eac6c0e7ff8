"""Integer networks of cells: pattern, weights, and what trying every local state has shown; and their files."""

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
        program = what.program if isinstance(what, Algorithm) else what
        return CellEngine(program, self.pattern, [self.network], evaluate=evaluate)


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
