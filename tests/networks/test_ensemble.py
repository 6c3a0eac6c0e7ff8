"""Ensembles: the same to the last bit whatever the workers, blocks in between, or interruptions."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from long import LONG
from waiting import wait_until

from bitwright import addition, permutation
from bitwright.cli.main import main
from bitwright.errors import InputError
from bitwright.networks import Plan, Recipe, TrainingError, load_network, train
from bitwright.networks.cache import member_file, network_files, train_members
from bitwright.networks.ensemble import EnsemblePart, Study, grow
from bitwright.running.successors import random_starts, random_states
from bitwright.theory.encoding.training_set import TrainingSet
from bitwright.workers import Workers

SMALL = Recipe(256, seed=5, start="random", plan=Plan(descent="momentum", tolerance=1e-2))


def study(**changes: object) -> Study:
    algorithm = permutation([3, 1, 2, 5, 4])
    return Study(algorithm.program, SMALL, random_starts(algorithm, 20, 0), **changes)  # type: ignore[arg-type]


def test_statistics_are_those_of_the_members() -> None:
    ask = study(block=3, keep=True)
    parts: list[EnsemblePart] = []
    found = grow(ask, 7, see=parts.append)
    encoded = TrainingSet(ask.program).encode(ask.states)
    outputs = np.stack([train(ask.program, replace(SMALL, member=m))[0](encoded) for m in range(9)])
    assert found.count == 9  # whole blocks
    assert np.array_equal(np.concatenate([p.outputs for p in parts if p.outputs is not None]), outputs)
    assert np.allclose(found.mean, outputs.mean(axis=0, dtype=np.float64), rtol=0, atol=1e-12)
    assert np.allclose(found.variance, outputs.var(axis=0, dtype=np.float64, ddof=1), rtol=1e-9)


def test_a_file_is_taken_up_and_can_be_asked_for_less_or_more(tmp_path: Path) -> None:
    ask, file = study(), tmp_path / "file"
    four = grow(ask, 4, file=file)
    size = file.stat().st_size
    trained: list[int] = []
    again = grow(ask, 4, file=file, see=lambda part: trained.append(part.count))
    assert file.stat().st_size == size
    assert len(trained) == 4
    assert np.array_equal(four.mean, again.mean)
    assert grow(ask, 2, file=file).count == 2
    assert file.stat().st_size == size
    assert np.array_equal(grow(ask, 6, file=file).mean, grow(ask, 6).mean)
    with pytest.raises(InputError, match=r"begun.*5.*6"):
        grow(replace(ask, recipe=replace(SMALL, seed=6)), 4, file=file)
    with pytest.raises(InputError, match="states_sha256"):
        grow(replace(ask, states=~ask.states), 4, file=file)


def test_a_member_that_cannot_be_trained_is_an_error_everywhere() -> None:
    ask = replace(study(), recipe=replace(SMALL, width=4))
    for workers in (Workers(), Workers("processes", 2)):
        with pytest.raises(TrainingError):
            grow(ask, 4, workers=workers)


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
    with pytest.raises(InputError, match=r"9.*them"):
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


TRAIN = "train permutation --ensemble --tile all --bits 5 -q --width 256 --tolerance 1e-2"


@pytest.mark.waits
def test_killed_again_and_again_it_ends_with_the_same_file(tmp_path: Path) -> None:
    """kill -9 when the file is there, then whenever it has grown by some bytes; what is killed would go on for ever."""
    command = TRAIN.split()
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    endless = [sys.executable, "-m", "bitwright", *command, "--networks", str(10**7), "-o", str(killed)]

    def grow_to(networks: int, path: Path) -> int:
        assert main([*command, "--networks", str(networks), "-o", str(path)]) == 0
        return path.stat().st_size

    rng = random.Random(1)
    size = kill_at(endless, killed, 1)
    for _ in range(7 if LONG else 1):
        size = kill_at(endless, killed, size + rng.randint(1, 10_000))
    one, two = grow_to(1, whole), grow_to(2, whole)
    members = 3 + (size - one) // (two - one)  # some more than there are
    assert grow_to(members, killed) == grow_to(members, whole)
    assert killed.read_bytes() == whole.read_bytes()


def kill_at(command: list[str], path: Path, size: int) -> int:
    """Starts this, kills it as soon as its file has that many bytes, and says how many it has then."""
    process = subprocess.Popen(command, stderr=subprocess.PIPE)

    def large() -> bool:
        return path.exists() and path.stat().st_size >= size

    wait_until(lambda: large() or process.poll() is not None, "the file has grown")
    process.kill()
    _, said = process.communicate()
    assert process.returncode == -signal.SIGKILL, said
    return path.stat().st_size
