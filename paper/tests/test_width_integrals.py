"""The width law's closed form against its definition: hidden units that are drawn, and 60 digits.

Statistical tests have fixed seeds; each says with which probability it would fail by chance.
"""

from __future__ import annotations

import numpy as np
import pytest
from cases import for_each
from long import LONG

from bitwright.common.errors import InputError
from bitwright.theory.closed_form import FloatArray, Kind, variance, weights
from paper.width_integrals import Integrals, Sums, gate_coefficients, spread, unit_variance

UNITS = 200_000
SIZES = [
    (2, 2, 1),
    (6, 3, 3),
    (6, 6, 3),
    (20, 5, 4),
    (3, 2, 2),
    (6, 2, 3),
    (60, 2, 5),
    (60, 30, 5),
    (100, 100, 4),
    (100, 7, 6),
]


def drawn_units(matched: FloatArray, labels: FloatArray, kind: Kind, rng: np.random.Generator) -> FloatArray:
    """xi of many hidden units at one state, by its definition: dense matrices, nothing in closed form but w."""
    K, k = labels.shape
    a = 2 * np.pi - 1 if kind == "ntk" else np.pi - 1
    B = np.linalg.solve((a * np.eye(K) + np.ones((K, K))) / (2 * np.pi), labels)
    n = int(matched.sum())
    x, w = matched / np.sqrt(n), weights(n, K, kind)
    weight = np.where(matched > 0, w.matched, w.unmatched)
    parts = []
    for _ in range(0, UNITS, 20_000):
        g, v = rng.standard_normal((20_000, K)), rng.standard_normal((20_000, k))
        relu, at = np.maximum(g, 0), g @ x
        xi = (np.maximum(at, 0) - relu @ weight)[:, None] * (relu @ B)
        if kind == "ntk":
            xi += v * ((g > 0) * (np.outer(at > 0, x) - weight) * (v @ B.T)).sum(axis=1, keepdims=True)
        parts.append(xi)
    return np.concatenate(parts)


@for_each("kind", ["ntk", "last-layer"])
@for_each(("examples", "n", "bits"), SIZES if LONG else SIZES[:4])
def test_variance_of_hidden_units(examples: int, n: int, bits: int, kind: Kind) -> None:
    """76 variances and as many means, each beyond 5 standard errors once in 10^6: a false alarm below 1 in 5,000.

    The standard error of a variance is itself estimated, with heavy tails, so 2% are added.
    """
    rng = np.random.default_rng([examples, n, kind == "ntk"])
    labels = (rng.random((examples, bits)) < rng.random(bits)).astype(float)
    labels[0] = 1  # no bit without a writer
    matched = np.zeros(examples)
    matched[rng.choice(examples, n, replace=False)] = 1
    xi = drawn_units(matched, labels, kind, rng)
    m, c = matched @ labels, labels.sum(axis=0)
    V = unit_variance(n, m, c, examples, Sums.of(m, c), kind)
    found = xi.var(axis=0)
    error = np.sqrt(((xi**2 - found) ** 2).mean(axis=0) / UNITS)
    assert (np.abs(V - found) < 5 * error + 0.02 * V + 1e-12).all()
    assert (np.abs(xi.mean(axis=0)) < 5 * np.sqrt(V / UNITS) + 1e-12).all()
    assert error.max() < 0.02 * V.max() + 1e-12  # and the test can tell a part in ten


@pytest.mark.parametrize("n", [2, 3, 4, 9, 100])
def test_integrals_over_one_unit(n: int) -> None:
    """Each of the 17 expectations within 5 standard errors: a false alarm once in 10,000."""
    rng = np.random.default_rng(n)
    g = rng.standard_normal((400_000, min(n, 3)))
    rest = np.sqrt(max(0, n - 3)) * rng.standard_normal(len(g))
    at = (g.sum(axis=1) + rest) / np.sqrt(n)
    H, D, h, d = np.maximum(at, 0), at > 0, np.maximum(g, 0), g > 0
    drawn = {
        "P2": D * d[:, 0],
        "Q": D * d[:, 0] * d[:, 1],
        "J11": H * h[:, 0],
        "L1": H * h[:, 0] * d[:, 1],
        "N1": D * h[:, 0] * h[:, 1],
        "t2": D * h[:, 0] ** 2,
        "D1": D * h[:, 0],
        "DD": D * h[:, 0] * d[:, 1],
        "J21": H * h[:, 0] ** 2,
        "J22": H**2 * h[:, 0] ** 2,
        "J13": H * h[:, 0] ** 3,
        "J211": H**2 * h[:, 0] * h[:, 1],
        "J121": H * h[:, 0] ** 2 * h[:, 1],
        "T2": D * h[:, 0] ** 2 * d[:, 1],
        "J111": H * h[:, 0] * h[:, 1],
    }
    if n > 2:
        drawn["H"] = D * h[:, 0] * h[:, 1] * d[:, 2]
        drawn["F"] = H * h[:, 0] * h[:, 1] * h[:, 2]
    exact = Integrals(np.array(float(n)))
    for name, values in drawn.items():
        error = values.std() / np.sqrt(len(values))
        assert abs(float(getattr(exact, name)) - values.mean()) < 5 * error, name


def test_training_examples_have_no_error() -> None:
    """At n = 1 the input is a training example, at n = 0 it is 0: no width is too small, in every limit and start."""
    sums = Sums.of([1, 0], [3, 2])
    for n in (0, 1):
        for kind in ("ntk", "last-layer"):
            assert unit_variance(n, 0, 3, 9, sums, kind).item() == 0
            assert spread(n, 0, 3, 9, sums, 64, kind=kind).item() == 0
            assert spread(n, 0, 3, 9, sums, 64, start="random", kind=kind).item() == 0
    assert unit_variance(1, 1, 1, 1, Sums.of([1], [1])).item() == 0


def test_networks_and_starts_in_one_place() -> None:
    n, m, c, K = np.array([2, 5]), 1, 2, 12
    sums = Sums.of([[1, 1], [1, 2]], [2, 3])
    one = spread(n[:, None], m, c, K, sums, 256)
    assert np.allclose(spread(n[:, None], m, c, K, sums, 64, networks=4), one)  # like one network of their width
    assert np.allclose(spread(n[:, None], m, c, K, sums, 1024), one / 2)
    random = spread(n[:, None], m, c, K, sums, 256, start="random", networks=4)
    assert np.allclose(random, np.sqrt(variance(n, K) / 4)[:, None] / weights(n, K).gap[:, None])


def test_the_part_of_all_bits_is_linear_in_their_sums() -> None:
    n, c = np.array([2, 4, 7]), np.array([3.0, 1.0, 5.0])
    m = np.array([[1, 0, 2], [2, 1, 1], [3, 1, 3]])
    sums = Sums.of(m, c)
    constant, matched, crossed, squared = gate_coefficients(n, 12, float(c.sum()), float(c @ c))
    linear = constant + matched * m.sum(axis=1) + crossed * (m @ c) + squared * (m**2).sum(axis=1)
    own = unit_variance(n[:, None], 1, 3, 12, Sums.none())
    assert np.allclose(unit_variance(n[:, None], 1, 3, 12, sums), own + linear[:, None], rtol=1e-12)


@pytest.mark.parametrize("bad", [{"m": 3}, {"c": 12}, {"n": 11}, {"n": 2.5}])
def test_impossible_situations_are_refused(bad: dict[str, float]) -> None:
    given = {"n": 2, "m": 1, "c": 2} | bad
    with pytest.raises(InputError):
        unit_variance(given["n"], given["m"], given["c"], 10, Sums.none())


@pytest.mark.parametrize("wrong", [{"width": 0}, {"networks": 0}, {"start": "warm"}])
def test_impossible_networks_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        spread(2, 1, 1, 4, Sums.none(), **({"width": 64} | wrong))  # type: ignore[arg-type]
