"""Which steps of a run a page shows: all of them, or every n-th and the last of a long run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bitwright.program.layout import IntArray
from bitwright.theory.closed_form import FloatArray


@dataclass(frozen=True)
class SampledSteps:
    """The steps of a run that are shown. Between two of them lies a piece of the run."""

    every: int
    run_steps: int

    @property
    def steps(self) -> IntArray:
        """Their numbers in the run: 0, every, 2 every, ..., and the last."""
        inner = np.arange(0, self.run_steps, self.every, dtype=np.int64)
        return np.append(inner, self.run_steps)

    @property
    def facts(self) -> dict[str, object]:
        """What the page has to know."""
        return {"steps": len(self.steps) - 1, "run_steps": self.run_steps, "every": self.every}

    def piece_of(self, step: IntArray) -> IntArray:
        """In which piece, or at which shown step, a step of the run is."""
        return np.asarray(np.searchsorted(self.steps, step, side="right") - 1, dtype=np.int64)

    def sums(self, values: IntArray) -> IntArray:
        """Values of each step, added up in each piece."""
        return np.add.reduceat(values, self.steps[:-1]) if len(values) else values

    def least(self, values: FloatArray) -> IntArray:
        """The step of the run that has the smallest value of each piece; the first of equals."""
        if self.every == 1 or not len(values):
            return np.arange(len(values))
        starts = self.steps[:-1]
        ends = np.append(starts[1:], len(values))
        return np.array(
            [int(a) + int(np.argmin(values[a:b])) for a, b in zip(starts, ends, strict=True)], dtype=np.int64
        )


def sample_of(run_steps: int, most_steps: int, bytes_of_a_state: int, most_bytes: int) -> SampledSteps:
    """As many steps as a page holds.

    >>> sample_of(10, 100, 1, 100).steps.tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    >>> sample_of(10, 4, 1, 100).steps.tolist()
    [0, 4, 8, 10]
    """
    room = max(1, min(most_steps, most_bytes // max(1, bytes_of_a_state)) - 1)  # the last step is shown in any case
    return SampledSteps(1 if run_steps <= room + 1 else -(-run_steps // room), run_steps)
