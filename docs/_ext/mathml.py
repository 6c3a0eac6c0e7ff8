"""Formulas, `$...$` in Markdown, as MathML: every browser shows it, and nothing is loaded.

Browsers do not break MathML into lines. So a displayed formula is divided where TeX has quad, qquad or allowbreak
outside of braces, and its parts go to the next line where the screen is narrow.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

BREAK = re.compile(r"\\(qquad|quad|allowbreak)(?![a-zA-Z])")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _block(writer: HTML5Translator, node: nodes.math_block) -> None:
    shown = (f'<span class="part">{convert(part, display="block")}</span>' for part in parts(node.astext()))
    writer.body.append(f'<div class="formula">{" ".join(shown)}</div>')
    raise nodes.SkipNode


def parts(formula: str) -> list[str]:
    """The parts of a formula between which a line may end."""
    found, begin = [], 0
    for mark in BREAK.finditer(formula):
        before = formula[: mark.start()]
        if before.count("{") == before.count("}") and before.count(r"\left") == before.count(r"\right"):
            found.append(formula[begin : mark.start()])
            begin = mark.end()
    found.append(formula[begin:])
    return [part.strip() for part in found if part.strip()]
