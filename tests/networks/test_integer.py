"""Integer networks: how they come from trained ones, and what their files refuse."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import for_each
from safetensors import safe_open
from safetensors.numpy import save
from whole import choices, odd_program, sums_by_hand, trained, whole

from bitwright import InputError, Network, addition
from bitwright.networks import IntegerNetwork, Recipe, load_network, quantize, save_network, train
from bitwright.networks.integer import Bounds, decide_bits
from bitwright.networks.store import read_about
from bitwright.theory.closed_form import weights


def test_numbers_are_whole_and_as_short_as_asked() -> None:
    for bits in (8, 5, 2):
        network = trained(weight_bits=bits)
        most = 2 ** (bits - 1) - 1
        assert network.first.dtype == network.last.dtype == np.int8
        assert network.thresholds.dtype == np.int64
        assert max(np.abs(network.first).max(), np.abs(network.last).max()) == most


def test_thresholds_are_those_of_calibrated_rounding() -> None:
    """In units of sums: halfway between no match and one, beside what c writers bring (theory.md)."""
    network, program = trained(), addition(3).program
    for n in (1, 3, 6):
        w = weights(n, program.templates)
        scale = float(network.units[n - 1] / w.gap)
        for column, writers in enumerate(network.writers):
            wanted = (writers * float(w.unmatched) + float(w.gap) / 2) * scale
            assert network.thresholds[n - 1, column] == np.floor(wanted)


def test_what_is_not_quantized() -> None:
    program = addition(2).program
    network = train(program, Recipe(64))[0]
    with pytest.raises(InputError, match="another program"):
        quantize(network, addition(3).program)
    with pytest.raises(InputError, match=r"2.*8.*bits.*9"):
        quantize(network, program, 9)


def test_a_sum_must_pass_its_threshold_to_set_a_bit() -> None:
    """At the threshold a bit is 0, one above it is 1, both by a distance of 1; where nothing matches no bit is set."""
    network = trained()
    columns = np.zeros(3, dtype=np.int64)
    at = network.thresholds[1, 0]
    sums = np.array([[at - 1, at, at + 1]] * 2)
    bits, distance = decide_bits(sums, np.array([2, 0]), network, columns)
    assert bits.tolist() == [[False, False, True], [False, False, False]]
    assert distance[0].tolist() == [2, 1, 1]


def test_bounds_are_reached_and_not_passed() -> None:
    """By every state of a small program, whose sums are added up in every order by the absolute values."""
    algorithm = odd_program()
    network = whole(algorithm.program, 64)
    bounds = Bounds.of(network, algorithm.program)
    first = network.first.astype(int)
    hidden = np.array([np.maximum(first[:, list(m)].sum(axis=1), 0) for m in choices(algorithm.program)])
    assert (hidden.max(axis=0) <= bounds.hidden).all()
    assert (hidden.max(axis=0) == bounds.hidden).any()
    assert max(abs(g) for m in choices(algorithm.program) for g in sums_by_hand(network, m)) <= bounds.sums


def test_a_file_gives_the_same_network_again(tmp_path: Path) -> None:
    program, network, path = addition(3).program, trained(), tmp_path / "net.safetensors"
    save_network(network, program, path)
    again = load_network(path, program)
    assert isinstance(again, IntegerNetwork)
    assert again.digest == network.digest
    for name in ("first", "last", "thresholds"):
        assert (getattr(again, name) == getattr(network, name)).all()
        assert not getattr(again, name).flags.writeable
    about = read_about(path)
    assert about.width == 512
    assert Network.load(path, program).digest == network.digest
    with pytest.raises(InputError, match="another program"):
        load_network(path, addition(4).program)


def rewrite(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], object]) -> None:
    """A file of a network whose document and tensors were changed."""
    save_network(trained(), addition(3).program, path)
    with safe_open(path, framework="numpy") as file:
        document = json.loads(file.metadata()["bitwright"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    change(document, tensors)
    path.write_bytes(save(tensors, metadata={"bitwright": json.dumps(document)}))


@pytest.mark.parametrize("tensor", ["first", "last", "thresholds"])
def test_a_flipped_number_is_refused(tmp_path: Path, tensor: str) -> None:
    def flip(_: object, tensors: dict[str, Any]) -> None:
        tensors[tensor][0, 0] ^= 1

    rewrite(tmp_path / "net", flip)
    with pytest.raises(InputError, match="is damaged"):
        load_network(tmp_path / "net", addition(3).program)


@for_each(
    ("field", "value", "message"),
    [
        ("weight_bits", 9, "weight_bits must be an integer from 2 to 8"),
        ("members", 3, "members must be an integer from 1 to 1"),
        ("gain", -1.0, "gain must be a number"),
        ("gain", None, "gain must be a number"),
        ("writers", [1, 0], "ascending writers|shapes"),
        ("writers", [0, 1, 2, 3, 4], "do not fit"),
        ("sources", [], "must have one source, got 0"),
        ("sha256", "0" * 64, "is damaged"),
        ("format", "bitwright network 2", "floating-point weights of an earlier version; train it again"),
    ],
)
def test_a_hostile_field_is_refused(tmp_path: Path, field: str, value: object, message: str) -> None:
    rewrite(tmp_path / "net", lambda document, _: document.update({field: value}))
    with pytest.raises(InputError, match=message):
        load_network(tmp_path / "net", addition(3).program)


OTHER_TENSORS: dict[str, Callable[[dict[str, Any]], object]] = {
    "type": lambda tensors: tensors.update(thresholds=tensors["thresholds"].astype(np.float64)),
    "shape": lambda tensors: tensors.update(thresholds=tensors["thresholds"][:-1]),
    "missing": lambda tensors: tensors.pop("thresholds"),
    "more": lambda tensors: tensors.update(more=tensors["first"]),
}


@pytest.mark.parametrize("how", OTHER_TENSORS)
def test_other_tensors_are_refused(tmp_path: Path, how: str) -> None:
    rewrite(tmp_path / "net", lambda _, tensors: OTHER_TENSORS[how](tensors))
    with pytest.raises(InputError):
        load_network(tmp_path / "net", addition(3).program)
