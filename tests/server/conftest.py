"""One server for all tests that need no special one, and the browser of the viewer's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from serving import Client, serving
from viewer.conftest import browser  # noqa: F401


@pytest.fixture(scope="session")
def server() -> Iterator[Client]:
    with serving() as client:
        yield client
