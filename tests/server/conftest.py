"""One server for all tests that need no special one, and the browser of the viewer's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from serving import Client, serving
from viewer.conftest import browser  # noqa: F401

from bitwright.server.limits import Limits


@pytest.fixture(scope="session")
def server() -> Iterator[Client]:
    with serving(Limits(seconds=1000, check_seconds=1000)) as client:  # however slow the machine is
        yield client
