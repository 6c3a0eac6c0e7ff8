"""`bitwright export`: files for other people's tools, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from calling import Captured
from cases import for_each

from bitwright.cli.main import main

pytest.importorskip("onnx")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("networks")
    common = ["train", "--tile", "all", "addition", "--bits", "2", "--width", "64", "-q"]
    assert main([*common, "--float", "-o", str(place / "trained.safetensors")]) == 0
    assert main([*common, "-o", str(place / "whole.safetensors")]) == 0
    assert main([*common, "--float", "--networks", "2", "-o", str(place / "two")]) == 0
    assert main(["train", "addition", "-q", "-o", str(place / "cells.safetensors")]) == 0
    return place


@pytest.mark.parametrize(("network", "inputs"), [("trained", "inputs"), ("whole", "matched")])
def test_onnx_of_either_kind(network: str, inputs: str, folder: Path, tmp_path: Path) -> None:
    import onnx

    output = tmp_path / "net.onnx"
    assert main(["export", str(folder / f"{network}.safetensors"), "--to", "onnx", "-o", str(output)]) == 0
    assert [value.name for value in onnx.load(output).graph.input] == [inputs]


def test_properties_and_their_model(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    import onnx

    output = tmp_path / "net"
    command = ["export", str(folder / "whole.safetensors"), "--to", "vnnlib", "-o"]
    assert main([*command, str(output), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["files"] == [str(output / "instances.csv"), str(output / "onnx/sums.onnx")]
    assert (said["first_state"], said["last_state"], said["states"]) == (0, 63, 64)
    assert (said["properties"], said["cases"]) == (63, 63 * 6)
    lines = (output / "instances.csv").read_text().splitlines()
    assert lines == [f"onnx/sums.onnx,vnnlib/state_{number}.vnnlib,60" for number in range(1, 64)]
    operators = [node.op_type for node in onnx.load(output / "onnx/sums.onnx").graph.node]
    assert operators == ["MatMul", "Relu", "MatMul"]
    assert main([*command, str(tmp_path / "few"), "--properties", "5..6", "--vnnlib-version", "2.0"]) == 0
    assert "properties of states 5 to 6 of 64, no others: 2 files" in capsys.readouterr().err
    written = sorted((tmp_path / "few/vnnlib").iterdir())
    assert [file.name for file in written] == ["state_5.vnnlib", "state_6.vnnlib"]
    assert all("(vnnlib-version <2.0>)" in file.read_text() for file in written)
    assert main([*command, str(output)]) == 2
    assert "into a folder that is new or empty, and" in capsys.readouterr().err


@for_each(
    ("arguments", "line"),
    [
        (
            ["whole.safetensors", "--to", "onx", "-o", "{}/a.onnx"],
            "vnnlib or rocq or hub or integer or dataset or executions, got onx; did you mean",
        ),
        (["whole.safetensors", "--to", "onnx", "-o", "{}/a.vnnlib"], "-o takes a .onnx file with --to onnx, got"),
        (
            ["whole.safetensors", "--to", "onnx", "-o", "{}/a.onnx", "--properties", "0..9"],
            "--properties and --vnnlib-version go with --to vnnlib",
        ),
        (["whole.safetensors", "-o", "{}/a.vnnlib"], "choose the format of a folder with --to: vnnlib"),
        (["whole.safetensors", "--to", "vnnlib", "-o", "{}/a", "--properties", "9..3"], "a range such as 0..999, got"),
        (
            ["whole.safetensors", "--to", "vnnlib", "-o", "{}/a", "--properties", "9" * 50],
            "a range such as 0..999, got",
        ),
        (["whole.safetensors", "--to", "vnnlib", "-o", "{}/a", "--properties", "0..64"], "are 0 to 63, got 0 to 64"),
        (
            ["whole.safetensors", "--to", "vnnlib", "-o", "{}/a", "--vnnlib-version", "2"],
            "VNN-LIB has the versions 1.0 and 2.0, got '2'",
        ),
        (["trained.safetensors", "--to", "vnnlib", "-o", "{}/a"], "for networks of integers; quantize this one first"),
        (["trained.safetensors", "--to", "c", "-o", "{}/a.c"], "integer networks; quantize this one first"),
        (["two", "--to", "c", "-o", "{}/a.c"], "holds several networks; quantize them into one"),
        (["whole.safetensors", "--to", "js", "-o", "{}/a.c"], "-o takes a .mjs or .js file with --to js, got"),
        (["whole.safetensors", "--to", "c", "-o", "{}/a.c", "--program", "multiplication"], "multiplication"),
        (["whole.safetensors", "--to", "page", "-o", "{}/a.htm"], "-o takes a .html file with --to page, got"),
        (
            ["whole.safetensors", "--to", "page", "-o", "{}/a.html", "--graph", "ring:5"],
            "--graph goes with node programs",
        ),
        (
            ["whole.safetensors", "--to", "page", "-o", "{}/a.html", "--input", "p=9"],
            "input p must fit in 2 bits, got 9",
        ),
        (["whole.safetensors", "--to", "page", "-o", "{}/a.html", "--input", "z=1"], "addition has no input 'z'"),
        (["whole.safetensors", "--to", "c", "-o", "{}/a.c", "--input", "p=1"], "--graph and --input go with --to page"),
        (["cells.safetensors", "--to", "page", "-o", "{}/a.html"], "needs a program to run; give --program, such as"),
        (
            ["cells.safetensors", "--to", "page", "-o", "{}/a.html", "--program", "multiplication"],
            "this network has no cell like that of",
        ),
        (
            ["cells.safetensors", "--to", "page", "-o", "{}/a.html", "--program", "examples/graphs/bfs.bw"],
            "this network has no cell like that of",
        ),
        (
            ["cells.safetensors", "--to", "page", "-o", "{}/a.html", "--program", "addition", "--graph", "ring:4"],
            "--graph does not go with a program without a graph",
        ),
        (
            ["cells.safetensors", "-o", "{}/a.html", "--program", "examples/subleq/sieve.sq", "--bits", "3"],
            "--bits and --order do not go with machine V",
        ),
        (
            ["cells.safetensors", "--to", "page", "-o", "{}/a.html", "--program", "nothing"],
            "'nothing' is neither a file",
        ),
        (["none.safetensors", "--to", "onnx", "-o", "{}/a.onnx"], "none.safetensors"),
        (["whole.safetensors", "--to", "onnx", "-o", "{}/none/a.onnx"], "none"),
    ],
)
def test_refused(arguments: list[str], line: str, folder: Path, tmp_path: Path, capsys: Captured) -> None:
    network, *rest = arguments
    assert main(["export", str(folder / network), *(part.replace("{}", str(tmp_path)) for part in rest)]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert line in said.err
    assert said.err.count("\n") == 1
    assert not list(tmp_path.iterdir())
