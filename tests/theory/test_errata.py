"""docs/explanation/errata.md, the theory: what the paper prints against what its own formulas give."""

from dataclasses import dataclass
from math import erfc, exp, log, sqrt

import numpy as np
import pytest

from bitwright import addition, multiplication, permutation
from bitwright.machines import Sizes, machine_b
from bitwright.proofs.ranges import reachable_range
from bitwright.theory.closed_form import FloatArray, variance, weights
from bitwright.theory.decisions import declared_range
from bitwright.theory.encoding.training_set import TrainingSet
from bitwright.theory.ensemble import log_inputs, sign_size
from bitwright.theory.kernels import nngp, ntk
from paper.dense import Predictor

PI = np.pi


@dataclass(frozen=True)
class Dense:
    """The vectors and matrices of App. D for an input that matches the first n of K examples, from Eq. (1) and (2)."""

    K: int
    n: int

    @property
    def test(self) -> FloatArray:
        return (np.arange(self.K) < self.n)[None] / sqrt(self.n)

    @property
    def f(self) -> FloatArray:
        return ntk(self.test, np.eye(self.K))[0]

    @property
    def z(self) -> FloatArray:  # f - g
        return self.f - nngp(self.test, np.eye(self.K))[0]

    @property
    def inverse(self) -> FloatArray:  # A
        return np.linalg.inv(ntk(np.eye(self.K), np.eye(self.K)))

    @property
    def train(self) -> FloatArray:  # M
        return nngp(np.eye(self.K), np.eye(self.K))

    @property
    def angle(self) -> float:  # pi - arccos(1/sqrt(n))
        return PI - float(np.arccos(1 / sqrt(self.n)))

    @property
    def d_c(self) -> float:  # d - c
        return (1 - 1 / (2 * PI)) / self.K


GIVEN = [Dense(12, 5), Dense(40, 20), Dense(30, 2)]


def test_theorem_3_1_is_for_the_end_of_training() -> None:
    """Printed: the output "at training time t" has the mean and variance of Eq. (3) and (4), which have no t."""
    end, x = float(weights(3, 12).matched), np.eye(12)
    test = (np.arange(12)[None, :] < 3) / np.sqrt(3)
    values, vectors = np.linalg.eigh(ntk(x, x))

    def after(time: float) -> float:  # of gradient flow: Theta(x, X) Theta^-1 (1 - exp(-Theta t)) Y
        return float((ntk(test, x) @ (vectors * (-np.expm1(-values * time) / values)) @ vectors.T)[0, 0])

    early, late = after(10), after(1e5)
    assert early < 0.9 * end
    assert late == pytest.approx(end, rel=1e-12)


def test_signs_of_theorem_5_1() -> None:
    program = addition(3).program
    examples = TrainingSet(program)
    predictor = Predictor(examples.inputs().toarray(), examples.labels().toarray())
    state = np.array([1, 0, 1, 0, 1, 0, 0, 0, 0], dtype=bool)  # p = 5, q = 2: next p = 7
    mean = predictor.mean(examples.encode(state[None]))[0]
    assert (mean[:3] > 0.1).all()
    assert (mean[3:] <= 1e-12).all()


def test_more_than_one_writer_can_match() -> None:
    """Printed: "matches exactly one of the training samples"; in addition two write c[l], from different blocks."""
    algorithm = addition(2)
    program, examples = algorithm.program, TrainingSet(algorithm.program)
    state = np.zeros((1, program.bits), dtype=bool)
    for name in ("p[2]", "q[2]", "c[2]"):
        state[0, [program.layout.name_of(bit) for bit in range(program.bits)].index(name)] = True
    [top] = program.layout["c"].bits()[-1:]
    matching, [n] = examples.matches(state)
    assert (matching @ examples.labels()).toarray()[0, top] == n == 2
    mean = Predictor(examples.inputs().toarray(), examples.labels().toarray()).mean(examples.encode(state))[0, top]
    w = weights(2, program.templates)
    assert mean == pytest.approx(2 * float(w.matched))
    assert mean > float(w.matched)  # which is w1 + 0 w0, as printed


def test_margin_of_addition() -> None:
    def margin(l: int) -> float:
        w = weights(2 * l, 4 * l)
        return float(-w.matched / w.unmatched)

    assert margin(10) == pytest.approx(2.43, abs=0.005)
    margins = [margin(l) for l in (10, 100, 1_000, 10_000, 1_000_000)]
    assert margins == sorted(margins, reverse=True)
    assert 1 < margins[-1] < 1.01


def test_lemma_a_1_without_one_over_n() -> None:
    """Printed: the bar over X is the sum. The sum of n = 9 is around 9 mu, so it is never near mu."""
    n, mu, sigma, t = 9, 1.0, 0.5, 1.0
    sums = [0.5 * erfc((at - n * mu) / (sigma * sqrt(2 * n))) for at in (mu - t, mu + t)]
    inside = sums[0] - sums[1]  # P(|sum - mu| < t)
    assert 1 - inside > 0.99 > 2 * exp(-n * t**2 / (2 * sigma**2))
    mean = erfc(t * sqrt(n) / (sigma * sqrt(2)))  # P(|sum/n - mu| >= t)
    assert mean < 2 * exp(-n * t**2 / (2 * sigma**2))


def test_the_chain_of_lemma_a_1_loses_a_2() -> None:
    """Eq. (9): Markov's inequality gives 2 exp(...), twice what is printed, which is true all the same."""
    for t in (0.0, 0.1, 1.0, 3.0, 6.0):  # in standard deviations of the mean
        probability, markov = erfc(t / sqrt(2)), exp(-(t**2) / 2)  # at the best lambda
        assert probability <= markov < 2 * markov


def test_appendix_d_sine() -> None:
    """f of a matched example, times 2 pi K: with sqrt(1 - 1/n) it is the kernel, with sqrt(1 - 1/sqrt(n)) it is not."""
    K, n = 12, 5
    test = (np.arange(K) < n)[None] / np.sqrt(n)
    kernel = 2 * np.pi * K * ntk(test, np.eye(K))[0, 0]
    angle = np.pi - np.arccos(1 / np.sqrt(n))
    assert kernel == pytest.approx(2 * angle / np.sqrt(n) + np.sqrt(1 - 1 / n), rel=1e-12)
    assert abs(kernel - (2 * angle / np.sqrt(n) + np.sqrt(1 - 1 / np.sqrt(n)))) > 0.1


@pytest.mark.parametrize("given", GIVEN, ids=str)
def test_appendix_d_mean(given: Dense) -> None:
    """The two displays below Eq. (17), with the sine corrected: a factor 2 and a factor 4 are missing at the angle."""
    K, n, root = given.K, given.n, sqrt(1 - 1 / given.n)
    first = float(given.f[0] / given.d_c)
    assert first == pytest.approx((2 * given.angle / sqrt(n) + root) / (2 * PI - 1))
    assert abs(first - (given.angle / sqrt(n) + root) / (2 * PI - 1)) > 0.05
    second = float(first - (given.inverse @ given.f)[0])
    below = (2 * PI - 1) * (2 * PI - 1 + K)
    assert second == pytest.approx((2 * n * given.angle / sqrt(n) + n * root + K - n) / below)
    assert abs(second - (n * given.angle / (2 * sqrt(n)) + n * root + K - n) / below) > 0.01


@pytest.mark.parametrize("given", GIVEN, ids=str)
def test_appendix_d_product(given: Dense) -> None:
    """AMA = uI + v 11', printed with a minus; and its second eigenvalue less 2A is negative, printed as positive."""
    K, d_c, d, c = given.K, given.d_c, 1 / (2 * given.K), 1 / (2 * PI * given.K)
    u = (d - c) / d_c**2
    v = ((d - c + K * c) / (d_c + K * c) ** 2 - u) / K
    product = given.inverse @ given.train @ given.inverse
    np.testing.assert_allclose(product, u * np.eye(K) + v, atol=1e-9)
    assert np.abs(product - (u * np.eye(K) - v)).max() > 0.1
    least, *_, most = np.linalg.eigvalsh(product - 2 * given.inverse)
    assert least == pytest.approx(-2 * PI * (3 * PI - 1) * K / (2 * PI - 1) ** 2)
    assert most == pytest.approx(-2 * PI * K * (K + 3 * PI - 1) / (2 * PI - 1 + K) ** 2)
    assert (4 * PI / (2 * PI + K - 1) + (PI + K - 1) / (2 * PI + K - 1) ** 2) * K > 9  # as printed


@pytest.mark.parametrize("given", GIVEN, ids=str)
def test_appendix_d_third_term(given: Dense) -> None:
    """a f'z as printed has a square, a minus and a 2 too many; b (f'1)(1'z) is right."""
    K, n, angle, f, z = given.K, given.n, given.angle, given.f, given.z
    first = float(f @ z / given.d_c)
    assert first == pytest.approx((2 * angle + sqrt(n - 1)) * angle / ((2 * PI - 1) * 2 * PI * K))
    turned = PI - 2 * (PI - angle)
    stated = (2 * PI - 2 * (PI - angle) - sqrt(n - 1)) * turned / ((2 * PI - 1) * (2 * PI * K) ** 2)
    assert abs(stated) < 0.1 * first
    b = 2 * PI * K / ((2 * PI - 1) * (2 * PI + K - 1))
    parts = 2 * n * angle**2 + n * sqrt(n - 1) * angle + (K - n) * sqrt(n) * angle
    second = parts / (2 * PI * K * (2 * PI - 1) * (2 * PI - 1 + K))
    assert b * f.sum() * z.sum() == pytest.approx(second)
    assert f @ given.inverse @ z == pytest.approx(first - second)


def test_only_the_difference_in_appendix_d_is_of_order_one_over_k() -> None:
    """Printed: each of the two terms is O(1/k'). With n = K/4 each is of order 1/sqrt(k'), and they cancel."""
    scaled = []
    for K in (10**3, 10**5, 10**7):
        n, angle = K // 4, PI - float(np.arccos(1 / sqrt(K // 4)))
        first = (2 * angle + sqrt(n - 1)) * angle / ((2 * PI - 1) * 2 * PI)
        parts = 2 * n * angle**2 + n * sqrt(n - 1) * angle + (K - n) * sqrt(n) * angle
        second = parts / (2 * PI * (2 * PI - 1) * (2 * PI - 1 + K))
        scaled.append((first, second, first - second))  # times K
    (one, two, three) = np.array(scaled).T
    assert np.diff(np.log10([one, two])) == pytest.approx(1, abs=0.2)  # a factor 10 with every factor 100 in K
    assert 0.1 < three.min() <= three.max() < 0.13


def test_nothing_interferes_where_every_example_matches() -> None:
    """Lemma 6.1 has cases for n = K "with unwanted correlations", and for bits that are not set, of order 1/sqrt(k').

    Two of K examples write bit 1, none writes bit 2; the input matches all.
    """
    for K, mean in ((12, 0.2353), (100, 0.0252), (1000, 0.00219)):
        labels = np.zeros((K, 2))
        labels[:2, 0] = 1
        found = Predictor(np.eye(K), labels).mean(np.ones((1, K)) / sqrt(K))[0]
        assert found == pytest.approx([mean, 0], rel=3e-3, abs=1e-12)
        assert found[0] == pytest.approx(2 * float(weights(K, K).matched))


def test_weights_cancel_in_states_of_addition() -> None:
    """Lemma 6.1 for n = c K: all 2l blocks match half of the 4l examples of addition, p[i] has one writer unmatched.

    Then the mean is (2 + beta)/(K + 2 pi - 1), of order 1/k', not 1/sqrt(k').
    """
    l = 6
    program = addition(l).program
    examples = TrainingSet(program)
    state = np.zeros((1, program.bits), dtype=bool)
    state[0, [*program.layout["p"].bits(), *program.layout["c"].bits()]] = True
    predictor = Predictor(examples.inputs().toarray(), examples.labels().toarray())
    mean = predictor.mean(examples.encode(state))[0, program.layout["p"].bits()]
    w = weights(2 * l, 4 * l)
    assert mean == pytest.approx([float(w.matched + w.unmatched)] * l)
    for K in (10**4, 10**6, 10**8):
        w = weights(K // 2, K)
        assert K * float(w.matched + w.unmatched) == pytest.approx(2, rel=3 / sqrt(K))


def test_eq_8_counts_inputs_for_outputs() -> None:
    """The union is over k coordinates, printed ln(2k'/delta). The paper's tasks have k <= k', so it is harmless."""
    for program in (permutation(range(1, 9)).program, addition(8).program, multiplication(8).program):
        assert program.bits <= program.templates
    assert multiplication(8).program.bits == 18 * 8 + 1
    other = machine_b(Sizes(4, 4, 4)).program  # not of the paper
    assert other.bits > other.templates


def test_the_tight_size_suffices_for_all_inputs_and_all_steps() -> None:
    """Exact Gaussian tails, summed over every input and bit: 2 in place of 8, and no factor for iterations."""
    algorithm, delta = addition(2), 0.01
    program = algorithm.program
    examples = TrainingSet(program)
    K = program.templates

    def failure(networks: int) -> float:
        total = 0.0
        states = (np.arange(2**program.bits)[:, None] >> np.arange(program.bits) & 1).astype(bool)
        assert len(states) == round(exp(log_inputs(program)))  # here every configuration but 0 has a template
        matching, counts = examples.matches(states)
        matches = (matching @ examples.labels()).toarray()
        for n, row in zip(counts, matches, strict=True):
            if n > 1:
                means = weights(n, K).mean(program.writers, row)[program.writers > 0]
                total += sum(0.5 * erfc(abs(mean) * sqrt(networks / (2 * variance(n, K)))) for mean in means)
        return total

    tight, stated = (sign_size(program, delta, printed=as_printed).networks or 0 for as_printed in (False, True))
    assert failure(tight) < delta < failure(tight // 4)
    assert stated > 4 * tight
    assert failure(stated) < delta**4
    runs = [sign_size(program, delta, "runs", printed=False, steps=steps).networks for steps in (1, 4, 10**6)]
    assert runs == [tight] * 3


def test_the_margin_of_multiplication_is_as_stated() -> None:
    """App. C: -w1/w0 decreases in n and is above 2 up to n = 7l + 1 with 21l examples; no erratum."""
    for l in (2, 10, 300, 100_000):
        n = np.unique(np.geomspace(2, 7 * l + 1, 400).round())
        w = weights(n, 21 * l)
        ratio = -w.matched / w.unmatched
        assert (np.diff(ratio) < 0).all()
        assert ratio[-1] > 2
        assert declared_range(multiplication(l)).n_max == 7 * l + 1 if l <= 300 else True


def test_matches_in_runs_of_multiplication() -> None:
    task = multiplication(6)
    assert reachable_range(task).n_max == 19
    assert task.matches == 43


def test_test_inputs_are_more_than_2_to_the_blocks() -> None:
    """Printed: O(2^b). A block of t templates has t + 1 configurations: 8^l inputs for addition, with b = 2l."""
    for l in (4, 40):
        program = addition(l).program
        assert program.blocks == 2 * l
        assert log_inputs(program) == pytest.approx(l * log(8))
        assert log_inputs(program) - program.blocks * log(2) == pytest.approx(l * log(2))  # grows: no constant factor
