"""Bit-sliced runs against the plain ones, on random programs, also where the sign rule goes wrong."""

from dataclasses import replace

import numpy as np
import pytest
from cases import for_each
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from long import examples
from programs import CASES, Case, crowded, random_program

from bitwright import Algorithm, Program, Word, multiplication, parse, run
from bitwright.common.bits import BoolArray
from bitwright.engines.rules import LimitEngine, RuleEngine
from bitwright.rules import FIXED_POINT
from bitwright.rules.algorithm import Halt, count_problems
from bitwright.runs.sliced import Outcome, Rows, SlicedRuns, counting, numbers
from bitwright.theory.decisions import Decisions, decide
from bitwright.theory.encoding import unpack
from bitwright.validation.judge import Walker
from paper.kernel_engine import KernelEngine

SEEDS = st.integers(0, 2**32 - 1)


def whole(program: Program, steps: int | None, halt: Halt = None) -> Algorithm:
    """An algorithm that takes and gives every bit of the state."""
    word = Word("x", tuple(range(program.bits)))
    return Algorithm("random", program, inputs=(word,), outputs=(word,), steps=steps, halt=halt)


def by_rules(algorithm: Algorithm) -> Decisions:
    return decide(algorithm.program, algorithm.program.templates, None)


def random_rows(rng: np.random.Generator, bits: int, count: int, density: float) -> Rows:
    states = rng.random((bits, 64 * -(-count // 64))) < density
    return np.packbits(states, axis=1, bitorder="little").view(np.uint64)


def assert_equal(found: Outcome, wanted: Outcome, count: int) -> None:
    assert (unpack(found.outputs, count) == unpack(wanted.outputs, count)).all()
    assert (found.unfinished == wanted.unfinished).all()
    for name in ("evaluations", "steps", "wrong_steps", "matches", "triples"):
        assert getattr(found, name) == getattr(wanted, name), name


@settings(max_examples=examples(60))
@given(
    seed=SEEDS,
    bits=st.integers(1, 40),
    largest=st.integers(1, 6),
    fan=st.integers(1, 5),
    count=st.sampled_from([1, 63, 64, 65, 130, 4096 + 70]),
    steps=st.integers(0, 70),
    halt=st.sampled_from([None, 0, FIXED_POINT]),
)
def test_runs_are_those_of_the_plain_engine(
    seed: int, bits: int, largest: int, fan: int, count: int, steps: int, halt: Halt
) -> None:
    rng = np.random.default_rng(seed)
    algorithm = whole(random_program(rng, bits, largest, fan), steps, halt)
    rows = random_rows(rng, bits, count, rng.random())
    found = SlicedRuns(algorithm, steps, by_rules(algorithm)).run(rows, count)
    wanted = Walker(algorithm, RuleEngine(algorithm.program), steps).run(rows, count)
    assert_equal(found, wanted, count)
    assert found.wrong_steps == 0
    done = run(algorithm, states=unpack(rows, count))
    assert (unpack(found.outputs, count) == done.states).all()
    assert (found.unfinished == ~done.halted).all()
    assert found.steps == done.steps.max()


@settings(max_examples=examples(40))
@given(
    writers=st.integers(2, 40),
    bystanders=st.integers(0, 30),
    padding=st.integers(0, 40),
    count=st.sampled_from([1, 80, 200]),
    steps=st.integers(1, 6),
    seed=SEEDS,
)
def test_where_the_sign_rule_goes_wrong_it_is_followed(
    writers: int, bystanders: int, padding: int, count: int, steps: int, seed: int
) -> None:
    """As `limit` does, and as a dense solve does."""
    program = crowded(writers, bystanders)
    K = program.templates + padding
    rng = np.random.default_rng(seed)
    rows = random_rows(rng, program.bits, count, 2 / writers)
    rows[writers + 1 :] |= random_rows(rng, bystanders, count, 0.8)
    algorithm = whole(program, steps)
    found = SlicedRuns(algorithm, steps, decide(program, K, "sign")).run(rows, count)
    assert_equal(found, Walker(algorithm, LimitEngine(program, K, "sign"), steps).run(rows, count), count)
    assert_equal(
        found,
        Walker(algorithm, KernelEngine(program, K, "sign"), steps).run(rows, count),
        count,
    )


@settings(max_examples=examples(25))
@given(seed=SEEDS, bits=st.integers(2, 25), padding=st.integers(0, 8))
def test_the_limit_on_random_programs_is_that_of_the_plain_engine(seed: int, bits: int, padding: int) -> None:
    rng = np.random.default_rng(seed)
    program = random_program(rng, bits, 3, 6)
    algorithm, K = whole(program, 9), program.templates + padding
    rows = random_rows(rng, bits, 150, 0.5)
    found = SlicedRuns(algorithm, 9, decide(program, K, "sign")).run(rows, 150)
    wanted = Walker(algorithm, LimitEngine(program, K, "sign"), 9).run(rows, 150)
    assert_equal(found, wanted, 150)
    margin = decide(program, K, "sign").margin(found.triples)
    assert (margin is None) == (wanted.margin is None)
    if margin is not None:
        assert margin[0] == pytest.approx(wanted.margin, rel=1e-9, abs=1e-15)


@for_each("case", CASES)
def test_the_answer_is_pythons(case: Case) -> None:
    inputs = case.inputs(most=300)
    places = [bit for word in case.algorithm.inputs for bit in word.bits]
    states = case.states(inputs)[:, places]
    padded = np.zeros((len(places), 64 * -(-len(inputs) // 64)), dtype=bool)
    padded[:, : len(inputs)] = states.T
    rows = np.packbits(padded, axis=1, bitorder="little").view(np.uint64)
    done = SlicedRuns(case.algorithm, case.algorithm.steps or 10_000, by_rules(case.algorithm)).run(rows, len(inputs))
    at = 0
    for word in case.algorithm.outputs:
        found = numbers(done.outputs[at : at + len(word.bits)], len(inputs), word.signed)
        assert found.tolist() == [case.meaning(**values)[word.name] for values in inputs]
        at += len(word.bits)


def test_chunks_of_any_size_give_the_same() -> None:
    algorithm = multiplication(4)
    rows = counting(0, 4, 8)
    whole_run = SlicedRuns(algorithm, 76, by_rules(algorithm)).run(rows, 256)
    for words in (1, 3):
        assert_equal(SlicedRuns(algorithm, 76, by_rules(algorithm), words).run(rows, 256), whole_run, 256)


@for_each("steps", [1, 2, 3, 4, 63, 64, 65, 200])
@for_each("halt", [None, FIXED_POINT])
def test_a_wrong_step_that_changes_nothing_is_counted_every_time(steps: int, halt: Halt) -> None:
    """x[1] among nine others should set y and never does, so the state rests, and every step of it is wrong."""
    rules = "bits x[14] z[9] y\nblock x[i] for i in 1..14\nblock z[i] for i in 1..9\nblock y\n"
    rules += "when x[i]=1 write y x[i] for i in 1..14\nwhen z[i]=1 write z[i] for i in 1..9\ninput x z\noutput y\n"
    program = parse(rules + "steps 1").program
    algorithm = whole(program, steps, halt)
    rows = np.zeros((program.bits, 2), dtype=np.uint64)
    rows[0, 0], rows[14:23, 0] = 0b1011, 0b0011  # lanes 0 and 1 are wrong; 3 has x[1] alone, and 2 nothing
    made = steps if halt is None else 1
    rests = [[True, False], [True, False]]
    for words in (1, 2):
        found = SlicedRuns(algorithm, steps, decide(program, program.templates, "sign"), words).run(rows, 70)
        assert found.wrong_steps == 2 * made
        assert unpack(found.outputs, 70)[:2, [0, 23]].tolist() == rests
    wanted = Walker(algorithm, LimitEngine(program, program.templates, "sign"), steps).run(rows, 70)
    assert wanted.wrong_steps == 2 * made
    assert_equal(found, wanted, 70)


def successor(program: Program, state: BoolArray) -> BoolArray:
    """Eq. (6) written out: what the matching templates write is on."""
    after = np.zeros_like(state)
    for template in program.match(state):
        after[program.writes(int(template))] = True
    return after


@settings(max_examples=examples(30))
@given(seed=SEEDS, bits=st.integers(2, 30), count=st.sampled_from([1, 64, 200]), bound=st.integers(1, 6))
def test_which_runs_match_more_than_is_declared(seed: int, bits: int, count: int, bound: int) -> None:
    rng = np.random.default_rng(seed)
    program = random_program(rng, bits, 3, 3)
    assume(not [*count_problems(program, bound, None)])
    algorithm = replace(whole(program, 5, rng.choice([None, FIXED_POINT])), matches=bound)
    rows = random_rows(rng, bits, count, 0.5)
    found = SlicedRuns(algorithm, 5, by_rules(algorithm), words=1).run(rows, count)
    states, wanted = unpack(rows, count), np.zeros(count, dtype=bool)
    for _ in range(5 + (algorithm.halt == FIXED_POINT)):  # a fixed point reached in the last step takes one more to see
        wanted |= [len(program.match(state)) > bound for state in states]
        states = np.array([successor(program, state) for state in states])
    assert found.beyond.tolist() == wanted.tolist()
    assert Walker(algorithm, RuleEngine(program), 5).run(rows, count).beyond.tolist() == wanted.tolist()
