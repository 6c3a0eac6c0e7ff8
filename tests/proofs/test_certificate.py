"""Certificates: right for the paper's tasks at all sizes, and refused where they should be."""

import numpy as np
import pytest
from cases import for_each
from hypothesis import given, settings
from hypothesis import strategies as st
from long import LONG, examples
from programs import crowded

from bitwright import InputError, addition, multiplication, permutation
from bitwright.proofs.certificate import certify
from bitwright.theory import proof
from bitwright.theory.closed_form import weights
from bitwright.theory.decisions import Range, blocks_range, declared_range, matches_needed
from bitwright.theory.proof import check_range, least_means, smallest_examples


@for_each("l", range(1, 65) if LONG else [*range(1, 13), 31, 32, 33, 64])
def test_the_papers_tasks_are_certified_with_the_papers_numbers(l: int) -> None:
    assert certify(permutation(range(l, 0, -1)).program, "sign").certified
    assert certify(addition(l).program, "sign").certified
    task = multiplication(l)
    certificate = certify(task.program, "sign", declared_range(task), task.examples)
    assert certificate.certified
    assert certificate.examples == max(21 * l, 20 * l + 2)
    assert (certificate.n_max, certificate.n_source) == (min(7 * l + 1, 11 * l - 1), "declared")
    for algorithm in (permutation(range(l, 0, -1)), addition(l), task):
        assert certify(algorithm.program, "calibrated").certified


@pytest.mark.parametrize("l", [3, 5, 10, 64])
def test_multiplication_over_all_blocks_needs_more_padding(l: int) -> None:
    task = multiplication(l)
    certificate = certify(task.program, "sign", blocks_range(task.program), task.examples)
    assert not certificate.certified
    assert certificate.n_source == "blocks"
    assert f"pad to {certificate.examples_needed:,} examples" in certificate.proposal
    assert certify(task.program, "sign", examples=certificate.examples_needed).certified
    assert not certify(task.program, "sign", examples=certificate.examples_needed - 1).certified


@settings(max_examples=examples(40))
@given(st.integers(1, 60), st.integers(0, 60), st.integers(0, 300), st.integers(1, 121))
def test_the_verdict_is_the_worst_mean(writers: int, bystanders: int, padding: int, n_max: int) -> None:
    """Against floating point: at n, all but the bystanders write the crowded bit; a bystander has one writer."""
    program = crowded(writers, bystanders)
    within = Range(min(n_max, writers + 1 + bystanders), "declared", "test")
    certificate = certify(program, "sign", within, program.templates + padding)
    n = np.arange(1, within.n_max + 1)
    w = weights(n, certificate.examples)
    means = (writers + 1) * w.unmatched + np.maximum(1, n - bystanders) * w.gap
    if bystanders:
        means = np.minimum(means, w.unmatched + w.gap)
    if np.abs(means).min() > 1e-9:
        assert certificate.certified == (means > 0).all()
        assert certificate.margin == pytest.approx(means.min(), rel=1e-9)
        assert certificate.margin < means.min() * (1 + 1e-9 * np.sign(means.min()))
        failing = np.flatnonzero(means <= 0)
        assert certificate.fails_from == (int(failing[0]) + 1 if len(failing) else None)
        if bystanders > 1 and within.n_max > 1:
            assert certificate.margin_unset == pytest.approx(-w.unmatched[1], rel=1e-9)


@settings(max_examples=examples(60))
@given(st.integers(1, 200), st.integers(0, 100), st.integers(1, 100))
def test_smallest_padding_is_smallest(writers: int, bystanders: int, n_max: int) -> None:
    program = crowded(writers, bystanders)
    within = Range(min(n_max, writers + 1 + bystanders), "declared", "test")
    needed = smallest_examples(program, within)
    assert certify(program, "sign", within, needed).certified
    if needed > program.templates:
        assert not certify(program, "sign", within, needed - 1).certified
    assert needed <= max(program.templates, (writers + 1) * within.n_max)  # the rule of thumb K >= c n


def test_bits_that_nothing_writes_are_named_as_masked() -> None:
    assert certify(addition(5).program, "sign").masked_bits == 1
    assert certify(addition(5).program, "calibrated").masked_bits == 0


def test_matches_needed_is_where_the_mean_turns_positive() -> None:
    K, crowds = 60, np.arange(1, 60)
    needed = matches_needed(K, crowds, K)
    w = weights(np.arange(1, K + 1), K)
    for n in range(1, K + 1):
        for c, m in zip(crowds.tolist(), needed[n].tolist(), strict=True):
            means = w.unmatched[n - 1] * c + w.gap[n - 1] * np.array([m - 1, m])
            assert means[0] <= 1e-15 < means[1]


def test_ties_are_settled_by_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    crowds = np.arange(1, 40)
    expected = matches_needed(40, crowds, 40)
    assert (matches_needed(40, crowds, 40, close=0.4) == expected).all()  # almost everything is a tie now
    programs = [crowded(writers, bystanders) for writers, bystanders in [(5, 0), (9, 3), (40, 20), (3, 30)]]
    apart = [certify(program, "sign").margin for program in programs]
    for program, margin in zip(programs, apart, strict=True):
        assert least_means(check_range(program, blocks_range(program)), program.templates)[1].min() == pytest.approx(
            margin
        )
    monkeypatch.setattr(proof, "_CLOSE", 0.4)
    assert [certify(program, "sign").margin for program in programs] == apart


def test_impossible_requests() -> None:
    program = addition(3).program
    with pytest.raises(InputError, match=r"12.*templates.*11"):
        certify(program, "sign", examples=11)
    with pytest.raises(InputError, match=r"least.*1.*0"):
        certify(program, "sign", Range(0, "declared", ""))
    with pytest.raises(InputError, match="declares no bound"):
        declared_range(addition(3))
