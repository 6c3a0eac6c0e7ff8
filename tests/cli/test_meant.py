"""What a person meant, though it was not said in full; and what was not meant, said where it shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from calling import Captured, call

from bitwright import addition, certify, train

NO_START = "bits x y go\nblock x go\nblock y\nwhen x=1 go=1 write y\nwhen y=1 write y\ninput x\noutput y\nsteps 2\n"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_network_without_an_engine_is_the_one_that_runs(capsys: Captured) -> None:
    train(addition(4)).save("adder.safetensors")
    code, out, err = call(capsys, "add 3 4 --network adder.safetensors")
    assert (code, out.splitlines()[0]) == (0, "3 + 4 = 7")
    assert "engine network" in err
    code, _, err = call(capsys, "add 3 4 --network adder.safetensors --engine limit")
    assert code == 2
    assert "--network goes with --engine network, not limit" in err


def test_what_is_exported_follows_from_the_end_of_the_name(capsys: Captured) -> None:
    train(addition(4)).save("adder.safetensors")
    assert call(capsys, "export adder.safetensors -o adder.c --program addition")[0] == 0
    assert "bw_step" in Path("adder.c").read_text()
    code, _, err = call(capsys, "export adder.safetensors -o adder.txt")
    assert code == 2
    assert "give --to c or js or page or onnx or vnnlib or rocq or hub, or -o a file that ends in .c or" in err


def test_a_run_says_what_check_would_warn_of(capsys: Captured) -> None:
    Path("go.bw").write_text(NO_START)
    code, out, err = call(capsys, "run go.bw x=1")
    assert (code, out) == (0, "y = 0\n")
    assert "go.bw:4:1: warning: this rule and 1 other never match: go can never be on" in err
    assert call(capsys, "run go.bw x=1 -q")[2] == ""


def test_a_certificate_of_another_network_is_told_before_its_sizes_are_tried(capsys: Captured) -> None:
    train(addition(4)).save("adder.safetensors")
    other = train(addition(4), seed=1)
    certify(addition(4), other).save("other.json")
    code, out, _ = call(capsys, "certify addition --network adder.safetensors --check other.json")
    assert code == 1
    assert out.startswith("DOES NOT HOLD: the certificate is for another network")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "proof.json"], "proof.json is not .bw text, but perhaps a certificate, which"),
        (["check", "net.safetensors"], "net.safetensors is not .bw text, but a network"),
        (["add", "1", "2", "--network", "proof.json"], "proof.json is no network, but perhaps its certificate"),
        (["train", "--whole", "net.safetensors", "-o", "x.safetensors"], "net.safetensors is a network, not a program"),
        (
            ["certify", "go.bw", "--network", "adder.safetensors", "--sizes", "l=1..3", "--let", "l=2"],
            "l is given twice",
        ),
    ],
)
def test_files_in_the_wrong_place(capsys: Captured, arguments: list[str], message: str) -> None:
    for name in ("proof.json", "net.safetensors"):
        Path(name).write_text("{}")
    train(addition(2)).save("adder.safetensors")
    Path("go.bw").write_text("let l = 2\nbits x[l]\nblock x[i] for i in 1..l\nwhen x[i]=1 write x[i] for i in 1..l\n")
    code, _, err = call(capsys, *arguments)
    assert code == 2
    assert message in err


def test_an_oracle_without_a_return(capsys: Captured) -> None:
    Path("mine.py").write_text("def total(p, q):\n    p + q\n")
    code, _, err = call(capsys, "validate addition --bits 2 --oracle mine:total")
    assert code == 1
    assert "the oracle gave None for every input, which says that no run ends; is a return missing?" in err
