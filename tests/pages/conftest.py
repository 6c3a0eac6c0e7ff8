"""A real browser for tests of pages: Debian's Chromium, driven by Playwright. Without one, only CI insists.

Where there is Chromium's headless shell it is taken: the same engines without a desk around them, at half the work.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from waiting import PATIENCE

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser")
QUIET = (
    *("--no-sandbox", "--headless", "--disable-gpu", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--no-first-run"),
)


def _missing(what: str) -> None:
    """Skips, and says why; in CI a test that does not run is a failure."""
    if os.environ.get("CI") == "true":
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
    if chromium is None:
        _missing("there is no Chromium here; apt-get install chromium-headless-shell")
    if find_spec("playwright") is None:
        _missing("there is no Playwright here; pip install playwright")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=chromium, args=QUIET)
        yield opened
        opened.close()


Open = Callable[..., Any]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def step_of(page: Any) -> int:
    return int(page.input_value("#slider"))


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Opens the text of a page, from a file; afterwards the page must not have complained or asked for anything."""
    contexts, troubles, number = [], [], 0

    def open_page(html: str, fragment: str = "", *, init: str = "", **options: Any) -> Any:
        nonlocal number
        path = tmp_path / f"{number}.html"
        number += 1
        path.write_text(html, encoding="utf-8")
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(1000 * PATIENCE)
        page.on("console", lambda message: troubles.append(f"console {message.type}: {message.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (troubles.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: request.url.startswith("file:") or troubles.append(f"asked {request.url}"))
        if init:
            page.add_init_script(init)
        page.goto(path.as_uri() + fragment)
        page.wait_for_selector("html[data-ready], #notice:not([hidden])", state="attached")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []
