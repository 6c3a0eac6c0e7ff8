"""Blocks from executions: the smallest that explain them, or none, and a word where others would do."""

from itertools import combinations

import numpy as np
from cases import for_each
from hypothesis import given, settings
from hypothesis import strategies as st
from long import examples, seeds
from programs import EXAMPLES

from bitwright import Algorithm, addition, multiplication, permutation
from bitwright.common.files.executions import Executions
from bitwright.inference import Elimination, Evidence
from bitwright.inference.find_blocks import SearchBudget, find_blocks, hitting_sets
from bitwright.rules import load
from bitwright.runs.successors import executions_of_inputs, random_executions

PROGRAMS: dict[str, Algorithm] = {
    "addition": addition(4),
    "permutation": permutation([3, 1, 2, 5, 4]),
    "multiplication": multiplication(3),
    "gray": load(EXAMPLES / "gray.bw", lets={"l": 6}),
    "comparison": load(EXAMPLES / "comparison.bw"),
    "subtraction": load(EXAMPLES / "subtraction.bw"),
    "rule110": load(EXAMPLES / "rule110.bw", lets={"w": 8}),
}


@for_each("name", PROGRAMS)
def test_blocks_are_found_from_random_states(name: str) -> None:
    program = PROGRAMS[name].program
    found = find_blocks(random_executions(program, 1_000, seed=7))
    assert found.blocks == sorted(program.block_members(block).tolist() for block in range(program.blocks))
    assert found.unique


def explained(executions: Executions, blocks: list[list[int]]) -> bool:
    return not Elimination(Evidence(executions), blocks).unexplained.any()


@for_each("seed", seeds(1, of=2))
def test_states_of_runs_do_not_single_out_the_blocks_of_multiplication(seed: int) -> None:
    executions = executions_of_inputs(multiplication(4), 16, seed)
    found = find_blocks(executions)
    assert not found.unique
    assert explained(executions, found.blocks)
    for block in found.blocks:  # none of them can be split
        rest = [other for other in found.blocks if other != block]
        for size in range(1, len(block)):
            for left in combinations(block, size):
                right = [bit for bit in block if bit not in left]
                assert not explained(executions, [*rest, list(left), right])


def majority(bits: int, states: int) -> Executions:
    before = np.random.default_rng(0).random((states, bits)) < 0.5
    after = np.zeros_like(before)
    after[:, 0] = before.sum(axis=1) > bits / 2
    return Executions(before, after, tuple(f"x[{i + 1}]" for i in range(bits)))


def test_bits_that_are_read_together_share_a_block() -> None:
    assert find_blocks(majority(5, 500)).blocks == [[0, 1, 2, 3, 4]]


def test_none_is_said_where_no_blocks_do() -> None:
    found = find_blocks(majority(9, 3_000))
    assert (found.blocks, found.gave_up) == (None, False)
    assert found.unexplained is not None


def test_the_same_state_with_two_successors_has_no_blocks() -> None:
    before = np.ones((2, 3), dtype=bool)
    after = np.array([[1, 0, 0], [0, 0, 0]], dtype=bool)
    found = find_blocks(Executions(before, after, ("a", "b", "c")))
    assert (found.blocks, found.unexplained) == (None, (0, 0))


@given(st.integers(0, 2**32), st.integers(1, 7), st.integers(0, 8))
@settings(max_examples=examples(80))
def test_hitting_sets_are_all_minimal_ones(seed: int, elements: int, sets: int) -> None:
    member = np.random.default_rng(seed).random((elements, sets)) < 0.5
    expected: list[frozenset[int]] = []
    for size in range(elements + 1):
        for chosen in map(frozenset, combinations(range(elements), size)):
            hits = bool(member[sorted(chosen)].any(axis=0).all()) if chosen else not sets
            if hits and not any(known <= chosen for known in expected):
                expected.append(chosen)
    found = [frozenset(one) for level in hitting_sets(member, elements, SearchBudget(10**6)) for one in level]
    assert sorted(map(sorted, found)) == sorted(map(sorted, expected))
