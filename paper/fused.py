"""Training at the speed of memory: one pass over the weights a step, for many networks at once (Triton).

A step of gradient descent on unit vectors needs, for each hidden unit, its own weights and the small error matrix E
(k, K) of its network. So one kernel reads each weight once, changes it, writes it, and adds the changed unit's share to
the next E while it is still in registers; a second, tiny kernel adds up the shares. Sums are taken in a fixed order: a
network comes out bit for bit the same in whatever batch it is trained. The oracle is
`paper.descent.descend_many`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from numpy.typing import NDArray

from bitwright.networks.descent import History, NetworkShape
from paper.training import Plan, Start, check_shape

MOST = 64  # rows and columns of E that fit the registers
_UNITS = 64  # hidden units in a tile
_TILES = 8  # tiles that one program goes through
_PRODUCT = "tf32x3" if os.environ.get("TRITON_INTERPRET") == "1" else "bf16x3"  # the interpreter lacks the latter
_LOOK = 8  # steps between two looks from the host


def fits(shape: NetworkShape) -> bool:
    """Whether these kernels can train a network of this shape."""
    return max(shape.inputs, shape.outputs) <= MOST and shape.width * MOST < 2**31


def train_drawn(
    shape: NetworkShape, start: Start, seed: int, members: Sequence[int], labels: Any, plan: Plan
) -> tuple[Any, Any, list[History]]:
    """Trains these members from starts drawn on the device: (N, width, K), (N, k, width) and their histories."""
    weights = _Weights(shape, len(members), labels.device, drawn=True)
    histories = _descend(weights, labels, plan, partial(weights.draw, start, seed, members))
    return (*weights.plain(), histories)


def descend_fused(first: Any, last: Any, labels: Any, plan: Plan) -> tuple[Any, Any, list[History]]:
    """What `descend_many` does: (N, width, K), (N, k, width), (k, K); weights are changed in place."""
    weights = _Weights(NetworkShape(first.shape[2], first.shape[1], last.shape[1]), len(first), first.device)
    for mine, theirs in zip(weights.plain(), (first, last), strict=True):
        mine.copy_(theirs)
    histories = _descend(weights, labels, plan, weights.look)
    for mine, theirs in zip(weights.plain(), (first, last), strict=True):
        theirs.copy_(mine)
    return first, last, histories


class _Weights:
    """The weights of N networks, hidden unit by hidden unit, padded with zeros so that every access is aligned.

    A hidden unit whose weights are all zero has zero gradients, so the padding stays as it is.
    """

    def __init__(self, shape: NetworkShape, count: int, device: Any, drawn: bool = False) -> None:
        self.shape = shape
        self.rows, self.columns = (max(16, triton.next_power_of_2(size)) for size in (shape.outputs, shape.inputs))
        self.programs = triton.cdiv(shape.width, _UNITS * _TILES)
        self.units = self.programs * _UNITS * _TILES
        self.warps = 2 if max(self.rows, self.columns) <= 32 else 8
        new = torch.empty if drawn else torch.zeros  # all of them are drawn, padding too
        self.first = new((count, self.units, self.columns), device=device)
        self.last = new((count, self.units, self.rows), device=device)

    def plain(self) -> tuple[Any, Any]:
        """Views of shapes (N, width, K) and (N, k, width)."""
        width = self.shape.width
        return self.first[:, :width, : self.shape.inputs], self.last[:, :width, : self.shape.outputs].transpose(1, 2)

    def draw(self, start: Start, seed: int, members: Sequence[int], shares: Any) -> None:
        """Standard normals, member i's from the seed and i alone; and their shares of w2 relu(w1)."""
        shape = self.shape
        check_shape(shape, start)
        seeds = torch.from_numpy(_keys(seed, members)).to(self.first.device)
        drawn = shape.width // 2 if start == "zero" else shape.width
        _draw[(self.programs, len(members))](
            self.first, self.last, shares, seeds, shape.width, drawn, shape.inputs, shape.outputs, self.units,
            _UNITS, _TILES, self.rows, self.columns, num_warps=self.warps,
        )  # fmt: skip

    def look(self, shares: Any) -> None:
        """The shares of the weights as they are."""
        nothing = (self.first, self.last, self.first, 0.0, 0.0, 0.0, self.first)
        self.sweep(*nothing, shares, momentum=False, update=False)

    def sweep(
        self, speed_first: Any, speed_last: Any, errors: Any, rate_first: float, rate_last: float, kept_speed: float,
        steps: Any, shares: Any, momentum: bool, update: bool,
    ) -> None:  # fmt: skip
        """One step of all networks that are not done, and the shares after it."""
        _sweep[(self.programs, len(self.first))](
            self.first, self.last, speed_first, speed_last, errors, shares, steps,
            rate_first, rate_last, kept_speed, self.units, momentum, update,
            _UNITS, _TILES, self.rows, self.columns, _PRODUCT, num_warps=self.warps,
        )  # fmt: skip


def _descend(weights: _Weights, labels: Any, plan: Plan, begin: Callable[[Any], None]) -> list[History]:
    """`begin` gives the shares of the weights from which the descent starts."""
    shape, first, last = weights.shape, weights.first, weights.last
    schedule, labels = plan.schedule(shape), labels.contiguous()  # a transposed matrix would be read wrongly
    count, scale = len(first), 1 / np.sqrt(shape.inputs * shape.width)
    new: dict[str, Any] = {"dtype": torch.float32, "device": first.device}
    small = (weights.rows, weights.columns)
    shares, errors = torch.empty((count, weights.programs, *small), **new), torch.empty((count, *small), **new)
    losses, largest = (torch.empty((schedule.most_steps + 1, count), **new) for _ in range(2))
    steps = torch.zeros(count, dtype=torch.int32, device=first.device)  # made so far; below 0 once a network is done
    speeds = (torch.zeros_like(first), torch.zeros_like(last)) if schedule.momentum else (first, last)
    rates = (schedule.rate * schedule.first_layer, schedule.rate, schedule.momentum)
    for step in range(schedule.most_steps + 1):
        if step == 0:
            begin(shares)
        else:
            weights.sweep(*speeds, errors, *rates, steps, shares, bool(schedule.momentum), update=True)
        _settle[(count,)](
            shares, labels, errors, steps, losses[step], largest[step], float(scale), plan.tolerance, schedule.common,
            shape.inputs, shape.outputs, weights.programs, *small,
        )  # fmt: skip
        if step % (_LOOK if not schedule.common else 2) == 0 or step == schedule.most_steps:
            going = steps >= 0
            if not bool(going.any()) or not bool((losses[step][going] < 1e6 * (losses[0][going] + 1)).all()):
                break  # all are done; or one has gone wrong, and its history will say so
    return _histories(losses, largest, steps, plan.tolerance, step)


def _keys(seed: int, members: Sequence[int]) -> NDArray[np.int64]:
    """A key of 63 bits for each member, by SplitMix64's mixing of the seed and the member's number."""
    key = np.array(members, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for add in (seed & (2**64 - 1), 0x9E3779B97F4A7C15, 0x9E3779B97F4A7C15):
            key = key + np.uint64(add)
            key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            key = key ^ (key >> np.uint64(31))
    return (key >> np.uint64(1)).astype(np.int64)


def _histories(losses: Any, largest: Any, steps: Any, tolerance: float, last_step: int) -> list[History]:
    """One history a network; raises TrainingError for the first that did not reach the tolerance."""
    loss, error = (table[: last_step + 1].T.cpu().numpy().tolist() for table in (losses, largest))
    histories = []
    for made, its_loss, its_error in zip(steps.tolist(), loss, error, strict=True):
        if made < 0:
            histories.append(History(its_loss[:-made], its_error[:-made]))
            continue
        history = History()
        for pair in zip(its_loss, its_error, strict=True):
            history.note(*pair, tolerance)
        raise history.give_up(tolerance)
    return histories


@triton.jit
def _normals(seed, origin, layer: tl.constexpr, columns: tl.constexpr):
    """(units, columns) standard normals by counter, four at a time."""
    four = tl.arange(0, columns // 4)[None, :]
    a, b, c, d = tl.rand4x(seed, (origin[:, None] * 2 + layer) * (columns // 4) + four)
    a, b = _two_normals(a, b)
    c, d = _two_normals(c, d)
    return tl.reshape(tl.join(tl.join(a, c), tl.join(b, d)), (origin.shape[0], columns))


@triton.jit
def _two_normals(one, two):
    """Box and Muller's two normals from two uniform numbers in [0, 1).

    An eighth of a turn at most is left to the series, which then err by less than a float does; the general functions
    took longer than a step of training.
    """
    turns = 4.0 * two
    quarter = tl.floor(turns + 0.5)
    x = (turns - quarter) * 1.5707963267948966
    y = x * x
    sine = x * (1.0 + y * (-1.6666666666e-1 + y * (8.3333325e-3 + y * (-1.9840874e-4 + y * 2.7525562e-6))))
    cosine = 1.0 + y * (-0.5 + y * (4.16666418e-2 + y * (-1.388736e-3 + y * 2.4433157e-5)))
    odd = (quarter.to(tl.int32) & 1) == 1
    s, c = tl.where(odd, cosine, sine), tl.where(odd, sine, cosine)
    s = tl.where((quarter.to(tl.int32) & 2) == 2, -s, s)
    c = tl.where(((quarter.to(tl.int32) + 1) & 2) == 2, -c, c)
    radius = tl.sqrt(-2.0 * tl.log(tl.maximum(one, 1e-7)))
    return radius * c, radius * s


@triton.jit
def _draw(
    first, last, shares, seeds, width, drawn, inputs, outputs, total_units,
    units: tl.constexpr, tiles: tl.constexpr, rows: tl.constexpr, columns: tl.constexpr,
):  # fmt: skip
    """Draws the units of `tiles` tiles; from `drawn` on the same ones again, with opposite signs in the last layer."""
    network = tl.program_id(1)
    seed = tl.load(seeds + network)
    row, column = tl.arange(0, rows), tl.arange(0, columns)
    share = tl.zeros((rows, columns), dtype=tl.float32)
    for tile in range(tiles):
        unit = (tl.program_id(0) * tiles + tile) * units + tl.arange(0, units)
        twin, there = unit >= drawn, (unit < width)[:, None]
        origin = tl.where(twin, unit - drawn, unit)
        w1 = tl.where(there & (column < inputs)[None, :], _normals(seed, origin, 0, columns), 0.0)
        w2 = _normals(seed, origin, 1, rows)
        w2 = tl.where(there & (row < outputs)[None, :], tl.where(twin[:, None], -w2, w2), 0.0)
        at = network.to(tl.int64) * total_units + unit
        tl.store(first + at[:, None] * columns + column[None, :], w1)
        tl.store(last + at[:, None] * rows + row[None, :], w2)
        share += tl.dot(tl.trans(w2), tl.maximum(w1, 0.0), input_precision="tf32x3")
    place = network * tl.num_programs(0) + tl.program_id(0)
    tl.store(shares + place.to(tl.int64) * rows * columns + row[:, None] * columns + column[None, :], share)


@triton.jit
def _sweep(
    first, last, speed_first, speed_last, errors, shares, steps, rate_first, rate_last, kept_speed, total_units,
    momentum: tl.constexpr, update: tl.constexpr,
    units: tl.constexpr, tiles: tl.constexpr, rows: tl.constexpr, columns: tl.constexpr, product: tl.constexpr,
):  # fmt: skip
    """One step for `tiles` tiles of hidden units of one network, and their share of the next w2 relu(w1)."""
    network = tl.program_id(1)
    if update:  # noqa: SIM102 (decided when it is compiled)
        if tl.load(steps + network) < 0:
            return
    row, column = tl.arange(0, rows), tl.arange(0, columns)
    small = row[:, None] * columns + column[None, :]
    if update:
        error = tl.load(errors + network * rows * columns + small)  # s E, zero outside (k, K)
    share = tl.zeros((rows, columns), dtype=tl.float32)
    begin = network.to(tl.int64) * total_units + tl.program_id(0) * tiles * units
    for tile in range(tiles):
        unit = begin + tile * units + tl.arange(0, units)
        at_first = unit[:, None] * columns + column[None, :]
        at_last = unit[:, None] * rows + row[None, :]
        w1 = tl.load(first + at_first)  # (units, K)
        w2 = tl.load(last + at_last)  # (units, k)
        if update:  # to 16 bits each way of a step; the error that is left is summed in full precision below
            back_first = tl.where(w1 > 0, tl.dot(w2, error, input_precision=product), 0.0)
            back_last = tl.dot(tl.maximum(w1, 0.0), tl.trans(error), input_precision=product)
            if momentum:
                back_first += kept_speed * tl.load(speed_first + at_first)
                back_last += kept_speed * tl.load(speed_last + at_last)
                tl.store(speed_first + at_first, back_first)
                tl.store(speed_last + at_last, back_last)
            w1 -= rate_first * back_first
            w2 -= rate_last * back_last
            tl.store(first + at_first, w1)
            tl.store(last + at_last, w2)
        share += tl.dot(tl.trans(w2), tl.maximum(w1, 0.0), input_precision="tf32x3")
    place = network * tl.num_programs(0) + tl.program_id(0)
    tl.store(shares + place.to(tl.int64) * rows * columns + small, share)


@triton.jit
def _settle(
    shares, labels, errors, steps, losses, largest, scale, tolerance, common,
    inputs, outputs, programs: tl.constexpr, rows: tl.constexpr, columns: tl.constexpr,
):  # fmt: skip
    """E = s sum of shares - Y of one network, its loss and largest entry, and whether that is small enough."""
    network = tl.program_id(0)
    made = tl.load(steps + network)
    if made < 0:
        return
    row, column = tl.arange(0, rows), tl.arange(0, columns)
    small = row[:, None] * columns + column[None, :]
    total = tl.zeros((rows, columns), dtype=tl.float32)
    for program in range(programs):
        total += tl.load(shares + (network * programs + program).to(tl.int64) * rows * columns + small)
    there = (row[:, None] < outputs) & (column[None, :] < inputs)
    wanted = tl.load(labels + row[:, None] * inputs + column[None, :], there, 0.0)
    error = tl.where(there, scale * total - wanted, 0.0)
    worst = tl.max(tl.abs(error))
    tl.store(losses + network, 0.5 * tl.sum(error * error))
    tl.store(largest + network, worst)
    error = tl.where(there, error - common * (tl.sum(error, axis=1) / inputs)[:, None], 0.0)
    tl.store(errors + network * rows * columns + small, scale * error)
    tl.store(steps + network, tl.where(worst <= tolerance, -1 - made, made + 1))
