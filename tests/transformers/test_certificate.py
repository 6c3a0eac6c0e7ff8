"""Certificates contain the complete decision, and reading them is strict."""

import json
from dataclasses import replace

import numpy as np
import pytest
from decoders import TASKS, copier, copy

from bitwright.common.errors import InputError, ProofError
from bitwright.transformers.certificate import (
    check_claims,
    check_subject,
    read_certificate,
    round_down,
    write_certificate,
)
from bitwright.transformers.decision import Counterexample, Decision, DecoderClaim, ModuleComparison
from bitwright.transformers.files import save_decoder
from bitwright.transformers.prover import decide

COPY = copy(2)


@pytest.fixture(scope="module")
def decision() -> Decision:
    """A decision with both claims proved and a comparison."""
    found = decide(copier(np.random.default_rng(11), COPY, 2.85), COPY)
    return replace(found, comparison=ModuleComparison(100, 1e-6, 1e-4, True))


@pytest.fixture(scope="module")
def written(decision, tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificate")
    save_decoder(decision.decoder, folder / "network")
    write_certificate(decision, folder / "certificate", folder / "network")
    return folder / "certificate"


def test_what_is_written_is_read(decision, written):
    found = read_certificate(written)
    check_subject(written, found, COPY, decision.decoder)
    check_claims(written, found, decision)
    for claim, other in zip(found["claims"], decision.claims, strict=True):
        assert other.margin * 0.99 < claim["margin"] <= other.margin


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_every_layout_and_counterexample(task, tmp_path):
    decoder = copier(np.random.default_rng(0), COPY, 1.0)
    example = Counterexample(task.random_inputs(1, np.random.default_rng(0))[0], "a=1", 1, (1, 2), (1, 3), "decoder")
    claims = (
        DecoderClaim("z", "refuted", "real", "boxes", 1, None, 7, example),
        DecoderClaim("stop", "not decided", "float32", "boxes", 0, None, 9, None, ("step 1", "step 2")),
    )
    save_decoder(decoder, tmp_path / "network")
    write_certificate(Decision(task, decoder, claims), tmp_path / "certificate", tmp_path / "network")
    found = read_certificate(tmp_path / "certificate")
    check_subject(tmp_path, found, task, decoder)
    assert found["claims"][0]["counterexample"]["symbols"] == example.symbols.tolist()
    others = [other for other in TASKS.values() if other is not task]
    for other in others:
        with pytest.raises(ProofError, match="another task"):
            check_subject(tmp_path, found, other, decoder)


@pytest.mark.parametrize(
    "change",
    [
        {"verdict": "tested"},
        {"about": "z == a"},
        {"verdict": None},
        {"arithmetic": 3},
        {"inputs": 10**30},
    ],
)
def test_other_claims_do_not_hold(change, decision, written):
    found = read_certificate(written)
    found["claims"][1] |= change
    with pytest.raises(ProofError):
        check_claims(written, found, decision)


def test_a_certificate_is_about_the_file_of_its_decoder(decision, tmp_path):
    save_decoder(copier(np.random.default_rng(12), COPY, 2.85), tmp_path / "network")
    with pytest.raises(InputError, match="different decoder"):
        write_certificate(decision, tmp_path / "certificate", tmp_path / "network")


@pytest.mark.parametrize(
    "change",
    [
        {"format": "x"},
        {"claims": []},
        {"claims": [{}]},
        {"task": None},
        {"weights": "0"},
        {"more": 1},
        {"comparison": 1},
        {"comparison": {"agrees": True}},
    ],
)
def test_damaged_certificates_are_refused(change, written, tmp_path):
    (tmp_path / "edited").write_text(json.dumps(json.loads(written.read_text()) | change))
    with pytest.raises(InputError, match="is not a certificate"):
        read_certificate(tmp_path / "edited")


@pytest.mark.parametrize(
    "change", [{"margin": "3"}, {"trees": 1}, {"trees": {"groups": []}}, {"boxes": -1}, {"inputs": 4.0}, {"runtime": 0}]
)
def test_damaged_claims_are_refused(change, written, tmp_path):
    document = json.loads(written.read_text())
    document["claims"][0] |= change
    (tmp_path / "edited").write_text(json.dumps(document))
    with pytest.raises(InputError, match="is not a certificate"):
        read_certificate(tmp_path / "edited")


@pytest.mark.parametrize("margin", [0.1, 1 / 3, 12345.678, 9.99e-9, 1e-300, 5e-324, 1.0])
def test_margins_are_rounded_down(margin):
    assert 0 <= round_down(margin) <= margin
    if margin > 1e-290:
        assert round_down(margin) > margin * 0.989
