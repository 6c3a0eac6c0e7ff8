"""Finds `invariant` lines that a run violates. A false hint does not break a proof, but its author should know."""

from __future__ import annotations

from random import Random

import numpy as np

from bitwright.common.bits import from_bit_rows
from bitwright.common.errors import BitwrightError
from bitwright.engines.rules import RuleEngine
from bitwright.proofs.trials import Inputs, all_inputs, random_inputs
from bitwright.rules import Algorithm
from bitwright.rules.ensures import EnsureLine
from bitwright.runs.loop import drive, ending_of, step_limit
from bitwright.runs.observers import Observer, View

SIZES = (1, 2, 3, 5)  # sizes to try besides the program's own
MOST_WORK = 200_000  # templates times steps of a run to try
_INPUTS, _STEPS = 64, 4_000


def false_hint(algorithm: Algorithm) -> str:
    """Returns a sentence about an `invariant` line that is false in a tried run, or an empty string.

    >>> from dataclasses import replace
    >>> from bitwright import addition
    >>> false_hint(replace(addition(2), ensures=(), invariants=("p + q + 2*c == in.p + in.q", "q <= in.q")))
    'the invariant q <= in.q is false after 2 steps of the run of p=1 q=1'
    """
    if not algorithm.invariants:
        return ""
    sizing, first = algorithm.sizing, ""
    if sizing is not None:
        first = next(iter(sizing.numbers), "")
    for size in (None, *SIZES) if first else (None,):
        try:
            one = algorithm if size is None or sizing is None else sizing.at(**{first: size})
        except BitwrightError:
            continue
        if step_limit(one, None if one.steps is not None else _STEPS) * one.program.templates > MOST_WORK:
            continue
        few = len(one.input_bits) <= _INPUTS.bit_length() - 1
        inputs = list(all_inputs(one)) if few else random_inputs(one, _INPUTS, Random(3))
        inputs = [values for values in inputs if one.allows(values)]
        if not inputs:
            continue
        states = np.array([one.state(values) for values in inputs])
        watch = _HintObserver(one, inputs)
        drive(RuleEngine(one.program), states, ending_of(one), step_limit(one, _STEPS), [watch])
        if watch.found:
            return watch.found + (f" at {first}={size}" if size is not None else "")
    return ""


class _HintObserver(Observer):
    """Evaluates every line in every state."""

    every_step = True

    def __init__(self, algorithm: Algorithm, inputs: list[Inputs]) -> None:
        fields = [item for item in algorithm.program.layout.fields if len(item.shape) <= 1]
        self.bits = {item.name: item.bits() for item in fields}
        self.lines, self.inputs, self.found = algorithm.invariants, inputs, ""

    def start(self, view: View) -> None:
        self.after(view)

    def after(self, view: View) -> None:
        if self.found or view.beyond:
            return
        states, rows = view.batch.states()[view.running], view.rows[view.running].tolist()
        values = {name: from_bit_rows(states[:, bits]).astype(object).tolist() for name, bits in self.bits.items()}
        for line in self.lines:
            for at, row in enumerate(rows):
                if not line.holds(self.inputs[row], {name: column[at] for name, column in values.items()}):
                    self.found = _shown(line, self.inputs[row], view.step)
                    return


def _shown(line: EnsureLine, inputs: Inputs, step: int) -> str:
    given = " ".join(f"{name}={value}" for name, value in inputs.items())
    when = "at the start" if not step else f"after {step} step{'s' * (step > 1)}"
    return f"the invariant {line} is false {when} of the run{f' of {given}' * bool(given)}"
