"""From matched examples to sums in one kernel (Triton): the hidden layer never goes to memory.

Both products are of float16 with sums in float32, on tensor cores, and exact: whole numbers up to 2^11 are exact in
float16, and a sum of whole numbers is exact in float32 while no part of it reaches 2^24. Hidden values that may be
larger are taken apart into two digits. A chunk of hidden units has its share in float32; shares are added in int32.
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
_STATES, _EXAMPLES = 128, 64  # in a tile
_MOST_OUTPUTS = 256


class FusedSums:
    """The sums of one network, on a CUDA device."""

    def __init__(self, network: IntegerNetwork, bounds: Bounds, device: Any) -> None:
        plan = _plan(network, bounds)
        assert plan is not None
        self._units, self._digits = plan
        width, self._outputs = network.shape.width, network.shape.outputs
        self.inputs = _EXAMPLES * -(-network.shape.inputs // _EXAMPLES)
        self._columns = max(16, triton.next_power_of_2(self._outputs))
        self._width = self._units * -(-width // self._units)
        first = np.zeros((self.inputs, self._width), dtype=np.float16)
        first[: network.shape.inputs, :width] = network.first.T
        last = np.zeros((self._width, self._columns), dtype=np.float16)
        last[:width, : self._outputs] = network.last.T
        self._first, self._last = (torch.from_numpy(layer).to(device) for layer in (first, last))

    @staticmethod
    def fits(network: IntegerNetwork, bounds: Bounds) -> bool:
        """Whether this kernel gives this network's sums exactly."""
        return _plan(network, bounds) is not None

    def __call__(self, matched: Any) -> Any:  # (batch, inputs) uint8 -> (batch, k) int32
        sums = torch.empty((len(matched), self._columns), dtype=torch.int32, device=matched.device)
        grid = (triton.cdiv(len(matched), _STATES),)
        _sum_up[grid](
            matched, self._first, self._last, sums, len(matched), self._width,
            self.inputs, self._columns, self._units, _STATES, _EXAMPLES, self._digits, _DIGIT,
            num_warps=8, num_stages=3,
        )  # fmt: skip
        return sums[:, : self._outputs]


def _plan(network: IntegerNetwork, bounds: Bounds) -> tuple[int, int] | None:
    """Hidden units in a chunk, and digits of a hidden value, with which every sum is exact; None if there are none."""
    largest = int(bounds.hidden.max(initial=0))
    too_many = network.shape.outputs > _MOST_OUTPUTS
    if too_many or bounds.sums >= 1 << 31 or max(largest, -bounds.lowest) >= _EXACT_HALF << _DIGIT:
        return None
    digits = 1 if largest <= _EXACT_HALF else 2
    sizes = bounds.hidden if digits == 1 else np.minimum(bounds.hidden, 1 << _DIGIT)
    high = bounds.hidden >> _DIGIT
    weights = np.abs(network.last.astype(np.int64))
    for units in (128, 64, 32):
        starts = np.arange(0, len(sizes), units)
        share = max(int(np.add.reduceat(weights * part, starts, axis=1).max(initial=0)) for part in (sizes, high))
        if share < _EXACT_SINGLE:
            return units, digits
    return None


@triton.jit
def _sum_up(
    matched, first, last, sums, count, width,
    inputs: tl.constexpr, outputs: tl.constexpr, units: tl.constexpr, states: tl.constexpr, examples: tl.constexpr,
    digits: tl.constexpr, digit: tl.constexpr,
):  # fmt: skip
    """sums = relu(matched first) last, for a tile of states."""
    state = tl.program_id(0).to(tl.int64) * states + tl.arange(0, states)
    there = (state < count)[:, None]
    unit, output, example = tl.arange(0, units), tl.arange(0, outputs), tl.arange(0, examples)
    total = tl.zeros((states, outputs), dtype=tl.int32)
    for begin in range(0, width, units):
        before = tl.zeros((states, units), dtype=tl.float32)
        for at in range(0, inputs, examples):
            some = tl.load(matched + state[:, None] * inputs + at + example[None, :], there, 0).to(tl.float16)
            weights = tl.load(first + (at + example)[:, None] * width + begin + unit[None, :])
            before = tl.dot(some, weights, before)
        hidden = tl.maximum(before, 0.0)
        after = tl.load(last + (begin + unit)[:, None] * outputs + output[None, :])
        if digits == 1:
            total += tl.dot(hidden.to(tl.float16), after).to(tl.int32)
        else:
            whole = hidden.to(tl.int32)
            low, high = whole & ((1 << digit) - 1), whole >> digit
            total += tl.dot(low.to(tl.float16), after).to(tl.int32)
            total += tl.dot(high.to(tl.float16), after).to(tl.int32) << digit
    tl.store(sums + state[:, None] * outputs + output[None, :], total, there)
