"""The interface of engines, which compute the successors of states.

An engine is a value: made from a program and a rounding, it describes itself and begins batches. Making one never
trains, reads or writes anything. During a run engines keep states in their own format (packed words, tensors on a
device): `begin` takes states in, the Batch steps them, and `states` returns them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray
from bitwright.rules import Program
from bitwright.rules.layout import IntArray
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.decisions import Decisions
from bitwright.theory.rounding import Rounding, Scale

if TYPE_CHECKING:
    from bitwright.common.workers.linear_algebra import Library, kernel_name


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

    counted: int = 0  # number of states in the last leap with a `counted` bit on
    matches: tuple[int, int] | None = None  # the smallest and largest n of the last leap, if tracked

    @abstractmethod
    def step(self) -> None:
        """Replaces every state by its successor."""

    def leap(self, most: int, stops: Sequence[int] = (), counted: Sequence[int] = ()) -> int:  # noqa: ARG002
        """Takes 1 to `most` steps and returns how many.

        It stops after a step that changes nothing, or once a bit in `stops` is on in some state.
        """
        self.step()
        self.counted = sum(bool(self.bit(bit)[0]) for bit in counted)
        return 1

    @abstractmethod
    def states(self) -> BoolArray:  # (batch, k)
        """The current states."""

    def bit(self, bit: int) -> BoolArray:  # (batch,)
        """One bit of every state."""
        return self.states()[:, bit]

    def read(self, bits: IntArray) -> BoolArray:
        """Returns some bits of a single state."""
        return np.asarray(self.states()[0, bits])

    @abstractmethod
    def load(self, states: BoolArray) -> None:
        """Continues from other states, one for each run, as a host requires between steps."""

    def turn_on(self, bits: Sequence[int]) -> None:
        """Sets bits of a single state from outside."""
        states = self.states()
        states[0, list(bits)] = True
        self.load(states)

    @abstractmethod
    def unchanged(self) -> BoolArray:  # (batch,)
        """Which states the last step did not change."""

    @abstractmethod
    def keep(self, rows: BoolArray) -> None:
        """Continues with only some of the states."""

    def margin(self) -> FloatArray | None:  # (batch,)
        """The margin of the last leap, or of all steps so far; None if no bits are rounded."""
        return None

    def rounded(self) -> NDArray[np.floating] | None:  # (batch, k)
        """The outputs that the last step rounded, if they cannot be recomputed from the states."""
        return None


class ArrayBatch(Batch):
    """States in a plain array, with the previous states and margin; the engine computes the successors."""

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
    """Makes steps of one `program`. Users select it by `name`.

    `rounding` turns real outputs into bits, and `examples` is K with padding; either may be None. `kind` is the limit
    whose weights calibrated rounding uses, and `closed_form` tells whether outputs depend only on n and a bit's writers
    and matches. `networks` are averaged, `seed` determines random networks, and `digests` are the sha256 of trained
    networks.

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
    digests: Sequence[str] = ()  # of the networks used, not of their files
    library: Library | None = None  # the library that adds its floats; None if no float decides

    @property
    def cell_facts(self) -> Mapping[str, object] | None:
        """Facts about a network of cells by name; None for engines of whole states."""
        return None

    def describe(self) -> dict[str, object]:
        """Returns what its steps depend on besides the program, as JSON."""
        names = ("name", "rounding", "examples", "kind", "networks", "seed", "cell_facts")
        kernel = None if self.library is None else kernel_name(self.library)
        return {name: getattr(self, name) for name in names} | {"digests": list(self.digests), "kernel": kernel}

    @property
    def fallible(self) -> bool:
        """Whether a step may differ from the rules by chance and must be compared with them."""
        return True

    @property
    def decisions(self) -> Decisions | None:
        """The decisions of an engine that depends only on (n, writers, matches)."""
        return None

    @property
    def costly(self) -> bool:
        """Whether a step of one state costs more than removing it from the batch."""
        return True

    @property
    def chunk(self) -> int:
        """The number of states to process at a time."""
        return 1024

    def together(self, states: BoolArray) -> int:  # noqa: ARG002
        """Returns how many of these states to step together."""
        return self.chunk

    @abstractmethod
    def begin(self, states: BoolArray, long: bool = False) -> Batch:
        """Begins a batch from states of shape (batch, k); `long` announces many steps."""
