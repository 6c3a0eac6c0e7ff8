"""Removes pages of an earlier build that no page of this one stands for: a page that was moved must not stay behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

MADE = {"genindex", "py-modindex", "search"}  # by Sphinx, of no page of ours


def remove(app: Any, failed: Exception | None) -> None:
    if failed is None and app.builder.format == "html":
        wanted = {*app.env.found_docs, *MADE}
        for path in Path(app.outdir).rglob("*.html"):
            if path.relative_to(app.outdir).with_suffix("").as_posix() not in wanted and not {
                "_static",
                "gallery",
            } & set(path.relative_to(app.outdir).parts[:1]):
                path.unlink()


def setup(app: Any) -> dict[str, bool]:
    app.connect("build-finished", remove)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
