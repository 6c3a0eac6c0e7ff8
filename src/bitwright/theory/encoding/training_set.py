"""Training sets of programs: orthonormal inputs X, labels Y, padding, and encoded states (Section 5.1).

Executions are training sets too: their examples are states of runs, with several matches each, instead of single
templates. The inputs of the network are still the K coordinates of the templates, and a state is still encoded as the
sum of the examples that it matches, over sqrt(n). The labels are the next states.

    plain     the label of a state is its next state, 0 and 1
    scaled    the same over sqrt(n), so that F(sum of the matched examples) is 0 or 1, because F(t x) = t F(x)
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray, whole_number
from bitwright.common.errors import InputError, check_choice, counted
from bitwright.common.files.storage import write_atomically
from bitwright.rules import Program
from bitwright.rules.layout import IntArray
from bitwright.theory.encoding import PackedRules

FloatArray = NDArray[np.float64]
_MAX_DENSE = 100_000_000  # entries of a dense matrix


@dataclass(frozen=True)
class TrainingSet:
    """K examples: one for each template, and padding that is never matched and has the label zero (App. C).

    Templates are encoded as unit vectors. The limit depends only on inner products, so any other basis is equivalent.

    >>> from bitwright import addition
    >>> examples = TrainingSet(addition(2).program, padding=2)
    >>> examples.examples, examples.inputs().shape, examples.labels().shape
    (10, (10, 10), (10, 6))
    """

    program: Program
    padding: int = 0

    def __post_init__(self) -> None:
        if whole_number(self.padding, "the padding") < 0:
            raise InputError(
                f"the training set needs at least the program's {counted(self.program.templates, 'template')}, "
                f"got {counted(self.examples, 'example')}"
            )

    @property
    def examples(self) -> int:
        """K, k' with padding in the paper: the number of examples and the input dimension."""
        return self.program.templates + self.padding

    def inputs(self) -> scipy.sparse.csr_array:  # (K, K)
        """Returns X, whose row t encodes template t (Section 5.1).

        >>> from bitwright import permutation
        >>> TrainingSet(permutation([2, 1]).program).inputs().toarray()
        array([[1., 0.],
               [0., 1.]])
        """
        return scipy.sparse.eye_array(self.examples, format="csr")

    def labels(self) -> scipy.sparse.csr_array:  # (K, k)
        """Returns Y, whose row t has ones at the bits that template t writes.

        >>> from bitwright import permutation
        >>> TrainingSet(permutation([2, 1]).program).labels().toarray()
        array([[0., 1.],
               [1., 0.]])
        """
        starts = np.concatenate((self.program.write_start, np.full(self.padding, len(self.program.write_bits))))
        values = np.ones(len(self.program.write_bits))
        return scipy.sparse.csr_array(
            (values, self.program.write_bits, starts), shape=(self.examples, self.program.bits)
        )

    def matches(self, states: BoolArray) -> tuple[scipy.sparse.csr_array, IntArray]:  # (batch, K), (batch,)
        """Returns which examples each state matches, as a sparse indicator, and their number, n in the paper.

        >>> from bitwright import permutation
        >>> which, n = TrainingSet(permutation([2, 1]).program).matches(np.array([[True, True], [False, True]]))
        >>> which.toarray(), n
        (array([[1., 1.],
               [0., 1.]]), array([2, 1]))
        """
        blocks = np.tile(np.arange(self.program.blocks), len(states))
        found = self.program.lookup(blocks, self.program.configurations(states).ravel())
        counts = np.count_nonzero(found.reshape(len(states), -1) >= 0, axis=1)
        columns = found[found >= 0]
        starts = np.concatenate(([0], np.cumsum(counts)))
        return scipy.sparse.csr_array(
            (np.ones(len(columns)), columns, starts), shape=(len(states), self.examples)
        ), counts

    def encode(self, states: BoolArray) -> FloatArray:  # (batch, K)
        """Returns test inputs: the sum of the matched examples over sqrt(n), or the zero vector if nothing matches.

        >>> from bitwright import permutation
        >>> TrainingSet(permutation([2, 1]).program).encode(np.array([[True, True], [False, True]])).round(3)
        array([[0.707, 0.707],
               [0.   , 1.   ]])
        """
        indicator, counts = self.matches(states)
        scale = 1 / np.sqrt(np.maximum(counts, 1))
        return np.asarray((scipy.sparse.diags_array(scale) @ indicator).todense())

    def example_names(self) -> list[str]:
        """Returns the rule text of every example, in order.

        >>> from bitwright import permutation
        >>> TrainingSet(permutation([2, 1]).program, padding=1).example_names()
        ['when p[1]=1 write p[2]', 'when p[2]=1 write p[1]', 'padding 1']
        """
        return [self.program.template_text(t) for t in range(self.program.templates)] + [
            f"padding {i}" for i in range(1, self.padding + 1)
        ]

    def save(self, path: Path) -> None:
        """Writes X, Y, the names of rows and columns and the program's id to an .npz file.

        >>> from bitwright import addition
        >>> TrainingSet(addition(2).program).save(Path("addition.npz"))
        >>> np.load("addition.npz")["Y"].shape
        (8, 6)
        """
        check_dense(self.program, self.padding)
        buffer = io.BytesIO()
        np.savez_compressed(
            buffer,
            X=self.inputs().toarray(),
            Y=self.labels().toarray().astype(np.uint8),
            examples=np.array(self.example_names()),
            bits=np.array(self.program.layout.names),
            blocks=self.program.template_block,
            program_id=np.array(self.program.id),
        )
        write_atomically(path, buffer.getvalue())


def check_dense(program: Program, padding: int) -> None:
    """Raises InputError if the dense matrices of a training set would be too large."""
    examples = program.templates + padding
    if examples * max(examples, program.bits) > _MAX_DENSE:
        raise InputError(
            f"a training set of {examples:,} examples is too large for dense matrices; use a smaller program"
        )


Labels = Literal["scaled", "plain"]
LABELS: tuple[Labels, ...] = ("scaled", "plain")


def check_labels(name: str) -> Labels:
    """Returns the kind of labels with this name; raises InputError if there is none."""
    return check_choice("kind of labels", name, LABELS)


@dataclass(frozen=True, eq=False)
class StateSet:
    """Distinct non-empty sets of matched examples, with the next state of each.

    >>> from bitwright import addition
    >>> from bitwright.runs.successors import successors
    >>> algorithm = addition(2)
    >>> states = np.array([algorithm.state({"p": p, "q": 3}) for p in (1, 2, 2)])
    >>> found = StateSet.of_states(algorithm.program, states, successors(algorithm.program, states))
    >>> found.examples, found.inputs().shape, found.labels().shape
    (2, (2, 8), (2, 6))
    """

    program: Program
    matched: BoolArray  # (P, K), rows distinct and sorted
    following: BoolArray  # (P, k)
    labelled: Labels = "scaled"

    @classmethod
    def of_states(
        cls, program: Program, before: BoolArray, after: BoolArray, labelled: Labels = "scaled"
    ) -> StateSet:  # (N, k) twice
        """Builds the set from states and successors; states with the same matches become one example.

        States without matches are dropped, because the network always outputs 0 there.
        """
        return cls.of_matches(program, PackedRules(program).matched(before), after, labelled)

    @classmethod
    def of_matches(
        cls, program: Program, matched: BoolArray, after: BoolArray, labelled: Labels = "scaled"
    ) -> StateSet:  # (N, K), (N, k)
        """Builds the set from matches; raises InputError if equal matches have two successors, or the set is empty."""
        some = matched.any(axis=1)
        if (lost := np.flatnonzero(~some & after.any(axis=1))).size:
            name = program.layout.names[int(after[lost[0]].argmax())]
            raise InputError(
                f"state {lost[0] + 1:,} matches no template, but its successor has {name} on; no network can learn that"
            )
        rows = np.flatnonzero(some)
        if not len(rows):
            raise InputError("none of these states matches a template, so there is nothing to learn")
        packed = np.packbits(matched[rows], axis=1)
        keys = packed.view(np.dtype((np.void, packed.shape[1])))[:, 0]
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        unlike = (after[rows] != after[rows][first[place]]).any(axis=1)
        if unlike.any():
            two = int(np.flatnonzero(unlike)[0])
            one = int(first[place[two]])
            bit = int((after[rows[two]] != after[rows[one]]).argmax())
            raise InputError(
                f"states {rows[one] + 1:,} and {rows[two] + 1:,} match the same templates with different successors: "
                f"{program.layout.names[bit]} is {int(after[rows[one], bit])} after the first and "
                f"{int(after[rows[two], bit])} after the second"
            )
        return cls(program, matched[rows][first], after[rows][first], labelled)

    @property
    def examples(self) -> int:
        """P: the number of distinct examples."""
        return len(self.matched)

    @cached_property
    def matches(self) -> IntArray:  # (P,)
        """The number of matches, n, of each example."""
        return np.asarray(np.count_nonzero(self.matched, axis=1))

    def inputs(self) -> NDArray[np.float64]:  # (P, K)
        """Returns the encoded states."""
        return np.asarray(self.matched / np.sqrt(self.matches)[:, None])

    def labels(self) -> NDArray[np.float64]:  # (P, k)
        """Returns the next states, scaled or not."""
        return np.asarray(self.following / (np.sqrt(self.matches)[:, None] if self.labelled == "scaled" else 1.0))

    @property
    def sha256(self) -> str:
        """The sha256 of all examples and labels."""
        found = sha256(f"{self.program.id} {self.labelled} {self.matched.shape}\n".encode())
        for array in (self.matched, self.following):
            found.update(np.packbits(array, axis=1).tobytes())
        return found.hexdigest()
