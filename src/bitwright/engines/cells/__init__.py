"""Runs programs by one small network in every cell; it runs every program made of its kinds of cells.

Its deciders compute the bits of a pattern from a cell's matches by trained networks or their limit.

The limit belongs to networks trained on the pattern: K counts the pattern's examples, n the cell's matches.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.rules.layout import IntArray
from bitwright.rules.pattern import Pattern
from bitwright.theory.closed_form import FloatArray, weights
from bitwright.theory.decisions import decide
from bitwright.theory.predictor import Predictor, check_size
from bitwright.theory.rounding import Rounding, Scale, round_outputs

_TINY = float(np.finfo(np.float64).tiny)  # keeps the margin of a wrong answer negative even if it is 0


class Decider:
    """Computes every bit of a pattern from the matches of a cell."""

    engine: str  # its name
    exact = False  # whether its outputs are exact, not floating-point sums
    kind: Scale = "ntk"
    networks: int | None = None
    seed: int | None = None
    width: int | None = None
    digests: Sequence[str] = ()
    tolerance = 0.0  # outputs this close to a threshold count as equal to it

    def __init__(self, pattern: Pattern, examples: int, rounding: Rounding | None) -> None:
        self.pattern, self.examples, self.rounding = pattern, examples, rounding  # None for a custom threshold

    def __call__(self, matched: BoolArray, n: IntArray) -> tuple[BoolArray, FloatArray]:
        """Returns bits and margins, (states, k) both, for the matches (states, templates) and n of each state."""
        assert self.rounding is not None
        writers, outputs = self.pattern.program.writers, self.outputs(matched, n)
        how = (self.examples, self.rounding, self.kind, self.tolerance)
        return round_outputs(outputs, n, writers, *how, each=True)

    def outputs(self, matched: BoolArray, n: IntArray) -> FloatArray:  # (states, k)
        """Returns the real output for every bit, if bits are rounded outputs."""
        raise NotImplementedError

    def of_kind(self, kind: int, matched: BoolArray, n: IntArray) -> tuple[BoolArray, FloatArray]:  # noqa: ARG002
        """Returns bits and margins for cells of one kind; margins are infinite if nothing matches."""
        bits, margins = self(matched, n)
        return bits, np.where((n > 0)[:, None], margins, np.inf)

    def matched(self, kind: int, numbers: IntArray) -> tuple[BoolArray, IntArray]:  # (states, K), (states,)
        """Returns the matches of local states among all templates of the pattern, and n."""
        matched = self.pattern.matched(kind, numbers)
        return matched, np.count_nonzero(matched, axis=1)

    def ports(self, kind: int, numbers: IntArray) -> tuple[BoolArray, FloatArray]:  # (states, ports) twice
        """Returns the outputs at a kind's own ports in local states with their margins; infinite at n = 0."""
        bits, margins = self.of_kind(kind, *self.matched(kind, numbers))
        own = self.pattern.port_bits(kind)
        return bits[:, own], margins[:, own]

    def judged(self, kind: int, numbers: IntArray) -> tuple[BoolArray, FloatArray]:  # (states, ports) twice
        """Returns the same, with a negative margin for every output that differs from the rules."""
        on, margins = self.ports(kind, numbers)
        local = self.pattern.local[kind]
        right = on == local.truth(local.matched(numbers))
        return on, np.where(right, margins, -np.maximum(margins, _TINY))

    def compared(self, kind: int, numbers: IntArray) -> tuple[FloatArray, FloatArray]:  # (states, ports) twice
        """Returns G and T of a kind's own ports."""
        sums, thresholds = self.sums(kind, *self.matched(kind, numbers))
        own = self.pattern.port_bits(kind)
        return sums[:, own], thresholds[:, own]

    def sums(self, kind: int, matched: BoolArray, n: IntArray) -> tuple[FloatArray, FloatArray]:  # noqa: ARG002
        """Returns G and T, (states, k) both; G > T sets a bit. Here G estimates the matching writers, and T is 1/2."""
        bits, margins = self(matched, n)
        threshold = 0.5 if self.rounding == "calibrated" else 0.0
        return threshold + np.where(bits, margins, -margins), np.full(bits.shape, threshold)


class LimitDecider(Decider):
    """The mean of infinitely wide networks, by proved decisions over (n, writers, matches)."""

    engine = "limit"
    exact = True

    def __init__(self, pattern: Pattern, examples: int, rounding: Rounding) -> None:
        super().__init__(pattern, examples, rounding)
        self._decisions = decide(pattern.program, examples, rounding)
        needed = self._decisions.needed if len(self._decisions.writers) else np.ones((self._decisions.n_max + 1, 1))
        self._needed = needed[:, np.searchsorted(self._decisions.writers, pattern.program.writers)]

    def __call__(self, matched: BoolArray, n: IntArray) -> tuple[BoolArray, FloatArray]:
        matches, writers = matched @ self.pattern.program.write_matrix, self.pattern.program.writers
        bits = matches >= self._needed[n]
        if self.rounding == "calibrated":  # zhat is an integer
            return bits, np.where((n > 0)[:, None], np.abs(matches - 0.5), np.inf)
        means = weights(n, self.examples).mean(writers, matches)
        return bits, np.where((n > 1)[:, None] & (writers > 0), np.abs(means), np.inf)


class KernelDecider(Decider):
    """The same mean by a dense solve with the general kernel (Theorem 3.1), as a check."""

    engine = "kernel"
    tolerance = 1e-9  # at n = 1 unset bits have mean exactly 0, which a solve turns into about 1e-16

    def __init__(self, pattern: Pattern, examples: int, rounding: Rounding) -> None:
        super().__init__(pattern, examples, rounding)
        check_size(examples)
        labels = np.zeros((examples, pattern.program.bits))
        labels[: pattern.program.templates] = pattern.program.write_matrix
        self._predictor = Predictor(np.eye(examples), labels)

    def outputs(self, matched: BoolArray, n: IntArray) -> FloatArray:
        return self._predictor.mean(encoded(matched, n, self.examples))


def encoded(matched: BoolArray, n: IntArray, examples: int) -> FloatArray:  # (states, templates) -> (states, K)
    """Encodes states as the training set does (Section 5.1): matched examples over sqrt(n), never padding."""
    found = np.zeros((len(matched), examples))
    found[:, : matched.shape[1]] = matched / np.sqrt(np.maximum(n, 1))[:, None]
    return found
