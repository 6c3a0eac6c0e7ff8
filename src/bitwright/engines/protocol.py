"""What an engine is: it answers one question, "given these states, what comes next?".

An engine is a value: made from a program and a rounding, it describes itself and begins batches. Making one never
trains, reads or writes anything. Engines keep states in a form of their own (packed words, tensors on a device) while a
run goes on, so the answer comes in three parts: `begin` takes states in, the Batch steps them, and `states` gives them
back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray
from bitwright.common.workers.linear_algebra import Library, kernel_name
from bitwright.rules import Program
from bitwright.rules.layout import IntArray
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.decisions import Decisions
from bitwright.theory.rounding import Rounding, Scale


class Batch(ABC):
    """The states of runs in progress.

    >>> from bitwright import addition
    >>> from bitwright.engines.make import make_engine
    >>> algorithm = addition(2)
    >>> batch = make_engine("templates", algorithm.program).begin(algorithm.state({"p": 3, "q": 1})[np.newaxis])
    >>> for _ in range(4):
    ...     batch.step()
    >>> algorithm.read(batch.states()[0])
    {'sum': 4}
    """

    counted: int = 0  # how many states of the last leap had one of the `counted` bits on
    matches: tuple[int, int] | None = None  # the smallest and the largest n of the last leap, if it was followed

    @abstractmethod
    def step(self) -> None:
        """Replaces every state by its successor."""

    def leap(self, most: int, stops: Sequence[int] = (), counted: Sequence[int] = ()) -> int:  # noqa: ARG002
        """Takes 1 to `most` steps and returns how many.

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
        """Continues from other states, one for each run: what a host does between two steps."""

    def turn_on(self, bits: Sequence[int], rows: int | Sequence[int] = 0) -> None:
        """Sets bits of one state from outside; with several rows, each bit in its own row."""
        states = self.states()
        states[rows, list(bits)] = True
        self.load(states)

    @abstractmethod
    def unchanged(self) -> BoolArray:  # (batch,)
        """Which states the last step left as they were."""

    @abstractmethod
    def keep(self, rows: BoolArray) -> None:
        """Continues with some of the states only."""

    def margin(self) -> FloatArray | None:  # (batch,)
        """How far the last leap, or all steps so far, were from rounding a bit the other way; None if no bit is."""
        return None

    def rounded(self) -> NDArray[np.floating] | None:  # (batch, k)
        """The outputs that the last step rounded, if they cannot be computed again from the states."""
        return None


class ArrayBatch(Batch):
    """States in a plain array, with those before the last step and its margin; the engine says what follows."""

    def __init__(self, engine: Any, states: BoolArray) -> None:
        self._engine = engine
        self._now = self._before = states.copy()
        self._margin: FloatArray = np.full(len(states), np.inf)

    def step(self) -> None:
        following, self._margin = self._engine.following(self._now)
        self._before, self._now = self._now, following

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


class Engine(ABC):
    """Takes steps of one `program`. Users choose it by its `name`.

    `rounding` is how it turns real outputs into bits, and `examples` is K with padding; None if there are none. `kind`
    is the limit whose weights calibrated rounding uses, and `closed_form` says whether outputs follow from n, the
    writers and the matches of a bit alone. `networks` are averaged, `seed` chooses the random ones, and `digests` are
    the sha256 of trained ones.

    >>> from bitwright import addition
    >>> from bitwright.engines.make import make_engine
    >>> engine = make_engine("limit", addition(10).program)
    >>> engine.name, engine.rounding, engine.examples, engine.fallible
    ('limit', 'calibrated', 40, False)
    """

    name: str
    program: Program
    rounding: Rounding | None = None
    examples: int | None = None
    kind: Scale = "ntk"
    closed_form = False
    seed: int | None = None
    networks: int | None = None
    digests: Sequence[str] = ()  # of what is used, not of its file
    covered: bool = True  # whether they cover all that it evaluates
    library: Library | None = None  # what adds up its floats; None where no float decides

    @property
    def cell_facts(self) -> Mapping[str, object] | None:
        """What is known of a network of cells, by name; None for engines of whole states."""
        return None

    @property
    def fallible(self) -> bool:
        """Whether a step may differ from that of the rules by chance, so that it must be compared with theirs."""
        return True

    @property
    def decisions(self) -> Decisions | None:
        """For engines that decide by (n, writers, matches) alone: which of them set a bit."""
        return None

    @property
    def costly(self) -> bool:
        """Whether a step of one state costs more than taking it out of the batch."""
        return True

    @property
    def chunk(self) -> int:
        """How many states to give it at a time."""
        return 1024

    def together(self, states: BoolArray) -> int:  # noqa: ARG002
        """How many of these states to step together."""
        return self.chunk

    def describe(self) -> dict[str, object]:
        """All that its steps depend on beside the program, as JSON has it: equal descriptions make equal steps."""
        by = {} if self.library is None else {"kernel": kernel_name(self.library)}
        return {"engine": self.name, "rounding": self.rounding, "examples": self.examples, **by}

    @abstractmethod
    def begin(self, states: BoolArray, long: bool = False) -> Batch:
        """Takes in states, an array of shape (batch, k); `long`: many steps will follow."""
