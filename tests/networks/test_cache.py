"""The cache: what was trained is found again, what was altered is not used, and only what is ours is removed."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from safetensors import safe_open
from safetensors.numpy import save

from bitwright import InputError, addition
from bitwright.cli.main import main
from bitwright.networks import Plan, Recipe, load_network
from bitwright.networks.cache import cache_folder, cached_network, clear_cache, entry_path

PROGRAM = addition(2).program
RECIPE = Recipe(256, seed=1, plan=Plan(descent="momentum"))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BITWRIGHT_CACHE", str(tmp_path))
    return tmp_path / "bitwright" / "networks"


def test_what_was_trained_is_found_again() -> None:
    one, trained = cached_network(PROGRAM, RECIPE)
    two, again = cached_network(PROGRAM, RECIPE)
    assert (trained, again) == (True, False)
    assert one.digest == two.digest


@pytest.mark.parametrize(
    "other",
    [
        replace(RECIPE, width=258),
        replace(RECIPE, seed=2),
        replace(RECIPE, member=1),
        replace(RECIPE, padding=3),
        replace(RECIPE, start="random"),
        replace(RECIPE, precision="float64"),
        replace(RECIPE, plan=Plan()),
        replace(RECIPE, plan=Plan(descent="balanced")),
        replace(RECIPE, plan=Plan(descent="momentum", tolerance=1e-2)),
        replace(RECIPE, plan=Plan(descent="momentum", tolerance=1.0000001e-3)),
        replace(RECIPE, plan=Plan(descent="momentum", rate=1.0)),
        replace(RECIPE, plan=Plan(descent="momentum", parametrization="standard")),
    ],
)
def test_recipes_that_give_other_weights_have_places_of_their_own(other: Recipe) -> None:
    """So that two which take turns do not replace each other's networks."""
    assert entry_path(PROGRAM, other) != entry_path(PROGRAM, RECIPE) != entry_path(addition(3).program, RECIPE)
    assert cached_network(PROGRAM, RECIPE)[1]
    assert cached_network(PROGRAM, other)[1]
    assert not cached_network(PROGRAM, RECIPE)[1]
    network, again = cached_network(PROGRAM, other)
    assert not again
    assert network.shape.inputs == PROGRAM.templates + other.padding


def altered(path: Path, how: str) -> None:
    """What may happen to an entry: a weight changes, or its origin, or it is cut, or it is of an earlier version."""
    data = path.read_bytes()
    network, about = load_network(path, PROGRAM), json.loads(_metadata(path))
    if how == "weight":
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    elif how == "cut":
        path.write_bytes(data[: len(data) // 2])
    elif how == "junk":
        path.write_bytes(b"damaged")
    else:
        change = {"parametrization": "standard"} if how == "origin" else {"format": "bitwright network 1"}
        document = {**about, **change}
        if how == "earlier":
            del document["sha256"]
        path.write_bytes(save({"first": network.first, "last": network.last}, {"bitwright": json.dumps(document)}))


def _metadata(path: Path) -> str:
    with safe_open(path, framework="numpy") as file:
        return str(file.metadata()["bitwright"])


@pytest.mark.parametrize("how", ["weight", "origin", "cut", "junk", "earlier"])
def test_an_entry_that_was_altered_is_replaced_and_not_used(how: str, caplog: pytest.LogCaptureFixture) -> None:
    network, _ = cached_network(PROGRAM, RECIPE)
    path = entry_path(PROGRAM, RECIPE)
    altered(path, how)
    again, trained = cached_network(PROGRAM, RECIPE)
    assert trained
    assert again.digest == network.digest
    [said] = [record.getMessage() for record in caplog.records]
    assert said.startswith(str(path))
    assert said.endswith("training it again")
    assert not cached_network(PROGRAM, RECIPE)[1]


def test_a_damaged_entry_is_said_on_stderr(folder: Path) -> None:
    add = ["add", "1", "2", "--engine", "network", "--width", "512", "-q"]
    assert main(add) == 0
    [path] = folder.iterdir()
    path.write_bytes(b"damaged")
    done = subprocess.run([sys.executable, "-m", "bitwright", *add], check=True, capture_output=True, text=True)
    assert done.stdout == "3\n"
    assert done.stderr.count("\n") == 1
    assert f"{path} is not a network file" in done.stderr
    assert "training it again" in done.stderr


def test_the_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_folder() == tmp_path / "bitwright"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "bitwright"
    monkeypatch.delenv("BITWRIGHT_CACHE")
    assert cache_folder() == tmp_path / "xdg" / "bitwright"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder() == tmp_path / "home" / ".cache" / "bitwright"

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(InputError, match="set BITWRIGHT_CACHE"):
        cache_folder()
    assert cached_network(PROGRAM, RECIPE)[1]  # trained, and kept nowhere


def test_clearing_removes_only_what_is_ours(folder: Path, tmp_path: Path) -> None:
    assert clear_cache() == (0, 0)
    cached_network(PROGRAM, RECIPE)
    [entry] = folder.iterdir()
    size = entry.stat().st_size
    id_ = PROGRAM.id[:24]
    (folder / f"{id_}-256-0-0-0-zero-ntk-momentum-0.001.safetensors").write_bytes(b"12")  # of an earlier version
    (folder / f".{entry.name}.abc123").write_bytes(b"345")  # a write that was killed
    outside = tmp_path / "outside.safetensors"
    outside.write_text("")
    kept = [folder / "mine.safetensors", folder / f"{id_}.safetensors", folder.parent / entry.name]
    for path in kept:
        path.write_text("mine")
    (folder / f"{id_}-1-1-1-x.safetensors").mkdir()
    (folder / f"{id_}-1-1-2-x.safetensors").symlink_to(outside)
    assert clear_cache() == (3, size + 5)
    assert all(path.exists() for path in (*kept, outside))
    assert len(os.listdir(folder)) == 4
    assert clear_cache() == (0, 0)
