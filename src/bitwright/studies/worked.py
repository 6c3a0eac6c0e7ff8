"""The worked example that the pictures of a program show: a program, one input, and what becomes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bitwright.algorithms import addition
from bitwright.bits import BoolArray
from bitwright.encoding.training_set import TrainingSet
from bitwright.errors import InputError
from bitwright.program import Algorithm
from bitwright.studies.figure import Setting

MAX_TEMPLATES, MAX_BITS = 64, 80


@dataclass(frozen=True)
class Worked:
    """An algorithm, its training set, and the state from which the picture starts."""

    algorithm: Algorithm
    values: Mapping[str, int]
    state: BoolArray  # (k,)
    examples: TrainingSet

    @property
    def title(self) -> str:
        given = ", ".join(f"{name} = {value}" for name, value in self.values.items())
        return f"{self.algorithm.name}{': ' if given else ''}{given}"


def worked_example(setting: Setting) -> Worked:
    """The paper's p = 2, q = 3 with two bits each; or the program and inputs that are asked for."""
    algorithm, values = setting.algorithm, dict(setting.values)
    if algorithm is None:
        algorithm, values = addition(2), {"p": 2, "q": 3}
    program = algorithm.program
    if program.templates > MAX_TEMPLATES or program.bits > MAX_BITS:
        raise InputError(
            f"a picture shows at most {MAX_TEMPLATES} templates and {MAX_BITS} bits; {algorithm.name} has "
            f"{program.templates:,} and {program.bits:,}; choose fewer --bits"
        )
    if not values:  # any input shows the program; all ones match the most
        values = {word.name: (1 << (len(word.bits) - word.signed)) - 1 for word in algorithm.inputs}
    return Worked(algorithm, values, algorithm.state(values), TrainingSet(program))


def run_states(worked: Worked, most: int = 12) -> tuple[BoolArray, str]:  # (steps + 1, k)
    """The states of the run, and how it ends: `steady` (nothing changes any more), `done`, or `cut` after `most`."""
    algorithm, program, states = worked.algorithm, worked.algorithm.program, [worked.state]
    while True:
        now, made = states[-1], len(states) - 1
        if made == algorithm.steps or (isinstance(algorithm.halt, int) and now[algorithm.halt]):
            return np.array(states), "done"
        after = np.zeros(program.bits, dtype=bool)
        for template in program.match(now).tolist():
            after[program.writes(template)] = True
        if np.array_equal(after, now):
            return np.array(states), "steady"
        if made == most:
            return np.array(states), "cut"
        states.append(after)
