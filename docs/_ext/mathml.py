"""Formulas, `$...$` in Markdown, as MathML: every browser shows it, and nothing is loaded.

Browsers do not break MathML into lines. So a displayed formula is divided where TeX has quad, qquad or allowbreak
outside of braces, and its parts go to the next line where the screen is narrow.
Punctuation stays on the line of its formula.
"""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

MATHML = "http://www.w3.org/1998/Math/MathML"
FUNCTION = re.compile(r"arc(?:sin|cos|tan)|sin|cos|tan|log|ln|exp|max|min|sup|inf|gcd|deg|det|sgn|ReLU|Pr")
OPERANDS = {"mi", "mn", "msub", "msup", "msubsup", "mfrac", "msqrt", "mrow"}
THIN = "0.1667em"
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
    shown = f"{node.get('before', '')}{spaced(convert(node.astext()))}{node.get('after', '')}"
    writer.body.append(f'<span class="together">{shown}</span>')
    raise nodes.SkipNode


def _block(writer: HTML5Translator, node: nodes.math_block) -> None:
    shown = (f'<span class="part">{spaced(convert(part, display="block"))}</span>' for part in parts(node.astext()))
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


def spaced(formula: str) -> str:
    """MathML with the spaces that TeX would put around names of functions and bars, in every font.

    Browsers set `<mi>` after `<mn>` without a space, and a bar between operands as if it were a relation.
    """
    ElementTree.register_namespace("", MATHML)
    tree = ElementTree.fromstring(formula)
    for row in [*tree.iter()]:
        if _name(row) in {"math", "mrow", "mstyle", "mtd"}:
            row[:] = _spaced_row([*row])
    return ElementTree.tostring(tree, encoding="unicode")


def _spaced_row(row: list[Element]) -> list[Element]:
    bars = [part for part in row if part.text == "|"]
    opening = set() if len(bars) % 2 else {id(bar) for bar in bars[::2]}
    for bar in bars if opening else ():
        bar.set("form", "prefix" if id(bar) in opening else "postfix")
    found: list[Element] = []
    for part in row:
        before = found[-1] if found else None
        if before is not None and _is_apart(before, part, opening):
            found.append(Element(f"{{{MATHML}}}mspace", width=THIN))
        if _name(part) == "mo" and FUNCTION.fullmatch(part.text or ""):
            part.tag = f"{{{MATHML}}}mi"  # as an operator it would have wide spaces
        found.append(part)
    return found


def _is_apart(before: Element, part: Element, opening: set[int]) -> bool:
    closed = _name(before) in OPERANDS or (before.text in {"|", ")"} and id(before) not in opening)
    opens = _name(part) in OPERANDS or id(part) in opening
    return closed and opens and (_is_function(before) or _is_function(part) or before.text == part.text == "|")


def _name(part: Element) -> str:
    return part.tag.rpartition("}")[2]


def _is_function(part: Element) -> bool:
    """A name such as log, with or without an index."""
    base = part[0] if _name(part) in {"msub", "msup", "msubsup", "munder"} and len(part) else part
    return FUNCTION.fullmatch(base.text or "") is not None
