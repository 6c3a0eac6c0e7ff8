"""Network files: complete, checked, and refused when anything is wrong with them."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from bitwright import InputError, Program, addition
from bitwright.networks import FloatNetwork, Plan, Recipe, load_network, save_network, train


@pytest.fixture(scope="module")
def program() -> Program:
    return addition(3).program


@pytest.fixture(scope="module")
def network(program: Program) -> FloatNetwork:
    return train(program, Recipe(256, seed=4, plan=Plan(descent="momentum")))[0]


@pytest.fixture
def path(network: FloatNetwork, program: Program, tmp_path: Path) -> Path:
    place = tmp_path / "net.safetensors"
    save_network(network, program, place)
    return place


def metadata(path: Path) -> dict[str, object]:
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + struct.unpack("<Q", data[:8])[0]])
    return dict(json.loads(header["__metadata__"]["bitwright"]))


def test_round_trip(path: Path, network: FloatNetwork, program: Program) -> None:
    again = load_network(path, program)
    assert (again.first == network.first).all()
    assert (again.last == network.last).all()
    assert again.origin == network.origin
    assert metadata(path)["examples"][0] == "when p[1]=1 q[1]=0 write p[1]"  # type: ignore[index]
    assert metadata(path)["bits"] == program.layout.names


def test_files_with_any_bit_of_the_header_flipped(path: Path, network: FloatNetwork, program: Program) -> None:
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
    "member": [NO, -1, 10**9 + 1, False, None],
    "start": [NO, "hot", ["zero"], None],
    "parametrization": [NO, "mup", 0],
    "momentum": [NO, 1, "yes"],
    "tolerance": [NO, float("nan"), float("inf"), 0, -1e-3, 0.5, "1e-3", True],
    "error": [NO, float("nan"), -1e-9, 2e-3, None],
    "steps": [NO, -3, 1.5, 10**13],
    "trainer": [NO, "", "magic on cpu", "numpy on two devices", 5],
    "kernel": [None, "", "two\nlines", "x" * 201, 5],
    "padding": [NO, -1, 3, "0", 10**11],
    "bits": [NO, ["lie"], "pqc", [], [1] * 9, None],
    "examples": [NO, ["lie"], [], None],
    "sha256": [NO, "0" * 64, "x", None],
    "more": [1],
}


OTHERWISE = {  # what is said where the field itself could be
    ("format", "bitwright network 9"): "format that this version supports",
    ("format", "1"): "format that this version supports",
    ("format", str(NO)): "format that this version supports",
    ("padding", "3"): "do not fit its bits and examples",
    ("sha256", "0" * 64): "is damaged",
}


def put(path: Path, network: FloatNetwork, document: object) -> None:
    path.write_bytes(save({"first": network.first, "last": network.last}, {"bitwright": json.dumps(document)}))


def changed(path: Path, name: str, value: object) -> dict[str, object]:
    kept = {key: old for key, old in metadata(path).items() if key != name}
    return kept if value is NO else {**kept, name: value}


@pytest.mark.parametrize("name", list(FUZZ))
def test_metadata_that_cannot_be(path: Path, network: FloatNetwork, program: Program, name: str) -> None:
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
        *(("seed", 5), ("member", 1), ("start", "random"), ("parametrization", "standard"), ("momentum", False)),
        *(("tolerance", 2e-3), ("error", 0), ("steps", 0), ("trainer", "torch on cpu"), ("kernel", "another")),
    ],
)
def test_an_origin_that_could_be_and_is_not_what_was_written(
    path: Path, network: FloatNetwork, program: Program, name: str, value: object
) -> None:
    """Another parametrization, for one, would be rounded in another way."""
    put(path, network, changed(path, name, value))
    with pytest.raises(InputError, match=r"weights.*written"):
        load_network(path, program)


def test_files_of_the_first_format_are_refused(path: Path, network: FloatNetwork, program: Program) -> None:
    put(path, network, {**changed(path, "sha256", NO), "format": "bitwright network 1"})
    with pytest.raises(InputError, match=r"earlier version.*again"):
        load_network(path, program)


def test_files_that_hold_something_else(path: Path, network: FloatNetwork, program: Program) -> None:
    document, weights = json.dumps(metadata(path)), {"first": network.first, "last": network.last}
    for tensors, about in (
        (weights, None),
        (weights, {"pt": "1"}),
        (weights, {"bitwright": document, "more": "1"}),
        ({**weights, "bias": network.first}, {"bitwright": document}),
        ({"first": network.first}, {"bitwright": document}),
    ):
        path.write_bytes(save(tensors, about))
        with pytest.raises(InputError, match="else"):
            load_network(path, program)


def test_weights_that_cannot_be(path: Path, network: FloatNetwork, program: Program) -> None:
    document = json.dumps(metadata(path))
    for name, value, message in (
        ("first", np.nan, "NaN or infinite"),
        ("last", np.nan, "NaN or infinite"),
        ("last", -np.inf, "NaN or infinite"),
        ("first", np.zeros((256, 5), np.float32), "do not fit its bits and examples"),
        ("last", np.zeros((8, 256), np.float32), "do not fit its bits and examples"),
        ("last", np.zeros((9, 255), np.float32), "do not fit its bits and examples"),
        ("first", np.zeros((0, 12), np.float32), "do not fit its bits and examples"),
        ("first", np.zeros(256, np.float32), "do not fit its bits and examples"),
        ("first", network.first.astype(np.float16), "float32 or float64"),
        ("last", network.last.astype(np.float64), "of type F32 and F64; they must be float32 or float64"),
    ):
        weights = {"first": network.first.copy(), "last": network.last.copy()}
        if isinstance(value, float):
            weights[name][3, 3] = value
        else:
            weights[name] = value
        path.write_bytes(save(weights, {"bitwright": document}))
        with pytest.raises(InputError, match=message):
            load_network(path, program)


def test_a_network_is_not_written_as_one_of_another_program(path: Path, network: FloatNetwork) -> None:
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"another.*program"):
        save_network(network, addition(4).program, path)
    assert path.read_bytes() == before
