"""The program library on the machines themselves: templates and limit, both roundings, both machines."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from long import LONG

from bitwright import InputError, run
from bitwright.engines.make import make_engine
from bitwright.machines import Code, load_sbn, machine_a, machine_b, run_interpreter
from bitwright.proofs.certificate import certify
from bitwright.theory import smallest_examples

FOLDER = Path(__file__).parent.parent.parent / "examples" / "sbn"
LIBRARY = sorted(FOLDER.glob("*.sbn"))
MACHINES = {"A": machine_a, "B": machine_b}


def some_inputs(code: Code, count: int = 6) -> list[dict[str, int]]:
    """Small random inputs with which the interpreter halts soon."""
    rng = random.Random(code.name)
    found: list[dict[str, int]] = []
    while len(found) < count:
        values = {name: rng.randrange(1, 8) for name in code.inputs}
        try:
            run_interpreter(code, values, limit=100)
        except InputError:  # it takes longer
            continue
        found.append(values)
    return found


@pytest.mark.parametrize(  # all on both machines, or some on one and the other in turn
    ("path", "kind"),
    [(path, kind) for n, path in enumerate(LIBRARY[:: 1 if LONG else 3]) for kind in ("AB" if LONG else "AB"[n % 2])],
    ids=lambda given: getattr(given, "stem", given),
)
def test_answers_are_those_of_the_interpreter(path: Path, kind: str) -> None:
    code = load_sbn(path)
    machine = MACHINES[kind](code.sizes)
    algorithm = machine.algorithm(code)
    inputs = some_inputs(code)
    states = np.array([algorithm.state(values) for values in inputs])
    needed = smallest_examples(machine.program)
    assert certify(machine.program, "sign", examples=needed).certified
    for engine in (
        make_engine("templates", machine.program),
        make_engine("limit", machine.program),
        make_engine("limit", machine.program, rounding="sign", examples=needed),
    ):
        done = run(algorithm, states=states, engine=engine)
        assert done.halted.all()
        for values, state in zip(inputs, done.states, strict=True):
            assert algorithm.read(state) == run_interpreter(code, values), (engine.describe(), values)
