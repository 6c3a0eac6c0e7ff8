"""One server for all tests that need no special one, and the browser of the viewer's tests."""

from collections.abc import Iterator
from typing import Any

import pytest
from pages.conftest import browser  # noqa: F401
from serving import ADD, Client, Process, serving, serving_process
from waiting import PATIENCE
from web.pages import Visit

from bitwright.web.requests import Limits


@pytest.fixture(scope="session")
def server() -> Iterator[Client]:
    """With time enough for every request, on however busy a machine."""
    with serving(Limits(seconds=PATIENCE, check_seconds=PATIENCE)) as client:
        yield client


@pytest.fixture(scope="session")
def attacked() -> Iterator[Process]:
    """A server whose terminal must have stayed empty, and which still works, when everything is over."""
    with serving_process(Limits(seconds=PATIENCE, check_seconds=PATIENCE, memory=1536 << 20)) as found:
        yield found
        assert found.run(ADD)["result"]["outputs"] == {"sum": "3"}
        assert found.said() == ""


@pytest.fixture
def visit(browser: Any, server: Any) -> Iterator[Visit]:  # noqa: F811
    """Opens the page; afterwards it must not have complained or asked anyone else for anything."""
    contexts, troubles = [], []
    base = str(server.http.base_url).rstrip("/")

    def open_page(**options: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1440, "height": 900}, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(1000 * PATIENCE)
        page.on("console", lambda message: troubles.append(f"console {message.type}: {message.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("request", lambda asked: asked.url.startswith((base, "data:")) or troubles.append(f"asked {asked.url}"))
        page.goto(base + "/")
        page.wait_for_selector("html[data-ready][data-checked=right]")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []
