"""Traces, which store every state of a run as packed bits; with a program, they also provide every match."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray, from_bits
from bitwright.common.errors import InputError, counted
from bitwright.common.lazy import Shown
from bitwright.rules.layout import IntArray, Layout
from bitwright.rules.program import Program

MAX_BYTES = 1 << 30
_MOST_STEPS_SHOWN, _MOST_BITS_SHOWN = 1_000, 20_000


@dataclass(frozen=True, eq=False, repr=False)
class Trace(Shown):
    """The states of a run, from its start at step 0 to its end; `print` displays them.

    A trace needs only a layout. If it has its program, it also provides the matches, computed from the states on
    request.

    >>> from bitwright import addition, run
    >>> trace = run(addition(2), p=3, q=1, record=True).trace
    >>> trace
    <Trace: 4 steps of 6 bits>
    >>> print(trace)
    step  n  p   q   c
       0  2  11  ·1  ··
       1  2  1·  ··  ·1
       2  1  1·  1·  ··
       3  1  ··  ··  1·
       4  1  ··  ··  1·
    """

    layout: Layout
    packed: NDArray[np.uint8]  # (steps + 1, ceil(k / 8))
    outputs: NDArray[np.float32] | None = None  # (steps, k) for a real-valued engine, for every state but the last
    source: Program | None = None  # the program of the run

    @property
    def program(self) -> Program:
        """The program of the run; raises InputError if it is unknown."""
        if self.source is None:
            raise InputError("this trace has no program, so it has no blocks, templates or matches")
        return self.source

    @property
    def steps(self) -> int:
        """The number of steps of the run."""
        return len(self.packed) - 1

    def __len__(self) -> int:
        return len(self.packed)

    def state(self, step: int) -> BoolArray:  # (k,)
        """Returns the state after `step` steps.

        >>> from bitwright import addition, run
        >>> trace = run(addition(2), p=3, q=1, record=True).trace
        >>> trace.state(0).astype(int)
        array([1, 1, 1, 0, 0, 0])
        """
        return np.unpackbits(self.packed[step], count=self.layout.size).astype(bool)

    def states(self) -> BoolArray:  # (steps + 1, k)
        """Returns all states at once.

        >>> from bitwright import addition, run
        >>> trace = run(addition(2), p=3, q=1, record=True).trace
        >>> trace.states().shape
        (5, 6)
        """
        return np.unpackbits(self.packed, axis=1, count=self.layout.size).astype(bool)

    def bit(self, bit: int) -> BoolArray:  # (steps + 1,)
        """Returns a bit after every step.

        >>> from bitwright import addition, run
        >>> trace = run(addition(2), p=3, q=1, record=True).trace
        >>> trace.bit(4).astype(int)  # c[1], the first carry
        array([0, 1, 0, 0, 0])
        """
        return np.asarray(self.packed[:, bit >> 3] >> (7 - (bit & 7)) & 1 == 1)

    def matches(self, step: int) -> IntArray:  # (n,)
        """Returns the templates that match after `step` steps; the next state consists of their writes.

        >>> from bitwright import addition, run
        >>> trace = run(addition(2), p=3, q=1, record=True).trace
        >>> [trace.program.template_text(template) for template in trace.matches(1)]
        ['when p[2]=1 q[2]=0 write p[2]', 'when c[1]=1 write q[2]']
        """
        return self.program.match(self.state(step))

    def number(self, step: int, name: str) -> int:
        """Reads an array of bits as a number after `step` steps; index 1 is the lowest bit.

        >>> from bitwright import addition, run
        >>> trace = run(addition(2), p=3, q=1, record=True).trace
        >>> [trace.number(step, "p") for step in range(5)]
        [3, 2, 2, 0, 0]
        """
        field = self.layout[name]
        return from_bits(self.state(step)[field.offset : field.offset + field.size])

    def first(self, steps: int) -> Trace:
        """Returns the trace of the first steps, without real outputs.

        >>> from bitwright import addition, run
        >>> trace = run(addition(2), p=3, q=1, record=True).trace
        >>> print(trace.first(1))
        step  n  p   q   c
           0  2  11  ·1  ··
           1  2  1·  ··  ·1
        """
        return Trace(self.layout, self.packed[: steps + 1], None, self.source)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Trace):
            return NotImplemented
        same = self.layout == other.layout and np.array_equal(self.packed, other.packed)
        if self.outputs is None or other.outputs is None:
            return same and self.outputs is other.outputs
        return same and np.array_equal(self.outputs, other.outputs)

    def __hash__(self) -> int:
        return hash((self.layout, self.packed.shape))

    def __repr__(self) -> str:
        return f"<Trace: {counted(self.steps, 'step')} of {counted(self.layout.size, 'bit')}>"

    def __str__(self) -> str:
        """Formats the states as text, one line per step; long runs are truncated."""
        if self.layout.size > _MOST_BITS_SHOWN:
            return f"{self!r}, too wide to print; choose names with bitwright.pages.trace_text(trace, names)"
        viewer: Any = import_module("bitwright.pages.text")
        lines = list(viewer.trace_text(self.first(_MOST_STEPS_SHOWN)))
        if self.steps > _MOST_STEPS_SHOWN:
            lines.append(f"and {self.steps - _MOST_STEPS_SHOWN:,} more steps; bitwright.pages.trace_text shows all")
        return "\n".join(lines)


class Recorder:
    """Collects the states of a run, up to a size limit.

    >>> recorder = Recorder(Layout.of([("p", (3,))]))
    >>> for state in np.eye(3, dtype=bool):
    ...     recorder.add(state)
    >>> recorder.trace(steps=2)
    <Trace: 2 steps of 3 bits>
    """

    def __init__(self, source: Program | Layout, most_bytes: int = MAX_BYTES) -> None:
        self._program = source if isinstance(source, Program) else None
        self._layout = source.layout if isinstance(source, Program) else source
        self._most_bytes = most_bytes
        self._rows, self._bytes = list[NDArray[np.uint8]](), 0
        self._outputs: list[NDArray[np.float32]] = []

    def add(self, state: BoolArray, outputs: NDArray[np.float64] | None = None) -> None:
        """Adds the next state and, if available, the real outputs from which it was rounded."""
        row = np.packbits(state)
        self._bytes += len(row) + 100
        if outputs is not None:
            self._bytes += 4 * len(outputs)
            self._outputs.append(outputs.astype(np.float32))
        if self._bytes > self._most_bytes:
            raise InputError(
                f"a trace may have at most {self._most_bytes / 2**20:,.4g} MiB, which {len(self._rows):,} steps fill; "
                "lower the step limit"
            )
        self._rows.append(row)

    def trace(self, steps: int) -> Trace:
        """Returns the trace up to the given step; a run that ends at a fixed point took one more step."""
        outputs = np.array(self._outputs[:steps]) if steps and len(self._outputs) >= steps else None
        return Trace(self._layout, np.array(self._rows[: steps + 1]), outputs, self._program)
