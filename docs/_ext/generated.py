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
# The page that lists the pages of a folder, and its title.
INDICES = {
    "verbs": ("command-line", "The command line"),
    "python": ("python", "The Python API"),
    "schemas": ("schemas", "JSON schemas"),
}


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """Every generated file, its path in docs/generated and its text."""
    for name, text in (*command_line.pages(), *python_api.pages(), *json_schemas.pages(root)):
        yield name, _leaf(name, text) if "/" in name else text
    yield from files_page.pages(root)
    yield from notebooks.pages(root)


def _leaf(name: str, text: str) -> str:
    """A page that the table of its index leads to. The sidebar has only the index: a hundred names would bury it."""
    index, title = INDICES[name.partition("/")[0]]
    return f"---\norphan: true\n---\n\n[{title}](../{index}.md) ›\n\n{text}"


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
