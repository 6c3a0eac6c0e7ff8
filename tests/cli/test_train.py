"""`train` and `show` of networks: files, digests, claims, and what is done again."""

import json
import re
import resource
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from calling import Captured, answer, call, document, refusal
from cases import for_each
from facts import missing
from safetensors.numpy import load

from bitwright import addition, certify, train
from bitwright.cli.main import main
from bitwright.common.files.executions import Executions, save_executions
from bitwright.networks.store import read_about
from bitwright.runs.successors import executions_of_inputs, random_executions, successors
from bitwright.verbs.executions import Sample

OWN = "bits x y\nblock x y\nwhen x=1 y=0 write y\nwhen x=1 y=1 write x\ninput x\noutput y\nsteps 1\n"
SOME = """
bits a b c
block a
block b
block c
when a=1 write b
when a=0 write c
when b=1 write nothing
when c=1 write c
input a b
output c
steps 2
"""
NONE = "bits a b\nblock a\nblock b\nwhen a=1 write nothing\nwhen b=1 write nothing\ninput a b\noutput a\nsteps 2\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {"own.bw": OWN, "some.bw": SOME, "none.bw": NONE}.items():
        Path(name).write_text(text)


# What a file holds.


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("shown")
    (place / "own.bw").write_text(OWN)
    for name, target in (
        ("padded", ["addition", "--bits", "2", "--width", "512", "--seed", "7", "--padding", "3"]),
        ("whole", ["addition", "--bits", "2", "--width", "512", "--weight-bits", "6"]),
        ("own", [str(place / "own.bw"), "--width", "64"]),
    ):
        assert main(["train", "--tile", "all", *target, "-o", str(place / f"{name}.safetensors"), "-q"]) == 0
    return place


@pytest.mark.parametrize(
    ("name", "facts"),
    [("padded", "8 11 3 7 proved"), ("whole", "6 512 proved"), ("own", "3")],
)
def test_show_names_what_a_file_holds_and_the_hashes_of_its_bytes(
    shown: Path, capsys: Captured, name: str, facts: str
) -> None:
    path = shown / f"{name}.safetensors"
    out, found, tensors = answer(capsys, "show", path), document(capsys, "show", path), load(path.read_bytes())
    assert missing(out, facts) == []
    assert found["tensors"] == {which: sha256(tensor.tobytes()).hexdigest() for which, tensor in tensors.items()}
    assert (found["bytes"], found["width"]) == (sum(one.nbytes for one in tensors.values()), len(tensors["first"]))
    assert found["proved"] == (name != "own")  # whose program is unknown
    assert set(re.findall(r"[0-9a-f]{64}", out)) == {*found["tensors"].values(), found["digest"], found["program_id"]}
    words = shlex.split(found["proof"])
    assert words[:2] == ["bitwright", "certify"]
    if name == "own":  # a program of one's own has no name in the file
        assert (found["name"], words[2]) == (None, "PROGRAM")
    else:
        proof = document(capsys, *words[1:])
        assert proof["network_sha256"] == found["digest"]
        assert all(found[key] == proof[key] for key in ("tensors", "program_id", "width", "examples", "padding"))


def test_an_altered_file_is_refused(shown: Path, capsys: Captured) -> None:
    data = bytearray((shown / "whole.safetensors").read_bytes())
    data[-1] ^= 1  # of the thresholds
    Path("altered.safetensors").write_bytes(data)
    assert missing(refusal(capsys, "show altered.safetensors"), "altered.safetensors damaged") == []


def test_train_run_export_and_show_say_proved_in_the_same_words(capsys: Captured) -> None:
    claim = "proved on all 16 local states"
    assert claim in call(capsys, "train addition --bits 4 -o net.safetensors")[2]
    for command in ("add 3 4 --network net.safetensors", "export net.safetensors --to c -o net.c"):
        assert claim in call(capsys, command)[2]
    assert claim in answer(capsys, "show net.safetensors")
    found = document(capsys, "show net.safetensors")
    assert (found["claim"], found["proved"]) == (claim, True)
    code, _, err = call(capsys, "train addition --tile 2 --bits 4 --width 16 --weight-bits 4 -o bad.safetensors")
    assert (code, missing(err, "128 10 8")) == (1, [])  # local states, seeds, and the most bits of a weight
    found = document(capsys, "show bad.safetensors")
    assert (found["claim"].startswith("NOT EXACT: "), found["proved"]) == (True, False)


def test_show_lists_kinds_and_prints_the_pattern(capsys: Captured) -> None:
    out = answer(capsys, "show addition --bits 8 --tile 1")
    assert missing(out.splitlines()[0], "addition: 8 2 kinds; 16") == []
    Path("pattern.bw").write_text(out[out.index("#") :])
    assert document(capsys, "show pattern.bw")["templates"] == 8
    found = document(capsys, "show addition --bits 8 --tile 4")
    assert (found["cell_count"], len(found["tables"]), found["examples"], found["local_states"]) == (2, 2, 32, 8_192)
    Path("spare.bw").write_text(
        "bits a b[3] c[2]\nblock a\nblock b[i] for i in 1..3\nblock c[i] for i in 1..2\n"
        "cell a b[*]\ncell c[i] for i in 1..2\nwhen a=1 write b[*] c[*]\ninput a\n"
    )
    first, kind, *_ = answer(capsys, "show spare.bw --tile 1").splitlines()
    assert missing(first, "spare: 1 cell 1 kind 2 cells without rules 2 local") == []
    assert missing(kind, "kind 1: a, b[1], b[2], b[3]; 1 of its 4") == []
    tables = document(capsys, "show addition --bits 2 --tile 1")["tables"]
    assert [table["first_ports"] for table in tables] == [[["p[1]"], ["c[1]"], ["q[2]"]], [["p[2]"], ["c[2]"]]]


@contextmanager
def small_disk() -> Iterator[None]:
    """As one that has room for 1,000 bytes more in any file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@for_each(
    ("command", "file"),
    [
        ("train --tile all addition --bits 3 --width 512 -o f.safetensors", "f.safetensors"),
        ("export multiplication --to dataset --bits 9 -o f.npz", "f.npz"),
        ("trace multiplication multiplicand=7 multiplier=7 -o f.html", "f.html"),
    ],
)
def test_a_full_disk_names_the_file(command: str, file: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # else compiled modules are kept, cut off
    with small_disk():
        code, out, err = call(capsys, command)
    assert (code, out, err.count("\n"), missing(err, f"{file}: File too large")) == (2, "", 1, [])


# From executions, which show what the network learns.


@pytest.mark.parametrize(
    ("options", "local_states"),
    [  # Of two positions of addition, real runs show 46 of 128 local states; all 128 are right.
        ("addition --bits 8 --tile 2 --from runs", 128),
        ("multiplication --bits 3 --from states:600", 345),
    ],
)
def test_cells_learnt_from_executions_are_proved(capsys: Captured, options: str, local_states: int) -> None:
    code, out, err = call(capsys, f"train {options} --width 1024 -o net.safetensors --json")
    said, name = json.loads(out), options.split()[0]
    assert (code, said["wrong"], said["local_states"], err.count("condition")) == (0, 0, local_states, 1)
    assert said["executions"]["examples"] < local_states  # some are never shown
    assert call(capsys, f"certify {name} --network net.safetensors -o c.json -q")[0] == 0
    assert call(capsys, f"certify {name} --network net.safetensors --check c.json -q")[0] == 0


def test_whole_states_learnt_from_executions(capsys: Captured) -> None:
    whole = "train --tile all addition --bits 3 -o net.safetensors"
    assert call(capsys, whole, "--from", "states")[0] == 0
    assert call(capsys, "certify addition --bits 3 --network net.safetensors -q")[0] == 0
    assert missing(answer(capsys, "show net.safetensors"), "240 states 0 scaled sha256") == []


def test_plain_labels_learnt_from_all_runs_are_wrong_in_a_state_that_no_run_meets() -> None:
    learnt = Sample("runs", runs=60, labels="plain")
    network = train(addition(3), tile="all", executions=learnt, width=1024, seeds=1)
    verdicts = [certify(addition(3), network, domain=domain).verdict for domain in (None, "runs")]
    assert verdicts == ["refuted", "certified"]


def test_a_file_teaches_what_its_states_do(capsys: Captured) -> None:
    """Also with its columns in another order; the network is that of the same states."""
    made = executions_of_inputs(addition(3), 40)
    order = np.random.default_rng(0).permutation(len(made.names))
    names = tuple(made.names[place] for place in order)
    save_executions(Path("runs.npz"), Executions(made.before[:, order], made.after[:, order], names))
    for source, file in (("runs.npz", "net"), ("runs:40", "other")):
        command = f"train --tile all addition --bits 3 --width 512 --from {source} -o {file}.safetensors -q"
        assert call(capsys, command)[0] == 0
    learnt, same = (read_about(Path(f"{name}.safetensors")).origin.executions for name in ("net", "other"))
    assert learnt is not None
    assert same is not None
    assert (learnt.source, learnt.runs, learnt.sample_seed, learnt.states) == ("file", None, None, len(made))
    assert same.sha256 == learnt.sha256
    before = made.before & [not name.endswith("[3]") for name in made.names]  # the last position stays empty
    save_executions(Path("a.npz"), Executions(before, successors(addition(3).program, before), made.names))
    code, _, err = call(capsys, "train addition --bits 3 --from a.npz -o net.safetensors")
    assert (code, missing(err, "1 kind 4 templates --from states")) == (1, [])


GOOD = random_executions(addition(2).program, 50)
FLIPPED = Executions(GOOD.before, GOOD.after ^ (np.arange(50)[:, None] == 7), GOOD.names)


@for_each("how", ["", " --tile all"])
@for_each(
    ("made", "facts"),
    [
        (FLIPPED, "p[1]"),
        (Executions(GOOD.before[:1], GOOD.after[:1], GOOD.names), "few"),
    ],
)
def test_executions_that_cannot_be_learnt_from(capsys: Captured, made: Executions, facts: str, how: str) -> None:
    if facts != "few" or how:  # one state has several cells
        save_executions(Path("bad.npz"), made)
        err = refusal(capsys, f"train addition --bits 2 --from bad.npz -o n.safetensors{how}")
        assert missing(err, facts) == []


# Cells whose rules write nothing: every verb takes them, for there is nothing in them to be wrong.


@pytest.mark.filterwarnings("ignore::bitwright.BitwrightWarning")
@pytest.mark.parametrize("name", ["some", "none"])
def test_every_verb_takes_a_kind_without_ports(name: str, capsys: Captured) -> None:
    code, out, _ = call(capsys, f"train {name}.bw -o n.safetensors --json")
    said = json.loads(out, parse_constant=pytest.fail)  # no Infinity
    assert (code, said["wrong"], said["margin"] is None) == (0, 0, name == "none")
    assert "inf" not in call(capsys, f"train {name}.bw -o n.safetensors")[2]
    rules, own = f"{name}.bw", "--network n.safetensors"
    for command in (
        *(f"certify {rules} {own} -o c.json", f"certify {rules} {own} --check c.json"),
        f"run {rules} a=0 b=1 {own}",
        *(f"trace {rules} a=0 b=1 {own}", f"validate {rules} {own}"),
        *(f"show {rules} --tile 1", "show n.safetensors"),
        *(f"export n.safetensors --to {to} -o n.{to}" for to in ("c", "js")),
        *(f"export n.safetensors --to {to} --program {rules} -o p.{to}" for to in ("c", "js", "onnx", "html")[:3]),
        f"export n.safetensors --program {rules} -o p.html",
    ):
        code, _, err = call(capsys, command)
        assert code == 0, (command, err)
    wanted = 2 if name == "none" else 0  # there is nothing to decide of the limit, and no property to write
    for command in ("certify {}", "certify {} --tile 1", "size {}"):
        assert call(capsys, command.format(rules))[0] == wanted
    assert call(capsys, "export n.safetensors --to vnnlib -o n.vnnlib")[0] == wanted
