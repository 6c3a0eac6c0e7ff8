"""Executions as a training set: states of runs, several matches each, instead of one template at a time.

The inputs of the network stay the K coordinates of the templates, and a state is encoded as ever: the sum of the
examples that it matches, over sqrt(n). What it is trained on are such states with what followed them.

    plain     the label of a state is its next state, 0 and 1
    scaled    the same over sqrt(n), so that F(sum of the matched examples) is 0 or 1, because F(t x) = t F(x)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bitwright.bits import BoolArray, shorten
from bitwright.errors import InputError, suggestion
from bitwright.program import Program
from bitwright.program.layout import IntArray
from bitwright.theory.encoding.packed import PackedRules

Labels = Literal["scaled", "plain"]
LABELS: tuple[Labels, ...] = ("scaled", "plain")


def check_labels(name: str) -> Labels:
    """The kind of labels of this name, or an InputError."""
    for known in LABELS:
        if name == known:
            return known
    hint = suggestion(str(name), LABELS)
    raise InputError(f"there are no labels '{shorten(str(name))}'; choose {' or '.join(LABELS)}{hint}")


@dataclass(frozen=True, eq=False)
class StateSet:
    """Different sets of matched examples, none of them empty, and the next state of each.

    >>> from bitwright import addition
    >>> from bitwright.running.successors import successors
    >>> algorithm = addition(2)
    >>> states = np.array([algorithm.state({"p": p, "q": 3}) for p in (1, 2, 2)])
    >>> found = StateSet.of_states(algorithm.program, states, successors(algorithm.program, states))
    >>> found.examples, found.inputs().shape, found.labels().shape
    (2, (2, 8), (2, 6))
    """

    program: Program
    matched: BoolArray  # (P, K), rows different and in order
    following: BoolArray  # (P, k)
    labelled: Labels = "scaled"

    @classmethod
    def of_states(
        cls, program: Program, before: BoolArray, after: BoolArray, labelled: Labels = "scaled"
    ) -> StateSet:  # (N, k) twice
        """States and their successors: those that match the same examples are one, for they look the same.

        States that match nothing are left out: the network says 0 there whatever it has learnt.
        """
        return cls.of_matches(program, PackedRules(program).matched(before), after, labelled)

    @classmethod
    def of_matches(
        cls, program: Program, matched: BoolArray, after: BoolArray, labelled: Labels = "scaled"
    ) -> StateSet:  # (N, K), (N, k)
        """The same for what was matched; raises InputError where one state has two successors, or none is left."""
        some = matched.any(axis=1)
        if (lost := np.flatnonzero(~some & after.any(axis=1))).size:
            name = program.layout.names[int(after[lost[0]].argmax())]
            raise InputError(
                f"state {lost[0] + 1:,} matches no template, yet {name} is on after it; no network can learn that"
            )
        rows = np.flatnonzero(some)
        if not len(rows):
            raise InputError("none of these states matches a template, so there is nothing to learn from them")
        packed = np.packbits(matched[rows], axis=1)
        keys = packed.view(np.dtype((np.void, packed.shape[1])))[:, 0]
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        unlike = (after[rows] != after[rows][first[place]]).any(axis=1)
        if unlike.any():
            two = int(np.flatnonzero(unlike)[0])
            one = int(first[place[two]])
            bit = int((after[rows[two]] != after[rows[one]]).argmax())
            raise InputError(
                f"states {rows[one] + 1:,} and {rows[two] + 1:,} match the same templates and have two successors: "
                f"{program.layout.names[bit]} is {int(after[rows[one], bit])} after the one and "
                f"{int(after[rows[two], bit])} after the other"
            )
        return cls(program, matched[rows][first], after[rows][first], labelled)

    @property
    def examples(self) -> int:
        """P: how many different ones there are."""
        return len(self.matched)

    @cached_property
    def matches(self) -> IntArray:  # (P,)
        """n of each example."""
        return np.asarray(np.count_nonzero(self.matched, axis=1))

    def inputs(self) -> NDArray[np.float64]:  # (P, K)
        """The encoded states."""
        return np.asarray(self.matched / np.sqrt(self.matches)[:, None])

    def labels(self) -> NDArray[np.float64]:  # (P, k)
        """The next states, scaled or not."""
        return np.asarray(self.following / (np.sqrt(self.matches)[:, None] if self.labelled == "scaled" else 1.0))

    @property
    def sha256(self) -> str:
        """Of all examples and their labels."""
        found = sha256(f"{self.program.id} {self.labelled} {self.matched.shape}\n".encode())
        for array in (self.matched, self.following):
            found.update(np.packbits(array, axis=1).tobytes())
        return found.hexdigest()
