"""The .bw rule text: parse it, find all its problems, read it from files."""

from __future__ import annotations

from collections.abc import Mapping

from bitwright.errors import printable, problems_of
from bitwright.program.algorithm import Algorithm
from bitwright.program.text.expand import expand
from bitwright.program.text.parser import parse_statements
from bitwright.text.scanner import opening_comment

__all__ = ["parse"]


def parse(text: str, name: str = "program", lets: Mapping[str, int] | None = None) -> Algorithm:
    """The algorithm that a rule text describes; raises ProgramError with every problem, by line and column.

    `lets` are values in place of those that the text gives to its numbers.

    >>> text = '''
    ... bits p[2]
    ... block p[i] for i in 1..2
    ... when p[1]=1 write p[2]
    ... '''
    >>> parse(text)
    Algorithm 'program': 2 bits, 2 blocks, 1 template
    >>> parse("let l = 2\\n" + text.replace("2", "l"), lets={"l": 5})
    Algorithm 'program': 5 bits, 5 blocks, 1 template
    """
    with problems_of(name):
        return expand(parse_statements(text), name, printable(opening_comment(text, "#")), lets=lets)
