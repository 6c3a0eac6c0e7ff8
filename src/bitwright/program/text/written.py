"""The rules of a text as they were written, and where."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from bitwright.program.text import syntax
from bitwright.program.text.parser import SyntaxTree

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class WrittenRule(NamedTuple):
    """A `when` line: its text, its place, and the names of the bits and arrays in its conditions."""

    text: str
    line: int
    column: int
    names: frozenset[str]


def written_rules(tree: SyntaxTree) -> Iterator[WrittenRule]:
    """All of them, in the order of the text."""
    for item in tree.statements:
        if isinstance(item, syntax.WhenClause):
            yield WrittenRule(item.text, item.token.line, item.token.column, frozenset(_names(item)))
        elif isinstance(item, syntax.PlainLines):
            for line in item.rules:
                yield WrittenRule(line.text(), line.line, line.column, frozenset(_NAME.findall(line.left)))


def _names(rule: syntax.WhenClause) -> Iterator[str]:
    for test in rule.tests:
        yield test.left.token.text
        if isinstance(test.right, syntax.BitRef | syntax.Name):
            yield test.right.token.text
