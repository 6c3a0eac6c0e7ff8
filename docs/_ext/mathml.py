"""Formulas, `$...$` in Markdown, as MathML: every browser shows it, and nothing is loaded.

Browsers do not break MathML into lines. So a displayed formula is divided where TeX has quad, qquad or allowbreak
outside of braces, and its parts go to the next line where the screen is narrow.
Punctuation stays on the line of its formula.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

BREAK = re.compile(r"\\(qquad|quad|allowbreak)(?![a-zA-Z])")
OPENING, CLOSING = re.compile(r"\(+$"), re.compile(r"^[,.;:)]+")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.connect("doctree-read", keep_together)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def keep_together(_app: Sphinx, tree: nodes.document) -> None:
    """Gives every formula in a line the punctuation around it."""
    for formula in tree.findall(nodes.math):
        line, place = formula.parent, formula.parent.index(formula)
        for side, beside, marks in (("before", place - 1, OPENING), ("after", place + 1, CLOSING)):
            text = line[beside] if 0 <= beside < len(line) else None
            if isinstance(text, nodes.Text) and (found := marks.search(text)):
                formula[side] = found[0]
                line[beside] = nodes.Text(marks.sub("", text))


def _inline(writer: HTML5Translator, node: nodes.math) -> None:
    shown = f"{node.get('before', '')}{convert(node.astext())}{node.get('after', '')}"
    writer.body.append(f'<span class="together">{shown}</span>')
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
