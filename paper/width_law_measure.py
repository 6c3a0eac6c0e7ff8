"""What trained networks show of the width law: the spread of their outputs, and the width at which each is exact."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace
from functools import cache

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.machines import Sizes, machine_b
from bitwright.networks import TrainingError
from bitwright.networks.descent import NetworkShape
from bitwright.rules import Builder, Program, span
from bitwright.rules.algorithms import addition, multiplication, permutation
from bitwright.rules.pattern import Pattern, pattern_of
from bitwright.theory import width_plan
from bitwright.theory.closed_form import FloatArray, weights
from bitwright.theory.width_plan import Region, WidthField, worst_needs
from paper.table import Row
from paper.training import Plan, Recipe, initial_weights, train
from paper.width_integrals import Sums, spread

SPREADS = ("program", "width", "members", "states", "seed", "device", "K", "ratio", "error", "bias")
WIDTHS = ("program", "quantity", "seed", "K", "states", "width")
PROGRAMS = ("permutation 12", "addition 3", "addition 4", "multiplication 2", "SBN 2", "star 12", "cells of addition")
_GROUPS = 10  # of members, for the error of a ratio
_TOLERANCE = 1e-4
_TOGETHER = 40  # networks that a device trains at once
_MOST_STATES = 1 << 13  # of a program of which every state is tried


@dataclass(frozen=True)
class SpreadJob:
    """This many networks of one width, evaluated in random states."""

    program: str
    width: int
    members: int
    states: int
    seed: int
    device: str


@dataclass(frozen=True)
class ExactJob:
    """From 2^5 up in half powers of two, the first width at which this seed is right in every state."""

    program: str
    quantity: str
    seed: int


def star(writers: int) -> Program:
    """A bit that keeps itself, and others that write it, each in a block of its own."""
    b = Builder()
    x, y = b.bits("x", writers), b.bit("y")
    i = span(1, writers)
    b.block(x[i])
    b.block(y)
    b.when(x[i] == 1).write(y)
    b.when(y == 1).write(y)
    return b.build()


@cache
def regions_of(name: str) -> tuple[Region, ...]:
    """The states of a program of this study; of cells, kind by kind."""
    kind, _, size = name.partition(" ")
    if kind == "cells":
        return tuple(width_plan.regions_of(pattern_of([addition(8).program], 2)))
    bits = int(size)
    if kind == "permutation":
        return tuple(width_plan.regions_of(Pattern.of_state(permutation([*range(2, bits + 1), 1]).program)))
    if kind == "SBN":
        return tuple(width_plan.regions_of(Pattern.of_state(machine_b(Sizes(2, 2, bits)).program)))
    programs = {"addition": addition, "multiplication": multiplication}
    return tuple(
        width_plan.regions_of(Pattern.of_state(star(bits) if kind == "star" else programs[kind](bits).program))
    )


def spread_rows(_: object, job: SpreadJob) -> list[Row]:
    """The measured deviation over the predicted one, over all bits and states; its standard error; the bias, in
    deviations, counted towards the right side.
    """
    regions = regions_of(job.program)
    program, rng = regions[0].program, np.random.default_rng(job.seed)
    parts = [(matched[matched.sum(axis=1) > 1], r.own) for r in regions for matched in [r.sample(job.states, rng)]]
    found: list[FloatArray] = []
    predicted: list[FloatArray] = []
    away: list[FloatArray] = []
    outputs = list(_members(program, job, [matched for matched, _ in parts]))
    for number, (matched, own) in enumerate(parts):
        n, m = matched.sum(axis=1)[:, None], matched @ program.write_matrix
        law = spread(n, m, program.writers, program.templates, Sums.of(m, program.writers), job.width)
        errors = np.stack([zhat(program, matched, one[number]) - m for one in outputs])[:, :, own]
        seen = law[:, own] > 0
        found.append(errors[:, seen])
        predicted.append(law[:, own][seen])
        away.append(np.where(m > 0, 1.0, -1.0)[:, own][seen])
    errors, law = np.concatenate(found, axis=1), np.concatenate(predicted)
    ratio, error = pooled_ratio(errors, law)
    bias = float((errors.mean(axis=0) / law * np.concatenate(away)).mean())
    return [(*astuple(job), program.templates, ratio, error, bias)]


def pooled_ratio(errors: FloatArray, law: FloatArray) -> tuple[float, float]:  # (members, bits), (bits,)
    """The root mean square of errors about their mean over that of the law, and its standard error.

    All bits of a network go together, so that error comes from leaving out a tenth of the networks at a time.
    """

    def ratio(part: FloatArray) -> float:
        return float(np.sqrt((part.var(axis=0, ddof=1) / law**2).mean()))

    group = np.arange(len(errors)) % _GROUPS
    left = np.array([ratio(errors[group != g]) for g in range(_GROUPS)])
    return ratio(errors), float(np.sqrt((_GROUPS - 1) / _GROUPS * ((left - left.mean()) ** 2).sum()))


def zhat(program: Program, matched: BoolArray, outputs: FloatArray) -> FloatArray:
    """The estimate of how many writers match, from a network's outputs."""
    w = weights(np.maximum(matched.sum(axis=1), 1), program.templates)
    return np.asarray((outputs - w.unmatched[:, None] * program.writers) / w.gap[:, None])


def _members(program: Program, job: SpreadJob, parts: list[BoolArray]) -> Iterator[list[FloatArray]]:
    """Networks trained by plain descent, and what each says in these states."""
    recipe = Recipe(job.width, job.seed, plan=Plan(_TOLERANCE, "plain"))
    if job.device != "cpu":
        yield from _members_on_device(program, recipe, job, parts)
        return
    for member in range(job.members):
        network, _ = train(program, replace(recipe, member=member))
        yield [np.asarray(network(encoded(matched)), dtype=np.float64) for matched in parts]


def _members_on_device(
    program: Program, recipe: Recipe, job: SpreadJob, parts: list[BoolArray]
) -> Iterator[list[FloatArray]]:
    """The same networks, many at a time."""
    from bitwright.networks.descent import check_device, torch_module
    from paper.descent import descend_many

    torch, device = torch_module(), check_device(job.device)
    shape = NetworkShape(program.templates, job.width, program.bits)
    labels = torch.from_numpy(program.write_matrix.T.astype(np.float32)).to(device)
    inputs = [torch.from_numpy(encoded(matched).astype(np.float32)).to(device) for matched in parts]
    for begin in range(0, job.members, _TOGETHER):
        starts = [
            initial_weights(shape, "zero", job.seed, member)
            for member in range(begin, min(begin + _TOGETHER, job.members))
        ]
        first, last = (torch.from_numpy(np.stack(each)).to(device) for each in zip(*starts, strict=True))
        first, last, _ = descend_many(first, last, labels, recipe.plan)
        scale = 1 / np.sqrt(shape.inputs * shape.width)
        found = [(torch.relu(first @ x.T).transpose(1, 2) @ last.transpose(1, 2) * scale).cpu() for x in inputs]
        for number in range(len(starts)):
            yield [each[number].double().numpy() for each in found]


def encoded(matched: BoolArray) -> FloatArray:
    """States as the network sees them."""
    return np.asarray(matched / np.sqrt(np.maximum(matched.sum(axis=1, keepdims=True), 1)))


def exact_rows(_: object, job: ExactJob) -> list[Row]:
    """Predicted: the smallest width for one draw of the field. Measured: for a network of this seed."""
    regions = regions_of(job.program)
    program = regions[0].program
    parts = [(r.sample(_MOST_STATES, np.random.default_rng(0)), r.own) for r in regions]
    states = sum(len(matched) for matched, _ in parts)
    if job.quantity == "predicted":
        field = WidthField(program, program.templates)
        need = worst_needs(field, parts, draws=1, units=512, seed=job.seed)[0]
        return [(*astuple(job), program.templates, states, float(need**2))]
    width = 32.0
    while not is_exact(program, parts, 2 * round(width / 2), job.seed):
        width *= 2**0.5
    return [(*astuple(job), program.templates, states, 2 * round(width / 2))]


def is_exact(program: Program, parts: list[tuple[BoolArray, BoolArray]], width: int, seed: int) -> bool:
    """Whether one network, trained with momentum, has every bit right in all these states."""
    try:
        network, _ = train(program, Recipe(width, seed, plan=Plan(descent="momentum")))
    except TrainingError:
        return False
    labels = program.write_matrix
    for matched, own in parts:
        some = matched.any(axis=1)  # without a match every bit is 0, whatever a network says
        outputs = np.asarray(network(encoded(matched[some])), dtype=np.float64)
        m = np.asarray(matched[some] @ labels)
        if not np.array_equal((zhat(program, matched[some], outputs) > 0.5)[:, own], (m[:, own] > 0)):
            return False
    return True
