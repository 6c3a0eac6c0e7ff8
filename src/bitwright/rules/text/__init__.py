"""The .bw rule text: parse it, find all its problems, read it from files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, Problem, ProgramError, problems_of
from bitwright.rules.algorithm import Algorithm
from bitwright.rules.layout import Layout
from bitwright.rules.text.expand import MAX_WORK
from bitwright.rules.text.rule_text import RuleText

if TYPE_CHECKING:
    from bitwright.rules.graph.node_program import NodeProgram

_FILE = re.compile(r"[^\n;#]*\.(bw|sbn|sq|dec|py)", re.IGNORECASE)  # no statement ends like this
__all__ = ["RuleText", "check_text", "parse", "parse_any", "parse_blocks", "parse_node_program"]


def parse(
    text: str,
    name: str = "program",
    lets: Mapping[str, int] | None = None,
    work: int = MAX_WORK,
    needs_rules: bool = True,
) -> Algorithm:
    """Parses the rule text of an algorithm; raises ProgramError with every problem, by line and column.

    `lets` override the values of its `let` lines; `work` limits the rows of its expansion. With `needs_rules` a text
    without rules is an error.

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
        return RuleText.of(check_text(text)).at(lets, name, work, needs_rules)


def parse_node_program(text: str, name: str = "program", lets: Mapping[str, int] | None = None) -> NodeProgram:
    """Parses the rule text of a node program; raises ProgramError with every problem, by line and column.

    >>> lines = ["bits even odd", "block even odd", "when even=1 write even far.odd", "when odd=1 write odd far.even"]
    >>> lines += ["when even=1 odd=1 write even odd far.even far.odd", "input source = even"]
    >>> parse_node_program(chr(10).join(lines), "walks")
    NodeProgram 'walks': 2 bits of nodes, 3 templates
    """
    from bitwright.rules.graph.node_program import NodeProgram

    with problems_of(name):
        return NodeProgram(name, RuleText.of(check_text(text)), dict(lets or {}))


def parse_any(text: str, name: str = "program", lets: Mapping[str, int] | None = None) -> Algorithm | NodeProgram:
    """Parses an algorithm, or a node program if the text uses statements for graphs."""
    with problems_of(name):
        return RuleText.of(check_text(text)).program(lets, name)


def parse_blocks(layout: Layout, text: str) -> list[list[int]]:
    """Parses blocks written as in `block` lines, separated by `;`, to lists of bits.

    >>> parse_blocks(Layout.of([("p", (2,)), ("c", ())]), "p[i] for i in 1..2; c")
    [[0], [1], [2]]
    """
    lines = [f"bits {field}" for field in layout.fields]
    lines += [f"block {part.strip()}" for part in text.replace("\n", ";").split(";") if part.strip()]
    program = parse("\n".join(lines), "blocks", needs_rules=False).program
    return [program.block_members(block).tolist() for block in range(program.blocks)]


def check_text(text: object) -> str:
    """The text itself; raises InputError for values other than str, and ProgramError for the name of a file."""
    if not isinstance(text, str):
        got = "bytes; decode them first" if isinstance(text, bytes) else f"a {type(text).__name__}"
        raise InputError(f"rule text must be a str, got {got}")
    if _FILE.fullmatch(text.strip()):
        name = shorten(text.strip())
        message = f"expected rule text, got the name of a file; open('{name}') reads it"
        raise ProgramError([Problem(1, 1, message)])
    return text
