"""What a rule file can hardly mean, though it is well formed.

Rules that never match, numbers that nothing sets, cells that differ only in the order of their blocks, and
lines of cells that cannot be of one kind.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bitwright.bits import BoolArray
from bitwright.errors import Problem, counted, listing
from bitwright.program.algorithm import Algorithm
from bitwright.program.cells import check_same_order, distinct
from bitwright.program.reach import possible
from bitwright.program.text import syntax
from bitwright.program.text.parser import SyntaxTree, parse_statements
from bitwright.text.scanner import Token


def doubts(text: str, algorithm: Algorithm) -> list[Problem]:
    """Warnings about the text of an algorithm, in its order, each with line and column."""
    tree = parse_statements(text)
    bits, templates = possible(algorithm)
    found = [*_rules(tree, algorithm, bits, templates), *_ports(tree, algorithm, templates)]
    found += [*_orders(tree, algorithm), *_mixed(tree, algorithm)]
    for halt in (item for item in tree.statements if isinstance(item, syntax.Halt)):
        if isinstance(algorithm.halt, int) and not bits[algorithm.halt]:
            name = algorithm.program.layout.name_of(algorithm.halt)
            found.append(halt.token.problem(f"this never happens: {_why([name])}"))
    return sorted(found)


def _rules(tree: SyntaxTree, algorithm: Algorithm, bits: BoolArray, templates: BoolArray) -> list[Problem]:
    """Rules of which no template can ever match."""
    program = algorithm.program
    alive = {program.rules[rule] for rule in np.unique(program.template_rule[templates]).tolist()}
    dead: dict[str, int] = {}  # the text of a rule, and its first template
    for template in np.flatnonzero(~templates).tolist():
        rule = program.rules[program.template_rule[template]]
        if rule not in alive:
            dead.setdefault(rule, template)
    found = []
    for rule, line, column in _written(tree) if dead else ():
        if rule in dead:
            template = dead[rule]
            members = program.block_members(int(program.template_block[template]))
            wanted = members[program.template_config[template] >> np.arange(len(members)) & 1 == 1]
            names = [program.layout.name_of(bit) for bit in wanted[~bits[wanted]].tolist()]
            found.append(Problem(line, column, f"this rule never matches: {_why(names)}"))
    return found


def _written(tree: SyntaxTree) -> Iterator[tuple[str, int, int]]:
    """How each rule was written, and where."""
    for item in tree.statements:
        if isinstance(item, syntax.When):
            yield item.text, item.token.line, item.token.column
        elif isinstance(item, syntax.PlainLines):
            yield from ((line.text(), line.line, line.column) for line in item.rules)


def _ports(tree: SyntaxTree, algorithm: Algorithm, templates: BoolArray) -> list[Problem]:
    """Outputs that nothing writes, and inputs that nothing reads."""
    program = algorithm.program
    places = _places(tree)
    written, read = np.zeros(program.bits, dtype=bool), np.zeros(program.blocks, dtype=bool)
    writers = np.repeat(np.arange(program.templates), np.diff(program.write_start))
    written[program.write_bits[templates[writers]]] = True
    read[program.template_block[templates]] = True
    found = []
    for word in algorithm.inputs:
        if not read[program.block_of[list(word.bits)]].any():
            message = f"input '{word.name}' is never read: no rule that can match looks at its bits"
            found.append(places["input", word.name].problem(message))
    for word in algorithm.outputs:
        if ("output", word.name) in places and algorithm.steps != 0 and not written[list(word.bits)].any():
            message = f"output '{word.name}' is 0 from the first step on: no rule that can match writes its bits"
            found.append(places["output", word.name].problem(message))
    return found


def _places(tree: SyntaxTree) -> dict[tuple[str, str], Token]:
    """Where each input and each output is named."""
    found = {}
    for port in (item for item in tree.statements if isinstance(item, syntax.PortLine)):
        kind, members = port.token.text, port.members
        if port.name is None and (kind == "input" or len(members) == 1):
            found.update({(kind, member.token.text): member.token for member in members})
        else:
            found[kind, port.name.text if port.name else "value"] = port.token
    return found


def _orders(tree: SyntaxTree, algorithm: Algorithm) -> list[Problem]:
    """Two cells that would be of one kind if they named their blocks in one order."""
    program = algorithm.program
    alike = None if program.grouped is None else check_same_order(program.kinds.kinds)
    if alike is None:
        return []
    first, second = sorted(int(np.flatnonzero(program.kinds.of == kind)[0]) for kind in alike)
    names = [
        listing([program.block_names(block)[0] for block in program.cells.members(cell).tolist()])
        for cell in (first, second)
    ]
    message = f"the cells {names[0]} and {names[1]} differ only in the order of their blocks, and so are of two kinds"
    return [_line_of(tree, algorithm, second).problem(f"{message}; name their blocks in one order")]


def _mixed(tree: SyntaxTree, algorithm: Algorithm) -> list[Problem]:
    """Lines whose cells have blocks of different families, which cannot be of one kind."""
    program = algorithm.program
    if program.grouped is None:
        return []
    cells, sizes = program.cells, np.diff(program.block_start)
    shapes, shape_of = distinct(sizes[cells.blocks], cells.start)
    found = []
    for family in range(len(cells.families)):
        members = cells.families.members(family)
        if not len(members):  # a line of no cells in a small size
            continue
        other = members[shape_of[members] != shape_of[members[0]]]
        if not len(other):
            continue
        one, two = int(members[0]), int(other[0])
        names = [
            listing([name for b in cells.members(c).tolist() for name in program.block_names(b)]) for c in (one, two)
        ]
        bits = [" and ".join(counted(size, "bit") for size in shapes[shape_of[cell]]) for cell in (one, two)]
        found.append(
            _line_of(tree, algorithm, two).problem(
                f"the cells {names[0]} and {names[1]} of this line mix families of blocks ({bits[0]}; {bits[1]}), "
                "and so cannot be of one kind; give them lines of their own"
            )
        )
    return found


def _line_of(tree: SyntaxTree, algorithm: Algorithm, cell: int) -> Token:
    """Where the line stands that a cell comes from."""
    families = algorithm.program.cells.families
    place = families.places[families.of[cell]]
    return next(
        item.token for item in tree.statements if isinstance(item, syntax.Cell) and place == f"line {item.token.line}"
    )


def _why(names: list[str]) -> str:
    """What is said about bits that can never be on."""
    which = "it" if len(names) == 1 else "them"
    return f"{listing(names)} can never be on, since no input, no start and no rule that can match sets {which}"
