"""A network of cells as one holds it: its pattern, its weights, and what its local states show; and files of such."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any

from bitwright.engines.cells.engine import TABLED, CellEngine, CellTables
from bitwright.engines.cells.network import CellNetwork
from bitwright.errors import InputError, counted, readable
from bitwright.files.storage import as_path
from bitwright.networks import AnyNetwork, IntegerNetwork, Network, load_any_network, save_network
from bitwright.networks.integer import check_belongs
from bitwright.networks.members import network_files
from bitwright.networks.quantize import Cost
from bitwright.networks.store import read_about
from bitwright.program import Algorithm, Program
from bitwright.program.given import as_algorithm as given
from bitwright.program.pattern import Pattern, read_pattern


@dataclass(frozen=True)
class TrainedCells:
    """A network of whole numbers for the cells of a pattern; `run`, `validate` and `certify` take it.

    What is said of it is worked out from the network it holds, so it is true of that of `dataclasses.replace` too.

    >>> from bitwright import addition, run, train_cells
    >>> cells = train_cells(addition(4))
    >>> cells.proved, run(addition(200), p=2**199, q=2**199, network=cells).value == 2**200
    (True, True)
    >>> print(cells.size)
    2 kinds of cells, 8 examples; width 128, 2,528 bytes of weights
    >>> print(cells.sentence.partition(":")[0])
    proved on all 16 local states; smallest margin 0.297
    """

    pattern: Pattern
    network: IntegerNetwork
    trained: Network | None = None  # the weights before rounding; None where it comes from a file, which has none
    cost: Cost | None = None  # of rounding them
    seeds: int | None = None  # that were tried

    def __post_init__(self) -> None:
        if not isinstance(self.network, IntegerNetwork):
            raise InputError(f"a network of cells is one of whole numbers, got a {type(self.network).__name__}")
        check_belongs(self.network, self.pattern.program)

    @cached_property
    def tables(self) -> CellTables | None:
        """What the network says of every local state; None where these are too many to evaluate."""
        if self.pattern.local_states > TABLED:
            return None
        return CellTables(CellNetwork(self.pattern, [self.network]), range(len(self.pattern.kinds)))

    @property
    def proved(self) -> bool:
        """Whether the network says of every local state what the rules say: it runs programs of these kinds exactly."""
        return self.tables is not None and not self.tables.wrong

    @property
    def sentence(self) -> str:
        """What its local states show, in a line."""
        if self.tables is None:
            return f"{readable(self.pattern.local_states)} local states are more than are tried, so it is not proved"
        states = counted(self.tables.states, "local state")
        said = f"proved on all {states}" if self.proved else f"{states}, {self.tables.wrong:,} wrong"
        exact = ": it runs every program of these kinds exactly, whatever its size" if self.proved else ""
        margin = f"; smallest margin {self.tables.margin:.3f}" if isfinite(self.tables.margin) else ""
        return f"{said}{margin}{exact}"

    @property
    def size(self) -> str:
        """How large it is, in a line."""
        kinds, examples = len(self.pattern.kinds), self.pattern.program.templates
        return (
            f"{counted(kinds, 'kind')} of cells, {counted(examples, 'example')}; "
            f"width {self.network.shape.width:,}, {self.network.bytes:,} bytes of weights"
        )

    def __str__(self) -> str:
        return f"{self.size}\n{self.sentence}"

    def engine(self, what: Algorithm | Program, evaluate: bool = False) -> CellEngine:
        """The engine that runs a program by this network; raises InputError if it has a cell of another kind.

        >>> from bitwright import addition, train_cells
        >>> train_cells(addition(4)).engine(addition(12)).cell_facts["local_states"]
        16
        """
        return CellEngine(given(what).program, self.pattern, [self.network], evaluate=evaluate)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the network to a .safetensors file, which serves every program of its kinds; `load` reads it.

        >>> from bitwright import addition, run, train_cells
        >>> train_cells(addition(4)).save("adder.safetensors")
        >>> run(addition(9), p=300, q=11, network="adder.safetensors").value
        311
        """
        save_network(self.network, self.pattern.program, as_path(path, "a network file"))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> TrainedCells:
        """The network in a file of `save`, or of `bitwright train --cells`; the file says for which cells it is.

        >>> from bitwright import addition, run, train_cells
        >>> train_cells(addition(4)).save("adder.safetensors")
        >>> cells = TrainedCells.load("adder.safetensors")
        >>> cells.proved, run(addition(9), p=300, q=11, network=cells).value
        (True, 311)
        """
        place = as_path(path, "a network file")
        if (pattern := pattern_in(place)) is None:
            raise InputError(
                f"{place} was trained on a whole program, not on cells; load_network(path, program) loads it"
            )
        networks = load_cells([place], pattern)
        if len(networks) > 1 or not isinstance(networks[0], IntegerNetwork):
            raise InputError(
                f"{place} holds trained weights of cells, not one network of whole numbers; "
                "run(..., network=path) averages them"
            )
        return cls(pattern, networks[0])

    def to_torch(self) -> Any:
        """The trained weights, before they were rounded, as a plain PyTorch module; a file does not have them.

        It takes encoded matches of one cell, and gives an output for every bit of the pattern.

        >>> from bitwright import addition, train_cells
        >>> cells = train_cells(addition(4))
        >>> [tuple(weights.shape) for weights in cells.to_torch().parameters()]
        [(128, 8), (11, 128)]
        """
        if self.trained is None:
            raise InputError(
                "a file of cells holds whole numbers alone; train_cells(...) gives the trained weights too, or take "
                "the arrays network.first and network.last as they are"
            )
        return self.trained.to_torch()


def pattern_in(path: Path) -> Pattern | None:
    """The pattern that a network file was trained on; None if it was trained on a whole program."""
    about = read_about(network_files(path)[0])
    return read_pattern(about.bits, about.examples)


def load_cells(paths: Sequence[Path], pattern: Pattern) -> list[AnyNetwork]:
    """The networks of a pattern in these files."""
    return [load_any_network(file, pattern.program) for path in paths for file in network_files(path)]


def check_made_for(network: AnyNetwork, program: Program) -> None:
    """Raises InputError unless the network was made for this very program, and not for cells of it or another one."""
    if network.origin.program_id != program.id:
        found, own = network.origin.program_id[:13], program.id[:13]
        raise InputError(
            f"this network is for another program: id {found}..., this one's is {own}...; one of cells is given whole, "
            "as train_cells and TrainedCells.load give it"
        )


def as_algorithm(pattern: Pattern, name: str = "cells") -> Algorithm:
    """A pattern as an algorithm, to train on and to prove."""
    return Algorithm(name, pattern.program)
