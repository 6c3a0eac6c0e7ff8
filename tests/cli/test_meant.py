"""What a person meant, though it was not said in full; and what was not meant, said where it shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from calling import Captured, call, refusal

from bitwright import addition, train


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_network_without_an_engine_is_the_one_that_runs(capsys: Captured) -> None:
    train(addition(4)).save("adder.safetensors")
    code, out, err = call(capsys, "add 3 4 --network adder.safetensors")
    assert (code, out.splitlines()[0]) == (0, "3 + 4 = 7")
    assert "engine network" in err
    assert "--network goes with --engine network, not limit" in refusal(
        capsys, "add 3 4 --network adder.safetensors --engine limit"
    )


def test_what_is_exported_follows_from_the_end_of_the_name(capsys: Captured) -> None:
    train(addition(4)).save("adder.safetensors")
    assert call(capsys, "export adder.safetensors -o adder.c --program addition")[0] == 0
    assert "bw_step" in Path("adder.c").read_text()
    assert refusal(capsys, "export adder.safetensors -o adder.txt") == (
        "bitwright: 'adder.txt' does not say which format to write: use a name that ends in .c, .mjs, .js, .html or "
        ".onnx, or choose the format of a folder with --to: vnnlib, rocq or hub\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "proof.json"], "proof.json is not .bw text, but perhaps a certificate, which"),
        (["check", "net.safetensors"], "net.safetensors is not .bw text, but a network"),
        (["add", "1", "2", "--network", "proof.json"], "proof.json is no network, but perhaps its certificate"),
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
    assert message in refusal(capsys, *arguments)


def test_an_oracle_without_a_return(capsys: Captured) -> None:
    Path("mine.py").write_text("def total(p, q):\n    p + q\n")
    code, _, err = call(capsys, "validate addition --bits 2 --oracle mine:total")
    assert code == 1
    assert "the oracle gave None for every input, which says that no run ends; is a return missing?" in err
