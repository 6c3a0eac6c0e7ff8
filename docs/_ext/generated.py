"""Writes the pages that are made from the code into docs/generated, before Sphinx looks which pages there are.

A page is written only when it has changed, so that a second build reads little; pages that are no longer made
are removed.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import command_line
import json_schemas
import notebooks
import repository

MODULES = (command_line, json_schemas, notebooks, repository)
# The page that lists the pages of a folder, and its title.
INDICES = {"verbs": ("command-line", "The command line"), "schemas": ("schemas", "JSON schemas")}


def write(app: Any) -> None:
    docs = Path(app.srcdir)
    wanted = {}
    for name, text in chain.from_iterable(module.pages(docs.parent) for module in MODULES):
        index, title = INDICES.get(name.partition("/")[0], ("", ""))
        if title:  # a page that the table of its index leads to: in the sidebar a hundred names would bury it
            text = f"---\norphan: true\n---\n\n[{title}](../{index}.md) ›\n\n{text}"
        wanted[docs / "generated" / name] = text
    for path in (docs / "generated").rglob("*.*"):
        if path not in wanted:
            path.unlink()
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def setup(app: Any) -> dict[str, bool]:
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
