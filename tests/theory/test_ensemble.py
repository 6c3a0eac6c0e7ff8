"""How many networks: the formulas' values, their growth, and that an ensemble of that size keeps its promise."""

from math import log

import numpy as np
import pytest
from programs import crowded

from bitwright import InputError, addition, permutation
from bitwright.proofs.certificate import certify
from bitwright.theory.closed_form import covariance, variance, weights
from bitwright.theory.ensemble import calibrated_size, sign_size

ADDER = addition(10).program


def test_ten_bit_addition() -> None:
    assert calibrated_size(ADDER, 0.01).networks == 50
    assert sign_size(ADDER, 0.01).networks == 34_512
    assert sign_size(ADDER, 0.01, printed=False).networks == 8_344


def test_as_printed_by_hand() -> None:
    """Eq. (8), term by term: the worst pair of n and bit found by trying them all."""
    K, delta = 40, 0.05
    worst = 0.0
    for n in range(2, 21):
        w = weights(n, K)
        for c in (1, 2):
            for mean in (c * w.unmatched, w.matched + (c - 1) * w.unmatched):
                worst = max(worst, float(variance(n, K) / mean**2))
    assert sign_size(ADDER, delta, "input").networks == int(np.ceil(8 * worst * log(2 * K / delta)))


def test_scopes_cost_more_the_more_they_cover() -> None:
    sizes = [sign_size(ADDER, 0.01, scope, steps=20).networks or 0 for scope in ("input", "inputs", "runs")]
    assert sizes == sorted(sizes)
    assert len(set(sizes)) == 3
    ours = [calibrated_size(ADDER, 0.01, scope).networks or 0 for scope in ("input", "inputs", "runs")]
    assert ours[0] < ours[1] == ours[2]  # all inputs cover all steps of all runs


def test_unmasked_constant_bits_need_infinitely_many() -> None:
    size = sign_size(ADDER, 0.01, masked=False)
    assert size.networks is None
    assert "q[1] is never written" in size.reason
    assert sign_size(permutation([2, 1]).program, 0.01, masked=False).networks is not None


def test_a_mean_of_the_wrong_sign_cannot_be_averaged_away() -> None:
    size = sign_size(crowded(50, bystanders=20), 0.01)
    assert size.networks is None
    assert "wrong sign" in size.reason
    assert calibrated_size(crowded(50, bystanders=20), 0.01).networks is not None


def test_words_that_mean_nothing_are_refused_by_the_library_too() -> None:
    with pytest.raises(InputError, match="no domain"):
        calibrated_size(ADDER, 0.1, "foo")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no rounding"):
        certify(ADDER, "calibrate")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no limit 'foo'"):
        weights(2, 4, "foo")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"40.*templates"):
        sign_size(ADDER, 0.1, examples=3)
    with pytest.raises(InputError, match="share more matches"):
        covariance(3, 3, 5, 10)


@pytest.mark.parametrize(("share", "kept"), [(1.0, True), (0.1, False)])
def test_an_ensemble_of_the_size_for_one_input_keeps_its_promise(share: float, kept: bool) -> None:
    """The adder at its worst n = 20, delta 0.2: of 4,000 ensembles no more fail than promised; of a tenth of the size,
    many more do. If the true rate were delta itself, a false alarm (6 standard errors) would come below 1e-8."""
    rng = np.random.default_rng(3)
    size = calibrated_size(ADDER, 0.2, "input")
    n, K, delta, trials = size.worst_n or 0, 40, 0.2, 4_000
    assert n == 20
    networks = max(1, int(share * (size.networks or 0)))
    w, sigma = weights(n, K), np.sqrt(variance(n, K))
    m = (np.arange(30) % 3 == 0).astype(float)
    outputs = w.mean(ADDER.writers, m) + sigma * rng.standard_normal((trials, 30)) / np.sqrt(networks)
    bits = (outputs - w.unmatched * ADDER.writers) / w.gap > 0.5
    failures = np.count_nonzero((bits != (m > 0)).any(axis=1))
    assert (failures <= trials * delta + 6 * np.sqrt(trials * delta * (1 - delta))) == kept


def test_growth_with_the_bit_length() -> None:
    """Eq. (8) over all inputs grows like l^2, the calibrated size like l (theory.md; Remark 6.1)."""
    lengths = [256, 512, 1024, 2048, 4096]
    for make in (addition, lambda l: permutation(range(1, l + 1))):
        sign = [sign_size(make(l).program, 0.01).networks or 0 for l in lengths]
        ours = [calibrated_size(make(l).program, 0.01).networks or 0 for l in lengths]
        assert np.polyfit(np.log(lengths), np.log(sign), 1)[0] == pytest.approx(2, abs=0.05)
        assert np.polyfit(np.log(lengths), np.log(ours), 1)[0] == pytest.approx(1, abs=0.05)
