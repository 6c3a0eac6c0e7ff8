"""What an engine is: it answers one question, "given these states, what comes next?".

An engine is a value: made from a program and a rounding, it says what it is and begins batches. Making one never
trains, reads or writes anything. Engines keep states in a form of their own (packed words, tensors on a device) while a
run goes on, so the answer comes in three parts: `begin` takes states in, the Batch steps them, and `states` gives them
back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bitwright.bits import BoolArray
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.decisions import Decisions
from bitwright.theory.rounding import Rounding
from bitwright.theory.scales import Scale


class Batch(ABC):
    """States on their way through an engine.

    >>> from bitwright import addition
    >>> from bitwright.engines import make_engine
    >>> algorithm = addition(2)
    >>> batch = make_engine("templates", algorithm.program).begin(algorithm.state({"p": 3, "q": 1})[np.newaxis])
    >>> for _ in range(4):
    ...     batch.step()
    >>> algorithm.read(batch.states()[0])
    {'sum': 4}
    """

    counted: int = 0  # in how many of the states that the last leap made one of its `counted` bits was on
    matches: tuple[int, int] | None = None  # the smallest and the largest n of the last leap, where it is followed

    @abstractmethod
    def step(self) -> None:
        """Replaces every state by its successor."""

    def leap(self, most: int, stops: Sequence[int] = (), counted: Sequence[int] = ()) -> int:  # noqa: ARG002
        """Makes between 1 and `most` steps and says how many.

        It stops after a step that leaves one of the bits `stops` on in some state, or changes nothing.
        """
        self.step()
        self.counted = sum(bool(self.bit(bit)[0]) for bit in counted)
        return 1

    @abstractmethod
    def states(self) -> BoolArray:  # (batch, k)
        """The states as they are now."""

    def bit(self, bit: int) -> BoolArray:  # (batch,)
        """One bit of every state."""
        return self.states()[:, bit]

    def read(self, bits: IntArray, rows: int | IntArray = 0) -> BoolArray:  # the shape of rows, then that of bits
        """Some bits of one state, or of each of several."""
        return np.asarray(self.states()[rows][..., bits])

    @abstractmethod
    def load(self, states: BoolArray) -> None:
        """Goes on from other states, of as many runs: what a host does between two steps."""

    def turn_on(self, bits: Sequence[int], rows: int | Sequence[int] = 0) -> None:
        """Sets bits of one state from outside; with several rows, each bit in the row of its own."""
        states = self.states()
        states[rows, list(bits)] = True
        self.load(states)

    @abstractmethod
    def unchanged(self) -> BoolArray:  # (batch,)
        """Which states the last step left as they were."""

    @abstractmethod
    def keep(self, rows: BoolArray) -> None:
        """Goes on with some of the states only."""

    def margin(self) -> FloatArray | None:  # (batch,)
        """How far the last leap, or all steps so far, were from rounding some bit the other way; None: nothing is."""
        return None

    def rounded(self) -> NDArray[np.floating] | None:  # (batch, k)
        """The outputs that the last step rounded, where they cannot be found again from the states."""
        return None


class ArrayBatch(Batch):
    """States in a plain array, with those before the last step and the margin of it; how to step is left open."""

    def __init__(self, states: BoolArray) -> None:
        self._now = self._before = states.copy()
        self._margin: FloatArray = np.full(len(states), np.inf)

    def load(self, states: BoolArray) -> None:
        self._now = states.copy()

    def states(self) -> BoolArray:
        return self._now.copy()

    def bit(self, bit: int) -> BoolArray:
        return self._now[:, bit].copy()

    def unchanged(self) -> BoolArray:
        return np.asarray((self._now == self._before).all(axis=1))

    def keep(self, rows: BoolArray) -> None:
        self._now, self._before, self._margin = self._now[rows], self._before[rows], self._margin[rows]

    def margin(self) -> FloatArray:
        return self._margin


class Engine(Protocol):
    """Makes steps of one program.

    >>> from bitwright import addition
    >>> from bitwright.engines import make_engine
    >>> engine = make_engine("limit", addition(10).program)
    >>> engine.name, engine.rounding, engine.examples, engine.fallible
    ('limit', 'calibrated', 40, False)
    """

    @property
    def name(self) -> str:
        """The name users choose it by."""

    @property
    def program(self) -> Program:
        """The program whose steps it makes."""

    @property
    def rounding(self) -> Rounding | None:
        """How it turns real outputs into bits; None where there are none."""

    @property
    def examples(self) -> int | None:
        """K with padding: the size of the training set; None where there is none."""

    @property
    def kind(self) -> Scale:
        """The limit whose weights calibrated rounding uses."""

    @property
    def cell_facts(self) -> Mapping[str, object] | None:
        """What is known of a network of cells, by name; None for engines of whole states."""

    @property
    def closed_form(self) -> bool:
        """Whether its real outputs follow from n, the writers and the matches of a bit alone."""

    @property
    def fallible(self) -> bool:
        """Whether a step may differ from that of the rules by chance, so that it must be compared with theirs."""

    @property
    def seed(self) -> int | None:
        """Which random networks they are; None where nothing is random."""

    @property
    def networks(self) -> int | None:
        """How many networks are averaged; None where there are none."""

    @property
    def digests(self) -> Sequence[str]:
        """The sha256 of each trained network: of what is used, not of the file that it was in."""

    @property
    def decisions(self) -> Decisions | None:
        """For engines that decide by (n, writers, matches) alone: which of them set a bit."""

    @property
    def costly(self) -> bool:
        """Whether a step of one state costs more than taking it out of the batch."""

    @property
    def chunk(self) -> int:
        """How many states it likes to be given at a time."""

    def describe(self) -> dict[str, object]:
        """All that its steps depend on beside the program, as JSON has it: equal descriptions make equal steps."""

    def begin(self, states: BoolArray, long: bool = False) -> Batch:
        """Takes in states, an array of shape (batch, k); `long`: many steps will follow."""
