"""Training from Python and from the command line: the same network, and the same facts of it."""

from pathlib import Path
from typing import Any

import pytest
from calling import Captured
from calling import document as typed

import bitwright as bw
from bitwright.proofs.width import suggested_width
from bitwright.rules.pattern import pattern_of
from bitwright.verbs.executions import Sample

GRAY = str(Path(__file__).parents[2] / "examples" / "gray.bw")
FLOOD = str(Path(__file__).parents[2] / "examples" / "graphs" / "bfs.bw")
ADDER = ["addition", "--bits", "3"]
EVERY = "--width 256 --seed 3 --padding 5 --tolerance 0.01"
# What is typed, and what is asked of Python.
SAME: dict[str, tuple[list[str], list[Any], dict[str, Any]]] = {
    "cells": (ADDER, [bw.addition(3)], {}),
    "sizes": ([*ADDER, "--sizes", "1..5"], [bw.addition(3)], {"sizes": range(1, 6)}),
    "a file": ([GRAY, "--sizes", "l=1..5"], [bw.open(GRAY)], {"sizes": "l=1..5"}),
    "several": (["addition", GRAY], [bw.addition(4), bw.open(GRAY)], {}),
    "nodes": ([FLOOD, "--let", "l=2"], [bw.open(FLOOD, l=2)], {}),
    "tile": (["addition", "--tile", "2"], [bw.addition(4)], {"tile": 2}),
    "bits of a weight": ([*ADDER, "--weight-bits", "6"], [bw.addition(3)], {"weight_bits": 6}),
    "all settings": (
        [*ADDER, *EVERY.split()],
        [bw.addition(3)],
        {"width": 256, "seed": 3, "padding": 5, "tolerance": 0.01},
    ),
    "cells from states": ([*ADDER, "--from", "states"], [bw.addition(3)], {"executions": "states"}),
    "the whole state": (
        [*ADDER, "--tile", "all", "--width", "512"],
        [bw.addition(3)],
        {"tile": "all", "width": 512},
    ),
    "runs": (
        [*ADDER, "--tile", "all", "--width", "512", "--from", "runs:20", "--seed", "0..1"],
        [bw.addition(3)],
        {"tile": "all", "width": 512, "executions": Sample("runs", runs=20), "seeds": 2},
    ),
}


def lasting(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name not in ("file", "folder", "seconds")}


@pytest.mark.parametrize("name", SAME)
def test_the_same_network_either_way(name: str, capsys: Captured, tmp_path: Path) -> None:
    words, what, settings = SAME[name]
    file = tmp_path / "n.safetensors"
    said, own = typed(capsys, "train", *words, "-o", file), bw.train(what, **settings)
    assert lasting(own.to_dict()) == lasting(said)
    held = bw.Network.load(file)
    assert held.digest == own.digest == said["digest"]
    shown, told = typed(capsys, "show", file), held.to_dict()
    assert {key: value for key, value in shown.items() if key not in ("file", "format", "proof")} == told
    assert {**told, "name": said["name"]} == {key: said[key] for key in told}  # a file has no name of ones own


def test_training_goes_on_at_a_larger_width_where_the_width_law_is_too_optimistic() -> None:
    program = bw.open(Path(__file__).with_name("absolute-difference.bw"), l=12)
    with pytest.raises(bw.TrainingError):
        bw.train(program, width=suggested_width(pattern_of([program.program])))
    network = bw.train(program)
    for a, b in ((0, 0), (4_095, 4_095), (4_095, 0), (7, 2_048), (2_730, 1_365)):
        assert bw.run(program, a=a, b=b, engine="network", network=network).outputs == {"distance": abs(a - b)}
