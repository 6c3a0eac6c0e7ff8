"""Proofs by boxes in several processes, and interrupted ones: the claims are those of one process, step by step."""

import json
from pathlib import Path

import numpy as np
import pytest
from decoders import copier, copy

from bitwright import InputError, certify
from bitwright.common.files.journal import Journal
from bitwright.common.workers import Workers
from bitwright.transformers.certificate import StepJournal
from bitwright.transformers.decision import Decision
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.prover import decide

TASK = copy(2)
PROVED, WRONG = (copier(np.random.default_rng(seed), TASK, sharp) for seed, sharp in ((11, 2.85), (0, 1.2)))
FLIPPED = copier(np.random.default_rng(12), TASK, 2.85)


def evidence(decision: Decision) -> list[object]:
    """All that is claimed; arrays as bytes."""
    examples = [claim.counterexample and claim.counterexample.symbols.tobytes() for claim in decision.claims]
    claims = [(claim.verdict, claim.margin, claim.boxes, dict(claim.trees), claim.open) for claim in decision.claims]
    return [*claims, *examples]


@pytest.mark.parametrize("decoder", [PROVED, WRONG])
def test_processes_claim_what_one_claims(decoder: Decoder) -> None:
    assert evidence(decide(decoder, TASK, workers=Workers("processes", 2))) == evidence(decide(decoder, TASK))


class StoppedError(Exception):
    """What ends a proof from outside."""


def test_an_interrupted_proof_goes_on_and_ends_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, whole, kept = tmp_path / "proof", evidence(decide(PROVED, TASK)), []

    def stop(self: StepJournal, *of: object) -> None:
        append(self, *of)  # type: ignore[arg-type]
        raise StoppedError

    append = StepJournal.append
    monkeypatch.setattr(StepJournal, "append", stop)
    for done in range(50):
        try:
            with StepJournal(file, PROVED, TASK, 0) as journal:
                kept.append(len(journal.known))
                assert kept[-1] == done  # each time one step more
                found = decide(PROVED, TASK, journal=journal)
        except StoppedError:
            continue
        break
    assert evidence(found) == whole
    assert len(kept) == 1 + len(TASK.layout.answer) + bool(TASK.layout.stop)


def test_a_journal_is_about_one_decoder_and_is_refused_if_damaged(tmp_path: Path) -> None:
    file = tmp_path / "proof"
    assert certify(TASK, PROVED, resume=file)
    with pytest.raises(InputError, match="was started with decoder"):
        certify(TASK, FLIPPED, resume=file)
    with pytest.raises(InputError, match="was started with task"):
        certify(copy(3), PROVED, resume=file)
    data = bytearray(file.read_bytes())
    data[data.index(b'"boxes"') + 1] ^= 1
    file.write_bytes(data)
    with pytest.raises(InputError, match="damaged"):
        certify(TASK, PROVED, resume=file)


@pytest.mark.parametrize(
    ("old", "new"),
    [(b'"nodes": "', b'"nodes": "?'), (b'"left": [', b'"left": [-1, '), (b'"end": "done"', b'"end": "x"')],
)
def test_records_that_do_not_fit_are_refused(tmp_path: Path, old: bytes, new: bytes) -> None:
    file, other = tmp_path / "proof", tmp_path / "forged"
    certify(TASK, PROVED, resume=file)
    header = StepJournal(other, PROVED, TASK, 0)
    with Journal(file, json.loads(file.read_bytes().partition(b"\n")[0])) as journal:
        records = list(journal.records())
    for record in records:
        header._journal.append(record.replace(old, new, 1))
    header.__exit__()
    with pytest.raises(InputError):
        certify(TASK, PROVED, resume=other)


def test_progress_counts_boxes_up_to_their_number() -> None:
    seen: list[tuple[int, int]] = []
    decision = decide(PROVED, TASK, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] == decision.claims[-1].boxes
    assert any(0 < done < total for done, total in seen)
