"""One server for all tests that need no special one, and the browser of the viewer's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from serving import Client, serving
from viewer.conftest import browser  # noqa: F401
from waiting import PATIENCE

from bitwright.server.limits import Limits


@pytest.fixture(scope="session")
def server() -> Iterator[Client]:
    """With time enough for every request, on however busy a machine."""
    with serving(Limits(seconds=PATIENCE, check_seconds=PATIENCE)) as client:
        yield client
