"""The page of JSON schemas: one part a schema of docs/reference/schemas."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path


def pages(root: Path) -> Iterator[tuple[str, str]]:
    if False:
        yield "", str(root)
