"""Executions to train on: examples, their source, and the spectrum of their kernel."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bitwright.bits import BoolArray
from bitwright.errors import InputError
from bitwright.networks.descent import Plan
from bitwright.networks.network import LearntFrom
from bitwright.networks.start import NetworkShape
from bitwright.theory.encoding.state_set import StateSet
from bitwright.theory.predictor import MAX_EXAMPLES, kernel_ends

MOST_STEPS = 100_000  # of gradient descent; training that would take more is refused


@dataclass(frozen=True, eq=False)
class ExecutionSet:
    """States with their successors, and their source."""

    set: StateSet
    learnt_from: LearntFrom
    _ends: dict[float, tuple[float, float]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.set.examples > MAX_EXAMPLES:
            raise InputError(
                f"{self.set.examples:,} different states are more than the {MAX_EXAMPLES:,} whose kernel is solved at "
                "once; take fewer"
            )

    @property
    def sample(self) -> tuple[BoolArray, BoolArray]:  # (states, K), (states, k)
        """The matches of the states and the bits that count, for quantizing."""
        return self.set.matched, np.ones(self.set.following.shape, dtype=bool)

    def spectrum(self, plan: Plan, shape: NetworkShape) -> tuple[float, float]:
        """The ends of the spectrum of the kernel that training follows; InputError where it would take too long."""
        first = plan.first_layer(shape)
        if first not in self._ends:
            self._ends[first] = kernel_ends(self.set.inputs(), first)
        low, high = self._ends[first]
        steps = plan.expected_steps(self.set.examples, (low, high))
        if steps > MOST_STEPS and plan.most_steps is None:
            plainly = "train with momentum, or " if plan.descent == "plain" else ""
            raise InputError(
                f"the kernel of these {self.set.examples:,} examples has condition number {high / low:,.0f}, so "
                f"training would take about {steps:,} steps, more than {MOST_STEPS:,}; {plainly}take fewer states "
                "or a larger tolerance"
            )
        return low, high
