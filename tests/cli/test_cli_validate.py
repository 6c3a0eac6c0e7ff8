"""The verb validate."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from calling import Captured, call, refusal
from cases import for_each
from long import LONG
from waiting import PATIENCE, wait_until

from bitwright import addition
from bitwright.cli.main import main

ROOT = Path(__file__).parent.parent.parent


def document(capsys: Captured, *arguments: object) -> dict[str, object]:
    found: dict[str, object] = json.loads(call(capsys, "validate", *arguments, "--json")[1])
    return found


@pytest.mark.parametrize("rounding", ["sign", *["calibrated"] * LONG])
def test_all_products_of_ten_bits(capsys: Captured, rounding: str) -> None:
    found = document(capsys, "multiplication", "--bits", 10, "--engine", "limit", "--rounding", rounding)
    assert (found["inputs"], found["wrong"], found["wrong_steps"], found["failures"]) == (1_048_576, 0, 0, [])
    assert (found["steps"], found["evaluations"]) == (430, 450_887_680)
    assert found["oracle"] == "Python's integers"
    assert 1 < int(str(found["n_max"])) < 71
    assert found["exact"] is True
    keys = "engine rounding examples n_max margin triples seconds evaluations_per_second program_id"
    assert set(keys.split()) <= set(found)


@pytest.mark.parametrize("engine", ["templates", "limit", "kernel", "network"])
def test_every_engine(capsys: Captured, engine: str) -> None:
    options = ["--tile", "all"] if engine == "network" else []
    found = document(capsys, "addition", "--bits", 3, "--engine", engine, *options)
    assert (found["inputs"], found["wrong"], found["wrong_steps"]) == (64, 0, 0)
    assert (found["n_max"], found["engine"]) == (3, engine)
    assert (found["margin"] is None) == (engine == "templates")


def test_n_max_is_what_certify_finds_reachable(capsys: Captured) -> None:
    found = document(capsys, "multiplication", "--bits", 4, "--engine", "templates")
    call(capsys)
    main(["certify", "multiplication", "--bits", "4", "--n", "reachable", "--json"])
    assert found["n_max"] == json.loads(capsys.readouterr().out)["n_max"]


@pytest.fixture
def wrong_rule(tmp_path: Path) -> Path:
    """Addition of five bits that loses the carry from the third place."""
    path = tmp_path / "wrong rule.bw"
    text = addition(5).text()
    assert "when c[3]=1 write q[4]" in text
    path.write_text(text.replace("when c[3]=1 write q[4]", "when c[3]=1 write q[3]"))
    return path


def test_a_wrong_rule_and_the_commands_that_show_it(
    capsys: Captured, wrong_rule: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(wrong_rule.parent)
    Path("sums.py").write_text("def total(p, q):\n    return p + q\n")
    code, out, _ = call(capsys, "validate", wrong_rule, "--oracle", "sums:total", "--engine", "limit")
    assert code == 1
    assert out.startswith("NOT EXACT")
    found = document(capsys, wrong_rule, "--oracle", "sums:total", "--engine", "limit")
    failures = found["failures"]
    assert isinstance(failures, list)
    assert failures[0]["inputs"] == {"p": 7, "q": 1}
    assert failures[0]["expected"] == {"sum": 8}
    assert found["wrong_steps"] == 0  # the engine does what the rules say
    assert len(failures) == 10 < int(str(found["wrong"]))
    for number, failure in enumerate(failures):
        words = shlex.split(failure["command"])
        assert words[0] == "bitwright"
        assert (failure["command"] in out) == (number < 3)
        main([*words[1:], "--json"])
        assert json.loads(capsys.readouterr().out)["outputs"] == failure["outputs"]


def test_the_commands_keep_what_let_said(capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ours.py").write_text("def nothing(a, b):\n    return {'difference': 0, 'negative': 0}\n")
    file = ROOT / "examples" / "subtraction.bw"
    failures: Any = document(capsys, file, "--let", "l=3", "--oracle", "ours:nothing")["failures"]
    main([*shlex.split(failures[0]["command"])[1:], "--json"])
    assert json.loads(capsys.readouterr().out)["outputs"] == failures[0]["outputs"] == {"difference": 1, "negative": 0}
    assert all(failure["command"].count("--let l=3") == 1 for failure in failures)


def test_rule_files_judge_themselves(capsys: Captured, wrong_rule: Path) -> None:
    code, out, err = call(capsys, "validate", wrong_rule, "--engine", "templates")
    assert code == 1
    assert "wrong by its ensure lines" in out
    wrong_rule.write_text(wrong_rule.read_text().replace("ensure sum == p + q\n", ""))
    code, out, err = call(capsys, "validate", wrong_rule, "--engine", "templates")
    assert code == 0
    assert "0 wrong by the rules" in out
    assert "tests the engine, not the program" in err


def test_a_shipped_rule_file_and_an_sbn_program(capsys: Captured) -> None:
    found = document(capsys, ROOT / "examples" / "comparison.bw", "--random", 3000, "--sample-seed", 5)
    assert (found["inputs"], found["random"], found["sample_seed"], found["wrong"]) == (3000, True, 5, 0)
    assert found["seed"] is None
    found = document(capsys, ROOT / "examples" / "sbn" / "maximum.sbn", "--random", 200)
    assert (found["oracle"], found["wrong"], found["inputs"]) == ("the plain interpreter", 0, 200)


@for_each(
    ("arguments", "message"),
    [
        (("addition", "--bits", "40"), "80 input bits; every input can be run up to 48, choose some of them at random"),
        (("addition", "--sample-seed", "3"), "--sample-seed says which inputs --random takes"),
        (("addition", "--random", "9", "--seed", "3"), "--seed chooses networks"),
        (("addition", "--random", "9", "--seed", "3"), "--sample-seed chooses inputs"),
        (
            ("addition", "--engine", "network", "--network", "x", "--seed", "3"),
            "says how it was trained; leave out --seed",
        ),
        (("addition", "--random", "0"), "random inputs are a number from 1 to 10^12"),
        (("addition", "--engine", "magic"), "there is no engine 'magic'"),
        (("addition", "--rounding", "up"), "there is no rounding 'up'"),
        (("addition", "--oracle", "sums"), "an oracle is named as module:function"),
        (("addition", "--oracle", "no_such_module:f"), "cannot import the oracle's module 'no_such_module'"),
        (("addition", "--oracle", "operator:ad"), "module operator has no function 'ad'"),
        (("addition", "--width", "9"), "--width goes with --engine network, not limit"),
        (("addition", "--networks", "9"), "--networks goes with --engine sampled or network"),
        (("addition", "--engine", "network", "--network", "x.safetensors"), "x.safetensors"),
        (("addition", "--resume", "/dev/null/x"), "cannot"),
        (("addition", "--resume", "."), "."),
        (("nothing.bw",), "nothing.bw"),
        (("addition", "--max-steps", "-2"), "the step limit must be 0 or more"),
        (("multiplication", "--rounding", "sign", "--padding", "-1"), "padding"),
    ],
)
def test_bad_usage_is_one_line(
    capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in refusal(capsys, "validate", *arguments)


@pytest.mark.waits
def test_killed_and_resumed_equals_uninterrupted(capsys: Captured, tmp_path: Path) -> None:
    """Killed, or stopped by Ctrl-C, as soon as there is something to go on from; then to the end."""
    path = tmp_path / "progress.json"
    task = ["multiplication", "--bits", "5", "--engine", "kernel", "--random", "3000"]  # three batches
    arguments = ["validate", *task, "--resume", str(path), "--json"]
    if LONG:
        interrupt(signal.SIGKILL, path, arguments)
    code, out, err = interrupt(signal.SIGINT, path, arguments)
    if code:
        assert (code, out) == (130, ""), err
        assert "the same command goes on from there" in err
    done = json.loads(path.read_text())["batches"]
    assert done > 0
    resumed = document(capsys, *arguments[1:-1])
    whole = document(capsys, *task)
    for name in ("seconds", "evaluations_per_second"):
        del resumed[name], whole[name]
    assert resumed == whole


def interrupt(blow: signal.Signals, path: Path, arguments: list[str]) -> tuple[int, str, str]:
    """Starts this, and hits it as soon as its file has something new, or when all is done."""
    before = path.read_text() if path.exists() else ""
    process = subprocess.Popen(
        [sys.executable, "-m", "bitwright", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": ""},
    )

    def new() -> bool:
        return path.exists() and path.read_text() != before

    wait_until(lambda: new() or process.poll() is not None, "something new was saved, or all is done")
    process.send_signal(blow)
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err


@for_each(
    ("body", "message"),
    [
        ("sys.exit(0)", "failed on p=0, q=0: SystemExit: 0"),
        ("return [1]", "must give integers, got [1] for output sum"),
        ("return {'sum': 0.5}", "must give integers, got 0.5 for output sum"),
        ("return str(p + q)", "must give integers, got '0' for output sum"),
        ("return float('inf')", "must give integers, got inf for output sum"),
        ("raise Mute", "failed on p=0, q=0: Mute"),
        ("raise BaseException('no')", "failed on p=0, q=0: BaseException: no"),
    ],
)
def test_oracles_that_do_not_answer(
    body: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    mute = "class Mute(Exception):\n    def __str__(self):\n        raise ValueError\n"
    name = f"odd_{abs(hash(body))}"
    (tmp_path / f"{name}.py").write_text(f"import sys\n{mute}def total(p, q):\n    {body}\n")
    monkeypatch.chdir(tmp_path)
    code = main(["validate", "addition", "--bits", "2", "--oracle", f"{name}:total"])
    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert message in err


def test_an_oracle_with_a_huge_answer_is_merely_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    (tmp_path / "huge_oracle.py").write_text("def total(p, q):\n    return 10**5000\n")
    monkeypatch.chdir(tmp_path)
    assert main(["validate", "addition", "--bits", "2", "--oracle", "huge_oracle:total"]) == 1
    assert "NOT EXACT" in capsys.readouterr().out


@pytest.mark.parametrize("target", ["examples/subleq/hello.sq", "machine-v"])
def test_images_have_no_inputs(target: str, capsys: Captured) -> None:
    assert main(["validate", target]) == 2
    assert "an image has no inputs to go through" in capsys.readouterr().err


def test_runs_that_do_not_end_are_not_called_exact(tmp_path: Path, capsys: Captured) -> None:
    blink = "bits a b\nblock a b\nwhen a=1 b=0 write b\nwhen a=0 b=1 write a\nwhen a=1 b=1 write a b\ninput a b\n"
    (tmp_path / "blink.bw").write_text(blink + "output a b\n")
    assert main(["validate", str(tmp_path / "blink.bw"), "--max-steps", "50"]) == 1
    assert "2 runs did not end within 50 steps" in capsys.readouterr().out
