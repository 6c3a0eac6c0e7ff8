"""What the guides and the list of features show is what the commands and Python give."""

from __future__ import annotations

from pathlib import Path

import pytest
from sessions import ROOT, check, check_python, python_of, sessions

PAGES = [ROOT / "docs" / "features.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_is_true(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for shown in sessions(page.read_text()):
        check(shown, capfd)
    scope: dict[str, object] = {}
    for code in python_of(page.read_text()):
        check_python(code, scope)


def test_every_guide_shows_something_that_runs() -> None:
    assert len(PAGES) >= 10
    assert [page.name for page in PAGES if not sessions(page.read_text()) and page.name != "index.md"] == []
