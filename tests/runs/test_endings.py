"""Endings together, hosts between steps, and batches that go on: the one loop with more than a halt bit."""

import numpy as np
import pytest

from bitwright.common.bits import BoolArray
from bitwright.engines.make import make_engine
from bitwright.engines.rules import RuleEngine
from bitwright.machines.subleq import DIALECTS, Interpreter, Shape, assemble_sq, machine_v
from bitwright.machines.subleq.computer import Computer
from bitwright.machines.subleq.host import Host
from bitwright.rules.algorithms import multiplication
from bitwright.rules.layout import IntArray
from bitwright.runs.loop import ENDLESS, FirstOf, HaltBit, StepCount, Stuck, When, drive
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


def test_the_first_of_several_endings_gives_the_reason() -> None:
    engine, starts = RuleEngine(MULTIPLY.program), products([(3, 5), (2, 2)])
    asked: list[str] = []

    def says(name: str, when: int) -> When:
        def said() -> bool:
            asked.append(name)
            return asked.count(name) == when

        return When(said)

    ending = FirstOf({"late": says("late", 9), "first": says("first", 4), "same": says("same", 4)})
    done = drive(engine, starts, ending, ENDLESS)
    assert ending.reason == {0: "first", 1: "first"}
    assert done.steps.tolist() == [4, 4]
    assert (asked.count("late"), asked.count("same")) == (4, 3)  # who comes after the end is not asked


def test_a_machine_that_waits_for_its_host_is_not_stuck() -> None:
    """A request is a state in which nothing moves; what the host gives moves it on."""
    machine = machine_v(Shape(64, 8, DIALECTS["howerj"]))
    engine, said = RuleEngine(machine.program, compiled=False), [bytearray(), bytearray()]
    supply = [iter(b"ab"), iter(b"")]
    host = Host(machine, lambda run: next(supply[run], None), lambda run, byte: said[run].append(byte))
    starts = np.array([machine.start(assemble_sq(TALK).image)] * 2)
    ending = FirstOf({"halt": HaltBit(machine.halt), "stuck": Stuck()})
    drive(engine, starts, ending, ENDLESS, [host])
    assert ending.reason == {0: "halt", 1: "halt"}
    assert [bytes(text) for text in said] == [b"ab\xff", b"\xff"]
    assert (host.inputs, host.outputs) == (2, 4)
    alone = FirstOf({"halt": HaltBit(machine.halt), "stuck": Stuck()})
    drive(engine, starts, alone, ENDLESS)
    assert alone.reason == {0: "stuck", 1: "stuck"}


@pytest.mark.parametrize("compiled", [True, False])
def test_a_limit_is_met_to_the_instruction(compiled: bool) -> None:
    """Instructions that read, write and compute take different times; none is passed over and none cut short."""
    machine, image = machine_v(Shape(64, 8, DIALECTS["howerj"])), assemble_sq(TALK).image
    engine = make_engine("templates", machine.program, compiled=compiled)
    for limit in range(0, 45, 1 if compiled else 7):
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
