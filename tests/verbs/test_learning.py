"""Learning from executions in Python: the same networks as the command line trains, and the same words."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from cases import for_each
from facts import missing
from programs import EXAMPLES

import bitwright as bw
from bitwright.common.files.executions import load_executions
from bitwright.networks.descent import History
from bitwright.verbs.executions import Sample

SMALL = bw.addition(2)


def test_executions_are_held_or_in_a_file(tmp_path: Path) -> None:
    held = bw.executions(SMALL, "runs", runs=10)
    held.save(tmp_path / "runs.npz")
    assert np.array_equal(load_executions(tmp_path / "runs.npz").before, held.before)
    assert np.array_equal(bw.executions(SMALL, tmp_path / "runs.npz").after, held.after)
    made = [
        bw.train(SMALL, tile="all", width=256, executions=source) for source in (held, tmp_path / "runs.npz", "runs")
    ]
    origins = [network.weights.origin.executions for network in made]
    assert made[0].digest == made[1].digest
    assert [origin and origin.source for origin in origins] == ["file", "file", "runs"]
    with pytest.warns(bw.BitwrightWarning, match=r"local states? are wrong"):
        bw.train(SMALL, executions=held, width=256, seeds=1)


def test_what_runs_never_show_is_the_cause_and_said() -> None:
    """Nothing that a wider network could mend: of one template runs of this program show nothing."""
    algorithm = bw.open(EXAMPLES / "comparison.bw", l=3)
    with pytest.warns(bw.BitwrightWarning, match=r"never match 1 template .*kind1_block2") as said:
        found = bw.train(algorithm, executions="runs", width=256, seeds=2)
    assert not found.proved
    assert "after 2 seeds" in str(said[0].message)
    assert str(said[0].message).endswith("use random states (executions states)")
    assert said[0].filename == __file__
    assert bw.train(algorithm, executions="states", width=256).proved  # the cure


def test_a_network_that_is_wrong_somewhere_is_said() -> None:
    with pytest.warns(bw.BitwrightWarning, match=r"states.*2") as said:
        found = bw.train(bw.multiplication(3), width=64, tolerance=0.4, seeds=2)
    assert said[0].filename == __file__
    assert not found.proved
    assert found.to_dict()["wrong"] > 0


def test_advice_is_something_that_can_be_done() -> None:
    stalled = History([1.0, 0.5], [1.0, 0.5]).give_up(1e-3)
    assert str(stalled).endswith("use a wider network or a larger tolerance")


WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "a word": (lambda: bw.train(SMALL, executions="walks"), ".npz 'walks'"),
    "a number": (lambda: bw.train(SMALL, executions=3), "executions must"),  # type: ignore[arg-type]
    "runs of states": (lambda: Sample("states", runs=5), "random states"),
    "no states": (lambda: Sample("states", states=0), "1 1,000,000 0"),
    "text": (lambda: Sample("states", states="9"), "'9'"),  # type: ignore[arg-type]
    "seed": (lambda: Sample("states", sample_seed=-1), "sample_seed 0 -1"),
    "labels": (lambda: Sample("states", labels="plane"), "'plane' 'plain'"),  # type: ignore[arg-type]
    "padding": (lambda: bw.train(SMALL, executions="states", padding=3), "padding templates"),
    "others": (lambda: bw.train(SMALL, executions=bw.executions(bw.addition(3))), "9 bits"),
    "sizes": (lambda: bw.train([SMALL, bw.addition(3)], executions=bw.executions(SMALL)), "executions"),
}


@for_each("name", WRONG)
def test_what_cannot_be_learnt_from(name: str) -> None:
    call, message = WRONG[name]
    with pytest.raises(bw.InputError) as refused:
        call()
    assert missing(str(refused.value), message) == []
