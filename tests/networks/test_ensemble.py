"""Members of an ensemble in a folder, the same whatever the workers; random states of runs."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bitwright import addition, permutation
from bitwright.common.errors import InputError
from bitwright.common.workers import Workers
from bitwright.networks import Plan, Recipe, TrainingError, load_network
from bitwright.networks.cache import member_file, network_files, train_members
from bitwright.runs.successors import random_starts, random_states


@pytest.mark.parametrize("workers", [Workers(), Workers("processes", 2)])
def test_a_member_that_cannot_be_trained_is_an_error_everywhere(workers: Workers, tmp_path: Path) -> None:
    recipe = Recipe(4, seed=5, start="random", plan=Plan(descent="momentum", tolerance=1e-2))
    with pytest.raises(TrainingError):
        train_members(permutation([3, 1, 2, 5, 4]).program, recipe, 4, tmp_path, workers)


def test_states_of_runs() -> None:
    algorithm = addition(4)
    states = random_states(algorithm, 200, 3)
    assert np.array_equal(states, random_states(algorithm, 200, 3))
    assert not np.array_equal(states, random_starts(algorithm, 200, 3))
    met = set()
    for start in random_starts(algorithm, 200, 3):
        state = start
        for _ in range(algorithm.steps or 0):
            met.add(state.tobytes())
            following = np.zeros_like(state)
            for template in algorithm.program.match(state):
                following[algorithm.program.writes(template)] = True
            state = following
    assert {state.tobytes() for state in states} <= met
    two = random_starts(permutation(range(1, 9)), 50, 0, ones=2)
    assert (two.sum(axis=1) == 2).all()
    with pytest.raises(InputError, match=r"8 bits.*9"):
        random_starts(permutation(range(1, 9)), 50, 0, ones=9)


def test_members_in_a_folder(tmp_path: Path) -> None:
    program = addition(2).program
    recipe = Recipe(512, seed=1, plan=Plan(descent="momentum"))
    alone = train_members(program, recipe, 3, tmp_path / "alone")
    together = train_members(program, recipe, 3, tmp_path / "together", Workers("processes", 2))
    assert [a.read_bytes() for a in alone] == [b.read_bytes() for b in together]
    assert network_files(tmp_path / "alone") == alone
    assert load_network(alone[2], program).origin.member == 2
    alone[1].unlink()
    kept = alone[0].stat().st_mtime_ns
    assert train_members(program, recipe, 4, tmp_path / "alone")[1].read_bytes() == together[1].read_bytes()
    assert alone[0].stat().st_mtime_ns == kept
    with pytest.raises(InputError, match="other settings"):
        train_members(program, replace(recipe, seed=2), 3, tmp_path / "alone")
    with pytest.raises(InputError, match="or member-"):
        network_files(tmp_path)
    assert not member_file(tmp_path, 0).exists()
