"""What all tests share: caches go to a folder of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from bitwright.workers import ray_module


@pytest.fixture(scope="session", autouse=True)
def private_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    before = os.environ.get("BITWRIGHT_CACHE")
    os.environ["BITWRIGHT_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["BITWRIGHT_CACHE"]
    else:
        os.environ["BITWRIGHT_CACHE"] = before


@pytest.fixture(scope="session")
def one_ray() -> Iterator[None]:
    """One Ray for all tests that use it: starting it takes seconds."""
    ray = ray_module()
    ray.init(address="local", num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    yield
    ray.shutdown()
