"""The JSON of every verb, as it was written before the rooms were laid out anew: keys, kinds and values that stay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from calling import Captured
from cases import for_each
from json_schemas import assert_fits

from bitwright.cli.main import main

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"
NET = "{folder}/net.safetensors"
TRAIN = ["train", "--whole", "addition", "--bits", "2", "--width", "256", "-o", NET]
TRAIN_CELLS = ["train", "addition", "--bits", "4", "-o", NET]
STATES = ["export", "addition", "--from", "states", "--states", "300", "-o", "{folder}/states.npz"]
CASES: dict[str, list[str]] = {
    "add": ["add", "719", "483"],
    "multiply": ["multiply", "13", "11", "--engine", "limit", "--rounding", "sign"],
    "run-name": ["run", "permutation", "p=0b10110", "--order", "3,1,2,5,4"],
    "run": ["run", "examples/subtraction.bw", "a=483", "b=719"],
    "run-sbn": ["run", "examples/sbn/gcd.sbn", "a=12", "b=18"],
    "run-graph": ["run", "examples/graphs/bfs.bw", "--graph", "grid:2x3", "source=0.0"],
    "run-image": ["run", "examples/subleq/hello.sq", "--engine", "limit"],
    "check": ["check", "examples/comparison.bw"],
    "show": ["show", "examples/gray.bw"],
    "trace": ["trace", "addition", "p=5", "q=6"],
    "certify": ["certify", "multiplication", "--bits", "10"],
    "certify-sign": ["certify", "addition", "--bits", "6", "--rounding", "sign"],
    "size": ["size", "addition", "--bits", "10"],
    "validate": ["validate", "addition", "--bits", "3"],
    "dataset": ["export", "addition", "--to", "dataset", "--bits", "2", "-o", "{folder}/set.npz"],
    "train": TRAIN,
    "train-integer": [*TRAIN, "--integer", "--weight-bits", "6"],
    "quantize": ["export", NET, "--to", "integer", "-o", "{folder}/whole.safetensors"],
    "show-network": ["show", NET],
    "certify-network": ["certify", "addition", "--network", NET, "--domain", "runs"],
    "certify-state": ["certify", "addition", "--network", NET, "--state", "p[1] q[1]"],
    "export": ["export", NET, "--to", "vnnlib", "-o", "{folder}/properties"],
    "export-c": ["export", NET, "--to", "c", "-o", "{folder}/net.c"],
    "export-js": ["export", NET, "--to", "js", "-o", "{folder}/net.mjs"],
    "export-onnx": ["export", NET, "--to", "onnx", "-o", "{folder}/net.onnx"],
    "export-onnx-step": ["export", NET, "--to", "onnx", "-o", "{folder}/net.onnx", "--program", "addition"],
    "export-page": ["export", NET, "--to", "page", "-o", "{folder}/net.html", "--program", "addition"],
    "show-cells": ["show", "addition", "--bits", "4", "--cells"],
    "train-cells": TRAIN_CELLS,
    "certify-cells": ["certify", "addition", "--network", NET, "--sizes", "1..4"],
    "run-cells": ["add", "719", "483", "--engine", "network", "--network", NET],
    "cache": ["cache"],
    "examples": ["examples", "{folder}"],
    "dataset-executions": STATES,
    "infer": ["infer", "{folder}/states.npz", "--blocks", "find", "--against", "addition", "-o", "{folder}/found.bw"],
}
# What has to be there first.
BEFORE = {
    "quantize": TRAIN,
    "show-network": [*TRAIN, "--integer"],
    "certify-network": [*TRAIN, "--integer"],
    "certify-state": [*TRAIN, "--integer"],
    "export": [*TRAIN, "--integer"],
    "export-c": [*TRAIN, "--integer"],
    "export-js": [*TRAIN, "--integer"],
    "export-onnx": [*TRAIN, "--integer"],
    "export-onnx-step": TRAIN_CELLS,
    "export-page": TRAIN_CELLS,
    "certify-cells": TRAIN_CELLS,
    "run-cells": TRAIN_CELLS,
    "infer": STATES,
}
# Keys whose values depend on the clock, the machine or the version.
PASSING = {
    *("seconds", "evaluations_per_second", "file", "files", "folder", "bytes", "version", "arithmetic"),
    *("digest", "loss", "error", "kernel"),
}
# Of networks also those that depend on the last bits of their weights.
LEARNT = {
    *("network_sha256", "tensors", "by_n", "distance", "margin", "closest", "sum", "threshold", "proof"),
    *("sample_margin", "sample_margin_before", "names"),
}


def settled(value: Any, passing: set[str]) -> Any:
    """What does not depend on the clock, the machine or the version."""
    if isinstance(value, dict):
        return {
            name: type(item).__name__ if name in passing else settled(item, passing) for name, item in value.items()
        }
    if isinstance(value, list):
        return [settled(item, passing) for item in value]
    return round(value, 9) if isinstance(value, float) else value


@for_each("name", CASES)
def test_json_of_every_verb(name: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """After a change that is meant, delete the file and run this twice."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("BITWRIGHT_CACHE", str(tmp_path / "cache"))
    for arguments in (BEFORE.get(name), CASES[name]):
        if arguments is not None:
            capsys.readouterr()
            assert main([*(part.replace("{folder}", str(tmp_path)) for part in arguments), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert_fits(name, document)
    found = settled(document, PASSING | LEARNT if "{folder}" in str(CASES[name]) else PASSING)
    file = GOLDEN / f"{name}.json"
    if not file.exists():
        GOLDEN.mkdir(exist_ok=True)
        file.write_text(json.dumps(found, indent=1) + "\n")
        pytest.fail(f"{file.name} was not there and has been written")
    assert found == json.loads(file.read_text())
