"""Computes sums, or distances from an error, from matched examples in one kernel (Triton).

The hidden layer never reaches memory. Both products are in float16 with float32 sums on tensor cores, and exact:
integers up to 2^11 are exact in float16, and a sum of integers is exact in float32 if no part of it reaches 2^24. Each
chunk of hidden units has a partial sum in float32; partial sums are added in int32. Bounds from the weights show that
no partial sum is too large. The kernel itself detects too large hidden values; if there are any, it runs again with
hidden values in two digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl

from bitwright.networks.integer import Bounds, IntegerNetwork

_EXACT_HALF, _EXACT_SINGLE = 1 << 11, 1 << 24
_DIGIT = 10  # bits of the lower digit of a hidden value
_STATES, _EXAMPLES, _OUTPUTS = 128, 64, 128  # of a tile


class FusedSums:
    """Computes the sums of one network on a CUDA device."""

    def __init__(self, network: IntegerNetwork, bounds: Bounds, device: Any) -> None:
        plans = _plans(network, bounds)
        assert plans
        self._plans, self._now, self._largest = plans, 0, torch.zeros(1, dtype=torch.float32, device=device)
        width, self._outputs = network.shape.width, network.shape.outputs
        self.inputs = _EXAMPLES * -(-network.shape.inputs // _EXAMPLES)
        self._tile = min(_OUTPUTS, max(16, triton.next_power_of_2(self._outputs)))
        self.columns = self._tile * -(-self._outputs // self._tile)
        self._width = _UNITS[0] * max(_LEAST_CHUNKS, -(-width // _UNITS[0]))
        first = np.zeros((self.inputs, self._width), dtype=np.float16)
        first[: network.shape.inputs, :width] = network.first.T
        last = np.zeros((self._width, self.columns), dtype=np.float16)
        last[:width, : self._outputs] = network.last.T
        self._first, self._last = (torch.from_numpy(layer).to(device) for layer in (first, last))
        self._none = torch.zeros(1, dtype=torch.int32, device=device)

    @property
    def plan(self) -> tuple[int, int]:
        """The current number of hidden units in a chunk, and digits of a hidden value."""
        return self._plans[self._now]

    def restart(self) -> None:
        """Clears the record that a hidden value was too large for one digit."""
        self._now = 0

    @staticmethod
    def fits(network: IntegerNetwork, bounds: Bounds) -> bool:
        """Whether this kernel computes this network's sums exactly."""
        return bool(_plans(network, bounds))

    def __call__(self, matched: Any) -> Any:  # (batch, inputs) uint8 -> (batch, k) int32
        """The sums."""
        sums = torch.empty((len(matched), self.columns), dtype=torch.int32, device=matched.device)
        self._launch(matched, self._none, self._none, self._none, sums, judge=False)
        return sums[:, : self._outputs]

    def distances(self, matched: Any, n: Any, truth: Any, thresholds: Any) -> Any:
        """Returns the smallest distance of a state's bits: G - T if a bit must be on, otherwise T + 1 - G.

        (batch, inputs) uint8, (batch,) int64, (batch, columns) uint8, (largest n + 1, columns) int32 -> (batch,) int32.
        Padding columns have a threshold so high that they are never the smallest.
        """
        smallest = torch.empty(len(matched), dtype=torch.int32, device=matched.device)
        self._launch(matched, n, truth, thresholds, smallest, judge=True)
        return smallest

    def _launch(self, matched: Any, n: Any, truth: Any, thresholds: Any, found: Any, judge: bool) -> None:
        while True:
            units, digits = self.plan
            if judge:
                found.fill_(torch.iinfo(torch.int32).max)
            self._largest.zero_()
            grid = (triton.cdiv(len(matched), _STATES), self.columns // self._tile)
            _sum_up[grid](
                matched, self._first, self._last, n, truth, thresholds, found, self._largest,
                len(matched), self.columns, self._width,
                self.inputs, self._tile, units, _STATES, _EXAMPLES, digits, _DIGIT, judge,
                num_warps=8, num_stages=3,
            )  # fmt: skip
            if digits == 2 or float(self._largest) <= _EXACT_HALF:
                return
            self._now += 1  # a hidden value is too large: use two digits from now on


_UNITS = (128, 64, 32)  # hidden units in a chunk
_LEAST_CHUNKS = 8  # a single chunk gave wrong sums on an H200 with Triton 3.6; eight and more did not


def _plans(network: IntegerNetwork, bounds: Bounds) -> list[tuple[int, int]]:
    """Returns numbers of hidden units and digits for which every sum is exact; the last always works.

    With one digit, every hidden value must be at most 2^11, which is checked at run time.
    """
    largest = max(int(bounds.hidden.max(initial=0)), -bounds.lowest)
    room = bounds.sums + bounds.thresholds + 1 < 1 << 31
    if not room or largest >= _EXACT_HALF << _DIGIT:
        return []
    hidden, weights, plans = bounds.hidden, np.abs(network.last.astype(np.int64)), []
    low = np.minimum(hidden, (1 << _DIGIT) - 1)
    for digits, parts in ((1, [np.minimum(hidden, _EXACT_HALF)]), (2, [low, hidden >> _DIGIT])):
        for units in _UNITS:
            starts = np.arange(0, len(hidden), units)
            if all(int(np.add.reduceat(weights * part, starts, axis=1).max()) < _EXACT_SINGLE for part in parts):
                plans.append((units, digits))
                break
    return plans if plans and plans[-1][1] == 2 else []


@triton.jit
def _sum_up(
    matched, first, last, n, truth, thresholds, found, largest, count, columns, width: tl.constexpr,
    inputs: tl.constexpr, outputs: tl.constexpr, units: tl.constexpr, states: tl.constexpr, examples: tl.constexpr,
    digits: tl.constexpr, digit: tl.constexpr, judge: tl.constexpr,
):  # fmt: skip
    """G = relu(matched first) last, for a tile of states and a tile of outputs; or the smallest distance."""
    state = tl.program_id(0).to(tl.int64) * states + tl.arange(0, states)
    there = state < count
    unit, example = tl.arange(0, units), tl.arange(0, examples)
    output = tl.program_id(1) * outputs + tl.arange(0, outputs)
    total = tl.zeros((states, outputs), dtype=tl.int32)
    highest = tl.zeros((states,), dtype=tl.float32)
    for begin in range(0, width, units):
        before = tl.zeros((states, units), dtype=tl.float32)
        for at in range(0, inputs, examples):
            some = tl.load(matched + state[:, None] * inputs + at + example[None, :], there[:, None], 0)
            weights = tl.load(first + (at + example)[:, None] * width + begin + unit[None, :])
            before = tl.dot(some.to(tl.float16), weights, before)
        hidden = tl.maximum(before, 0.0)
        after = tl.load(last + (begin + unit)[:, None] * columns + output[None, :])
        if digits == 1:
            highest = tl.maximum(highest, tl.max(hidden, axis=1))
            total += tl.dot(hidden.to(tl.float16), after).to(tl.int32)
        else:
            whole = hidden.to(tl.int32)
            low, high = whole & ((1 << digit) - 1), whole >> digit
            total += tl.dot(low.to(tl.float16), after).to(tl.int32)
            total += tl.dot(high.to(tl.float16), after).to(tl.int32) << digit
    if digits == 1:
        tl.atomic_max(largest, tl.max(highest, axis=0))
    if judge:
        row = tl.load(n + state, there, 0)
        threshold = tl.load(thresholds + row[:, None] * columns + output[None, :])
        wanted = tl.load(truth + state[:, None] * columns + output[None, :], there[:, None], 0)
        distance = tl.where(wanted != 0, total - threshold, threshold + 1 - total)
        tl.atomic_min(found + state, tl.min(distance, axis=1), there)
    else:
        tl.store(found + state[:, None] * columns + output[None, :], total, there[:, None])
