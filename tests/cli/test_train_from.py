"""`train --from`: networks that never saw a template alone, proved; and executions that cannot be learnt from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from calling import Captured, call, refusal
from cases import for_each

from bitwright import addition
from bitwright.files.executions import Executions, save_executions
from bitwright.networks.store import read_about
from bitwright.running.successors import executions_of_inputs, random_executions, successors

CELLS = [
    # Of two positions of addition, real runs show 46 of 128 local states; all 128 are right.
    (["addition", "--bits", "8", "--tile", "2", "--from", "runs", "--width", "1024"], 128),
    (["addition", "--bits", "8", "--tile", "2", "--from", "states", "--states", "40", "--width", "1024"], 128),
    (["multiplication", "--bits", "3", "--from", "states", "--states", "600", "--width", "1024"], 345),
]


@pytest.mark.parametrize(("arguments", "local_states"), CELLS)
def test_cells_learnt_from_executions_are_proved(
    capsys: Captured, tmp_path: Path, arguments: list[str], local_states: int
) -> None:
    net, proof = tmp_path / "net.safetensors", tmp_path / "net.json"
    code, out, err = call(capsys, "train", *arguments, "-o", net, "--json")
    assert (code, err.count("condition number")) == (0, 1)
    said = json.loads(out)
    assert said["wrong"] == 0
    assert said["local_states"] == local_states
    assert said["executions"]["examples"] < local_states  # some are never shown
    assert call(capsys, "certify", arguments[0], "--network", net, "-o", proof, "-q")[0] == 0
    assert call(capsys, "certify", arguments[0], "--network", net, "--check", proof, "-q")[0] == 0
    verb, expected = ("add", 65_535 + 1) if arguments[0] == "addition" else ("multiply", 65_535)
    code, out, _ = call(capsys, verb, 65_535, 1, "--engine", "network", "--network", net, "-q")
    assert (code, out.split()[0]) == (0, str(expected))


def test_a_network_of_whole_states_is_proved_in_all_of_them(capsys: Captured, tmp_path: Path) -> None:
    net = tmp_path / "net.safetensors"
    code, _, err = call(capsys, "train --tile all addition --bits 3 --from states --integer -o", net)
    assert code == 0
    assert "random states" in err
    assert call(capsys, "certify addition --bits 3 --network", net, "-q")[0] == 0
    code, out, _ = call(capsys, "show", net)
    assert "different examples in 240 random states, sample seed 0, scaled labels; sha256" in out


def test_what_runs_never_show_is_found_and_the_runs_are_proved(capsys: Captured, tmp_path: Path) -> None:
    """Plain labels learnt from all runs: right in every run, wrong in a state that no run meets."""
    net = tmp_path / "net.safetensors"
    how = ["--from", "runs", "--runs", 60, "--labels", "plain", "--seeds", 1, "--width", 1024]
    assert call(capsys, "train --tile all addition --bits 3", *how, "-o", net, "-q")[0] == 1
    asked = ["certify", "addition", "--bits", 3, "--network", net, "--json"]
    code, out, _ = call(capsys, *asked)
    assert (code, json.loads(out)["verdict"]) == (1, "refuted")
    code, out, _ = call(capsys, *asked, "--domain", "runs")
    assert (code, json.loads(out)["verdict"]) == (0, "certified")


def test_a_file_teaches_what_its_states_do(capsys: Captured, tmp_path: Path) -> None:
    """Also with its columns in another order; the network is that of the same states."""
    net = tmp_path / "net.safetensors"
    made = executions_of_inputs(addition(3), 40)
    order = np.random.default_rng(0).permutation(len(made.names))
    names = tuple(made.names[place] for place in order)
    save_executions(tmp_path / "runs.npz", Executions(made.before[:, order], made.after[:, order], names))
    code, _, _ = call(
        capsys, "train --tile all --float addition --bits 3 --from", tmp_path / "runs.npz", "-o", net, "-q"
    )
    assert code == 0
    learnt = read_about(net).origin.executions
    assert learnt is not None
    assert (learnt.source, learnt.runs, learnt.sample_seed, learnt.states) == ("file", None, None, len(made))
    other = tmp_path / "other.safetensors"
    assert call(capsys, "train --tile all --float addition --bits 3 --from runs --runs 40 -o", other, "-q")[0] == 0
    same = read_about(other).origin.executions
    assert same is not None
    assert same.sha256 == learnt.sha256
    code, out, _ = call(capsys, "train addition --bits 3 --from", tmp_path / "runs.npz", "-o", net, "--json")
    assert (code, json.loads(out)["executions"]["source"]) == (0, "file")


def test_a_kind_of_cells_that_never_occurs_is_said(capsys: Captured, tmp_path: Path) -> None:
    made = random_executions(addition(3).program, 60)
    before = made.before & [not name.endswith("[3]") for name in made.names]  # the last position stays empty
    save_executions(tmp_path / "a.npz", Executions(before, successors(addition(3).program, before), made.names))
    net = tmp_path / "net.safetensors"
    code, _, err = call(capsys, "train addition --bits 3 --from", tmp_path / "a.npz", "-o", net)
    assert code == 1
    assert "1 kind of cells never occurs in the data, number" in err
    assert "none of which these executions showed, nor 4 templates: 'when kind" in err
    assert "; give states that show them, or learn from random ones (--from states)" in err


GOOD = random_executions(addition(2).program, 50)
FLIPPED = Executions(GOOD.before, GOOD.after ^ (np.arange(50)[:, None] == 7), GOOD.names)
TWICE = Executions(np.concatenate((GOOD.before, GOOD.before)), np.concatenate((GOOD.after, FLIPPED.after)), GOOD.names)
BAD = {
    "another layout": (
        random_executions(addition(3).program, 9),
        "has 9 bits, among them p[3], which the program has not",
    ),
    "a step of other rules": (FLIPPED, "is not followed by what the program makes of it: p[1] is"),
    "contradictory": (TWICE, "have two successors"),
    "too few": (Executions(GOOD.before[:1], GOOD.after[:1], GOOD.names), "are too few to learn from"),
    "nothing matches": (
        Executions(np.zeros((2, 6), dtype=bool), np.zeros((2, 6), dtype=bool), GOOD.names),
        "none of these states matches a template",
    ),
}


@pytest.mark.parametrize("cells", [False, True])
@pytest.mark.parametrize("name", BAD)
def test_executions_that_cannot_be_learnt_from(capsys: Captured, tmp_path: Path, name: str, cells: bool) -> None:
    made, words = BAD[name]
    if cells and name == "too few":  # one state has several cells
        pytest.skip("not of cells")
    save_executions(tmp_path / "bad.npz", made)
    how = [] if cells else ["--tile", "all", "--float"]
    asked = ["train", "addition", "--bits", 2, "--from", tmp_path / "bad.npz", *how, "-o", tmp_path / "n.safetensors"]
    assert words in refusal(capsys, *asked)


def test_files_that_are_none(capsys: Captured, tmp_path: Path) -> None:
    path = tmp_path / "bad.npz"
    np.savez(path, before=GOOD.before[1:], after=GOOD.after, names=np.array(GOOD.names))  # ragged
    for words in ("before a step and 50 after one", "holds no states", "there is no file"):
        asked = [
            "train",
            "--tile",
            "all",
            "--float",
            "addition",
            "--bits",
            2,
            "--from",
            path,
            "-o",
            tmp_path / "n.safetensors",
        ]
        code, _, err = call(capsys, *asked)
        assert (code, err.count("\n")) == (2, 1)
        assert words in err
        path.unlink(missing_ok=True)
        if words.startswith("before"):
            np.savez(path, before=GOOD.before[:0], after=GOOD.after[:0], names=np.array(GOOD.names))


@for_each(
    ("arguments", "words"),
    [
        (["--states", 5], "--states goes with --from"),
        (["--labels", "plain"], "--labels goes with --from"),
        (["--from", "walks"], "networks learn from runs, states or a .npz file of executions, got 'walks'"),
        (["--from", "states", "--runs", 5], "random states are of no run"),
        (["--from", "x.npz", "--states", 5], "a file says which states it has"),
        (["--from", "runs", "--padding", 3], "--padding is for templates"),
        (["--from", "runs", "--networks", 3, "--tile", "all", "--float"], "leave out --from"),
        (["--from", "x.npz", "--sizes", "1..3"], "a file holds executions of one size"),
        (
            ["--from", "states", "--states", 100_000, "--bits", 8, "--tile", "all", "--float"],
            "are more than the 5,000 whose kernel is solved",
        ),
    ],
)
def test_options_that_do_not_go_together(capsys: Captured, tmp_path: Path, arguments: list[object], words: str) -> None:
    assert words in refusal(capsys, "train addition --bits 2", *arguments, "-o", tmp_path / "n.safetensors")
