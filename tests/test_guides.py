"""What the guides and the list of features show is what the commands and Python give."""

from __future__ import annotations

from pathlib import Path

import pytest
from sessions import ROOT, check, commands_of, python_of, run_python

PAGES = [ROOT / "docs" / "features.md", *sorted((ROOT / "docs" / "guides").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_is_true(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for command in commands_of(page):
        check(command, 0, capfd)
    for code in python_of(page):
        assert run_python(code) > 0


def test_every_guide_shows_something_that_runs() -> None:
    guides = [page for page in PAGES if page.name != "index.md"]
    assert len(guides) >= 10
    assert [page.name for page in guides if not commands_of(page)] == []
