"""Certificate files: checked again from the program alone, and impossible to edit."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from cases import for_each

import bitwright
from bitwright import Algorithm, Certificate, InputError, Program, multiplication
from bitwright.common.errors import ProofError
from bitwright.theory.rounding import Rounding


@pytest.fixture
def task() -> Algorithm:
    return multiplication(3)


def certify(program: Program, rounding: Rounding) -> Certificate:
    return bitwright.certify(program, rounding=rounding)


def altered(certificate: Certificate, **claims: object) -> Certificate:
    return replace(certificate, own=replace(certificate.own, **claims))  # type: ignore[arg-type]


def written(document: object, tmp_path: Path) -> Path:
    path = tmp_path / "odd.json"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize("rounding", ["sign", "calibrated"])
def test_a_certificate_can_be_checked_again(task: Algorithm, rounding: Rounding, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    certificate = certify(task.program, rounding)
    assert (certificate.witness is None) == (rounding == "calibrated")
    certificate.save(path)
    assert Certificate.load(path) == certificate
    Certificate.load(path).check(task)


CHANGES = {
    "certified": True, "verdict": "not proved", "assumption": "n <= 3", "covers": "the runs of all 4 inputs",
    "rounding": "calibrated", "examples": 600, "padding": 1, "blocks": 1, "bits": 1, "writers_max": 1,
    "writers_bit": "sum_p[1]", "n_min": 2, "n_max": 2, "n_source": "declared", "n_scope": "trust me", "margin": 0.5,
    "margin_enclosure": "[0.5 +/- 1e-20]", "margin_unset": 0.5, "worst_bit": "sum_p[1]", "worst_n": 2,
    "worst_writers": 1, "worst_matches": 2, "fails_from": 5, "fails_bit": "sum_p[1]", "fails_writers": 1,
    "fails_matches": 2, "witness": [], "masked_bits": 7, "examples_needed": 3, "proposal": None,
    "program_id": "0" * 64,
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_certificate_with_one_claim_changed_does_not_hold(task: Algorithm, name: str, tmp_path: Path) -> None:
    document = json.loads(certify(task.program, "sign").text())
    assert document[name] != CHANGES[name]
    path = written({**document, name: CHANGES[name]}, tmp_path)
    with pytest.raises(ProofError, match=f"{name} =|another program|the certificate states"):
        Certificate.load(path).check(task)


@pytest.mark.parametrize(
    ("name", "value"),
    [("certified", 0), ("padding", False), ("padding", 0.0), ("examples", 62.0), ("margin", True), ("worst_n", 32.0)],
)
def test_a_claim_of_another_type_does_not_hold_though_it_compares_equal(
    task: Algorithm, name: str, value: object
) -> None:
    """From Python, where no reader has looked at types: 0 == False == 0.0."""
    certificate = certify(task.program, "sign")
    changed = altered(certificate, **{name: type(value)(getattr(certificate, name))})  # type: ignore[operator]
    with pytest.raises(ProofError, match=f"the certificate states {name} ="):
        changed.check(task)


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("rounding", [["sign"]], "'calibrated' or 'sign'"),
        ("certified", 1, "true or false"),
        ("verdict", "proved", "'certified' or 'refuted' or 'not proved'"),
        ("padding", False, "an integer"),
        ("padding", 0.0, "an integer"),
        ("examples", 10**12, "an integer"),
        ("n_max", 0, "an integer"),
        ("fails_from", 5.0, "null or an integer"),
        ("margin", 1, "a number with a decimal point"),
        ("margin_unset", True, "null or a number with a decimal point"),
        ("n_source", "thin air", "'blocks' or 'declared' or 'reachable'"),
        ("witness", "x", "null or a list"),
        ("witness", [1], "null or a list, each item text"),
        ("program_id", "0" * 63, "64 hexadecimal digits"),
        ("version", "nonsense", "a version of bitwright"),
        ("arithmetic", "python-flint 0.8.0, 53-bit balls", "such as 'python-flint"),
    ],
)
def test_a_value_of_another_kind_makes_it_no_certificate(
    task: Algorithm, name: str, value: object, wanted: str, tmp_path: Path
) -> None:
    path = written({**json.loads(certify(task.program, "sign").text()), name: value}, tmp_path)
    with pytest.raises(InputError, match=f"is not a certificate: {name} must be {wanted}"):
        Certificate.load(path)


@for_each(
    ("content", "piece"),
    [
        ("", "truncated or damaged"),
        ("{", "truncated or damaged"),
        ("[]", "contains a list instead of an object"),
        ("null", "contains null instead of an object"),
        ('{"format": "bitwright certificate 2"}', "it lacks certified, verdict"),
        ('{"format": "bitwright certificate 1"}', "not a certificate in a supported format"),
        ('{"format": ["bitwright certificate 2"]}', "not a certificate in a supported format"),
        ("{}", "not a certificate in a supported format"),
        ("[" * 100_000, "nested more than"),
        ("\x00\xff", "truncated or damaged"),
    ],
)
def test_files_that_are_no_certificates(content: str, piece: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_text(content)
    with pytest.raises(InputError, match=piece):
        Certificate.load(path)


def test_a_key_that_is_there_twice_or_unknown(task: Algorithm, tmp_path: Path) -> None:
    text = json.dumps(json.loads(certify(task.program, "sign").text()))
    path = tmp_path / "odd.json"
    for name in ("certified", "version", "n_max"):
        path.write_text(text.replace("{", f'{{"{name}": 3, ', 1))
        with pytest.raises(InputError, match=f"has '{name}' twice"):
            Certificate.load(path)
    path.write_text(text.replace("{", '{"sworn": true, ', 1))
    with pytest.raises(InputError, match="unknown fields: sworn"):
        Certificate.load(path)
    path.write_text(text.replace('"margin": -', '"margin": -1e999, "old": -'))
    with pytest.raises(InputError, match=r"number.*large"):
        Certificate.load(path)


def test_a_training_set_smaller_than_the_program_does_not_hold(task: Algorithm) -> None:
    certificate = altered(certify(task.program, "calibrated"), examples=5)
    with pytest.raises(ProofError, match=r"certificate.*5.*62"):
        certificate.check(task)
