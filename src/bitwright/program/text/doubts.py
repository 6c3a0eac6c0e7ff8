"""Warnings about rule files that are well formed and probably wrong.

Rules that never match, numbers that nothing sets, bits that nothing uses or that vanish, cells that differ only in the
order of their blocks, and lines of cells that cannot be of one kind.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bitwright.bits import BoolArray
from bitwright.errors import Problem, counted, listing
from bitwright.program.algorithm import Algorithm, Word
from bitwright.program.cells import check_same_order, distinct
from bitwright.program.graph.node_program import NodeProgram
from bitwright.program.layout import IntArray
from bitwright.program.program import MAX_BLOCK
from bitwright.program.text import syntax
from bitwright.program.text.dead_rules import (
    DeadRules,
    WrittenRule,
    in_time,
    never_on,
    possible,
    wanted_bits,
    written_rules,
)
from bitwright.program.text.parser import SyntaxTree
from bitwright.program.text.rule_text import RuleText
from bitwright.text.scanner import Token


def doubts(text: str, algorithm: Algorithm) -> list[Problem]:
    """Warnings about the text of an algorithm, in its order, each with line and column."""
    tree = RuleText.of(text).tree
    return sorted(
        [
            *_without_effect(tree, algorithm),
            *lost_pairs(tree, algorithm),
            *_unkept(tree, algorithm),
            *_unused(tree, algorithm),
            *_orders(tree, algorithm),
            *_mixed(tree, algorithm),
        ]
    )


def node_doubts(text: str, program: NodeProgram) -> list[Problem]:
    """Warnings about bits of a node program that become 0 together, in the order of its text."""
    schema = program.schema()
    inputs = tuple(Word(word.name, word.bits) for word in schema.inputs)
    alone = Algorithm(program.name, schema.program, inputs=inputs, start=schema.start, steps=1)
    return sorted(lost_pairs(RuleText.of(text).tree, alone))


def _without_effect(tree: SyntaxTree, algorithm: Algorithm) -> list[Problem]:
    """Rules that never match, and inputs, outputs and ends that nothing reads or writes.

    The consequences of a chain of rules that never match are part of its one warning.
    """
    bits, templates = possible(algorithm)
    dead = DeadRules(algorithm.program, bits, templates)
    chains = dead.chains(written_rules(tree)) if dead else {}
    follows: dict[int, list[str]] = {chain: [] for chain in chains}
    found = []
    for place, chain, short, message in _idle(tree, algorithm, bits, templates, dead):
        if chain in follows:
            follows[chain].append(short)
        else:
            found.append(place.problem(message))
    for chain, (rule, message) in chains.items():
        so = f"; so {listing(follows[chain], 3)}" if follows[chain] else ""
        found.append(Problem(rule.line, rule.column, message + so))
    return found


def _idle(
    tree: SyntaxTree, algorithm: Algorithm, bits: BoolArray, templates: BoolArray, dead: DeadRules
) -> Iterator[tuple[Token, int | None, str, str]]:
    """Inputs that nothing reads, outputs that nothing writes and a halt that never comes.

    Each with its place, the chain of dead rules that it follows from, and a short and a full message.
    """
    program = algorithm.program
    places = _places(tree)
    written, read = np.zeros(program.bits, dtype=bool), np.zeros(program.blocks, dtype=bool)
    writers = np.repeat(np.arange(program.templates), np.diff(program.write_start))
    written[program.write_bits[templates[writers]]] = True
    read[program.template_block[templates]] = True
    for word in algorithm.inputs:
        if not read[program.block_of[list(word.bits)]].any():
            short = f"input '{word.name}' is never read"
            full = f"{short}: no rule that can match looks at its bits"
            yield places["input", word.name], dead.reading(word.bits), short, full
    for word in algorithm.outputs:
        if ("output", word.name) in places and algorithm.steps != 0 and not written[list(word.bits)].any():
            short = f"output '{word.name}' is 0 from the first step on"
            full = f"{short}: no rule that can match writes its bits"
            yield places["output", word.name], dead.writing(word.bits), short, full
    for halt in (item for item in tree.statements if isinstance(item, syntax.Halt)):
        if isinstance(algorithm.halt, int) and not bits[algorithm.halt]:
            full = f"this never happens: {never_on([program.layout.name_of(algorithm.halt)])}"
            yield halt.token, dead.writing([algorithm.halt]), "the halt bit is never on", full


def _unused(tree: SyntaxTree, algorithm: Algorithm) -> list[Problem]:
    """Declared names whose bits are never tested for 1, written, or used as input or output."""
    program = algorithm.program
    used = program.writers > 0
    used[wanted_bits(program)[1]] = True
    used[algorithm.input_bits] = used[algorithm.output_bits] = used[list(algorithm.start)] = True
    if isinstance(algorithm.halt, int):
        used[algorithm.halt] = True
    idle = {field.name for field in program.layout.fields if not used[field.offset : field.offset + field.size].any()}
    return [
        name.problem(f"nothing uses '{name.text}': no rule wants it on or writes it, and it is no input and no output")
        for item in tree.statements
        if isinstance(item, syntax.BitsDeclaration)
        for name, _ in item.items
        if name.text in idle
    ]


def _places(tree: SyntaxTree) -> dict[tuple[str, str], Token]:
    """The place of each input and each output."""
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
    """The place of the line that a cell comes from."""
    families = algorithm.program.cells.families
    place = families.places[families.of[cell]]
    return next(
        item.token for item in tree.statements if isinstance(item, syntax.Cell) and place == f"line {item.token.line}"
    )


def _unkept(tree: SyntaxTree, algorithm: Algorithm) -> Iterator[Problem]:
    """Inputs with a bit that is gone before any rule that wants it can match.

    No rule that can match writes it, and each that wants it wants another bit, too, that is off at the beginning. Of
    each input one rule is named.
    """
    program = algorithm.program
    able, live = possible(algorithm)[1], in_time(algorithm)
    wanting, wanted = wanted_bits(program)
    first = np.zeros(program.bits, dtype=bool)
    first[[*algorithm.start, *algorithm.input_bits.tolist()]] = True
    brief = first.copy()
    brief[program.write_bits[live[np.repeat(np.arange(program.templates), np.diff(program.write_start))]]] = False
    rules = {rule.text: rule for rule in written_rules(tree)}
    for word in algorithm.inputs:
        own = np.isin(wanted, word.bits) & brief[wanted]
        used = wanted[own & live[wanting]]
        idle = own & able[wanting] & ~np.isin(wanted, used)
        lost = np.unique(wanted[idle])
        texts = [program.rules[program.template_rule[template]] for template in wanting[idle].tolist()]
        rule = next((rules[text] for text in texts if text in rules), None)
        if rule is None:
            continue
        template = wanting[idle][texts.index(rule.text)]
        gone, other = (
            program.layout.name_of(int(bits[0]))
            for bits in (wanted[idle & (wanting == template)], wanted[(wanting == template) & ~first[wanted]])
        )
        more = f" (and {counted(len(lost) - 1, 'more such bit')})" if len(lost) > 1 else ""
        yield Problem(
            rule.line,
            rule.column,
            f"{gone} is on at the beginning alone, since no rule that can match writes it, and this rule wants it "
            f"together with {other}, which is off then; keep it, as in 'when {gone}=1 {other}=0 write {gone}'{more}",
        )


def lost_pairs(tree: SyntaxTree, algorithm: Algorithm) -> list[Problem]:
    """Two bits of a block that can both be on at the beginning, where rules speak of each as if it were alone.

    A rule that names the other bit knows of it, and so 1 and 1 giving nothing may be what is meant, as in a
    subtraction. Only if neither rule names the bit of the other is it probably a mistake.
    """
    program = algorithm.program
    first, second = _unmatched(algorithm)
    if not len(first):
        return []
    by_text = {rule.text: rule for rule in written_rules(tree)}
    found: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for one, other in zip(first.tolist(), second.tolist(), strict=True):
        rules = program.rules[program.template_rule[one]], program.rules[program.template_rule[other]]
        found.setdefault(rules, []).append((one, other))
    problems = []
    for (one, other), pairs in found.items():
        earlier, later = sorted((by_text[one], by_text[other]), key=lambda rule: (rule.line, rule.column))
        bits = [_bit_alone(algorithm, template) for template in pairs[0]]
        fields = [program.layout.field_of(bit).name for bit in bits]
        if fields[1] in by_text[one].names or fields[0] in by_text[other].names:
            continue
        names = [program.layout.name_of(bit) for bit in bits]
        if by_text[one] is later:
            names.reverse()
        problems.append(_problem(earlier, later, names[0], names[1], len(pairs) - 1))
    return problems


def _problem(earlier: WrittenRule, later: WrittenRule, one: str, other: str, more: int) -> Problem:
    where = "the same line" if earlier.line == later.line else f"line {earlier.line}"
    further = f" (and {counted(more, 'more such pair')})" if more else ""
    return Problem(
        later.line,
        later.column,
        f"{one} and {other} both become 0 where both are on at the beginning: this rule is for {one}=0, and {where} "
        f"for {other}=0, since bits that are not named are 0; add a rule for both, or say {one}=0 here if that is meant"
        f"{further}",
    )


def _unmatched(algorithm: Algorithm) -> tuple[IntArray, IntArray]:
    """Pairs of templates for one bit of a block alone; both bits may be on at first, and no template is for that."""
    program = algorithm.program
    started, free = np.zeros(program.bits, dtype=bool), np.zeros(program.bits, dtype=bool)
    started[list(algorithm.start)] = True
    free[algorithm.input_bits] = True
    block, config = program.template_block, program.template_config
    alone = np.flatnonzero((config > 0) & (config & (config - 1) == 0))
    place = np.log2(config[alone]).astype(np.int64)
    bit = program.block_bits[program.block_start[block[alone]] + place]
    alone, bit = alone[started[bit] | free[bit]], bit[started[bit] | free[bit]]
    starts = np.bincount(program.block_of[started.nonzero()[0]], minlength=program.blocks)
    first, second = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for apart in range(1, MAX_BLOCK):  # templates stand in the order of their blocks
        one, other = alone[:-apart], alone[apart:]
        both = started[bit[:-apart]].astype(np.int64) + started[bit[apart:]]
        possible = (block[one] == block[other]) & (starts[block[one]] == both)
        one, other = one[possible], other[possible]
        lost = program.lookup(block[one], config[one] | config[other]) < 0
        first.append(one[lost])
        second.append(other[lost])
    return np.concatenate(first), np.concatenate(second)


def _bit_alone(algorithm: Algorithm, template: int) -> int:
    """The one bit that a template wants on."""
    program = algorithm.program
    place = int(program.template_config[template]).bit_length() - 1
    return int(program.block_members(int(program.template_block[template]))[place])
