"""What the README shows is what the commands print, and it is short."""

from __future__ import annotations

from pathlib import Path

import pytest
from sessions import ROOT, check, check_python, python_of, sessions

README = (ROOT / "README.md").read_text()


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which the examples are as in a clone."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


@pytest.mark.usefixtures("workplace")
def test_the_readme_is_true(capfd: pytest.CaptureFixture[str]) -> None:
    shown = sessions(README)
    assert len(shown) >= 5
    for one in shown:
        check(one, capfd)


@pytest.mark.usefixtures("workplace")
def test_the_python_in_the_readme_runs() -> None:
    [code] = python_of(README)
    check_python(code, {})


def test_the_readme_takes_a_minute() -> None:
    assert len(README.splitlines()) <= 150
