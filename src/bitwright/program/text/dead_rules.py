"""Bits that may ever be on, and rules that never match.

Such rules come in chains: each waits for bits that only others of its chain would set.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bitwright.bits import BoolArray
from bitwright.errors import counted, listing
from bitwright.program.algorithm import Algorithm
from bitwright.program.expressions import Named
from bitwright.program.layout import IntArray
from bitwright.program.program import Program
from bitwright.program.text import syntax
from bitwright.program.text.parser import SyntaxTree


def possible(algorithm: Algorithm) -> tuple[BoolArray, BoolArray]:  # (k,), (K,)
    """Bits that some state of a run may have on, and templates that some state may match.

    A bit may be on if an input or the start sets it, or a template that may match writes it; a template may match if
    all bits that it wants on may be. What it wants off is left out of account.
    """
    return _woken(algorithm.program, _first(algorithm))


def in_time(algorithm: Algorithm) -> BoolArray:  # (K,)
    """The same templates without those that want a bit which is on at the beginning alone with one that is off then."""
    program, first = algorithm.program, _first(algorithm)
    wanting, wanted = wanted_bits(program)
    at_once = np.bincount(wanting, ~first[wanted], program.templates) == 0
    later = np.zeros(program.bits, dtype=bool)
    later[_slices(program.write_bits, program.write_start, np.flatnonzero(at_once))] = True
    return np.asarray(at_once | _woken(program, later)[1])


def _first(algorithm: Algorithm) -> BoolArray:  # (k,)
    """The bits that may be on at the beginning."""
    bits = np.zeros(algorithm.program.bits, dtype=bool)
    bits[[*algorithm.start, *algorithm.input_bits.tolist()]] = True
    return bits


def _woken(program: Program, bits: BoolArray) -> tuple[BoolArray, BoolArray]:
    """The bits that may be on once these may be, and the templates that may then match."""
    wanting, wanted = wanted_bits(program)
    missing = np.bincount(wanting, minlength=program.templates)  # of the bits that each template wants on
    order = np.argsort(wanted, kind="stable")
    by_bit, first = wanting[order], np.searchsorted(wanted[order], np.arange(program.bits + 1))
    bits, templates = bits.copy(), missing == 0
    bits[_slices(program.write_bits, program.write_start, np.flatnonzero(templates))] = True
    fresh = np.flatnonzero(bits)
    while len(fresh):
        touched, times = np.unique(_slices(by_bit, first, fresh), return_counts=True)
        missing[touched] -= times
        woken = touched[missing[touched] == 0]
        templates[woken] = True
        written = np.unique(_slices(program.write_bits, program.write_start, woken))
        fresh = written[~bits[written]]
        bits[fresh] = True
    return bits, templates


def wanted_bits(program: Program) -> tuple[IntArray, IntArray]:
    """Pairs of a template and a bit that it wants on."""
    sizes = np.diff(program.block_start)[program.template_block]
    templates = np.repeat(np.arange(program.templates), sizes)
    place = np.arange(len(templates)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    on = program.template_config[templates] >> place & 1 == 1
    bits = program.block_bits[program.block_start[program.template_block[templates]] + place]
    return templates[on], bits[on]


def _slices(values: IntArray, first: IntArray, rows: IntArray) -> IntArray:
    """values[first[r]:first[r + 1]] for all rows r, one after the other."""
    lengths = first[rows + 1] - first[rows]
    within = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.asarray(values[np.repeat(first[rows], lengths) + within])


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


def _names(rule: syntax.WhenClause) -> Iterator[str]:
    for test in rule.tests:
        yield test.left.token.text
        if isinstance(test.right, syntax.BitRef | Named):
            yield test.right.token.text


class DeadRules:
    """The rules whose templates can never match; `bits` and `templates` are those that can be on, and match."""

    def __init__(self, program: Program, bits: BoolArray, templates: BoolArray) -> None:
        self._program = program
        self._numbers = {text: number for number, text in enumerate(dict.fromkeys(program.rules))}
        rule_of_family = np.array([self._numbers[text] for text in program.rules], dtype=np.int64)
        self._rule = rule_of_family[program.template_rule]  # (K,)
        dead = np.ones(len(self._numbers), dtype=bool)
        dead[self._rule[templates]] = False
        self._dead = dead[self._rule]  # (K,)
        wanting, wanted = wanted_bits(program)
        missing = self._dead[wanting] & ~bits[wanted]
        self._wanting, self._wanted = self._rule[wanting[missing]], wanted[missing]
        writing = np.repeat(np.arange(program.templates), np.diff(program.write_start))
        self._writing, self._written = writing[self._dead[writing]], program.write_bits[self._dead[writing]]
        keeps = np.isin(self._writing * program.bits + self._written, wanting * program.bits + wanted)
        self._set_by_others = np.isin(self._wanted, self._written[~keeps])  # by templates that do not want it on

    @cached_property
    def _chains(self) -> IntArray:  # (rules,)
        """The chain of each rule: rules hang together by the bits that one wants and another would write."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        rules = len(self._numbers)
        lost = np.isin(self._written, self._wanted)
        one = np.concatenate((self._wanting, self._rule[self._writing[lost]]))
        other = rules + np.concatenate((self._wanted, self._written[lost]))
        nodes = rules + self._program.bits
        _, labels = connected_components(coo_array((np.ones(len(one)), (one, other)), (nodes, nodes)), directed=False)
        return np.asarray(labels[:rules], dtype=np.int64)

    def __bool__(self) -> bool:
        return bool(self._dead.any())

    def chains(self, written: Iterable[WrittenRule]) -> dict[int, tuple[WrittenRule, str]]:
        """For each chain the first rule that could start it, and the message about it."""
        members: dict[int, list[WrittenRule]] = {}
        alive, waiting = set(self._rule[~self._dead].tolist()), set(self._wanting.tolist())
        for rule in written:
            number = self._numbers.get(rule.text)
            if number is not None and number not in alive and number in waiting:
                members.setdefault(int(self._chains[number]), []).append(rule)
        return {chain: self._told(chain, rules) for chain, rules in members.items()}

    def _told(self, chain: int, rules: list[WrittenRule]) -> tuple[WrittenRule, str]:
        own = self._chains[self._wanting] == chain
        wanting, wanted = self._wanting[own], self._wanted[own]
        unset = ~self._set_by_others[own]  # none where rules wait for each other in a circle
        if unset.any():
            wanting, wanted = wanting[unset], wanted[unset]
        starting = set(wanting.tolist())
        first = next(rule for rule in rules if self._numbers[rule.text] in starting)
        names = [self._program.layout.name_of(bit) for bit in np.unique(wanted).tolist()]
        others = len(rules) - 1
        who = f"this rule and {counted(others, 'other')} never match" if others else "this rule never matches"
        return first, f"{who}: {never_on(names)}"

    def reading(self, bits: Iterable[int]) -> int | None:
        """The chain whose rules look at one of these bits, if there is one."""
        blocks = np.unique(self._program.block_of[list(bits)])
        return self._chain_of(self._dead & np.isin(self._program.template_block, blocks))

    def writing(self, bits: Iterable[int]) -> int | None:
        """The chain whose rules would write one of these bits, if there is one."""
        found = np.zeros(self._program.templates, dtype=bool)
        found[self._writing[np.isin(self._written, list(bits))]] = True
        return self._chain_of(found)

    def _chain_of(self, templates: BoolArray) -> int | None:
        found = np.flatnonzero(templates)
        return int(self._chains[self._rule[found[0]]]) if len(found) else None


def never_on(names: list[str]) -> str:
    """The message about bits that can never be on."""
    which = "it" if len(names) == 1 else "them"
    return f"{listing(names)} can never be on, since no input, no start and no rule that can match sets {which}"
