"""What Python says on stderr before work that takes a while to begin."""

from collections.abc import Callable

import pytest
from calling import Captured

from bitwright import addition, certify, size, validate
from bitwright.runs import sliced
from bitwright.runs.sliced import COMPILING
from bitwright.verbs import progress

LONG: dict[str, Callable[[], object]] = {
    "validate": lambda: validate(addition(2)),
    "certify": lambda: certify(addition(2), n="reachable"),
    "sizes": lambda: size(addition(2), n="reachable"),
}


@pytest.mark.parametrize("name", LONG)
def test_compiling_is_said_once(name: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr(progress, "_said", set())
    monkeypatch.setattr(sliced, "to_be_compiled", lambda: True)  # as it is before the first validation of all
    LONG[name]()
    assert capsys.readouterr().err == f"bitwright: {COMPILING}\n"
    LONG[name]()
    assert capsys.readouterr().err == ""


def test_nothing_is_said_where_nothing_is_compiled(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr(progress, "_said", set())
    monkeypatch.setattr(sliced, "to_be_compiled", lambda: False)
    validate(addition(2))
    monkeypatch.setattr(sliced, "to_be_compiled", lambda: True)
    validate(addition(2), engine="sampled")
    assert capsys.readouterr().err == ""
