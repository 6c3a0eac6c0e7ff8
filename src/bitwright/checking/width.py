"""How wide must one network be? Measured on the program itself, not proved.

At a finite width zhat misses the number of matching writers by an error that shrinks as 1/sqrt(width). So a few
networks of moderate width are trained, the largest error in states that runs meet is measured, and the law gives the
width at which it would be half of what is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bitwright.encoding.training_set import TrainingSet
from bitwright.engines.network import NetworkEngine
from bitwright.errors import InputError
from bitwright.networks import Plan, Recipe, train
from bitwright.networks.cache import suggested_width
from bitwright.program import Algorithm
from bitwright.running.sampling import random_states
from bitwright.theory.closed_form import weights

_OPERATIONS = 3e12  # for all training together
_AIM = 0.25  # the error to aim at: half of the 1/2 at which a bit would be wrong
MAX_EXAMPLES = 5_000  # beyond, a measurement takes longer than anyone would wait


@dataclass(frozen=True)
class Measurement:
    """The largest |zhat - z| of one network over all states and bits that were looked at."""

    width: int
    member: int
    error: float

    @property
    def margin(self) -> float:
        return 0.5 - self.error


@dataclass(frozen=True)
class WidthLaw:
    """error = constant/sqrt(width), and the measurements it rests on."""

    measurements: tuple[Measurement, ...]
    states: int
    seed: int

    @property
    def constant(self) -> float:
        """The largest seen, not the average: the law is to hold for every network."""
        return max(m.error * float(np.sqrt(m.width)) for m in self.measurements)

    @property
    def slope(self) -> float:
        """The exponent that fits best, for comparison with -1/2."""
        widths = np.log([m.width for m in self.measurements])
        errors = np.log([max(m.error, 1e-12) for m in self.measurements])
        return float(np.polyfit(widths, errors, 1)[0])

    @property
    def beyond_doubt(self) -> bool:
        """Whether the errors seen are so small that training's tolerance, and not the width, decides them."""
        return max(m.error for m in self.measurements) < 0.02

    @property
    def width(self) -> int:
        """The smallest power of two, of those not below all that were measured, with an error of at most 1/4."""
        width = min(m.width for m in self.measurements)
        while self.constant / np.sqrt(width) > _AIM:
            width *= 2
        return width


def _affordable(examples: int, bits: int) -> tuple[tuple[int, ...], int]:
    """Widths and the number of networks at each: as much as a minute or two allows.

    Below four hidden units an example a network does not learn its training set.
    """
    usual, least = suggested_width(examples), 256
    while least < 4 * examples:
        least *= 2
    each = 6 * examples * bits * Plan(momentum=True).expected_steps(examples)  # operations for each hidden unit
    wide = tuple(max(least, usual // part) for part in (8, 4, 2))
    for widths, members in ((wide, 3), ((least, 2 * least, 4 * least), 2)):
        if sum(widths) * members * each < _OPERATIONS:
            return widths, members
    return (least, 2 * least), 1


def measure_width(
    algorithm: Algorithm,
    *,
    widths: Sequence[int] | None = None,
    members: int = 3,
    states: int = 1_000,
    seed: int = 0,
    padding: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> WidthLaw:
    """Trains networks and measures their largest error at random states of random runs.

    Without `widths`, they and the number of networks at each are chosen by what training them costs.
    """
    program = algorithm.program
    examples = TrainingSet(program, padding)
    if examples.examples > MAX_EXAMPLES:
        raise InputError(
            f"measuring widths is for up to {MAX_EXAMPLES:,} examples, and {algorithm.name} has {examples.examples:,}"
        )
    if widths is None:
        widths, members = _affordable(examples.examples, program.bits)
    looked = random_states(algorithm, states, seed)
    indicator, matches = examples.matches(looked)
    truth = np.asarray((indicator @ examples.labels()).todense())
    seen = matches > 0
    w = weights(matches[seen], examples.examples)
    found: list[Measurement] = []
    for width in widths:
        for member in range(members):
            recipe = Recipe(width, seed, member, plan=Plan(momentum=True), padding=padding)
            engine = NetworkEngine(program, [train(program, recipe)[0]], "calibrated")
            outputs, _ = engine.outputs(looked)
            estimate = (outputs[seen] - w.unmatched[:, None] * program.writers) / w.gap[:, None]
            found.append(Measurement(width, member, float(np.abs(estimate - truth[seen]).max(initial=0.0))))
            if progress:
                progress(len(found), len(widths) * members)
    return WidthLaw(tuple(found), states, seed)
