"""For narrow screens: a tap on a picture opens it in full, and cells with a number and its unit stay on one line."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes

NUMBER = re.compile(r"[-\u2212<>~]?\d[\d.,]*( ?[^\W\d]{1,12}| ?%)?( per \w+)?")


def prepare(_app: Any, tree: nodes.document) -> None:
    for image in tree.findall(nodes.image):
        image.setdefault("scale", 100)  # Sphinx links a picture that has a scale to its file
    for entry in tree.findall(nodes.entry):
        if NUMBER.fullmatch(entry.astext().strip()):
            entry["classes"].append("number")


def setup(app: Any) -> dict[str, bool]:
    app.connect("doctree-read", prepare)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
