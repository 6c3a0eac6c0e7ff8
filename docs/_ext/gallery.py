"""The pages of `make gallery` in the site: each opens below its picture on docs/guides/gallery.md, and by itself.

They are taken from the folder gallery/ of the repository, or the one that BITWRIGHT_GALLERY names; a page that was not
made is shown by its picture alone.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from docutils import nodes

PAGE = "guides/gallery"


def folder(app: Any) -> Path:
    return Path(os.environ.get("BITWRIGHT_GALLERY") or Path(app.srcdir).parent / "gallery")


def embed(app: Any, tree: nodes.document) -> None:
    """Puts the page behind each picture page-NAME.png, where there is one."""
    if app.env.docname != PAGE:
        return
    for image in list(tree.findall(nodes.image)):
        name = Path(image["uri"]).stem.removeprefix("page-")
        if (folder(app) / f"{name}.html").is_file():
            place, title = f"../gallery/{name}.html", image.get("alt", name)
            text = (
                f'<p><a class="gallery-open" href="{place}">Open this page</a></p>'
                f'<details class="gallery"><summary>Run it here</summary>'
                f'<iframe loading="lazy" src="{place}" title="{title}"></iframe></details>'
            )
            image.parent.parent.insert(image.parent.parent.index(image.parent) + 1, nodes.raw("", text, format="html"))


def copy(app: Any, failed: Exception | None) -> None:
    if failed is None and app.builder.format == "html":
        found = sorted(folder(app).glob("*.html"))
        if found:
            (Path(app.outdir) / "gallery").mkdir(exist_ok=True)
        for path in found:
            shutil.copy(path, Path(app.outdir) / "gallery" / path.name)


def setup(app: Any) -> dict[str, bool]:
    app.connect("doctree-read", embed)
    app.connect("build-finished", copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
