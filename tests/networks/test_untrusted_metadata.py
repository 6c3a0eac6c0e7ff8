"""What a network file claims of itself is not repeated: reports say what its tensors show."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cases import for_each
from whole import trained, with_weights

from bitwright import Certificate, ProofError, addition, certify, run, train
from bitwright.networks import IntegerNetwork


def forged(network: IntegerNetwork, **claims: object) -> IntegerNetwork:
    return replace(network, rounded=replace(network.rounded, **claims))  # type: ignore[arg-type]


FORGERIES: list[dict[str, object]] = [
    {"weight_bits": 2},
    {"scale_first": 30.0},
    {"scale_last": 1e-9},
    {"gain": 1e-3},
    {"gain": float("nan")},
    {"scale_first": 0.0},
    {"members": 0},
    {"members": 64},
]


@for_each("claims", FORGERIES)
def test_a_certificate_repeats_no_claim_of_the_file(claims: dict[str, object]) -> None:
    found, other = (certify(addition(3), one) for one in (trained(), forged(trained(), **claims)))
    ours, theirs = (
        {name: value for name, value in vars(one.own).items() if name not in ("seconds", "network_sha256")}
        for one in (found, other)
    )
    assert ours == theirs
    assert ours["weight_bits"] == 8


def test_runs_and_cells_measure_margins_by_the_thresholds_too() -> None:
    algorithm, cells = addition(3), train(addition(3))
    for network, other in (
        (trained(), forged(trained(), scale_first=30.0)),
        (cells, replace(cells, weights=forged(cells.weights, scale_first=30.0, weight_bits=3))),
    ):
        ours, theirs = (run(algorithm, p=5, q=3, network=one) for one in (network, other))
        assert ours.margin == theirs.margin
        assert ours.value == theirs.value == 8
    assert str(cells) == str(replace(cells, weights=forged(cells.weights, gain=1e-3)))


def test_the_unit_of_margins_is_that_of_quantize_and_never_smaller() -> None:
    """At n = 1 a bit without writers has its threshold at half a unit: T = floor(unit / 2)."""
    for weight_bits in range(2, 9):
        network = trained(3, 256, 0, weight_bits)
        none = network.writers.index(0) if 0 in network.writers else None
        how = network.rounded
        true = how.gain / (how.scale_first * how.scale_last) * np.sqrt(network.examples * network.shape.width)
        T = int(network.thresholds[0, 0 if none is None else none])
        assert int(true / 2) == T  # w0 = 0 at n = 1, whatever the writers
        assert true * (1 - 1e-9) <= network.units[0] <= 2 * (T + 1)
        assert network.weight_bits == weight_bits == how.weight_bits


def test_thresholds_of_another_kind_have_the_largest_unit_that_one_of_them_suggests() -> None:
    network = trained()
    table = network.thresholds.copy()
    table[0] *= 1_000
    other = with_weights(network, thresholds=table)
    assert other.units[0] >= 2 * table[0].max()
    assert np.isfinite(other.units).all()
    assert (with_weights(network, thresholds=0 * table - 5).units > 0).all()


def test_certificates_of_earlier_versions_are_read_and_hold(tmp_path: Path) -> None:
    """They have `members`, and a margin that rests on metadata: for 8 bits, the same as far as it is shown."""
    file = tmp_path / "certificate.json"
    certify(addition(3), trained()).save(file)
    document = json.loads(file.read_text())
    document |= {"members": 1, "margin": document["margin"] * (1 + 1e-5)}
    file.write_text(json.dumps(document))
    Certificate.load(file).check(addition(3), trained())
    document["margin"] *= 30
    file.write_text(json.dumps(document))
    with pytest.raises(ProofError, match="margin = "):
        Certificate.load(file).check(addition(3), trained())


def test_no_base_of_any_weights_can_be_made_writable() -> None:
    cells = train(addition(3))
    network, program = cells.weights, cells.pattern.program
    arrays = [network.first, network.last, network.thresholds, network.units]
    arrays += [program.block_bits, program.write_bits, program.writers, program.cells.start, program.kinds.of]
    for array in arrays:
        while isinstance(array, np.ndarray):
            with pytest.raises(ValueError, match="WRITEABLE"):
                array.flags.writeable = True
            array = array.base
    network.tensors_sha256["first"] = "0" * 64
    assert network.tensors_sha256["first"] != "0" * 64
