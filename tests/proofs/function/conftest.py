"""Tests change what proofs are made of, so no proof is remembered from one to the next."""

import pytest


@pytest.fixture(autouse=True)
def no_proof_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bitwright.proofs.function.prove._PROVED", {})


@pytest.fixture
def no_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves out the runs that refute most wrong lines before anything is proved."""
    monkeypatch.setattr("bitwright.proofs.function.prove._Sizes.wrong_random", lambda at: setattr(at, "allowed", True))
