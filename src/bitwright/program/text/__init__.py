"""The .bw rule text: parse it, find all its problems, read it from files."""

from __future__ import annotations

import re

from bitwright.errors import ProgramError, printable
from bitwright.program.algorithm import Algorithm
from bitwright.program.text.expand import expand
from bitwright.program.text.parser import parse_statements

__all__ = ["parse"]


def parse(text: str, name: str = "program") -> Algorithm:
    """The algorithm that a rule text describes; raises ProgramError with every problem, by line and column.

    >>> text = '''
    ... bits p[2]
    ... block p[i] for i in 1..2
    ... when p[1]=1 write p[2]
    ... '''
    >>> parse(text)
    Algorithm 'program': 2 bits, 2 blocks, 1 template
    """
    try:
        return expand(parse_statements(text), name, _opening_comment(text))
    except ProgramError as error:
        raise ProgramError(error.problems, name) from None


def _opening_comment(text: str) -> str:
    """The comment lines at the top of a file, as one paragraph."""
    block = re.match(r"(?:[ \t]*#[^\n]*\n?)*", text)
    lines = block.group().splitlines() if block else []
    return printable(" ".join(line.strip().lstrip("#").strip() for line in lines).strip())
