"""Quantization of trained weights: scales, clipping, thresholds, and the cost of rounding.

The same weights give the same integers on every machine. All sums are of integers that are exact in float64, in any
order: for this purpose the trained weights are placed on a grid (`integer.py`). All other operations are elementwise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.errors import InputError
from bitwright.common.workers.linear_algebra import one_thread
from bitwright.networks.integer import (
    WEIGHT_BITS,
    Grid,
    Int8,
    IntegerNetwork,
    Rounded,
    columns_of,
    decide_bits,
    grids,
    most_matches,
    writer_numbers,
)
from bitwright.networks.network import FloatNetwork
from bitwright.rules import Program
from bitwright.rules.cells import draw_numbers
from bitwright.rules.layout import IntArray
from bitwright.rules.pattern import Pattern, every_cell
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.rounding import Thresholds, scale_weights

_CLIPS = (2.0, 2.5, 3.0, 3.5, 4.0, 5.0, np.inf)  # standard deviations; the last keeps every weight
_SAMPLE, _PART = 1_024, 256  # states used to choose scales, and how many are processed together
Sample = tuple[BoolArray, BoolArray]  # matched examples (states, K), and checked bits (states, k)
_WORK = 1 << 31  # products for all of them


@dataclass(frozen=True)
class Cost:
    """The cost of rounding, measured on some states: margins in the units of calibrated rounding."""

    states: int
    margin_before: float  # of the trained weights
    margin: float  # of the integers; below 0 if a bit is wrong


@one_thread()
def quantize(
    trained: FloatNetwork,
    program: Program,
    weight_bits: int = 8,
    sample: Sample | None = None,
) -> tuple[IntegerNetwork, Cost]:
    """Returns the integer network that replaces a trained one.

    The two scales are chosen from a few candidates to keep the largest margin on a `sample` of states, by default
    random local states.
    """
    if type(weight_bits) is not int or weight_bits not in WEIGHT_BITS:
        raise InputError(f"integer weights must have {WEIGHT_BITS[0]} to {WEIGHT_BITS[-1]} bits, got {weight_bits!r}")
    if trained.origin.program_id != program.id:
        raise InputError("this network was trained for another program")
    sample = local_sample(every_cell(program)) if sample is None else sample
    most = max(16, _WORK // (trained.width * (program.templates + program.bits)))
    first, last = trained.first[:, : program.templates], trained.last
    on_grid = grids(first, last, most_matches(program))
    looked_at = _Sample(trained, program, sample[0][:most], sample[1][:most], on_grid)
    spreads = (on_grid[0].spread or 1.0, on_grid[1].spread or 1.0)
    largest = 2 ** (weight_bits - 1) - 1

    def rounded(clips: tuple[float, float]) -> tuple[IntegerNetwork, float]:
        scales = [
            (min(clip * spread, float(np.abs(layer).max())) or 1.0) / largest
            for clip, spread, layer in zip(clips, spreads, (first, last), strict=True)
        ]
        whole = [
            np.clip(np.rint(layer / scale), -largest, largest).astype(np.int8)
            for layer, scale in zip((first, last), scales, strict=True)
        ]
        how = Rounded(weight_bits, scales[0], scales[1], 1.0, sources=(trained.digest,))
        return looked_at.with_thresholds(whole[0], whole[1], how)

    chosen = (np.inf, np.inf)
    network, margin = rounded(chosen)
    for layer in (0, 1, 0):  # each in turn, with the other fixed
        for clip in _CLIPS[:-1]:
            tried = (clip, chosen[1]) if layer == 0 else (chosen[0], clip)
            other, its_margin = rounded(tried)
            if its_margin > margin:
                network, margin, chosen = other, its_margin, tried
    return network, Cost(len(looked_at), looked_at.margin_before(), margin)


def _thresholds(
    like: FloatNetwork, program: Program, width: int, rounded: Rounded, writers: tuple[int, ...]
) -> IntArray:  # (largest n, numbers of writers)
    """T = floor((c w0 + (w1 - w0)/2) sqrt(n K h) / (s1 s2)): the thresholds of calibrated rounding."""
    n = np.arange(1, most_matches(program) + 1)
    examples = program.templates + like.origin.padding
    middle = Thresholds.of("calibrated", n, np.array(writers), examples, like.origin.scale).at
    sums = middle * sum_scale(n, examples, width, rounded)[:, None]
    return np.asarray(np.floor(sums).astype(np.int64))


def sum_scale(n: IntArray, examples: int, width: int, rounded: Rounded) -> FloatArray:
    """Returns the sum G that corresponds to an average output of 1: gain sqrt(n K h) / (s1 s2)."""
    factor = rounded.gain / (rounded.scale_first * rounded.scale_last)
    return np.asarray(factor * np.sqrt(n * float(examples) * width))


def local_sample(pattern: Pattern, most: int = _SAMPLE) -> Sample:
    """Returns a sample of local states for choosing the scales of rounding: their matches and ports."""
    rng = np.random.default_rng(0)
    share = max(16, most // len(pattern.kinds))
    matched, own = [], []
    for kind, local in enumerate(pattern.local):
        numbers = np.arange(local.count) if local.count <= share else draw_numbers(rng, local.count, share)
        matched.append(pattern.matched(kind, numbers))
        own.append(np.zeros((len(numbers), pattern.program.bits), dtype=bool))
        own[-1][:, pattern.port_bits(kind)] = True
    return np.concatenate(matched), np.concatenate(own)


class _Sample:
    """A sample of states for measuring a network's distance from a wrong bit."""

    def __init__(
        self,
        trained: FloatNetwork,
        program: Program,
        matched: BoolArray,  # (states, K)
        looked_at: BoolArray,  # (states, k)
        on_grid: tuple[Grid, Grid],
    ) -> None:
        self._trained, self._program, self._looked_at = trained, program, looked_at
        self._n = np.count_nonzero(matched, axis=1)
        self._matched = matched.astype(np.float64)
        self._truth = self._matched @ program.write_matrix > 0  # (states, k)
        self._outputs = self._real_outputs(*on_grid)

    def __len__(self) -> int:
        return len(self._n)

    def with_thresholds(self, first: Int8, last: Int8, rounded: Rounded) -> tuple[IntegerNetwork, float]:
        """Returns the network with these weights and its smallest margin, below 0 if a bit is wrong.

        The gain is a least-squares fit of the sums to the outputs of the trained weights.
        """
        like, program = self._trained, self._program
        sums = self._sums(first, last)
        said = self._outputs * sum_scale(self._n, like.shape.inputs, len(first), rounded)[:, None]
        gain = _in_order(sums * said) / max(1e-300, _in_order(said * said)) or 1.0
        rounded = replace(rounded, gain=abs(gain))
        writers = writer_numbers(program)
        table = _thresholds(like, program, len(first), rounded, writers)
        network = IntegerNetwork(first, last, table, writers, like.origin, rounded)
        bits, distance = decide_bits(sums.astype(np.int64), self._n, network, columns_of(network, program))
        n = np.maximum(self._n, 1)
        gap = scale_weights(n, like.shape.inputs, like.origin.scale).gap
        unit = (gap * sum_scale(n, like.shape.inputs, len(first), rounded))[:, None]
        signed = np.where(bits == self._truth, distance - 0.5, 0.5 - distance) / unit
        return network, float(signed[self._at_stake].min(initial=np.inf))

    @property
    def _at_stake(self) -> BoolArray:  # (states, k)
        return np.asarray(self._looked_at & (self._n > 0)[:, None])

    def margin_before(self) -> float:
        """The smallest margin of the trained weights."""
        like, program = self._trained, self._program
        found = Thresholds.of("calibrated", self._n, program.writers, like.shape.inputs, like.origin.scale)
        over = (self._outputs - found.at) / found.unit[:, None]
        return float(np.where(self._truth, over, -over)[self._at_stake].min(initial=np.inf))

    def _sums(self, first: Int8 | FloatArray, last: Int8 | FloatArray) -> FloatArray:  # (states, k)
        """Returns G for every state in float64, exact for all integer sums that can occur here."""
        before, after = first.T.astype(np.float64), last.T.astype(np.float64)
        parts = (self._matched[at : at + _PART] for at in range(0, len(self), _PART))  # a hidden layer may be large
        return np.concatenate([np.maximum(part @ before, 0) @ after for part in parts])

    def _real_outputs(self, first: Grid, last: Grid) -> FloatArray:  # (states, k)
        """Returns the outputs of the trained weights."""
        shape = self._trained.shape
        each = first.unit * last.unit / np.sqrt(float(shape.inputs) * shape.width)
        return np.asarray(self._sums(first.whole, last.whole) * (each / np.sqrt(np.maximum(self._n, 1)))[:, None])


def _in_order(numbers: FloatArray) -> float:
    """Returns the sum, added from first to last."""
    return float(np.add.accumulate(np.append(0.0, numbers))[-1])
