"""Input, start, steps and halt lines, from executions that are whole runs.

Rows of a file are runs where each row starts with the state that the row before it ended in; a run begins where that is
not so. Bits that differ between the first states of runs are inputs, those that are on in all of them are `start` bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from bitwright.bits import BoolArray
from bitwright.files.executions import Executions
from bitwright.inference.families.lines import Array, Place, affine_text, at, fit_line
from bitwright.program import Layout

_FEWEST = 4  # runs at each size that are enough to tell constant bits from inputs


@dataclass(frozen=True)
class SeenRuns:
    """The first states of the runs in one file, the number of their steps, and whether the last ones change nothing."""

    starts: BoolArray  # (runs, k)
    steps: int | None  # None where they differ
    still: bool


def find_runs(executions: Executions) -> SeenRuns | None:
    """The runs that these rows are; None where most rows do not follow each other."""
    first = np.r_[True, (executions.before[1:] != executions.after[:-1]).any(axis=1)]
    begins = np.flatnonzero(first)
    if 2 * len(begins) > len(first):
        return None
    ends = np.r_[begins[1:], len(first)] - 1
    still = bool((executions.before[ends] == executions.after[ends]).all())
    shortest = int((ends + 1 - begins).min())
    if ((ends + 1 - begins) % shortest).any():
        return SeenRuns(executions.before[begins], None, still)
    begins = np.arange(0, len(first), shortest)  # a run may begin with the state that the one before it ended in
    return SeenRuns(executions.before[begins], shortest, still)


def lines_of_runs(
    arrays: Sequence[Array],
    layouts: Mapping[int, Layout],
    runs: Mapping[int, SeenRuns],
    inputs: Mapping[int, Sequence[int]] | None,
    let: str,
) -> dict[str, list[str]]:
    """Lines by their first word; `inputs` are the bits of input lines that were given, by size."""
    found: dict[str, list[str]] = {}
    steps = {size: run.steps for size, run in runs.items() if run.steps is not None}
    if all(run.still for run in runs.values()):
        found["halt"] = ["halt at fixed point"]
    elif len(steps) == len(runs) and (text := polynomial(steps, let)) is not None:
        found["steps"] = [f"steps {text}"]
    if any(len(run.starts) < _FEWEST for run in runs.values()):
        return found
    entered: dict[int, BoolArray] = {}
    for size, run in runs.items():
        entered[size] = np.asarray(run.starts.any(axis=0) & ~run.starts.all(axis=0))
        if inputs is not None:
            entered[size][:] = False
            entered[size][list(inputs[size])] = True
    if inputs is None:
        found["input"] = []
        for array in arrays:
            places = _places(array, layouts, entered)
            if (piece := _piece(array, places, let, filled=False)) is not None:
                found["input"].append(f"input {array.name}{f' = {piece}' if piece else ''}")
                for size, layout in layouts.items():
                    inside = tuple(slice(min(own) - 1, max(own)) for own in zip(*places[size], strict=True))
                    entered[size][array.bits(layout)[inside]] = True
            elif any(places.values()):
                del found["input"]
                return found
    on = {size: run.starts.all(axis=0) & ~entered[size] for size, run in runs.items()}
    bits = [text for array in arrays for text in _started(array, _places(array, layouts, on), let)]
    if bits:
        found["start"] = [f"start {' '.join(bits)}"]
    return found


def polynomial(values: Mapping[int, int], let: str) -> str | None:
    """The affine or quadratic expression that has these values, or None.

    One that every choice of values has, through two or three sizes, counts only if no number in it is negative."""
    sizes = sorted(values)
    if (line := fit_line(dict(values))) is not None and (len(sizes) > 2 or min(line) >= 0):
        return affine_text(line, let)
    if len(sizes) < 3:
        return None
    u, v, w = sizes[0], sizes[1], sizes[-1]
    low, high = (Fraction(values[y] - values[x], y - x) for x, y in ((u, v), (v, w)))
    square = (high - low) / (w - u)
    slope = low - square * (u + v)
    rest = values[u] - square * u * u - slope * u
    if any(number.denominator > 1 for number in (square, slope, rest)):
        return None
    a, b, c = int(square), int(slope), int(rest)
    if (len(sizes) == 3 and min(a, b, c) < 0) or any(
        a * size * size + b * size + c != value for size, value in values.items()
    ):
        return None
    text = affine_text((b, c), let)
    power = f"{'-' if a < 0 else ''}{'' if abs(a) == 1 else f'{abs(a)}*'}{let}^2"
    return power if text == "0" else f"{power}{'' if text.startswith('-') else '+'}{text}"


def _places(array: Array, layouts: Mapping[int, Layout], chosen: Mapping[int, BoolArray]) -> dict[int, list[Place]]:
    """The places of an array that are chosen, at each size."""
    found = {size: np.argwhere(those[array.bits(layouts[size])]) + 1 for size, those in chosen.items()}
    return {size: [tuple(place) for place in those.tolist()] for size, those in found.items()}


def _piece(array: Array, places: Mapping[int, Sequence[Place]], let: str, filled: bool) -> str | None:
    """The slice from the first to the last place; empty for a whole array, None if no slice fits.

    Where it must be `filled`, all places between are among these; one of two dimensions always is."""
    if not all(places.values()):
        return None
    ends = []
    for d in range(len(array.dimensions)):
        own = {size: [place[d] for place in those] for size, those in places.items()}
        low, high = (fit_line({size: end(those) for size, those in own.items()}) for end in (min, max))
        if low is None or high is None:
            return None
        ends.append((low, high))
    if filled or len(ends) > 1:
        for size, those in places.items():
            lengths = [at(high, size) - at(low, size) + 1 for low, high in ends]
            if len(those) != np.prod(lengths):
                return None
    if all(own == ((0, 1), one.length) for own, one in zip(ends, array.dimensions, strict=True)):
        return "" if not filled else array.index.format(*("*" for _ in ends))
    return array.index.format(*(f"{affine_text(low, let)}..{affine_text(high, let)}" for low, high in ends))


def _started(array: Array, places: Mapping[int, Sequence[Place]], let: str) -> Iterator[str]:
    """An array's bits that are on at the start: some positions, or all between two."""
    if len({len(those) for those in places.values()}) == 1:
        for one in zip(*places.values(), strict=True):
            lines = [fit_line(dict(zip(places, own, strict=True))) for own in zip(*one, strict=True)]
            if None not in lines:
                yield array.index.format(*(affine_text(line, let) for line in lines if line is not None))
        return
    if (piece := _piece(array, places, let, filled=True)) is not None:
        yield piece
