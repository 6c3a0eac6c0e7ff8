"""The Gaussian field of the width law, and the states it is looked at in."""

from math import exp

import numpy as np
import pytest
from long import LONG

from bitwright import Program, addition, multiplication, permutation
from bitwright.rules.pattern import Pattern, pattern_of
from bitwright.theory.closed_form import Kind, weights
from bitwright.theory.encoding.training_set import TrainingSet
from bitwright.theory.width_plan import WidthField, regions_of, rounded, scaled_bias
from paper.network_width import WorstError, neighbours
from paper.width_integrals import Sums, spread
from tests.programs import crowded, random_program

KINDS = [("ntk", 5), ("last-layer", 0), ("ntk", 0), ("last-layer", 5)]


@pytest.mark.parametrize(("kind", "padding"), KINDS if LONG else KINDS[:2])
def test_draws_have_the_variance_and_the_mean_of_the_law(kind: Kind, padding: int) -> None:
    """Over some 900 correlated bits of 30 states and 1,500 draws: pooled within 3%, a false alarm below 1 in 1,000."""
    program = addition(6).program
    matched = regions_of(Pattern.of_state(program))[0].sample(30, np.random.default_rng(0))
    matched = matched[matched.sum(axis=1) > 1]
    n, labels, K = matched.sum(axis=1), program.write_matrix, program.templates + padding
    field, rng = WidthField(program, K, kind), np.random.default_rng(1)
    drawn = np.array([field.errors(field.draw(rng, 128), matched) for _ in range(1_500)])
    m = matched @ labels
    law = spread(n[:, None], m, program.writers, K, Sums.of(m, program.writers), 1, kind=kind)
    seen = law > 0
    bias = scaled_bias(matched, labels, K) if kind == "ntk" else np.zeros_like(law)
    assert np.sqrt((drawn.var(axis=0)[seen] / law[seen] ** 2).mean()) == pytest.approx(1, abs=0.03)
    assert np.abs((drawn.mean(axis=0) - bias)[seen] / law[seen]).max() < 5.5 / np.sqrt(1_500)


@pytest.mark.parametrize("padding", [0, 5])
def test_the_bias_is_the_sum_over_dense_examples(padding: int) -> None:
    """sqrt(K)/(w1 - w0) [sum_j w_j eps_ji - 1/(2 sqrt n) sum_{j in S} eps_ji], and B from the kernel's own matrix."""
    program = addition(3).program
    K, width = program.templates + padding, program.templates
    labels = np.vstack([program.write_matrix, np.zeros((padding, program.bits))])
    B = np.linalg.solve(((2 * np.pi - 1) * np.eye(K) + 1) / (2 * np.pi), labels)
    eps = B * np.linalg.norm(B, axis=1)[:, None] / (2 * np.pi)
    matched = np.array([np.arange(K) < n for n in (2, 5, width)])
    expected = []
    for row in matched:
        w, n = weights(int(row.sum()), K), row.sum()
        sums = np.where(row, w.matched, w.unmatched) @ eps - row @ eps / (2 * np.sqrt(n))
        expected.append(np.sqrt(K) / float(w.gap) * sums)
    np.testing.assert_allclose(scaled_bias(matched[:, :width], program.write_matrix, K), expected, atol=1e-9)


def test_states_share_their_errors_as_the_definition_says() -> None:
    """The covariance between two states, by xi written out; within 5 standard errors of 4,000 draws."""
    program = permutation([2, 3, 4, 5, 6, 1]).program
    labels, K = program.write_matrix, program.templates
    matched = np.array([[1, 1, 1, 0, 0, 0], [1, 1, 0, 1, 0, 0]], dtype=bool)
    field, rng = WidthField(program, K), np.random.default_rng(0)
    drawn = np.array([field.errors(field.draw(rng, 16), matched)[:, 1] for _ in range(4_000)])
    B = np.linalg.solve(((2 * np.pi - 1) * np.eye(K) + 1) / (2 * np.pi), labels)
    g, v = rng.standard_normal((100_000, K)), rng.standard_normal((100_000, 6))
    xi, w = [], weights(3, K)
    for row in matched:
        x, weight = row / np.sqrt(3), np.where(row, w.matched, w.unmatched)
        gates = (g > 0) * (np.outer(g @ x > 0, x) - weight)
        first = (np.maximum(g @ x, 0) - np.maximum(g, 0) @ weight) * (np.maximum(g, 0) @ B[:, 1])
        xi.append(first + v[:, 1] * (gates * (v @ B.T)).sum(axis=1))
    law = 2 * np.cov(xi) / float(w.gap) ** 2
    error = np.sqrt((law[0, 0] * law[1, 1] + law[0, 1] ** 2) / 4_000)
    assert 0.2 < law[0, 1] / law[0, 0] < 0.9  # they are correlated, so the test says something
    assert np.abs(np.cov(drawn.T) - law).max() < 5 * error + 0.03 * law[0, 0]


@pytest.mark.parametrize(
    "make", [addition(4).program, crowded(5, 2), random_program(np.random.default_rng(2), 10, 3, 3)]
)
def test_regions_have_all_states_and_only_those(make: Program) -> None:
    region = regions_of(Pattern.of_state(make))[0]
    count = round(exp(region.log_states))
    every = {row.tobytes() for row in region.sample(count, np.random.default_rng(0))}
    assert len(every) == count
    states = np.random.default_rng(1).random((500, make.bits)) < 0.5
    met = TrainingSet(make).matches(states)[0].toarray() > 0
    assert {row.tobytes() for row in met} <= every
    sampled = region.sample(count - 1, np.random.default_rng(2)) if count > 4 else met
    assert {row.tobytes() for row in sampled} <= every
    more = neighbours(region, sampled[:3])
    assert {row.tobytes() for row in more} <= every
    changed = [np.count_nonzero(np.bitwise_xor(row, sampled[:3]), axis=1).min() for row in more]
    assert max(changed) <= 2  # one template for another


def test_regions_of_cells_are_their_local_states() -> None:
    pattern = pattern_of([multiplication(6).program])
    regions = regions_of(pattern)
    assert sum(round(exp(region.log_states)) for region in regions) == pattern.local_states
    for number, region in enumerate(regions):
        inside = region.sample(1 << 12, np.random.default_rng(0))
        assert not inside[:, : region.templates.start].any()
        assert not inside[:, region.templates.stop :].any()
        assert region.own[pattern.port_bits(number)].all()
    assert sum(int(region.own.sum()) for region in regions) == sum(len(kind.ports) for kind in pattern.kinds)


def test_widths_are_powers_of_two() -> None:
    assert [rounded(width, 128, 1 << 20) for width in (0, 128, 129, 5e9)] == [128, 128, 256, 1 << 20]


def test_the_width_of_draws_is_a_quantile() -> None:
    """Of Gumbel's law: a tenth of its draws lie above the width for delta = 0.1 (20,000 draws, within 5 deviations)."""
    needs = np.random.default_rng(0).gumbel(20, 2, 20_000)
    found = WorstError(needs / 2, needs, 1)
    above = np.mean(needs > np.sqrt(found.width(0.1)))
    assert above == pytest.approx(0.1, abs=5 * np.sqrt(0.09 / 20_000) + 0.003)
    assert found.interval[1] < found.interval[0] < found.interval[2]
