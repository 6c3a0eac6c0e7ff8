"""Warnings about bits that vanish: rules for each of two bits alone, and none for both."""

from __future__ import annotations

import numpy as np

from bitwright.errors import Problem, counted
from bitwright.program.algorithm import Algorithm
from bitwright.program.layout import IntArray
from bitwright.program.program import MAX_BLOCK
from bitwright.program.text.parser import SyntaxTree
from bitwright.program.text.written import WrittenRule, written_rules


def lost_pairs(tree: SyntaxTree, algorithm: Algorithm) -> list[Problem]:
    """Two bits of a block that can both be on at the beginning, where rules speak of each as if it were alone.

    A rule that names the other bit knows of it, and so 1 and 1 giving nothing may be what is meant, as in a
    subtraction. Only where neither rule names the bit of the other can it hardly be meant.
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
