"""What all tests share."""

import gc
import os
import signal
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tests in other processes have the other cores; NumPy reads it once

import pytest
from hypothesis import HealthCheck, settings

from bitwright.cli import progress
from bitwright.common.workers.ray_jobs import ray_module

# No test depends on how fast the machine is: no deadlines, and no complaints about slow examples.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")

# What a slow machine would say on stderr after ten seconds; tests of progress have clocks of their own.
progress.SELDOM = 1e6

# Files that take long come first: one that started late would keep a process busy while the others have nothing to do.
SLOW = ("cluster", "rocq/test_checked.py", "docs/test_site.py", "web/test_accessible.py")


# Shells start background jobs with Ctrl-C ignored, and programs that the tests start would inherit it.
signal.signal(signal.SIGINT, signal.default_int_handler)


def uses_ray(item: pytest.Item) -> bool:
    return "one_ray" in getattr(item, "fixturenames", ())


def among(items: list[pytest.Item], names: tuple[str, ...]) -> set[Path]:
    """The files of these tests that lie in one of these places."""
    places = [Path(__file__).parent / name for name in names]
    return {path for path in {item.path for item in items} if any(path.is_relative_to(place) for place in places)}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    slow = among(items, SLOW)
    items.sort(key=lambda item: (not uses_ray(item), item.path not in slow))


def pytest_collection_finish() -> None:
    """What is imported by now stays: the garbage collector need not look through it again and again.

    Nor need it look through what tests keep after every 700 new objects, as it does by default.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture
def one_ray() -> None:
    """One Ray for all tests in a row that use it: starting it takes seconds."""
    ray = ray_module()
    if not ray.is_initialized():
        here = {"env_vars": {"PYTHONPATH": os.pathsep.join(sys.path)}}  # its workers find what tests import
        quiet = {"include_dashboard": False, "logging_level": "ERROR", "log_to_driver": False}
        before = signal.getsignal(signal.SIGTERM)
        ray.init(address="local", num_cpus=2, runtime_env=here, **quiet)
        signal.signal(signal.SIGTERM, before)  # Ray's own would only fail the test that happens to run


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Ends Ray with the last test that uses it: it is busy even when it has nothing to do."""
    if uses_ray(item) and not (nextitem and uses_ray(nextitem)):
        ray_module().shutdown()
