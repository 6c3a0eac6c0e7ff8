"""`show` of a network file: what it is, what is known of it, and what is refused."""

from __future__ import annotations

import json
import re
import shlex
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from calling import Captured, answer, call, refusal
from safetensors.numpy import load

from bitwright.cli.main import main

OWN = "bits x y\nblock x y\nwhen x=1 y=0 write y\nwhen x=1 y=1 write x\ninput x\noutput y\nsteps 1\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("shown")
    (place / "own.bw").write_text(OWN)
    for name, target in (
        ("float", ["addition", "--bits", "2", "--width", "256", "--seed", "7", "--padding", "3", "--float"]),
        ("whole", ["addition", "--bits", "2", "--width", "256", "--integer", "--weight-bits", "6", "--networks", "2"]),
        ("own", [str(place / "own.bw"), "--width", "64", "--integer"]),
    ):
        assert main(["train", "--tile", "all", *target, "-o", str(place / f"{name}.safetensors"), "-q"]) == 0
    return place


def test_trained_weights(folder: Path, capsys: Captured) -> None:
    out = answer(capsys, "show", folder / "float.safetensors")
    assert "a network of weights of float32, trained for addition of 2 bits" in out
    assert "K = 11, 3 of them padding" in out
    assert "seed 7, member 0, start zero, ntk parametrization" in out
    assert "tested, not proved" in out


def test_whole_numbers(folder: Path, capsys: Captured) -> None:
    out = answer(capsys, "show", folder / "whole.safetensors")
    assert "a network of 6-bit integers, trained for addition of 2 bits" in out
    assert "width      512; " in out
    assert "training   2 networks, seed 0" in out
    assert "before quantizing" in out
    assert "bitwright integer network 1" in out


@pytest.mark.parametrize("name", ["float", "whole", "own"])
def test_the_hashes_are_those_of_the_bytes_in_the_file(folder: Path, capsys: Captured, name: str) -> None:
    path = folder / f"{name}.safetensors"
    _, out, _ = call(capsys, "show", path, "--json")
    found: dict[str, Any] = json.loads(out)
    tensors = load(path.read_bytes())
    assert found["tensors"] == {which: sha256(tensor.tobytes()).hexdigest() for which, tensor in tensors.items()}
    assert found["bytes"] == sum(tensor.nbytes for tensor in tensors.values())
    assert found["width"] == len(tensors["first"])
    assert found["integer"] == (name != "float")
    claims = {"whole": "proved on all 64 states"}  # integers, few states, and a program that the file names
    assert (found["claim"], found["proved"]) == (claims.get(name, "tested, not proved"), name in claims)
    _, text, _ = call(capsys, "show", path)
    assert set(re.findall(r"[0-9a-f]{64}", text)) == {
        *found["tensors"].values(), found["digest"], found["program_id"]
    }  # fmt: skip


def test_the_command_that_is_named_proves_it(folder: Path, capsys: Captured) -> None:
    _, out, _ = call(capsys, "show", folder / "whole.safetensors", "--json")
    shown: dict[str, Any] = json.loads(out)
    words = shlex.split(shown["proof"])
    assert words[0] == "bitwright"
    code, out, _ = call(capsys, *words[1:], "--json")
    proved = json.loads(out)
    assert code == (0 if proved["certified"] else 1)
    assert shown["digest"] == proved["network_sha256"]
    for key in ("tensors", "program_id", "width", "weight_bits", "examples", "padding"):
        assert shown[key] == proved[key], key


def test_a_program_of_ones_own_has_no_name_in_the_file(folder: Path, capsys: Captured) -> None:
    _, out, _ = call(capsys, "show", folder / "own.safetensors", "--json")
    found = json.loads(out)
    assert found["name"] is None
    assert found["trained_for"].startswith(f"program {found['program_id'][:13]}")
    assert found["proof"].startswith("bitwright certify PROGRAM --network ")


@pytest.mark.parametrize("option", [["--text"], ["--bits", "2"], ["--order", "1,2"], ["--diagram", "x.svg"]])
def test_options_of_programs_are_refused(folder: Path, capsys: Captured, option: list[str]) -> None:
    assert f"{option[0]} goes with programs" in refusal(capsys, "show", folder / "own.safetensors", *option)


def test_an_altered_file_is_refused(folder: Path, capsys: Captured, tmp_path: Path) -> None:
    data = bytearray((folder / "whole.safetensors").read_bytes())
    data[-1] ^= 1  # of the thresholds
    path = tmp_path / "altered.safetensors"
    path.write_bytes(data)
    assert "is damaged" in refusal(capsys, "show", path)
    assert "there is no network file" in refusal(capsys, "show", tmp_path / "none.safetensors")
