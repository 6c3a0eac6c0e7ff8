"""Network files: complete, checked, and refused when anything is wrong with them."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

from bitwright import InputError, Program, addition
from bitwright.networks import IntegerNetwork, Recipe, load_network, quantize, save_network, train


@pytest.fixture(scope="module")
def program() -> Program:
    return addition(3).program


@pytest.fixture(scope="module")
def network(program: Program) -> IntegerNetwork:
    return quantize(train(program, Recipe(256, seed=4))[0], program)[0]


@pytest.fixture
def path(network: IntegerNetwork, program: Program, tmp_path: Path) -> Path:
    place = tmp_path / "net.safetensors"
    save_network(network, program, place)
    return place


def metadata(path: Path) -> dict[str, object]:
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + struct.unpack("<Q", data[:8])[0]])
    return dict(json.loads(header["__metadata__"]["bitwright"]))


def test_round_trip(path: Path, network: IntegerNetwork, program: Program) -> None:
    again = load_network(path, program)
    assert (again.first == network.first).all()
    assert (again.last == network.last).all()
    assert again.origin == network.origin
    assert metadata(path)["examples"][0] == "when p[1]=1 q[1]=0 write p[1]"  # type: ignore[index]
    assert metadata(path)["bits"] == program.layout.names


def test_files_with_any_bit_of_the_header_flipped(path: Path, network: IntegerNetwork, program: Program) -> None:
    """A flipped bit is refused, or it was in a part that says nothing about the network."""
    data = bytearray(path.read_bytes())
    header = 8 + struct.unpack("<Q", data[:8])[0]
    rng = np.random.default_rng(0)
    for at in rng.integers(0, header, size=200).tolist():
        changed = bytearray(data)
        changed[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(changed)
        try:
            again = load_network(path, program)
        except InputError:
            continue
        assert again.digest == network.digest


NO = object()  # the field is left out
FUZZ: dict[str, list[object]] = {
    "format": [NO, "bitwright network 9", 1],
    "version": [NO, 3, "x" * 101],
    "numpy": [NO, None],
    "program_id": [NO, "a" * 63, "A" * 64, 7],
    "seed": [NO, "x", True, -1, 2**63 + 1, 1.0],
    "member": [NO, -1, 1, False, None],
    "start": [NO, "random", ["zero"], None],
    "parametrization": [NO, "standard", 0],
    "momentum": [NO, 1, "yes"],
    "tolerance": [NO, float("nan"), float("inf"), 0, -1e-3, 0.5, "1e-3", True],
    "error": [NO, float("nan"), -1e-9, 2e-3, None],
    "steps": [NO, -3, 1.5, 10**13],
    "trainer": [NO, "", "magic on cpu", "numpy on two devices", 5],
    "kernel": [None, "", "two\nlines", "x" * 201, 5],
    "padding": [NO, -1, "0", 10**11],
    "bits": [NO, ["lie"], "pqc", [], [1] * 9, None],
    "examples": [NO, ["lie"], [], None],
    "sha256": [NO, "0" * 64, "x", None],
    "more": [1],
}


OTHERWISE = {  # what is said where the field itself could be
    ("format", "bitwright network 9"): "format that this version supports",
    ("format", "1"): "format that this version supports",
    ("format", str(NO)): "format that this version supports",
    ("sha256", "0" * 64): "is damaged",
}


def tensors(network: IntegerNetwork) -> dict[str, Any]:
    return {"first": network.first, "last": network.last, "thresholds": network.thresholds}


def put(path: Path, network: IntegerNetwork, document: object) -> None:
    path.write_bytes(save(tensors(network), {"bitwright": json.dumps(document)}))


def changed(path: Path, name: str, value: object) -> dict[str, object]:
    kept = {key: old for key, old in metadata(path).items() if key != name}
    return kept if value is NO else {**kept, name: value}


@pytest.mark.parametrize("name", list(FUZZ))
def test_metadata_that_cannot_be(path: Path, network: IntegerNetwork, program: Program, name: str) -> None:
    for value in FUZZ[name]:
        put(path, network, changed(path, name, value))
        said = (
            {"NaN", "Infinity"}
            if value != value or value == float("inf")
            else {OTHERWISE.get((name, str(value)), name)}
        )
        with pytest.raises(InputError, match="|".join(said)):
            load_network(path, program)
        save_network(network, program, path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("seed", 5), ("padding", 3)),
        *(("tolerance", 2e-3), ("error", 0), ("steps", 0), ("trainer", "torch on cpu"), ("kernel", "another")),
    ],
)
def test_an_origin_that_could_be_and_is_not_what_was_written(
    path: Path, network: IntegerNetwork, program: Program, name: str, value: object
) -> None:
    put(path, network, changed(path, name, value))
    with pytest.raises(InputError, match=r"weights.*written"):
        load_network(path, program)


def test_files_of_floats_are_refused(path: Path, network: IntegerNetwork, program: Program) -> None:
    put(path, network, {**changed(path, "sha256", NO), "format": "bitwright network 1"})
    with pytest.raises(InputError, match=r"earlier version.*again"):
        load_network(path, program)


def test_files_that_hold_something_else(path: Path, network: IntegerNetwork, program: Program) -> None:
    document, weights = json.dumps(metadata(path)), tensors(network)
    for held, about in (
        (weights, None),
        (weights, {"pt": "1"}),
        (weights, {"bitwright": document, "more": "1"}),
        ({**weights, "bias": network.first}, {"bitwright": document}),
        ({"first": network.first}, {"bitwright": document}),
    ):
        path.write_bytes(save(held, about))
        with pytest.raises(InputError, match="else"):
            load_network(path, program)


def test_weights_that_cannot_be(path: Path, network: IntegerNetwork, program: Program) -> None:
    document = json.dumps(metadata(path))
    for name, value, message in (
        ("first", np.zeros((256, 5), np.int8), "do not fit its bits and examples"),
        ("last", np.zeros((8, 256), np.int8), "do not fit its bits and examples"),
        ("last", np.zeros((9, 255), np.int8), "do not fit its bits and examples"),
        ("first", np.zeros((0, 12), np.int8), "do not fit its bits and examples"),
        ("first", np.zeros(256, np.int8), "do not fit its bits and examples"),
        ("first", network.first.astype(np.float16), "an integer network must have"),
    ):
        path.write_bytes(save({**tensors(network), name: value}, {"bitwright": document}))
        with pytest.raises(InputError, match=message):
            load_network(path, program)


def test_a_network_is_not_written_as_one_of_another_program(path: Path, network: IntegerNetwork) -> None:
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"another.*program"):
        save_network(network, addition(4).program, path)
    assert path.read_bytes() == before
