"""Recovers a program with known blocks from executions: its writes, how certain each is, and which are undetermined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from bitwright.common.errors import InputError
from bitwright.common.files.executions import Executions
from bitwright.inference import Elimination, Evidence
from bitwright.rules import Layout, Program
from bitwright.runs.successors import successors


class Recovered:
    """The writes that executions confirm, clear and leave open, for given blocks; the data must be consistent."""

    def __init__(self, executions: Executions, layout: Layout, blocks: Sequence[Sequence[int]]) -> None:
        self.executions, self.layout = executions, layout
        self.elimination = Elimination(Evidence(executions), blocks)
        if self.elimination.unexplained.any():
            raise InputError("these executions contradict each other, so no rules with these blocks explain them")

    @property
    def blocks(self) -> list[list[int]]:
        """The bits of each block."""
        return [block.bits.tolist() for block in self.elimination.blocks]

    @cached_property
    def configurations(self) -> int:
        """The number of configurations of all blocks."""
        return sum(1 << len(block.bits) for block in self.elimination.blocks)

    @cached_property
    def seen(self) -> int:
        """The number of configurations that occur in some state."""
        return sum(len(block.configs) for block in self.elimination.blocks)

    @cached_property
    def confirmed(self) -> int:
        """The number of writes that some state proves."""
        return sum(int(rows.sum()) for rows in self.elimination.confirmed)

    @cached_property
    def undetermined(self) -> int:
        """The number of writes of seen configurations that the states neither prove nor exclude."""
        return sum(int(rows.sum()) for rows in self.elimination.open) - self.confirmed

    @property
    def cleared(self) -> int:
        """The number of writes that some state excludes."""
        return self.seen * self.layout.size - self.confirmed - self.undetermined

    @property
    def determined(self) -> bool:
        """Whether no write is left open."""
        return self.seen == self.configurations and not self.undetermined

    def program(self) -> Program:
        """The program of the confirmed writes, without the open ones."""
        templates = [
            (number, int(config), np.flatnonzero(row).tolist())
            for number, (block, rows) in enumerate(
                zip(self.elimination.blocks, self.elimination.confirmed, strict=True)
            )
            for config, row in zip(block.configs, rows, strict=True)
            if row.any()
        ]
        if not templates:
            raise InputError("these states confirm no write, so there is no program; give more states")
        return Program.from_tables(self.layout, self.blocks, templates)

    def open_lines(self) -> Iterator[str]:
        """The writes that are not determined, as rules."""
        for block, kept, proved in zip(
            self.elimination.blocks, self.elimination.open, self.elimination.confirmed, strict=True
        ):
            names = [self.layout.name_of(bit) for bit in block.bits.tolist()]
            for row in np.flatnonzero((kept & ~proved).any(axis=1)).tolist():
                config = int(block.configs[row])
                when = " ".join(f"{name}={config >> place & 1}" for place, name in enumerate(names))
                written = np.flatnonzero(kept[row] & ~proved[row]).tolist()
                yield f"when {when} write {' '.join(self.layout.name_of(bit) for bit in written)}"

    def reproduced(self, program: Program) -> int:
        """The number of states for which a program takes the right step."""
        made = successors(program, self.executions.before)
        return int((made == self.executions.after).all(axis=1).sum())
