"""Hosts between steps, limits of instructions, and batches that go on."""

import numpy as np
import pytest
from subleq_interpreter import Interpreter

from bitwright.common.bits import BoolArray
from bitwright.engines.make import make_engine
from bitwright.engines.rules import RuleEngine
from bitwright.machines.subleq import DIALECTS, Shape, assemble_sq, machine_v
from bitwright.machines.subleq.computer import Computer
from bitwright.rules.algorithms import multiplication
from bitwright.rules.layout import IntArray
from bitwright.runs.loop import StepCount, drive
from bitwright.runs.observers import StepComparison

MULTIPLY = multiplication(4)
TALK = "loop: in x\nout x\nadd #1, x\njle x, end\njmp loop\nend: halt\nx: .data 0"


def products(pairs: list[tuple[int, int]]) -> BoolArray:
    names = [word.name for word in MULTIPLY.inputs]
    return np.array([MULTIPLY.state(dict(zip(names, pair, strict=True))) for pair in pairs])


@pytest.mark.parametrize("cut", [0, 1, 7, 30])
def test_a_batch_goes_on_from_where_it_is(cut: int) -> None:
    engine, starts = RuleEngine(MULTIPLY.program), products([(3, 5), (15, 15), (0, 9)])
    assert MULTIPLY.steps is not None
    batch = engine.begin(starts)
    drive(engine, batch, StepCount(cut), cut)
    left = MULTIPLY.steps - cut
    done = drive(engine, batch, StepCount(left), left)
    assert [next(iter(MULTIPLY.read(state).values())) for state in done.states] == [15, 225, 0]
    assert done.halted.all()


def test_a_machine_that_waits_for_its_host_is_not_stuck() -> None:
    """At a request nothing moves until the host gives a byte. Without a token nothing ever moves."""
    machine = machine_v(Shape(64, 8, DIALECTS["howerj"]))
    engine, said, supply = RuleEngine(machine.program), bytearray(), iter(b"ab")
    start = machine.start(assemble_sq(TALK).image)
    ending = Computer(machine, engine, start, lambda: next(supply, None), said.append).run()
    assert (ending.reason, bytes(said), ending.tally.inputs, ending.tally.outputs) == ("halt", b"ab\xff", 2, 3)
    assert Computer(machine, engine, np.zeros_like(start)).run().reason == "stuck"


def test_a_limit_is_met_to_the_instruction() -> None:
    """Instructions that read, write and compute take different times; none is passed over and none cut short."""
    machine, image = machine_v(Shape(64, 8, DIALECTS["howerj"])), assemble_sq(TALK).image
    engine = make_engine("templates", machine.program)
    for limit in range(45):
        supply, same = iter(b"0123456"), iter(b"0123456")
        computer = Computer(machine, engine, machine.start(image), lambda supply=supply: next(supply, None))
        ending = computer.run(instructions=limit)
        truth = Interpreter(machine.shape, image, lambda same=same: next(same, None), lambda _: None)
        for _ in range(limit):
            assert truth.step()
        assert (ending.reason, ending.tally.instructions) == ("limit", limit)
        assert (ending.pc, computer.memory()) == (truth.pc, truth.memory)


def test_steps_that_are_not_those_of_the_rules_are_counted() -> None:
    """The engine makes the steps of the rules; compared with others, as many are wrong as differ from them."""
    engine = RuleEngine(MULTIPLY.program)
    frozen = StepComparison(lambda states, _: states)
    runs: list[list[int]] = []

    def by_match(states: BoolArray, rows: IntArray) -> BoolArray:
        runs.append(rows.tolist())
        next_states = np.zeros_like(states)
        for state, after in zip(states, next_states, strict=True):
            for template in MULTIPLY.program.match(state):
                after[MULTIPLY.program.writes(template)] = True
        return next_states

    right = StepComparison(by_match)
    assert MULTIPLY.steps is not None
    drive(engine, products([(3, 5), (2, 2)]), StepCount(MULTIPLY.steps), MULTIPLY.steps, [frozen, right])
    assert (right.wrong_steps, right.evaluations) == (0, 2 * MULTIPLY.steps)
    assert 0 < frozen.wrong_steps <= frozen.evaluations == 2 * MULTIPLY.steps
    assert all(rows == [0, 1] for rows in runs)
