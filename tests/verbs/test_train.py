"""Training from Python and from the command line: the same network, and the same facts of it."""

from pathlib import Path
from typing import Any

import pytest
from calling import Captured
from calling import document as typed

import bitwright as bw
from bitwright.verbs.executions import Sample

GRAY = str(Path(__file__).parents[2] / "examples" / "gray.bw")
FLOOD = str(Path(__file__).parents[2] / "examples" / "graphs" / "bfs.bw")
ADDER = ["addition", "--bits", "3"]
FLOAT = ["--weight-bits", "float"]
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
    "floats of cells": ([*ADDER, "--weight-bits", "float"], [bw.addition(3)], {"integer": False}),
    "cells side by side": ([*ADDER, "--networks", "3"], [bw.addition(3)], {"networks": 3}),
    "cells from states": ([*ADDER, "--from", "states"], [bw.addition(3)], {"executions": "states"}),
    "the whole state": (
        [*ADDER, "--tile", "all", "--weight-bits", "float", "--width", "128"],
        [bw.addition(3)],
        {"tile": "all", "integer": False, "width": 128},
    ),
    "integers": (
        [*ADDER, "--tile", "all", "--width", "512"],
        [bw.addition(3)],
        {"tile": "all", "width": 512},
    ),
    "side by side": (
        [*ADDER, "--tile", "all", "--width", "512", "--networks", "2", "--seed", "0..0"],
        [bw.addition(3)],
        {"tile": "all", "width": 512, "networks": 2, "seeds": 1},
    ),
    "runs": (
        [*ADDER, "--tile", "all", "--weight-bits", "float", "--width", "256", "--from", "runs:20"],
        [bw.addition(3)],
        {"tile": "all", "integer": False, "width": 256, "executions": Sample("runs", runs=20)},
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


def test_a_network_is_quantized_in_either_place(capsys: Captured, tmp_path: Path) -> None:
    for name, how in (("whole", ["--tile", "all", "--width", "128", *FLOAT]), ("cells", FLOAT)):
        file, small = tmp_path / f"{name}.safetensors", tmp_path / f"{name}-small.safetensors"
        typed(capsys, "train", *ADDER, *how, "-o", file)
        said = typed(capsys, "export", file, "--to", "integer", "-o", small, "--weight-bits", "7")
        own = bw.Network.load(file).quantize(7)
        assert lasting(own.to_dict()) == lasting(said)
        assert bw.Network.load(small).digest == own.digest


def test_members_in_a_folder(capsys: Captured, tmp_path: Path) -> None:
    for name, words, settings in (("whole", ["--tile", "all", *FLOAT], {"tile": "all"}), ("cells", FLOAT, {})):
        typed_in, own_in = tmp_path / f"{name}-typed", tmp_path / f"{name}-own"
        common = ["train", *ADDER, *words, "--width", "128", "--networks"]
        said = typed(capsys, *common, "2", "-o", typed_in)
        own: Any = bw.train(bw.addition(3), folder=own_in, networks=2, width=128, **settings)
        assert lasting(own.to_dict()) == lasting(said)
        again = typed(capsys, *common, "3", "-o", typed_in)  # goes on
        assert again["digests"][:2] == said["digests"]
        one = bw.Network.combine(own.load())
        assert (one.width, one.proved) == (256, True)
        assert bw.run(bw.addition(3), p=5, q=6, network=own.load()).value == 11


def test_floats_of_cells_are_averaged() -> None:
    three = [bw.train(bw.addition(3), integer=False, width=256, member=member) for member in range(3)]
    for network in (three[0], three):
        done = bw.run(bw.addition(20), p=2**19 + 5, q=2**19 + 6, network=network)
        assert (done.value, done.networks) == (2**20 + 11, len(three) if isinstance(network, list) else 1)
    with pytest.raises(bw.InputError, match=r"kinds.*cells"):
        bw.run(bw.addition(3), p=1, q=1, network=[three[0], bw.train(bw.permutation([2, 1]), integer=False)])
    assert bw.certify(bw.addition(9), three[0]).verdict in ("certified", "not proved")


def test_training_goes_on_at_a_larger_width_where_the_width_law_is_too_optimistic() -> None:
    program = bw.open(Path(__file__).with_name("absolute-difference.bw"), l=12)
    with pytest.raises(bw.TrainingError):
        bw.train(program, width=bw.size(program, of="network", tile=1).data["width"])
    network = bw.train(program)
    for a, b in ((0, 0), (4_095, 4_095), (4_095, 0), (7, 2_048), (2_730, 1_365)):
        assert bw.run(program, a=a, b=b, engine="network", network=network).outputs == {"distance": abs(a - b)}
