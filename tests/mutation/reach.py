"""A plugin of pytest that notes which functions of the sources each test calls, and how many calls it makes."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

_SOURCES = os.path.realpath(os.environ.get("MUTATION_SOURCES", "")) + os.sep
_found: dict[str, dict[str, object]] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    called: set[tuple[str, str]] = set()
    count = 0

    def see(frame: FrameType, event: str, argument: object) -> None:  # noqa: ARG001
        nonlocal count
        if event == "call":
            count += 1
            if frame.f_code.co_filename.startswith(_SOURCES):
                called.add((frame.f_code.co_filename[len(_SOURCES) :], frame.f_code.co_qualname))

    threading.setprofile(see)
    sys.setprofile(see)
    try:
        return (yield)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
        _found[item.nodeid] = {"count": count, "calls": sorted(f"{file} {name}" for file, name in called)}


def pytest_sessionfinish() -> None:
    Path(os.environ["MUTATION_REACH"]).write_text(json.dumps(_found))
