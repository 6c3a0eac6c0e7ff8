"""Certificates: right for the paper's tasks at all sizes, refused where they should be, and impossible to edit."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import CASES, Case, crowded

from bitwright import Algorithm, InputError, addition, multiplication, parse, permutation
from bitwright.theory import (
    Range,
    Rounding,
    blocks_range,
    certify,
    check_certificate,
    declared_range,
    load_certificate,
    save_certificate,
    smallest_examples,
    weights,
)
from bitwright.theory.signs import matches_needed


@pytest.mark.parametrize("l", range(1, 65))
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
    assert certificate.proposal is not None
    assert f"pad to {certificate.examples_needed:,} examples" in certificate.proposal
    assert certify(task.program, "sign", examples=certificate.examples_needed).certified
    assert not certify(task.program, "sign", examples=certificate.examples_needed - 1).certified


@pytest.mark.parametrize("case", CASES, ids=str)
def test_calibrated_rounding_needs_no_padding(case: Case) -> None:
    certificate = certify(case.algorithm.program, "calibrated")
    assert certificate.certified
    assert certificate.padding == 0
    assert certificate.margin > 0


def test_fifty_writers() -> None:
    program = crowded(50)
    assert certify(program, "calibrated").certified
    certificate = certify(program, "sign")
    assert not certificate.certified
    assert certificate.worst_bit == "crowded"
    assert certificate.writers_max == 51
    assert certificate.fails_from is not None
    assert certificate.proposal is not None
    assert "split the rules that write crowded" in certificate.proposal
    assert certify(program, "sign", examples=certificate.examples_needed).certified


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 60), st.integers(0, 300), st.integers(1, 61))
def test_the_verdict_is_the_worst_mean(writers: int, padding: int, n_max: int) -> None:
    """Against floating point: every n, the bit with most writers, one of them matched."""
    program = crowded(writers)
    within = Range(min(n_max, writers + 1), "declared", "test")
    certificate = certify(program, "sign", within, program.templates + padding)
    w = weights(np.arange(1, within.n_max + 1), certificate.examples)
    means = w.matched + writers * w.unmatched
    if np.abs(means).min() > 1e-9:
        assert certificate.certified == (means > 0).all()
        assert certificate.margin == pytest.approx(means.min(), rel=1e-9)
        if within.n_max > 1:
            assert certificate.margin_unset == pytest.approx(np.abs((writers + 1) * w.unmatched[1:]).min(), rel=1e-9)
        assert certificate.margin < means.min() * (1 + 1e-9 * np.sign(means.min()))
        failing = np.flatnonzero(means <= 0)
        assert certificate.fails_from == (int(failing[0]) + 1 if len(failing) else None)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 200), st.integers(1, 100))
def test_smallest_padding_is_smallest(writers: int, n_max: int) -> None:
    program = crowded(writers)
    within = Range(min(n_max, writers + 1), "declared", "test")
    needed = smallest_examples(program, within)
    assert certify(program, "sign", within, needed).certified
    if needed > max(program.templates, within.n_max):
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
    monkeypatch.setattr("bitwright.theory.signs._CLOSE", 0.4)  # almost everything is a tie now
    assert (matches_needed(40, crowds, 40) == expected).all()


# Files.


@pytest.fixture
def task() -> Algorithm:
    return multiplication(3)


@pytest.mark.parametrize("rounding", ["sign", "calibrated"])
def test_a_certificate_can_be_checked_again(task: Algorithm, rounding: Rounding, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    save_certificate(certify(task.program, rounding), path)
    check_certificate(load_certificate(path), task.program, blocks_range(task.program))


CHANGES = {
    "certified": True,
    "rounding": "calibrated",
    "examples": 600,
    "padding": 1,
    "blocks": 1,
    "bits": 1,
    "writers_max": 1,
    "n_max": 2,
    "n_source": "declared",
    "n_scope": "trust me",
    "margin": 0.5,
    "margin_enclosure": "[0.5 +/- 1e-20]",
    "margin_unset": 0.5,
    "worst_bit": "sum_p[1]",
    "worst_n": 2,
    "fails_from": 5,
    "masked_bits": 7,
    "examples_needed": 3,
    "proposal": None,
    "program_id": "0" * 64,
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_certificate_with_one_number_changed_is_rejected(task: Algorithm, name: str, tmp_path: Path) -> None:
    document = asdict(certify(task.program, "sign"))
    assert document[name] != CHANGES[name]
    path = tmp_path / "edited.json"
    path.write_text(json.dumps({**document, name: CHANGES[name]}))
    with pytest.raises(InputError):
        check_certificate(load_certificate(path), task.program, blocks_range(task.program))


@pytest.mark.parametrize(
    ("content", "piece"),
    [
        ("", "truncated or damaged"),
        ("{", "truncated or damaged"),
        ("[]", "truncated or damaged"),
        ("null", "truncated or damaged"),
        ('{"format": "bitwright certificate 1"}', "not a complete certificate"),
        ('{"format": "other"}', "not a certificate of a kind"),
        ("[" * 100_000, "truncated or damaged"),
        ("\x00\xff", "truncated or damaged"),
    ],
)
def test_files_that_are_no_certificates(content: str, piece: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_text(content)
    with pytest.raises(InputError, match=piece):
        load_certificate(path)


@pytest.mark.parametrize(("name", "value"), [("examples", 10**12), ("n_max", "7"), ("n_max", 0), ("n_max", True)])
def test_numbers_out_of_range_in_a_file(task: Algorithm, name: str, value: object, tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_text(json.dumps({**asdict(certify(task.program, "sign")), name: value}))
    with pytest.raises(InputError, match=f"{name} must be a whole number"):
        load_certificate(path)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        load_certificate(tmp_path / "none.json")


def test_a_certificate_is_worth_nothing_for_another_program(task: Algorithm) -> None:
    certificate = certify(task.program, "calibrated")
    lines = task.text().splitlines()
    rules = [at for at, line in enumerate(lines) if line.startswith("when ")]
    for at in rules[::7]:  # one template left out, or one of its conditions turned round
        without = parse("\n".join(lines[:at] + lines[at + 1 :])).program
        with pytest.raises(InputError, match="another program"):
            check_certificate(certificate, without, blocks_range(without))
        forged = replace(certificate, program_id=without.id)
        with pytest.raises(InputError, match="does not hold"):
            check_certificate(forged, without, blocks_range(without))


def test_impossible_requests() -> None:
    program = addition(3).program
    with pytest.raises(InputError, match="at least the program's 12 templates, got 11"):
        certify(program, "sign", examples=11)
    with pytest.raises(InputError, match="n must lie between"):
        certify(program, "sign", Range(0, "declared", ""))
    with pytest.raises(InputError, match="declares no bound"):
        declared_range(addition(3))
