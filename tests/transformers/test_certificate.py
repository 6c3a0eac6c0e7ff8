"""Certificates say everything that was decided, and are read strictly."""

import copy as copies
import json
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from decoders import TASKS, copier, copy

from bitwright.common.errors import InputError
from bitwright.transformers.certificate import read_certificate, round_down, write_certificate
from bitwright.transformers.decision import Counterexample, Decision, DecoderClaim, ModuleComparison
from bitwright.transformers.files import digest, save_decoder
from bitwright.transformers.prover import decide

COPY = copy(2)


@pytest.fixture(scope="module")
def decision() -> Decision:
    """Both claims proved, and a comparison."""
    found = decide(copier(np.random.default_rng(11), COPY, 2.85), COPY)
    return replace(found, comparison=ModuleComparison(100, 1e-6, 1e-4, True))


@pytest.fixture(scope="module")
def written(decision, tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificate")
    save_decoder(decision.decoder, folder / "network")
    write_certificate(decision, folder / "certificate", folder / "network")
    return folder / "certificate"


def same_task(one, other) -> bool:
    """Equal in every part; arrays by their values."""
    parts = [(vars(task.columns), task.layout) for task in (one, other)]
    names = set(parts[0][0]) & set(parts[1][0])
    return parts[0][1] == parts[1][1] and all(str(parts[0][0][name]) == str(parts[1][0][name]) for name in names)


def test_what_is_written_is_read(decision, written):
    found = read_certificate(written)
    assert found.weights == digest(decision.decoder)
    assert same_task(found.task, decision.task)
    assert found.comparison == decision.comparison
    for claim, other in zip(found.claims, decision.claims, strict=True):
        assert claim == replace(other, margin=round_down(other.margin))
        assert other.margin * 0.99 < claim.margin <= other.margin


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_every_layout_and_counterexample(task, tmp_path):
    decoder = copier(np.random.default_rng(0), COPY, 1.0)
    example = Counterexample(task.random_inputs(1, np.random.default_rng(0))[0], "a=1", 1, (1, 2), (1, 3), "decoder")
    claims = (
        DecoderClaim("z", "refuted", "real", "boxes", 1, None, 7, example),
        DecoderClaim("stop", "not decided", "float32", "boxes", 0, None, 9, None, ("step 1", "step 2")),
        DecoderClaim("z", "tested", "float32", "all inputs", 10**30, 0.1, runtime="torch 2"),
        DecoderClaim("z", "proved", "float32", "boxes", 81, 0.25),
    )
    save_decoder(decoder, tmp_path / "network")
    write_certificate(Decision(task, decoder, claims), tmp_path / "certificate", tmp_path / "network")
    found = read_certificate(tmp_path / "certificate")
    assert same_task(found.task, task)
    assert (found.claims[0].counterexample.symbols == example.symbols).all()
    assert [replace(claim, counterexample=None) for claim in found.claims] == [
        replace(claim, counterexample=None) for claim in claims
    ]


def test_a_certificate_is_about_the_file_of_its_decoder(decision, tmp_path):
    save_decoder(copier(np.random.default_rng(12), COPY, 2.85), tmp_path / "network")
    with pytest.raises(InputError, match="different decoder"):
        write_certificate(decision, tmp_path / "certificate", tmp_path / "network")


def test_damaged_certificates_are_refused(written, tmp_path):
    """Each value is replaced by one of another kind, each name is left out, and one is added."""
    document = json.loads(written.read_text())
    edits = []

    def collect(part, path):
        for name in part if isinstance(part, dict) else range(min(len(part), 2)):
            edits.extend(((*path, name), value) for value in ([[]], {}, None, -7, "", 0.5, True) if value != part[name])
            if isinstance(part, dict):
                edits.append(((*path, name), KeyError))
            if isinstance(part[name], dict | list):
                collect(part[name], (*path, name))

    collect(document, ())
    accepted = 0
    for path, value in edits:
        changed = copies.deepcopy(document)
        at = changed
        for name in path[:-1]:
            at = at[name]
        if value is KeyError:
            del at[path[-1]]
        else:
            at[path[-1]] = value
        (tmp_path / "edited").write_text(json.dumps(changed))
        with suppress(InputError):  # nothing else
            read_certificate(tmp_path / "edited")
            accepted += 1
    assert accepted < 0.2 * len(edits)


@pytest.mark.parametrize("margin", [0.1, 1 / 3, 12345.678, 9.99e-9, 1e-300, 5e-324, 1.0])
def test_margins_are_rounded_down(margin):
    assert 0 <= round_down(margin) <= margin
    if margin > 1e-290:
        assert round_down(margin) > margin * 0.989
