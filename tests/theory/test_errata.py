"""docs/explanation/errata.md, the theory: what the paper prints against what its own formulas give."""

from __future__ import annotations

import numpy as np
import pytest

from bitwright import addition, multiplication
from bitwright.proofs.ranges import reachable_range
from bitwright.theory import Predictor, ntk, weights
from bitwright.theory.encoding.training_set import TrainingSet


def test_signs_of_theorem_5_1() -> None:
    program = addition(3).program
    examples = TrainingSet(program)
    predictor = Predictor(examples.inputs().toarray(), examples.labels().toarray())
    state = np.array([1, 0, 1, 0, 1, 0, 0, 0, 0], dtype=bool)  # p = 5, q = 2: next p = 7
    mean = predictor.mean(examples.encode(state[None]))[0]
    assert (mean[:3] > 0.1).all()
    assert (mean[3:] <= 1e-12).all()


def test_margin_of_addition() -> None:
    def margin(l: int) -> float:
        w = weights(2 * l, 4 * l)
        return float(-w.matched / w.unmatched)

    assert margin(10) == pytest.approx(2.43, abs=0.005)
    margins = [margin(l) for l in (10, 100, 1_000, 10_000, 1_000_000)]
    assert margins == sorted(margins, reverse=True)
    assert 1 < margins[-1] < 1.01


def test_appendix_d_sine() -> None:
    """f of a matched example, times 2 pi K: with sqrt(1 - 1/n) it is the kernel, with sqrt(1 - 1/sqrt(n)) it is not."""
    K, n = 12, 5
    test = (np.arange(K) < n)[None] / np.sqrt(n)
    kernel = 2 * np.pi * K * ntk(test, np.eye(K))[0, 0]
    angle = np.pi - np.arccos(1 / np.sqrt(n))
    assert kernel == pytest.approx(2 * angle / np.sqrt(n) + np.sqrt(1 - 1 / n), rel=1e-12)
    assert abs(kernel - (2 * angle / np.sqrt(n) + np.sqrt(1 - 1 / np.sqrt(n)))) > 0.1


def test_matches_in_runs_of_multiplication() -> None:
    task = multiplication(6)
    assert reachable_range(task).n_max == 19
    assert task.matches == 43
