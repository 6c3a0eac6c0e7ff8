"""The closed forms against a dense solve, interval enclosures and the values of the paper's formulas."""

import flint
import numpy as np
import pytest
from cases import for_each
from hypothesis import given, settings
from hypothesis import strategies as st
from long import LONG, examples

from bitwright import InputError
from bitwright.theory.closed_form import KINDS, Kind, beta, covariance, delta, spectrum, variance, weights
from bitwright.theory.decisions import rho
from bitwright.theory.intervals import enclose, precision
from bitwright.theory.kernels import nngp, ntk
from paper.dense import Predictor, check_size, kernel


@pytest.mark.parametrize(
    ("examples", "n", "w1", "w0", "sigma2"),
    [
        (40, 2, 0.5719475725, -0.0033245045, 1.601e-3),
        (40, 20, 0.1043048944, -0.0429573202, 4.647e-3),
        (210, 105, 0.0357595738, -0.0249789235, 1.061e-3),
    ],
)
def test_known_values(examples: int, n: int, w1: float, w0: float, sigma2: float) -> None:
    w = weights(n, examples)
    assert w.matched == pytest.approx(w1, abs=1e-10)
    assert w.unmatched == pytest.approx(w0, abs=1e-10)
    assert variance(n, examples) == pytest.approx(sigma2, rel=1e-3)


def test_the_papers_own_formula() -> None:
    """App. C prints w0 and w1 with y = sqrt(n) and k read as K; in other letters they are ours."""
    K = 57
    for n in range(1, K + 1):
        y = np.sqrt(n)
        root = np.sqrt(n - 1)
        bottom = (2 * np.pi - 1) * (K + 2 * np.pi - 1)
        w0 = (n - root * y - 2 * np.pi * (y - 1) + 2 * y * np.arccos(1 / y) - 1) / bottom
        w = weights(n, K)
        assert w.unmatched == pytest.approx(w0, abs=1e-13)


@for_each("kind", KINDS)
@for_each("K", [1, 2, 3, 10, 40, 137, *[500] * LONG])
def test_weights_agree_with_a_dense_solve_to_1e_12(K: int, kind: Kind) -> None:
    """Every n from 1 to K at once; a step of refinement in long double makes the solve good enough to compare."""
    n = np.arange(1, K + 1)
    tests = (np.arange(K)[None, :] < n[:, None]) / np.sqrt(n)[:, None]
    train, test = kernel(kind, np.eye(K), np.eye(K)), kernel(kind, tests, np.eye(K)).T
    solved = np.linalg.solve(train, test)
    residual = test.astype(np.longdouble) - train.astype(np.longdouble) @ solved.astype(np.longdouble)
    solved = solved + np.linalg.solve(train, residual.astype(np.float64))
    w = weights(n, K, kind)
    np.testing.assert_allclose(solved[0, :], w.matched, rtol=1e-12)
    np.testing.assert_allclose(solved[-1, 1:-1], w.unmatched[1:-1], rtol=1e-12)
    np.testing.assert_allclose(w.matched - w.unmatched, w.gap, rtol=1e-10)


@for_each("kind", KINDS)
@for_each("K", [2, 10, 40, 200])
def test_variance_and_covariance_agree_with_dense_algebra(K: int, kind: Kind) -> None:
    rng = np.random.default_rng(K)
    matched = np.array([rng.permutation(np.arange(K) < n) for n in rng.integers(1, K + 1, size=30)])
    n = matched.sum(axis=1)
    tests = matched / np.sqrt(n)[:, None]
    dense = Predictor(np.eye(K), np.eye(K), kind).covariance(tests)
    shared = matched.astype(int) @ matched.T.astype(int)
    scale = 1 / K
    np.testing.assert_allclose(covariance(n[:, None], n[None, :], shared, K, kind), dense, atol=1e-12 * scale * K)
    np.testing.assert_allclose(variance(n, K, kind), np.diag(dense), atol=1e-12 * scale * K)
    assert np.linalg.eigvalsh(covariance(n[:, None], n[None, :], shared, K, kind)).min() > -1e-12 * scale


@settings(max_examples=examples(100))
@given(st.integers(1, 10**6), st.data())
def test_no_cancellation_up_to_a_million_examples(K: int, data: st.DataObject) -> None:
    """Doubles against 300-bit balls that evaluate the unsimplified formulas of App. D."""
    n = data.draw(st.one_of(st.integers(1, K), st.sampled_from([1, min(2, K), K, max(1, K - 1)])))
    with precision(300):
        pi, one = flint.arb.pi(), flint.arb(1)
        z = one / flint.arb(n).sqrt()
        theta = z.acos() if n > 1 else flint.arb(0)
        d, c = one / K, one / (2 * pi * K)
        g1 = (z * (pi - theta) + theta.sin()) / (2 * pi * K)
        f1 = g1 + z * (pi - theta) / (2 * pi * K)
        total = n * f1 + (K - n) * c
        w1, w0 = ((f - c * total / (d - c + c * K)) / (d - c) for f in (f1, c))
        s = n * w1 + (K - n) * w0
        squares = n * w1 * w1 + (K - n) * w0 * w0
        sigma2 = d / 2 + (d / 2 - c) * squares + c * s * s - 2 * (n * w1 * g1 + (K - n) * w0 * c)
        exact = [float(value.mid()) for value in (w1, w0, sigma2)]
        ball = enclose(n, K)
        assert ball.matched.overlaps(w1)
        assert ball.unmatched.overlaps(w0)
    w = weights(n, K)
    assert w.matched == pytest.approx(exact[0], rel=1e-12)
    assert w.unmatched == pytest.approx(exact[1], rel=1e-12, abs=1e-25)
    assert variance(n, K) == pytest.approx(exact[2], rel=1e-12, abs=1e-25)
    assert float(ball.matched.mid()) == pytest.approx(float(w.matched), rel=1e-12)


def test_exact_at_the_ends() -> None:
    """Networks have no biases: the zero input gives 0, and one match is the first that does not."""
    for K in (1, 2, 17, 10**6):
        for kind in KINDS:
            w = weights([0, 1], K, kind)
            assert (w.matched.tolist(), w.unmatched.tolist(), w.gap.tolist()) == ([0, 1], [0, 0], [0, 1])
        assert variance([0, 1], K).tolist() == [0.0, 0.0]
        assert covariance(1, K, 1, K) == 0.0
    for K in (2, 50):  # n = K: all weight is equal, and the ones vector is an eigenvector
        expected = (1 + float(beta(K))) / (2 * np.pi - 1 + K)
        assert weights(K, K).matched == pytest.approx(expected, rel=1e-14)


def test_rho_is_increasing_and_below_n() -> None:
    n = np.concatenate((np.arange(1, 5000), np.geomspace(5000, 1e9, 200).round()))
    values = rho(n)
    assert values[0] == 0
    assert (np.diff(values) > 0).all()
    assert (values < n).all()


@pytest.mark.parametrize("kind", KINDS)
def test_spectrum(kind: Kind) -> None:
    for K in (2, 7, 60):
        eigenvalues = np.linalg.eigvalsh(kernel(kind, np.eye(K), np.eye(K)))
        low, high = spectrum(K, kind)
        np.testing.assert_allclose(eigenvalues, [low] * (K - 1) + [high], rtol=1e-12)
    assert spectrum(100)[1] / spectrum(100)[0] == pytest.approx(1 + 100 / (2 * np.pi - 1))


def test_kernels_are_what_wide_random_networks_have() -> None:
    """Eq. (1)-(2) against empirical kernels at width 400,000; within 6 standard errors, false alarms below 1e-7."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((4, 3))
    x /= np.maximum(1, np.linalg.norm(x, axis=1))[:, None]
    width = 400_000
    w1, w2 = rng.standard_normal((width, 3)), rng.standard_normal(width)
    hidden = x @ w1.T / np.sqrt(3)  # (4, width)
    active = (hidden > 0).astype(float)
    last = np.einsum("ph,qh->pqh", np.maximum(hidden, 0), np.maximum(hidden, 0))
    first = np.einsum("ph,qh,h->pqh", active, active, w2**2) * (x @ x.T / 3)[:, :, None]
    for empirical, formula in ((last, nngp(x, x)), (last + first, ntk(x, x))):
        error = empirical.std(axis=2) / np.sqrt(width)
        assert (np.abs(empirical.mean(axis=2) - formula) < 6 * error).all()


def test_delta_and_beta_from_their_definitions() -> None:
    for n in (2, 3, 10, 1000):
        z = 1 / np.sqrt(n)
        theta = np.arccos(z)
        g = z * (np.pi - theta) + np.sin(theta)
        assert delta(n) == pytest.approx(g - 1, rel=1e-12)
        assert beta(n) == pytest.approx(g + z * (np.pi - theta) - 1, rel=1e-12)


@pytest.mark.parametrize(("n", "K"), [(5, 4), (-1, 4), (1.5, 4), (float("nan"), 4), (1, 0), (0, -1), (0, 10**12 + 1)])
def test_impossible_sizes_are_refused(n: float, K: int) -> None:
    with pytest.raises(InputError):
        weights(n, K)


@pytest.mark.parametrize(("shared", "K"), [(0, 5), (-1, 9), (4, 9)])
def test_two_states_of_three_matches_share_what_there_is(shared: int, K: int) -> None:
    with pytest.raises(InputError, match="share"):
        covariance(3, 3, shared, K)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(bad: float) -> None:
    broken = np.eye(3)
    broken[0, 0] = bad
    with pytest.raises(InputError, match="finite"):
        Predictor(broken, np.eye(3))
    with pytest.raises(InputError, match="finite"):
        Predictor(np.eye(3), broken)
    with pytest.raises(InputError, match="finite"):
        ntk(broken, np.eye(3))


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="every input needs a label"):
        Predictor(np.eye(3), np.eye(4))
    with pytest.raises(InputError, match="same number of columns"):
        ntk(np.eye(3), np.eye(4))
    check_size(5_000)
    with pytest.raises(InputError, match=r"5,000.*5,001.*closed form"):
        Predictor(np.zeros((5_001, 1)), np.zeros((5_001, 1)))
