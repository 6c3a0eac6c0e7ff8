"""What the tests of figures share."""

from __future__ import annotations

from typing import Any, BinaryIO

import pytest
from long import LONG


@pytest.fixture
def unrendered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures are composed, but only `make test-long` renders them all: that takes most of the time."""

    def savefig(_: Any, file: BinaryIO, format: str, **__: Any) -> None:
        file.write(b"<svg/>" if format == "svg" else b"\x89PNG")

    if not LONG:
        monkeypatch.setattr("matplotlib.figure.Figure.savefig", savefig)
