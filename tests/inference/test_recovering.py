"""Templates from executions with known blocks: what is confirmed is true, and what is not determined is said."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from long import examples
from programs import EXAMPLES, random_program

from bitwright import Algorithm, Program, addition, multiplication, permutation
from bitwright.common.files.executions import Executions
from bitwright.inference import Elimination, Evidence, Recovered, find_contradiction
from bitwright.rules import load
from bitwright.runs.successors import executions_of_inputs, random_executions

PROGRAMS: dict[str, tuple[Algorithm, int]] = {
    "addition": (addition(8), 300),
    "multiplication": (multiplication(4), 600),
    "gray": (load(EXAMPLES / "gray.bw"), 300),
    "rule110": (load(EXAMPLES / "rule110.bw"), 1_000),
    "permutation": (permutation([3, 1, 2, 5, 4]), 50),
}


def blocks_of(program: Program) -> list[list[int]]:
    return [program.block_members(block).tolist() for block in range(program.blocks)]


def recover(program: Program, executions: Executions) -> Recovered:
    return Recovered(executions, program.layout, blocks_of(program))


@pytest.mark.parametrize("name", PROGRAMS)
def test_random_states_give_the_program_back(name: str) -> None:
    algorithm, states = PROGRAMS[name]
    found = recover(algorithm.program, random_executions(algorithm.program, states, seed=1))
    assert found.determined
    assert found.program() == algorithm.program


def test_real_runs_leave_writes_open_and_confirm_nothing_wrong() -> None:
    algorithm = multiplication(4)
    executions = executions_of_inputs(algorithm, 200)
    found = recover(algorithm.program, executions)
    assert found.seen < found.configurations
    assert found.undetermined > 0
    assert not found.determined
    assert found.reproduced(found.program()) < len(executions)  # what is open is left out
    assert all(true for true, _, confirmed in truth(algorithm.program, found) if confirmed)


def truth(program: Program, found: Recovered) -> list[tuple[bool, bool, bool]]:
    """For every write of a configuration that was seen: whether it is true, open, confirmed."""
    rows = []
    for block, kept, proved in zip(
        found.elimination.blocks, found.elimination.open, found.elimination.confirmed, strict=True
    ):
        number = int(program.block_of[block.bits[0]])
        for template, may, must in zip(
            program.lookup(np.full(len(block.configs), number), block.configs), kept, proved, strict=True
        ):
            writes = set(program.writes(int(template)).tolist()) if template >= 0 else set()
            rows += [(bit in writes, bool(may[bit]), bool(must[bit])) for bit in range(program.bits)]
    return rows


@given(st.integers(0, 2**32), st.integers(2, 12), st.integers(1, 4), st.integers(1, 60))
@settings(max_examples=examples(60))
def test_no_confirmed_write_is_wrong_and_no_cleared_one_right(seed: int, bits: int, largest: int, states: int) -> None:
    program = random_program(np.random.default_rng(seed), bits, largest, 3)
    found = recover(program, random_executions(program, states, seed=seed))
    for true, may, must in truth(program, found):
        assert not must or (true and may)
        assert not true or may


@given(st.integers(0, 2**32))
@settings(max_examples=examples(20))
def test_elimination_is_what_its_definition_says(seed: int) -> None:
    program = random_program(np.random.default_rng(seed), 6, 3, 2)
    executions = random_executions(program, 15, seed=seed)
    found = recover(program, executions)
    config = program.configurations(executions.before)
    for number, block in enumerate(found.elimination.blocks):
        for row, seen in enumerate(block.configs.tolist()):
            has = config[:, number] == seen
            may = executions.after[has].all(axis=0)
            assert found.elimination.open[number][row].tolist() == may.tolist()


def flipped(executions: Executions, state: int, bit: int) -> Executions:
    after = executions.after.copy()
    after[state, bit] ^= True
    return replace(executions, after=after)


@pytest.mark.parametrize("value", [False, True])
def test_one_wrong_bit_in_ten_thousand_states_is_found(value: bool) -> None:
    program = addition(8).program
    right = random_executions(program, 10_000, seed=4)
    bit = 3
    state = int(np.flatnonzero(right.after[:, bit] == value)[700])
    elimination = Elimination(Evidence(flipped(right, state, bit)), blocks_of(program))
    found = find_contradiction(elimination)
    assert found.bit == bit
    assert value or found.state == state
    assert find_contradiction(Elimination(Evidence(right), blocks_of(program))) is None


def test_a_witness_is_one_and_none_shorter_exists() -> None:
    names = ("a", "b", "c")
    before = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 1, 1], [1, 0, 0]], dtype=bool)
    after = np.zeros_like(before)
    after[4, 2] = True  # the same state as the first, which left c off
    elimination = Elimination(Evidence(Executions(before, after, names)), [[0], [1], [2]])
    found = find_contradiction(elimination)
    assert (found.bit, found.state, found.cleared_by, found.states) == (2, 4, (0,), 1)
