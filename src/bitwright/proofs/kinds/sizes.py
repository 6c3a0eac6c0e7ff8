"""The sizes of a rule text: which numbers its cells depend on, and the program at given ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from bitwright.errors import ProgramError
from bitwright.program.program import Program
from bitwright.program.text import syntax
from bitwright.program.text.expand import expand
from bitwright.program.text.lets import mentions
from bitwright.program.text.node_text import is_node_program, schema_of
from bitwright.program.text.parser import SyntaxTree, parse_statements

GRAPH = {"nodes": 16, "ports": 48}  # numbers of a graph, and what they are where none is given
_SAY_CELLS = syntax.BitsDeclaration | syntax.Block | syntax.Cell | syntax.WhenClause


@dataclass(frozen=True)
class SizedText:
    """A rule text whose sizes are open.

    `sizes` are the numbers that its bits, blocks, cells and rules depend on and that follow from no others, with the
    values that the text gives them. In a node program a `let` that mentions `nodes` or `ports` is one: whatever the
    graph is, its value is some number. `lets` are those that follow from sizes.
    """

    text: str
    tree: SyntaxTree
    is_node_program: bool
    sizes: Mapping[str, int]
    lets: Mapping[str, syntax.Expression]
    found: dict[tuple[int, ...], Program | None] = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, text: str, given_lets: Collection[str] = ()) -> SizedText:
        """Reads a text without problems; numbers that were given are sizes, even if they follow from others."""
        tree = parse_statements(text, short_way=False)
        nodes = is_node_program(tree)
        lets = {item.name.text: item for item in tree.statements if isinstance(item, syntax.Let)}
        given = GRAPH if nodes else {}
        used = mentions(
            SyntaxTree([item for item in tree.statements if isinstance(item, _SAY_CELLS)]), {}, {*lets, *given}
        )
        sizes: dict[str, int] = {}
        follow: dict[str, syntax.Expression] = {}
        for name, item in reversed(lets.items()):
            if name in used:
                above = mentions(SyntaxTree([item]), {}, {*lets, *given}) - {name}
                if isinstance(item.value, syntax.Number):
                    sizes[name] = item.value.value
                elif name in given_lets or above & given.keys():
                    sizes[name] = 4
                else:
                    follow[name] = item.value
                    used |= above
        sizes |= {name: GRAPH[name] for name in sorted(used & given.keys())}
        in_order = {name: sizes[name] for name in (*lets, *given) if name in sizes}
        return cls(text, tree, nodes, in_order, follow)

    def at(self, *values: int) -> Program | None:
        """The program at these sizes, in the order of `sizes`; None where the text is none there."""
        if values not in self.found:
            asked = dict(zip(self.sizes, values, strict=True))
            lets = {name: value for name, value in asked.items() if name not in GRAPH or not self.is_node_program}
            try:
                if self.is_node_program:
                    graph = [asked.get(name, own) for name, own in GRAPH.items()]
                    self.found[values] = schema_of(self.tree, lets, *graph).program
                else:
                    self.found[values] = expand(self.tree, "program", "", lets=lets).program
            except ProgramError:
                self.found[values] = None
        return self.found[values]
