"""Runs programs by one small network in every cell; it runs every program made of its kinds of cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.rules.layout import IntArray
from bitwright.rules.pattern import Pattern
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.rounding import Rounding, Scale

_TINY = float(np.finfo(np.float64).tiny)  # keeps the margin of a wrong answer negative even if it is 0


class Decider:
    """A network that computes every bit of a pattern from the matches of a cell."""

    exact = False  # whether its outputs are exact, not floating-point sums
    kind: Scale = "ntk"
    seed: int | None = None
    width: int | None = None
    digests: Sequence[str] = ()

    def __init__(self, pattern: Pattern, examples: int, rounding: Rounding | None) -> None:
        self.pattern, self.examples, self.rounding = pattern, examples, rounding  # None for a custom threshold

    def describe(self) -> dict[str, object]:
        """Returns what its outputs depend on besides what an engine says of it."""
        return {}

    def __call__(self, matched: BoolArray, n: IntArray) -> tuple[BoolArray, FloatArray]:
        """Returns bits and margins, (states, k) both, for the matches (states, templates) and n of each state."""
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
        """Returns G and T of a kind's own ports; G > T sets a bit."""
        sums, thresholds = self.sums(kind, *self.matched(kind, numbers))
        own = self.pattern.port_bits(kind)
        return sums[:, own], thresholds[:, own]

    def sums(self, kind: int, matched: BoolArray, n: IntArray) -> tuple[FloatArray, FloatArray]:
        """Returns G and T, (states, k) both."""
        raise NotImplementedError
