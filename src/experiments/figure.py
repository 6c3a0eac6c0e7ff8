"""What a figure is: tables that are computed or collected, pictures drawn from them alone, and a caption."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from bitwright.program import Algorithm
from bitwright.workers import Workers
from experiments.table import Table

Tables = Mapping[str, Table]
Progress = Callable[[int, int], None]


def _silent(done: int, of: int) -> None:
    """No progress is shown."""


@dataclass(frozen=True)
class Setting:
    """What the user asks of a figure: how much, where, and of what program where a figure shows one."""

    full: bool = False
    folder: Path = Path("figures")  # tables found here are continued, not begun again
    device: str = "cpu"
    workers: Workers = field(default_factory=Workers)
    until: float = inf  # on the clock time.monotonic(): collect no more after this, with whatever is there
    progress: Progress = _silent
    algorithm: Algorithm | None = None
    values: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """One name of `python -m experiments`. Tables and pictures are files of these names."""

    about: str
    tables: Callable[[Setting], Tables]
    pictures: Mapping[str, Callable[[Any, Tables], Any]]  # pyplot and the tables to a Matplotlib figure
    caption: Callable[[Tables], str]
    of_a_program: bool = False  # whether it shows any program that it is given
    train: Callable[[Setting], Tables] | None = None  # of the tables, those that come from trained networks
