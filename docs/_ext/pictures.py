"""Pictures and tables: the page behind a picture of the gallery, pictures that open in full, numbers with their units.

Pages of the gallery are files of `html_extra_path`; one that was not made is shown by its picture alone.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes

NUMBER = re.compile(r"[-\u2212<>~]?\d[\d.,]*( ?[^\W\d]{1,12}| ?%)?( per \w+)?")


def prepare(app: Any, tree: nodes.document) -> None:
    for image in list(tree.findall(nodes.image)):
        image.setdefault("scale", 100)  # Sphinx links a picture that has a scale to its file
        name = Path(image["uri"]).stem.removeprefix("page-") + ".html"
        if app.env.docname == "guides/gallery" and any(Path(one, name).is_file() for one in app.config.html_extra_path):
            text = (
                f'<p><a class="gallery-open" href="../{name}">Open this page</a></p>'
                f'<details class="gallery"><summary>Run it here</summary>'
                f'<iframe loading="lazy" src="../{name}" title="{image.get("alt", name)}"></iframe></details>'
            )
            image.parent.parent.insert(image.parent.parent.index(image.parent) + 1, nodes.raw("", text, format="html"))
    for entry in tree.findall(nodes.entry):
        if NUMBER.fullmatch(entry.astext().strip()):
            entry["classes"].append("number")  # on one line, also where the screen is narrow


def setup(app: Any) -> dict[str, bool]:
    app.connect("doctree-read", prepare)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
