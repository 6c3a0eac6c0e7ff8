"""Following changes gives the same states as looking at everything."""

from __future__ import annotations

import numpy as np
import pytest
from cases import for_each
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import random_program

from bitwright import Builder, addition, multiplication, parse, run
from bitwright.engines.rules import LimitEngine, PackedBatch, RuleEngine
from bitwright.engines.sparse.active_blocks import ActiveBlocksBatch
from bitwright.engines.sparse.changed_bits import ChangedBitsBatch
from bitwright.engines.sparse.tables import SparseTables
from bitwright.machines import Sizes, machine_b, steps_per_instruction
from bitwright.machines.subleq import DIALECTS, Shape, machine_v
from bitwright.program import Program
from bitwright.running.endings import ending_of, step_limit
from bitwright.running.loop import drive
from bitwright.running.observers import Margins, Watch


def lockstep(program: Program, state: np.ndarray, steps: int) -> None:
    event, packed = (
        ActiveBlocksBatch(SparseTables(program), state, False),
        PackedBatch(RuleEngine(program), state[None]),
    )
    change = ChangedBitsBatch(program, state, False)
    for _ in range(steps):
        n = len(program.match(packed.states()[0]))
        event.step()
        packed.step()
        change.step()
        assert event.matches == (n, n)
        assert (event.states() == packed.states()).all()
        assert (change.states() == packed.states()).all()
        assert change.unchanged()[0] == packed.unchanged()[0]
        assert event.unchanged()[0] == packed.unchanged()[0]
        assert event.bit(program.bits - 1)[0] == packed.bit(program.bits - 1)[0]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 7), st.integers(1, 6))
def test_random_programs(seed: int, bits: int, largest: int, fan: int) -> None:
    rng = np.random.default_rng(seed)
    program = random_program(rng, bits, largest, fan)
    lockstep(program, rng.random(bits) < rng.random(), 12)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.integers(1, 5), st.integers(1, 12), st.integers(0, 60))
def test_the_sign_rule_right_or_wrong(seed: int, bits: int, largest: int, fan: int, padding: int) -> None:
    """Without padding the rule often fails, and then the next state is not that of the templates."""
    rng = np.random.default_rng(seed)
    program = random_program(rng, bits, largest, fan)
    engine = LimitEngine(program, program.templates + padding, "sign")
    state = rng.random((1, bits)) < rng.random()
    event = ActiveBlocksBatch(engine.tables, state[0], True, engine.sign_rule)
    packed = PackedBatch(engine, state)
    smallest = np.inf
    for step in range(12):
        if step == 5:  # what a host does
            on = rng.integers(bits, size=3)
            event.turn_on(on.tolist())
            state = packed.states()
            state[0, on] = True
            packed = PackedBatch(engine, state)
        event.step()
        packed.step()
        assert (event.states() == packed.states()).all()
        smallest = min(smallest, float(packed.margin()[0]))
        assert event.margin() == pytest.approx(smallest, rel=1e-9)
        assert event.unchanged()[0] == packed.unchanged()[0]


def test_some_of_these_rules_do_fail() -> None:
    rng = np.random.default_rng(0)
    program = random_program(rng, 40, 3, 8)
    assert LimitEngine(program, program.templates + 600, "sign").decisions.fails_from is None
    fails_from = LimitEngine(program, program.templates, "sign").decisions.fails_from
    assert fails_from is not None
    assert fails_from <= 10


def test_what_is_counted_along_a_leap() -> None:
    sizes = Sizes(3, 4, 5)
    machine = machine_b(sizes)
    state = np.zeros((1, machine.program.bits), dtype=bool)
    state[0, list(machine.always_on)] = True
    state[0, machine.memory_bits[1:, 2]] = True
    event = ActiveBlocksBatch(SparseTables(machine.program), state[0], False)
    steps = event.leap(10 * steps_per_instruction(sizes), (), (machine.boundary,))
    packed = PackedBatch(RuleEngine(machine.program), state)
    count, n = 0, []
    for _ in range(steps):
        n.append(len(machine.program.match(packed.states()[0])))
        packed.step()
        count += int(packed.bit(machine.boundary)[0])
    assert (event.counted, event.matches) == (count, (min(n), max(n)))
    assert count > 2


def test_sparse_blocks_of_sixteen_bits() -> None:
    b = Builder()
    x, y = b.bits("x", 16), b.bits("y", 16)
    b.block(x[:])
    b.block(y[:])
    b.when(x[:] == 1).write(y[:])
    b.when(y[:] == 1).write(x[:], y[3])
    b.when(x[:] == 0).write(y[1])
    lockstep(b.build(), np.arange(32) < 16, 6)


def test_machine_b() -> None:
    sizes = Sizes(3, 4, 5)
    machine = machine_b(sizes)
    rng = np.random.default_rng(3)
    state = rng.random(machine.program.bits) < 0.3
    lockstep(machine.program, state, 5 * steps_per_instruction(sizes))


@pytest.mark.parametrize("most", [1, 7, 1000])
def test_leaps_make_the_same_steps(most: int) -> None:
    algorithm = multiplication(5)
    state = algorithm.state({"multiplicand": 21, "multiplier": 27})
    event = ActiveBlocksBatch(SparseTables(algorithm.program), state, False)
    packed = PackedBatch(RuleEngine(algorithm.program), state[None])
    made = 0
    while made < 115:
        now = event.leap(min(most, 115 - made), ())
        for _ in range(now):
            packed.step()
        made += now
        assert (event.states() == packed.states()).all()
    assert algorithm.read(event.states()[0]) == {"product": 21 * 27}


def test_a_leap_stops_at_a_bit_and_at_a_fixed_point() -> None:
    algorithm = addition(6, counter=True)
    state = algorithm.state({"p": 33, "q": 31})
    assert isinstance(algorithm.halt, int)
    event = ActiveBlocksBatch(SparseTables(algorithm.program), state, False)
    assert event.leap(1000, (algorithm.halt,)) == 11
    assert event.bit(algorithm.halt)[0]
    again = ActiveBlocksBatch(SparseTables(algorithm.program), state, False)
    steps = again.leap(1000, ())
    assert again.unchanged()[0]
    assert steps == 12  # the last one changes nothing


def test_large_programs_take_this_way_and_small_ones_do_not() -> None:
    large, small = addition(1_000), addition(10)
    limits = [lambda p, r=rounding: LimitEngine(p, p.templates, r) for rounding in ("calibrated", "sign")]
    for make, rounded in ((RuleEngine, False), (limits[0], True), (limits[1], True)):
        state = np.zeros((1, large.program.bits), dtype=bool)
        batch = make(large.program).begin(state)
        assert isinstance(batch, ActiveBlocksBatch)
        batch.step()
        assert (batch.margin() is None) == (not rounded)
        assert isinstance(make(small.program).begin(np.zeros((1, 30), dtype=bool)), PackedBatch)


def test_programs_that_never_rest_are_followed_by_their_changes() -> None:
    machine = machine_b(Sizes(3, 4, 5))  # its read ports show all of memory in every step
    start = np.zeros((1, machine.program.bits), dtype=bool)
    for rounding in ("calibrated", "sign"):
        engine = LimitEngine(machine.program, machine.program.templates, rounding)
        wanted = ChangedBitsBatch if rounding == "calibrated" else PackedBatch
        assert isinstance(engine.begin(start, long=True), wanted)
    assert isinstance(RuleEngine(machine.program).begin(start, long=True), ChangedBitsBatch)
    assert not RuleEngine(machine_v(Shape(32, 8, DIALECTS["howerj"])).program).tables.rewrites_itself


def test_without_compiled_loops_the_answer_is_the_same() -> None:
    algorithm, inputs = addition(1500), {"p": 2**1500 - 1, "q": 1}
    by_changes, in_words = (
        run(algorithm, inputs, engine=RuleEngine(algorithm.program, compiled)) for compiled in (True, False)
    )
    assert by_changes.value == in_words.value == 2**1500
    assert (by_changes.state == in_words.state).all()
    assert by_changes.steps == in_words.steps


def test_margin_of_the_limit() -> None:
    done = run(addition(1_000), p=5, q=7, engine="limit")
    assert (done.value, done.margin) == (12, 0.5)


def test_runs_that_halt_are_counted_to_the_step() -> None:
    done = run(addition(1_000, counter=True), p=2**999, q=2**999 - 1)
    assert (done.steps, done.halted) == (1_999, True)


ENDINGS = ["halt when counter[12]", "halt at fixed point", "steps 9", "halt at fixed point\nsteps 4", "steps 0"]


@for_each("limit", [None, 0, 1, 3, 7, 40])
@for_each("ending", ENDINGS)
def test_runs_are_the_same_by_changes_and_in_packed_words(ending: str, limit: int | None) -> None:
    """All endings, limits, watches and margins: the same run whichever way it is made."""
    rules = addition(6, counter=True).text().split("input")[0]
    algorithm = parse(
        f"{rules}input p = p[1..6]\ninput q = q[1..6]\noutput s = c[6] p[1..6]\nstart counter[1]\n{ending}"
    )
    found = []
    for large, long in ((1, 10**9), (10**9, 10**9), (10**9, 2)):  # by changes, in words, first so and then so
        engine = LimitEngine(algorithm.program, algorithm.program.templates, "calibrated", large=large)
        seen: list[int] = []
        watch = Watch(algorithm.program.layout.bit("counter[3]"), lambda step, _, seen=seen: seen.append(step))
        margins, start = Margins(), algorithm.state({"p": 33, "q": 31})[None]
        done = drive(engine, start, ending_of(algorithm), step_limit(algorithm, limit), [margins, watch], long)
        smallest = None if margins.smallest is None else margins.smallest.tolist()
        found.append((done.states.tolist(), done.steps.tolist(), done.halted.tolist(), smallest, seen))
    assert found[0] == found[1] == found[2]


def test_margins_by_changes_are_those_of_every_step() -> None:
    """zhat is a whole number where anything matches, so 1/2 away; where nothing does, nothing is rounded."""
    rules = [f"when p[{place}]=1 write p[{place + 1}]" for place in (1, 2, 3)]  # after three steps nothing matches
    program = parse("\n".join(["bits p[4]", "block p[i] for i in 1..4", *rules])).program
    start = np.array([True, False, False, False])
    assert ChangedBitsBatch(program, start, False).margin() is None
    stepped, packed = (
        ChangedBitsBatch(program, start, True),
        PackedBatch(LimitEngine(program, 3, "calibrated"), start[None]),
    )
    found = []
    for _ in range(5):
        stepped.step()
        packed.step()
        assert stepped.margin() == packed.margin()
        found.append(float(stepped.margin()[0]))
    assert found == [0.5, 0.5, 0.5, np.inf, np.inf]
    leaping = ChangedBitsBatch(program, start, True)
    assert leaping.leap(10) == 5  # the last step changes nothing
    assert leaping.margin() == 0.5  # of all its steps
    assert leaping.leap(10) == 1
    assert leaping.margin() == np.inf
