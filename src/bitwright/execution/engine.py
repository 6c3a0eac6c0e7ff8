"""What an engine is: it answers one question, "given these states, what comes next?".

Engines keep states in a form of their own (packed words, tensors on a device) while a run goes on, so the answer
comes in three parts: `begin` takes states in, the Batch steps them, and `states` gives them back.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bitwright.bits import BoolArray
from bitwright.program import Program


class Batch(Protocol):
    """States on their way through an engine."""

    def step(self) -> None:
        """Replaces every state by its successor."""

    def leap(self, most: int, stops: tuple[int, ...]) -> int:
        """Makes between 1 and `most` steps and says how many.

        It stops after a step that leaves one of the bits `stops` on in some state, or changes nothing.
        """

    def states(self) -> BoolArray:  # (batch, k)
        """The states as they are now."""

    def bit(self, bit: int) -> BoolArray:  # (batch,)
        """One bit of every state."""

    def unchanged(self) -> BoolArray:  # (batch,)
        """Which states the last step left as they were."""

    def keep(self, rows: BoolArray) -> None:
        """Goes on with some of the states only."""

    def margin(self) -> NDArray[np.float64] | None:  # (batch,)
        """How far the last step was from rounding some bit the other way; None where nothing is rounded."""


class Engine(Protocol):
    """Makes steps of one program."""

    @property
    def name(self) -> str:
        """The name users choose it by."""

    @property
    def program(self) -> Program:
        """The program whose steps it makes."""

    @property
    def rounding(self) -> str | None:
        """How it turns real outputs into bits; None where there are none."""

    @property
    def chunk(self) -> int:
        """How many states it likes to be given at a time."""

    def begin(self, states: BoolArray) -> Batch:
        """Takes in states, an array of shape (batch, k)."""
