"""Warnings about valid but probably wrong rule files.

Rules that never match, numbers that nothing sets, bits that are unused or vanish. Few people run `check` first, so
`parse` warns too.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING
from warnings import warn

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.errors import BitwrightWarning, Problem, counted, listing
from bitwright.common.scanner import Token
from bitwright.rules.algorithm import Algorithm, Word
from bitwright.rules.expressions import Named
from bitwright.rules.layout import IntArray, spread
from bitwright.rules.program import MAX_BLOCK
from bitwright.rules.text import parse_any, syntax
from bitwright.rules.text.rule_text import RuleText

if TYPE_CHECKING:
    from bitwright.rules import NodeProgram

MOST = 5  # most warnings about one text
QUICK = 100_000  # most templates for which linting is about as fast as parsing


def parse(text: str, name: str = "program", **lets: int) -> Algorithm | NodeProgram:
    """Parses rule text to a program; raises ProgramError with every problem, by line and column.

    Numbers by name override the `let` lines, such as l=1000. A text that uses ports or `far` is a NodeProgram, which
    `run` takes with a graph. A probable mistake, such as a rule that never matches, is a `BitwrightWarning`; `check`
    lists all of them.

    >>> text = '''
    ... bits p[2]
    ... block p[i] for i in 1..2
    ... when p[1]=1 write p[2]
    ... input p
    ... '''
    >>> parse(text)
    Algorithm 'program': 2 bits, 2 blocks, 1 template
    >>> parse("let l = 2\\n" + text.replace("2", "l"), l=5)
    Algorithm 'program': 5 bits, 5 blocks, 1 template
    >>> parse("bits x; block x; when x=1 write x far.x; input source = x".replace("; ", chr(10)), "flood")
    NodeProgram 'flood': 1 bit of nodes, 1 template
    """
    found = parse_any(text, name, lets)
    if isinstance(found, Algorithm):
        warn_about(text, found, name)
    return found


def warn_about(text: str, algorithm: Algorithm, name: str, above: int = 3) -> None:
    """Issues the first few warnings, attributed to the caller `above` frames up."""
    if algorithm.program.templates > QUICK:
        return
    found = lint(text, algorithm)
    for problem in found[:MOST]:
        where = f"{name}:{problem.line}:{problem.column}" if problem.line else name
        warn(f"{where}: {problem.message}", BitwrightWarning, stacklevel=above)
    if len(found) > MOST:
        more = counted(len(found) - MOST, "more warning")
        warn(f"{name}: and {more}; check lists all", BitwrightWarning, stacklevel=above)


def lint(text: str, algorithm: Algorithm) -> list[Problem]:
    """Warnings about the text of an algorithm, in text order, each with line and column."""
    about = _Rules(RuleText.of(text), algorithm)
    return sorted([*_without_effect(about), *_lost_pairs(about), *_unkept(about), *_unused(about)])


def lint_nodes(text: str, program: NodeProgram) -> list[Problem]:
    """Warnings about bits of a node program that become 0 together, in text order."""
    schema = program.schema()
    inputs = tuple(Word(word.name, word.bits) for word in schema.inputs)
    alone = Algorithm(program.name, schema.program, inputs=inputs, start=schema.start, steps=1)
    return sorted(_lost_pairs(_Rules(RuleText.of(text), alone)))


def possible(algorithm: Algorithm) -> tuple[BoolArray, BoolArray]:  # (k,), (K,)
    """Bits that may be on in some state of a run, and templates that may match in some state.

    A bit may be on if an input or the start sets it, or if a template that may match writes it; a template may match if
    all bits that it requires on may be on. Bits that it requires off are ignored.
    """
    return _Rules(RuleText.of(""), algorithm).possible


class _Rules:
    """A text with the possible events in runs of its algorithm."""

    def __init__(self, text: RuleText, algorithm: Algorithm) -> None:
        self.text, self.algorithm, self.program = text, algorithm, algorithm.program
        self.name_of = self.program.layout.name_of
        # the bits that may be on at the start
        self.first = _mask([*algorithm.start, *algorithm.input_bits.tolist()], self.program.bits)
        # pairs of a template and a bit that it requires on; or that it writes
        program = self.program
        of, place = spread(np.diff(program.block_start)[program.template_block])
        on = program.template_config[of] >> place & 1 == 1
        self.wanting = of[on]
        self.wanted = program.block_bits[program.block_start[program.template_block[of]] + place][on]
        self.writing, self.written = spread(np.diff(program.write_start))[0], program.write_bits

    @cached_property
    def possible(self) -> tuple[BoolArray, BoolArray]:
        return self.woken(self.first)

    @cached_property
    def lines(self) -> dict[str, syntax.WhenClause]:
        """The rules by their text."""
        return {rule.text: rule for rule in self.text.each(syntax.WhenClause)}

    def written_by(self, templates: BoolArray) -> BoolArray:  # (k,)
        """The bits that some of these templates write."""
        return _mask(self.written[templates[self.writing]], self.program.bits)

    def woken(self, bits: BoolArray) -> tuple[BoolArray, BoolArray]:
        """The bits that may be on after these, and the templates that may then match."""
        program = self.program
        missing = np.bincount(self.wanting, minlength=program.templates)  # missing bits of each template
        order = np.argsort(self.wanted, kind="stable")
        by_bit, first = self.wanting[order], np.searchsorted(self.wanted[order], np.arange(program.bits + 1))
        templates = missing == 0
        bits = bits | self.written_by(templates)
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


def _slices(values: IntArray, first: IntArray, rows: IntArray) -> IntArray:
    """values[first[r]:first[r + 1]] of all rows r, concatenated."""
    entry, place = spread(first[rows + 1] - first[rows])
    return np.asarray(values[first[rows][entry] + place])


def _mask(places: object, size: int) -> BoolArray:
    mask = np.zeros(size, dtype=bool)
    mask[np.asarray(places, dtype=np.int64)] = True
    return mask


# Rules that never match, and their consequences.


def _without_effect(rules: _Rules) -> Iterator[Problem]:
    """Rules that never match, and inputs, outputs and halt bits without a live rule.

    Such rules come in chains, each waiting for bits that only the others would set; inputs that only they read and
    outputs that only they write follow from them. Each chain is one warning, at the first rule that could begin.
    """
    program, wanting, wanted = rules.program, rules.wanting, rules.wanted
    bits, templates = rules.possible
    texts = np.array(program.rules, dtype=object)[program.template_rule]  # (K,)
    alive = set(texts[templates].tolist())
    dead = np.array([text not in alive for text in texts.tolist()], dtype=bool)
    follows: list[str] = []
    for place, cause, short, message in _idle(rules, dead):
        if cause:
            follows.append(short)
        else:
            yield place.problem(message)
    never = [rule for rule in rules.lines.values() if rule.text in set(texts[dead].tolist())]
    if not never:
        return
    missing = dead[wanting] & ~bits[wanted]
    keeps = np.isin(rules.writing * program.bits + rules.written, wanting * program.bits + wanted)
    by_others = _mask(rules.written[dead[rules.writing] & ~keeps], program.bits)  # by rules that do not require them
    if (begin := missing & ~by_others[wanted]).any():  # in a cycle of waiting rules there is none
        missing = begin
    starting = set(texts[wanting[missing]].tolist())
    first = next(rule for rule in never if rule.text in starting)
    names = [rules.name_of(bit) for bit in np.unique(wanted[missing]).tolist()]
    others = len(never) - 1
    who = f"this rule and {counted(others, 'other')} never match" if others else "this rule never matches"
    so = f"; so {listing(follows, 3)}" if follows else ""
    yield first.token.problem(f"{who}: {_never_on(names)}{so}")


def _never_on(names: list[str]) -> str:
    which = "it" if len(names) == 1 else "them"
    return f"{listing(names)} can never be on, since no input, no start and no rule that can match sets {which}"


def _idle(rules: _Rules, dead: BoolArray) -> Iterator[tuple[Token, bool, str, str]]:
    """Inputs that are never read, outputs that are never written and a halt that never occurs.

    Each with its place, whether it follows from dead templates, a short message and a full one.
    """
    program, algorithm, places = rules.program, rules.algorithm, _places(rules.text)
    bits, templates = rules.possible
    written, by_dead = rules.written_by(templates), rules.written_by(dead)
    read, read_by_dead = (_mask(program.template_block[some], program.blocks) for some in (templates, dead))
    for word in algorithm.inputs:
        blocks = program.block_of[list(word.bits)]
        if not read[blocks].any():
            short = f"input '{word.name}' is never read"
            full = f"{short}: no rule that can match looks at its bits"
            yield places["input", word.name], bool(read_by_dead[blocks].any()), short, full
    for word in algorithm.outputs:
        own = list(word.bits)
        if ("output", word.name) in places and algorithm.steps != 0 and not written[own].any():
            short = f"output '{word.name}' is 0 from the first step on"
            full = f"{short}: no rule that can match writes its bits"
            yield places["output", word.name], bool(by_dead[own].any()), short, full
    for halt in rules.text.each(syntax.Halt):
        if isinstance(algorithm.halt, int) and not bits[algorithm.halt]:
            full = f"this never happens: {_never_on([rules.name_of(algorithm.halt)])}"
            yield halt.token, bool(by_dead[algorithm.halt]), "the halt bit is never on", full


def _places(rules: RuleText) -> dict[tuple[str, str], Token]:
    """The position of each input and each output."""
    found = {}
    for port in rules.each(syntax.PortLine):
        kind, members = port.token.text, port.members
        if port.name is None and (kind == "input" or len(members) == 1):
            found.update({(kind, member.token.text): member.token for member in members})
        else:
            found[kind, port.name.text if port.name else "value"] = port.token
    return found


# Unused bits, and bits that vanish too soon.


def _unused(rules: _Rules) -> Iterator[Problem]:
    """Declared names whose bits are never tested for 1, written, or used as input or output."""
    program, algorithm = rules.program, rules.algorithm
    used = (program.writers > 0) | _mask(rules.wanted, program.bits) | rules.first
    used[algorithm.output_bits] = True
    if isinstance(algorithm.halt, int):
        used[algorithm.halt] = True
    idle = {field.name for field in program.layout.fields if not used[field.bits()].any()}
    for item in rules.text.each(syntax.BitsDeclaration):
        for name, _ in item.items:
            if name.text in idle:
                yield name.problem(
                    f"'{name.text}' is unused: no rule requires or writes it, and it is neither input nor output"
                )


def _unkept(rules: _Rules) -> Iterator[Problem]:
    """Inputs with a bit that vanishes before any rule that requires it can match.

    No rule that can match writes the bit, and each rule that requires it also requires a bit that is off at the start.
    One rule is named for each input.
    """
    program, first, wanting, wanted = rules.program, rules.first, rules.wanting, rules.wanted
    able = rules.possible[1]
    at_once = np.bincount(wanting, ~first[wanted], program.templates) == 0
    live = at_once | rules.woken(rules.written_by(at_once))[1]  # without rules that come too late
    brief = first & ~rules.written_by(live)
    for word in rules.algorithm.inputs:
        own = np.isin(wanted, word.bits) & brief[wanted]
        idle = own & able[wanting] & ~np.isin(wanted, wanted[own & live[wanting]])
        texts = [program.rules[program.template_rule[template]] for template in wanting[idle].tolist()]
        rule = next((rules.lines[text] for text in texts if text in rules.lines), None)
        if rule is None:
            continue
        template = wanting[idle][texts.index(rule.text)]
        gone, other = (
            rules.name_of(int(bits[0]))
            for bits in (wanted[idle & (wanting == template)], wanted[(wanting == template) & ~first[wanted]])
        )
        lost = len(np.unique(wanted[idle])) - 1
        more = f" (and {counted(lost, 'more such bit')})" if lost else ""
        yield rule.token.problem(
            f"{gone} is on only at the start, since no rule that can match writes it, but this rule requires it "
            f"with {other}, which is off at the start; keep it, as in 'when {gone}=1 {other}=0 write {gone}'{more}"
        )


def _lost_pairs(rules: _Rules) -> Iterator[Problem]:
    """Two bits of a block that can both be on at the start, although rules treat each as if it were alone.

    A rule that names the other bit takes it into account, so that no rule for 1 and 1 may be intended, as in a
    subtraction. Only if neither rule names the other's bit is it probably a mistake.
    """
    program, name_of = rules.program, rules.name_of
    pairs: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for pair in _unmatched(rules.algorithm):
        one, other = (program.rules[program.template_rule[template]] for template in pair)
        pairs.setdefault((one, other), []).append(pair)
    for texts, several in pairs.items():
        # each rule with the single bit that it requires on, in text order
        bits = [int(rules.wanted[rules.wanting == template][0]) for template in several[0]]
        both = zip([rules.lines[text] for text in texts], bits, strict=True)
        (earlier, that), (later, this) = sorted(both, key=lambda rule: (rule[0].token.line, rule[0].token.column))
        names = {bit: program.layout.field_of(bit).name for bit in (that, this)}
        if names[that] in _tested(later) or names[this] in _tested(earlier):
            continue
        first, second = name_of(that), name_of(this)  # the later rule applies if the earlier rule's bit is 0
        where = "the same line" if earlier.token.line == later.token.line else f"line {earlier.token.line}"
        further = f" (and {counted(len(several) - 1, 'more such pair')})" if len(several) > 1 else ""
        yield later.token.problem(
            f"{first} and {second} both become 0 if both are on at the start: this rule is for {first}=0, and "
            f"{where} for {second}=0, since unnamed bits must be 0; add a rule for both, or write {first}=0 here if "
            f"that is intended{further}"
        )


def _tested(rule: syntax.WhenClause) -> Iterator[str]:
    """The names of the bits and arrays in the conditions of a rule."""
    for test in rule.tests:
        yield test.left.token.text
        if isinstance(test.right, syntax.BitRef | Named):
            yield test.right.token.text


def _unmatched(algorithm: Algorithm) -> Iterator[tuple[int, int]]:
    """Pairs of templates for a single bit of a block; both bits may be on at the start, and no template covers that."""
    program = algorithm.program
    started, free = _mask(list(algorithm.start), program.bits), _mask(algorithm.input_bits, program.bits)
    block, config = program.template_block, program.template_config
    alone = np.flatnonzero((config > 0) & (config & (config - 1) == 0))
    bit = program.block_bits[program.block_start[block[alone]] + np.log2(config[alone]).astype(np.int64)]
    alone, bit = alone[started[bit] | free[bit]], bit[started[bit] | free[bit]]
    starts = np.bincount(program.block_of[started.nonzero()[0]], minlength=program.blocks)
    for apart in range(1, MAX_BLOCK):  # templates are sorted by block
        one, other = alone[:-apart], alone[apart:]
        both = started[bit[:-apart]].astype(np.int64) + started[bit[apart:]]
        possible = (block[one] == block[other]) & (starts[block[one]] == both)
        one, other = one[possible], other[possible]
        lost = program.lookup(block[one], config[one] | config[other]) < 0
        yield from zip(one[lost].tolist(), other[lost].tolist(), strict=True)
