"""What all tests share: caches go to a folder of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def private_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    before = os.environ.get("BITWRIGHT_CACHE")
    os.environ["BITWRIGHT_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["BITWRIGHT_CACHE"]
    else:
        os.environ["BITWRIGHT_CACHE"] = before
