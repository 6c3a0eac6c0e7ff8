"""Tasks of CLRS-30 on stored samples of dm-clrs: what our programs put out is what its algorithms put out."""

from pathlib import Path

import numpy as np
import pytest

from bitwright import train
from examples.clrs import stored
from examples.clrs.tasks import TASKS, Player, fixed_point, opened

SAMPLES = stored.load()
BY_NETWORK = ("minimum", "insertion_sort", "binary_search", "naive_string_matcher", "bfs", "dfs", "topological_sort")


def check(task: str, length: int, play: Player) -> None:
    sample = {name: array[0] for name, array in SAMPLES[task, length].items()}
    found = TASKS[task](play, sample)
    truth = {name[1:]: array for name, array in sample.items() if name.startswith("=")}
    assert found.keys() == truth.keys()
    for name, wanted in truth.items():
        asked = wanted != -1  # dm-clrs masks what it does not ask for
        assert np.array_equal(found[name][asked], wanted[asked]), name


@pytest.mark.parametrize("task", TASKS)
def test_outputs_are_those_of_dm_clrs(task: str) -> None:
    check(task, 16, Player(None))


def test_one_network_runs_several_tasks_at_length_64() -> None:
    network = train([opened(name) for name in ("order", "binary-search", "string-matcher", "bfs", "depth-first")])
    assert network.proved
    for task in BY_NETWORK:
        check(task, 64, Player(network))


def test_a_pattern_that_is_not_found() -> None:
    sample = {name: array[0].copy() for name, array in SAMPLES["naive_string_matcher", 16].items()}
    pattern = sample["string"] == 1
    sample["key"][~pattern] = np.roll(sample["key"][pattern][0], 1)  # one letter only, and the pattern has another
    found = TASKS["naive_string_matcher"](Player(None), sample)["match"]
    assert np.flatnonzero(found).tolist() == [int(np.argmax(pattern))]


def test_fixed_point_is_exact() -> None:
    given = np.array([0.1, -1.75, 3.0])
    (whole,), bits = fixed_point(given)
    assert [value / 2**55 for value in whole] == given.tolist()
    assert bits == 57


def test_samples_that_were_changed_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = tmp_path / "samples.json"
    text = stored.DIGESTS.read_text()
    digest = stored.digest(SAMPLES["bfs", 16])
    assert digest in text
    changed.write_text(text.replace(digest, "0" * 64))
    monkeypatch.setattr(stored, "DIGESTS", changed)
    with pytest.raises(ValueError, match=r"samples.*16"):
        stored.load()
