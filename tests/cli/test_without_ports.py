"""Cells whose rules write nothing: every verb takes them, for there is nothing in them to be wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from calling import Captured

from bitwright.cli.main import main

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
SCEPTIC = Path(__file__).parents[2] / "sceptic" / "check_network.py"


@pytest.fixture(params=["some", "none"])
def name(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("some.bw").write_text(SOME)
    Path("none.bw").write_text(NONE)
    return str(request.param)


@pytest.mark.filterwarnings("ignore::bitwright.BitwrightWarning")
def test_every_verb_takes_a_kind_without_ports(name: str, capsys: Captured) -> None:
    rules, file = f"{name}.bw", f"{name}.safetensors"
    assert main(["train", rules, "--integer", "-o", file, "--json"]) == 0
    said = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)  # no Infinity
    assert (said["wrong"], said["margin"] is None) == (0, name == "none")
    assert main(["train", rules, "--integer", "-o", file]) == 0
    assert "inf" not in capsys.readouterr().err
    own = ("--network", file)
    for words in (
        ["certify", rules, *own, "-o", "c.json"],
        ["certify", rules, *own, "--check", "c.json"],
        ["certify", rules, *own, "--state", "kind1_block1[1]"],
        ["run", rules, "a=0", "b=1", *own],
        ["run", rules, "a=0", "b=1", *own, "--evaluate"],
        ["run", rules, "a=0", "b=1", "--engine", "limit", "--tile", "1"],
        ["run", rules, "a=0", "b=1", "--engine", "sampled", "--tile", "1"],
        ["trace", rules, "a=0", "b=1", *own],
        ["validate", rules, *own],
        ["show", rules, "--tile", "1"],
        ["show", file],
        *(["export", file, "--to", to, "-o", f"n.{to}"] for to in ("c", "js", "onnx")),
        *(["export", file, "--to", to, "--program", rules, "-o", f"p.{to}"] for to in ("c", "js", "onnx")),
        ["export", file, "--to", "page", "--program", rules, "-o", "p.html"],
    ):
        assert main(words) == 0, (words, capsys.readouterr().err)


@pytest.mark.filterwarnings("ignore::bitwright.BitwrightWarning")
def test_the_sceptic_agrees(name: str, capsys: Captured) -> None:
    assert main(["train", f"{name}.bw", "-q", "-o", "n.safetensors"]) == 0
    assert main(["certify", f"{name}.bw", "--network", "n.safetensors", "-q", "-o", "c.json"]) == 0
    capsys.readouterr()
    assert main(["show", f"{name}.bw", "--tile", "1"]) == 0
    _, _, pattern = capsys.readouterr().out.partition("ports are bits that nothing reads\n")
    Path("rules.bw").write_text(pattern)
    command = [sys.executable, "-I", str(SCEPTIC), "n.safetensors", "rules.bw", "c.json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, "HOLDS: certified" in done.stdout) == (0, True), done


@pytest.mark.parametrize(
    "words",
    [
        ["certify", "none.bw"],
        ["certify", "none.bw", "--rounding", "sign"],
        ["certify", "none.bw", "--tile", "1"],
        ["size", "none.bw"],
        ["size", "none.bw", "--tile", "1"],
    ],
    ids=" ".join,
)
def test_of_the_limit_there_is_nothing_to_decide_where_nothing_is_written(
    words: list[str], name: str, capsys: Captured
) -> None:
    code = main([word.replace("none", name) for word in words])
    err = capsys.readouterr().err
    assert (code, "there is nothing to decide" in err) == ((2, True) if name == "none" else (0, False))


def test_a_property_without_a_case_is_not_written(name: str, capsys: Captured) -> None:
    assert main(["train", f"{name}.bw", "-q", "-o", "n.safetensors"]) == 0
    code = main(["export", "n.safetensors", "--to", "vnnlib", "-o", "n.vnnlib"])
    assert (code, "there is no case to write" in capsys.readouterr().err) == (
        (2, True) if name == "none" else (0, False)
    )
