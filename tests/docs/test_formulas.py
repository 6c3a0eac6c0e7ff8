"""Formulas as MathML: spaces stand where TeX puts them, which no font of a browser does by itself."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cases import for_each

pytest.importorskip("latex2mathml")


@pytest.fixture(scope="module")
def mathml() -> Iterator[Any]:
    sys.path.insert(0, str(Path(__file__).parents[2] / "docs" / "_ext"))
    import mathml

    yield mathml
    sys.path.remove(str(Path(__file__).parents[2] / "docs" / "_ext"))


@for_each(
    ("formula", "text"),
    [
        (r"2 \arcsin z", "2_arcsin_z"),
        (r"\arcsin(z)", "arcsin(z)"),
        (r"x \log_2 n", "x_log2_n"),
        (r"\max(0, x)", "max(0,x)"),
        ("|x| |y|", "|x|_|y|"),
        (r"|x| \cos t", "|x|_cos_t"),
        ("2 |x|", "2|x|"),
        ("P(A | B)", "P(A|B)"),
        ("2 x y", "2xy"),
    ],
)
def test_spaces_are_those_of_tex(mathml: Any, formula: str, text: str) -> None:
    """A thin space is shown as a low line."""
    shown = mathml.spaced(mathml.convert(formula))
    assert re.sub(r"<[^>]+>", "", re.sub(r"<mspace[^>]*/>", "_", shown)) == text


def test_bars_are_pairs(mathml: Any) -> None:
    shown = mathml.spaced(mathml.convert("|x| + |y|"))
    assert re.findall(r'form="(\w+)"', shown) == ["prefix", "postfix"] * 2
    assert "form=" not in mathml.spaced(mathml.convert("P(A | B)"))
