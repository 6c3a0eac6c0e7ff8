"""Network files: complete, checked, and refused when anything is wrong with them."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from bitwright import InputError, Program, addition
from bitwright.learning import Network, Plan, Recipe, load_network, save_network, train
from bitwright.learning.cache import cached_network, suggested_width


@pytest.fixture(scope="module")
def program() -> Program:
    return addition(3).program


@pytest.fixture(scope="module")
def network(program: Program) -> Network:
    return train(program, Recipe(256, seed=4, plan=Plan(momentum=True)))[0]


@pytest.fixture
def path(network: Network, program: Program, tmp_path: Path) -> Path:
    place = tmp_path / "net.safetensors"
    save_network(network, program, place)
    return place


def metadata(path: Path) -> dict[str, object]:
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + struct.unpack("<Q", data[:8])[0]])
    found: dict[str, object] = json.loads(header["__metadata__"]["bitwright"])
    return found


def test_round_trip(path: Path, network: Network, program: Program) -> None:
    again = load_network(path, program)
    assert (again.first == network.first).all()
    assert (again.last == network.last).all()
    assert again.origin == network.origin
    assert metadata(path)["examples"][0] == "when p[1]=1 q[1]=0 write p[1]"  # type: ignore[index]
    assert metadata(path)["bits"] == program.layout.names


def test_a_file_of_another_program(path: Path) -> None:
    with pytest.raises(InputError, match="for another program"):
        load_network(path, addition(4).program)


@pytest.mark.parametrize("keep", [0, 4, 100, 1000, -1])
def test_truncated_files(path: Path, program: Program, keep: int) -> None:
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(InputError, match=r"truncated or damaged|is not a network|another program"):
        load_network(path, program)


def test_files_with_any_bit_of_the_header_flipped(path: Path, network: Network, program: Program) -> None:
    """A flipped bit is refused, or it was in a part that says nothing about the weights."""
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
        assert (again.first == network.first).all()
        assert (again.last == network.last).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": "x"}, "seed is 'x'"),
        ({"seed": True}, "seed is True"),
        ({"start": "hot"}, "does not know"),
        ({"padding": -1}, "padding is -1"),
        ({"padding": 3}, "do not fit the program"),
        ({"format": "bitwright network 9"}, "not a network of a kind"),
        ({"error": None}, "error is None"),
    ],
)
def test_metadata_that_cannot_be(
    path: Path, network: Network, program: Program, change: dict[str, object], message: str
) -> None:
    document = {**metadata(path), **change}
    path.write_bytes(save({"first": network.first, "last": network.last}, {"bitwright": json.dumps(document)}))
    with pytest.raises(InputError, match=message):
        load_network(path, program)


def test_weights_that_cannot_be(path: Path, network: Network, program: Program) -> None:
    bad = network.first.copy()
    bad[3, 3] = np.nan
    for weights, message in (
        ({"first": bad, "last": network.last}, "NaN or infinite"),
        ({"first": network.first[:, :-1], "last": network.last}, "do not fit the program"),
        ({"first": network.first.astype(np.float16), "last": network.last}, "float32 or float64"),
        ({"first": network.first}, "truncated or damaged"),
    ):
        tensors = {name: np.ascontiguousarray(array) for name, array in weights.items()}
        path.write_bytes(save(tensors, {"bitwright": json.dumps(metadata_of(network, program))}))
        with pytest.raises(InputError, match=message):
            load_network(path, program)


def metadata_of(network: Network, program: Program) -> dict[str, object]:
    from dataclasses import asdict

    return {"format": "bitwright network 1", **asdict(network.origin), "bits": program.layout.names}


def test_missing_files(program: Program, tmp_path: Path) -> None:
    for place in (tmp_path / "none.safetensors", tmp_path):
        with pytest.raises(InputError, match="there is no network file"):
            load_network(place, program)


def test_the_cache_keeps_what_was_trained(program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BITWRIGHT_CACHE", str(tmp_path))
    recipe = Recipe(256, seed=1)
    one, trained = cached_network(program, recipe)
    two, again = cached_network(program, recipe)
    assert (trained, again) == (True, False)
    assert (one.first == two.first).all()
    assert cached_network(program, replace(recipe, seed=2))[1]
    [stored] = [p for p in (tmp_path / "bitwright" / "networks").iterdir() if "-256-1-" in p.name]
    stored.write_bytes(b"damaged")
    assert cached_network(program, recipe)[1]  # trained again instead of failing


def test_suggested_widths() -> None:
    assert [suggested_width(K) for K in (1, 20, 21, 40, 202, 10**9)] == [2048, 2048, 4096, 4096, 32768, 1 << 20]
