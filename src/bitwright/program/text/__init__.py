"""The .bw rule text: parse it, find all its problems, read it from files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from bitwright.bits import shorten
from bitwright.errors import InputError, Problem, ProgramError, printable, problems_of
from bitwright.program.algorithm import Algorithm, Sizing
from bitwright.program.layout import Layout
from bitwright.program.text.expand import MAX_WORK, expand
from bitwright.program.text.lets import names_of_lets, plain_lets
from bitwright.program.text.parser import SyntaxTree, parse_statements
from bitwright.text.scanner import opening_comment

if TYPE_CHECKING:
    from bitwright.program.graph.node_program import NodeProgram

_FILE = re.compile(r"[^\n;#]*\.(bw|sbn|sq|dec|py)", re.IGNORECASE)  # no statement is a name with such an end
__all__ = ["check_text", "parse", "parse_any", "parse_blocks", "parse_node_program"]


def parse(
    text: str,
    name: str = "program",
    lets: Mapping[str, int] | None = None,
    work: int = MAX_WORK,
    needs_rules: bool = True,
) -> Algorithm:
    """Parses the rule text of an algorithm; raises ProgramError with every problem, by line and column.

    `lets` override the values of its `let` lines; `work` is how many rows it may stand for. With `needs_rules` a text
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
        tree = parse_statements(check_text(text))
        if tree.is_node_program:
            raise InputError("this is a node program, which runs on a graph; use parse_any")
        return _algorithm(tree, text, name, lets, work, needs_rules)


def parse_node_program(text: str, name: str = "program", lets: Mapping[str, int] | None = None) -> NodeProgram:
    """Parses the rule text of a node program; raises ProgramError with every problem, by line and column.

    >>> lines = ["bits even odd", "block even odd", "when even=1 write even far.odd", "when odd=1 write odd far.even"]
    >>> lines += ["when even=1 odd=1 write even odd far.even far.odd", "input source = even"]
    >>> parse_node_program(chr(10).join(lines), "walks")
    NodeProgram 'walks': 2 bits of nodes, 3 templates
    """
    with problems_of(name):
        return _node_program(parse_statements(check_text(text)), text, name, lets)


def parse_any(text: str, name: str = "program", lets: Mapping[str, int] | None = None) -> Algorithm | NodeProgram:
    """Parses an algorithm, or a node program if the text uses what only those have."""
    with problems_of(name):
        tree = parse_statements(check_text(text))
        return (_node_program if tree.is_node_program else _algorithm)(tree, text, name, lets)


def parse_blocks(layout: Layout, text: str) -> list[list[int]]:
    """The bits of blocks that are written as in `block` lines, with `;` between them.

    >>> parse_blocks(Layout.of([("p", (2,)), ("c", ())]), "p[i] for i in 1..2; c")
    [[0], [1], [2]]
    """
    lines = [f"bits {field}" for field in layout.fields]
    lines += [f"block {part.strip()}" for part in text.replace("\n", ";").split(";") if part.strip()]
    program = parse("\n".join(lines), "blocks", needs_rules=False).program
    return [program.block_members(block).tolist() for block in range(program.blocks)]


def _algorithm(
    tree: SyntaxTree,
    text: str,
    name: str,
    lets: Mapping[str, int] | None,
    work: int = MAX_WORK,
    needs_rules: bool = True,
) -> Algorithm:
    found = expand(tree, name, _about(text), work, lets, needs_rules)
    return replace(found, sizing=_sizing(tree, text, name, lets))


def _node_program(tree: SyntaxTree, text: str, name: str, lets: Mapping[str, int] | None) -> NodeProgram:
    from bitwright.program.graph.node_program import NodeProgram

    return NodeProgram(name, tree, _about(text), dict(lets or {}), _sizing(tree, text, name, lets))


def _about(text: str) -> str:
    return printable(opening_comment(text, "#"))


def _sizing(tree: SyntaxTree, text: str, name: str, lets: Mapping[str, int] | None) -> Sizing | None:
    if not names_of_lets(tree):
        return None
    return Sizing({**plain_lets(text), **(lets or {})}, partial(_again, text, name), text)


def _again(text: str, name: str, /, **lets: int) -> Algorithm | NodeProgram:
    return parse_any(text, name, lets)


def check_text(text: object) -> str:
    """The text itself; raises InputError for what is not a str, and ProgramError for the name of a file."""
    if not isinstance(text, str):
        got = "bytes; decode them first" if isinstance(text, bytes) else f"a {type(text).__name__}"
        raise InputError(f"rule text is a str, got {got}")
    if _FILE.fullmatch(text.strip()):
        name = shorten(text.strip())
        message = f"rule text is expected here, and this is the name of a file; open('{name}') reads it"
        raise ProgramError([Problem(1, 1, message)])
    return text
