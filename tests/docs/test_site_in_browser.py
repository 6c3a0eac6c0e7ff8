"""The site in a browser, opened from files: readable on a phone, light and dark, and it can be searched."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from waiting import PATIENCE

WIDTH = 400


def test_no_page_is_wider_than_a_phone(site: Path, browser: Any) -> None:
    page = browser.new_page(viewport={"width": WIDTH, "height": 800})
    found = {}
    for path in sorted(site.rglob("*.html")):
        page.goto(path.as_uri(), wait_until="domcontentloaded")
        found[path.relative_to(site).as_posix()] = page.evaluate("document.documentElement.scrollWidth")
    page.close()
    assert len(found) > 50
    assert {name: width for name, width in found.items() if width > WIDTH} == {}


def test_light_and_dark(site: Path, browser: Any) -> None:
    colours = set()
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)
        page.goto((site / "index.html").as_uri())
        colours.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        page.close()
    assert len(colours) == 2


@pytest.mark.parametrize(("words", "expected"), [("calibrated", "theory.html"), ("certify_network", "python.html")])
def test_it_can_be_searched_from_a_file(site: Path, browser: Any, words: str, expected: str) -> None:
    page = browser.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    page.goto(f"{(site / 'search.html').as_uri()}?q={words}")
    page.wait_for_selector(f"ul.search a[href*='{expected}']", state="attached")
    page.close()
