"""Layouts: rule text of which only bits, blocks and what enters and leaves count; its rules may be missing."""

from __future__ import annotations

from collections.abc import Mapping

from bitwright.errors import InputError, printable, problems_of
from bitwright.program.algorithm import Algorithm
from bitwright.program.layout import Layout
from bitwright.program.text.expand import MAX_WORK, Expansion
from bitwright.program.text.lets import blaming, check_lets
from bitwright.program.text.node_text import is_node_program
from bitwright.program.text.parser import parse_statements
from bitwright.text.scanner import opening_comment


class _Layouts(Expansion):
    needs_rules = False


def parse_layout(text: str, name: str = "layout", lets: Mapping[str, int] | None = None) -> Algorithm:
    """The algorithm of a rule text that may have no rules; raises ProgramError with every problem.

    >>> parse_layout("bits p[2] q[2]; block p[i] q[i] for i in 1..2".replace("; ", chr(10)))
    Algorithm 'layout': 4 bits, 2 blocks, 0 templates
    """
    with problems_of(name):
        tree = parse_statements(text)
        if is_node_program(tree):
            raise InputError("this is a node program, which runs on a graph; its blocks depend on the graph")
        check_lets(name, tree, lets)
        about = printable(opening_comment(text, "#"))
        return blaming(lets or {}, lambda given: _Layouts(tree, MAX_WORK, given).algorithm(name, about))


def parse_blocks(layout: Layout, text: str) -> list[list[int]]:
    """Blocks that are written as in `block` lines, with `;` between them, of bits that are known.

    >>> parse_blocks(Layout.of([("p", (2,)), ("c", ())]), "p[i] for i in 1..2; c")
    [[0], [1], [2]]
    """
    lines = [f"bits {field}" for field in layout.fields]
    lines += [f"block {part.strip()}" for part in text.replace("\n", ";").split(";") if part.strip()]
    program = parse_layout("\n".join(lines), "blocks").program
    return [program.block_members(block).tolist() for block in range(program.blocks)]
