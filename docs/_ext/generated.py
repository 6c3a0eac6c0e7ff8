"""Writes the pages that are made from the code into docs/generated, before Sphinx looks which pages there are.

A page is written only when it has changed, so that a second build reads little; pages that are no longer made
are removed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import command_line
import files_page
import json_schemas
import notebooks
import python_api

FOLDER = "generated"


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """Every generated file, its path in docs/generated and its text."""
    yield from command_line.pages()
    yield from python_api.pages()
    yield from files_page.pages(root)
    yield from notebooks.pages(root)
    yield from json_schemas.pages(root)


def write(app: Any) -> None:
    docs = Path(app.srcdir)
    wanted = {docs / FOLDER / name: text for name, text in pages(docs.parent)}
    for path in (docs / FOLDER).rglob("*.*"):
        if path not in wanted:
            path.unlink()
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
