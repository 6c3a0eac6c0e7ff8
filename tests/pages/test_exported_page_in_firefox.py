"""Exported pages in Firefox: they run and prove."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from cases import for_each
from firefox import FIREFOX, Firefox, firefox
from pages.test_exported_page_in_browser import EVERY, page_of
from waiting import wait_until

from bitwright import multiplication, run

pytestmark = pytest.mark.skipif(FIREFOX is None, reason="there is no Firefox here; apt-get install firefox-esr")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    with firefox(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@for_each("name", EVERY)
def test_every_page_runs_and_proves(name: str, browser: Firefox, tmp_path: Path) -> None:
    found = page_of(name)
    file = tmp_path / "page.html"
    file.write_text(found.text, encoding="utf-8")
    browser.send("WebDriver:Navigate", {"url": file.as_uri()})
    wait_until(lambda: browser.evaluate("'ready' in document.documentElement.dataset"), "the page is ready")
    for button in ("step", "run", "prove"):
        browser.evaluate(f"document.getElementById('{button}').click()")
    proof = "document.documentElement.dataset.proof"
    wait_until(lambda: browser.evaluate(proof), "the proof is done")
    said = json.loads(browser.evaluate(proof))
    assert (said["states"], said["wrong"]) == (found.claim.states, found.claim.wrong)
    assert browser.evaluate("document.getElementById('notice').hidden")
    if name == "multiplication":
        text = "document.getElementById('status').textContent"
        wait_until(lambda: "ended" in browser.evaluate(text), "the run has ended")
        value = browser.evaluate("document.querySelector('#outputs dd').textContent")
        assert int(value) == run(multiplication(10), multiplicand=13, multiplier=11).value
