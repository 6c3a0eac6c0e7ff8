"""Warnings about rule files that are well formed and probably wrong.

Rules that never match, numbers that nothing sets, bits that nothing uses or that vanish. Few people run `check` first,
so `parse` warns too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from warnings import warn

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.errors import BitwrightWarning, Problem, counted, listing
from bitwright.common.scanner import Token
from bitwright.rules.algorithm import Algorithm, Word
from bitwright.rules.expressions import Named
from bitwright.rules.layout import IntArray
from bitwright.rules.program import MAX_BLOCK, Program
from bitwright.rules.text import parse_any, syntax
from bitwright.rules.text.rule_text import RuleText

if TYPE_CHECKING:
    from bitwright.rules import NodeProgram

MOST = 5  # warnings about one text
QUICK = 100_000  # templates up to which looking for mistakes takes about as long as reading


def parse(text: str, name: str = "program", **lets: int) -> Algorithm | NodeProgram:
    """The program that a rule text describes; raises ProgramError with every problem, by line and column.

    Numbers by name are values in place of those of the `let` lines, such as l=1000. A text that uses ports or `far` is
    a NodeProgram, which `run` takes with a graph. A probable mistake, such as a rule that never matches, is a
    `BitwrightWarning`; `check` lists all.

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
    """Issues the first few warnings; their place is the caller that many frames `above`."""
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
    """Warnings about the text of an algorithm, in its order, each with line and column."""
    rules = RuleText.of(text)
    return sorted(
        [
            *_without_effect(rules, algorithm),
            *_lost_pairs(rules, algorithm),
            *_unkept(rules, algorithm),
            *_unused(rules, algorithm),
        ]
    )


def lint_nodes(text: str, program: NodeProgram) -> list[Problem]:
    """Warnings about bits of a node program that become 0 together, in the order of its text."""
    schema = program.schema()
    inputs = tuple(Word(word.name, word.bits) for word in schema.inputs)
    alone = Algorithm(program.name, schema.program, inputs=inputs, start=schema.start, steps=1)
    return sorted(_lost_pairs(RuleText.of(text), alone))


# What may happen in a run.


def possible(algorithm: Algorithm) -> tuple[BoolArray, BoolArray]:  # (k,), (K,)
    """Bits that some state of a run may have on, and templates that some state may match.

    A bit may be on if an input or the start sets it, or a template that may match writes it; a template may match if
    all bits that it wants on may be. What it wants off is left out of account.
    """
    return _woken(algorithm.program, _first(algorithm))


def _first(algorithm: Algorithm) -> BoolArray:  # (k,)
    """The bits that may be on at the beginning."""
    return _mask([*algorithm.start, *algorithm.input_bits.tolist()], algorithm.program.bits)


def _woken(program: Program, bits: BoolArray) -> tuple[BoolArray, BoolArray]:
    """The bits that may be on once these may be, and the templates that may then match."""
    wanting, wanted = _wanted_bits(program)
    missing = np.bincount(wanting, minlength=program.templates)  # of the bits that each template wants on
    order = np.argsort(wanted, kind="stable")
    by_bit, first = wanting[order], np.searchsorted(wanted[order], np.arange(program.bits + 1))
    templates = missing == 0
    bits = bits | _written(program, templates)
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
    """values[first[r]:first[r + 1]] for all rows r, one after the other."""
    lengths = first[rows + 1] - first[rows]
    within = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.asarray(values[np.repeat(first[rows], lengths) + within])


def _wanted_bits(program: Program) -> tuple[IntArray, IntArray]:
    """Pairs of a template and a bit that it wants on."""
    sizes = np.diff(program.block_start)[program.template_block]
    templates = np.repeat(np.arange(program.templates), sizes)
    place = np.arange(len(templates)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    on = program.template_config[templates] >> place & 1 == 1
    bits = program.block_bits[program.block_start[program.template_block[templates]] + place]
    return templates[on], bits[on]


def _writes(program: Program) -> tuple[IntArray, IntArray]:
    """Pairs of a template and a bit that it writes."""
    return np.repeat(np.arange(program.templates), np.diff(program.write_start)), program.write_bits


def _written(program: Program, templates: BoolArray) -> BoolArray:  # (k,)
    """The bits that some of these templates write."""
    writing, written = _writes(program)
    return _mask(written[templates[writing]], program.bits)


def _mask(places: object, size: int) -> BoolArray:
    mask = np.zeros(size, dtype=bool)
    mask[np.asarray(places, dtype=np.int64)] = True
    return mask


# Rules that never match, and what follows from them.


def _without_effect(rules: RuleText, algorithm: Algorithm) -> Iterator[Problem]:
    """Rules that never match, and inputs, outputs and ends that nothing reads or writes.

    Such rules come in chains, each waiting for bits that only others would set; and inputs that only they read, outputs
    that only they write follow from them. All that is one warning, at the first rule that could begin.
    """
    program = algorithm.program
    bits, templates = possible(algorithm)
    lines = {rule.text: rule for rule in rules.each(syntax.WhenClause)}
    texts = np.array(program.rules, dtype=object)[program.template_rule]  # (K,)
    alive = set(texts[templates].tolist())
    dead = np.array([text not in alive for text in texts.tolist()], dtype=bool)
    follows: list[str] = []
    for place, cause, short, message in _idle(rules, algorithm, bits, templates, dead):
        if cause:
            follows.append(short)
        else:
            yield place.problem(message)
    never = [rule for rule in lines.values() if rule.text in set(texts[dead].tolist())]
    if not never:
        return
    wanting, wanted = _wanted_bits(program)
    writing, written = _writes(program)
    missing = dead[wanting] & ~bits[wanted]
    keeps = np.isin(writing * program.bits + written, wanting * program.bits + wanted)
    by_others = _mask(written[dead[writing] & ~keeps], program.bits)  # by templates that do not want them on
    if (begin := missing & ~by_others[wanted]).any():  # where rules wait for each other in a circle none could
        missing = begin
    starting = set(texts[wanting[missing]].tolist())
    first = next(rule for rule in never if rule.text in starting)
    names = [program.layout.name_of(bit) for bit in np.unique(wanted[missing]).tolist()]
    others = len(never) - 1
    who = f"this rule and {counted(others, 'other')} never match" if others else "this rule never matches"
    so = f"; so {listing(follows, 3)}" if follows else ""
    yield first.token.problem(f"{who}: {_never_on(names)}{so}")


def _never_on(names: list[str]) -> str:
    which = "it" if len(names) == 1 else "them"
    return f"{listing(names)} can never be on, since no input, no start and no rule that can match sets {which}"


def _idle(
    rules: RuleText, algorithm: Algorithm, bits: BoolArray, templates: BoolArray, dead: BoolArray
) -> Iterator[tuple[Token, bool, str, str]]:
    """Inputs that nothing reads, outputs that nothing writes and a halt that never comes.

    Each with its place, whether it follows from dead templates, and a short and a full message.
    """
    program = algorithm.program
    places = _places(rules)
    written, by_dead = _written(program, templates), _written(program, dead)
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
    for halt in rules.each(syntax.Halt):
        if isinstance(algorithm.halt, int) and not bits[algorithm.halt]:
            full = f"this never happens: {_never_on([program.layout.name_of(algorithm.halt)])}"
            yield halt.token, bool(by_dead[algorithm.halt]), "the halt bit is never on", full


def _places(rules: RuleText) -> dict[tuple[str, str], Token]:
    """The place of each input and each output."""
    found = {}
    for port in rules.each(syntax.PortLine):
        kind, members = port.token.text, port.members
        if port.name is None and (kind == "input" or len(members) == 1):
            found.update({(kind, member.token.text): member.token for member in members})
        else:
            found[kind, port.name.text if port.name else "value"] = port.token
    return found


# Bits that nothing uses, or that are gone too soon.


def _unused(rules: RuleText, algorithm: Algorithm) -> Iterator[Problem]:
    """Declared names whose bits are never tested for 1, written, or used as input or output."""
    program = algorithm.program
    used = (program.writers > 0) | _mask(_wanted_bits(program)[1], program.bits) | _first(algorithm)
    used[algorithm.output_bits] = True
    if isinstance(algorithm.halt, int):
        used[algorithm.halt] = True
    idle = {field.name for field in program.layout.fields if not used[field.offset : field.offset + field.size].any()}
    for item in rules.each(syntax.BitsDeclaration):
        for name, _ in item.items:
            if name.text in idle:
                yield name.problem(
                    f"nothing uses '{name.text}': no rule wants it on or writes it, and it is no input and no output"
                )


def _unkept(rules: RuleText, algorithm: Algorithm) -> Iterator[Problem]:
    """Inputs with a bit that is gone before any rule that wants it can match.

    No rule that can match writes it, and each that wants it wants another bit, too, that is off at the beginning. Of
    each input one rule is named.
    """
    program, first = algorithm.program, _first(algorithm)
    able = possible(algorithm)[1]
    wanting, wanted = _wanted_bits(program)
    at_once = np.bincount(wanting, ~first[wanted], program.templates) == 0
    live = at_once | _woken(program, _written(program, at_once))[1]  # without those that come too late
    brief = first & ~_written(program, live)
    lines = {rule.text: rule for rule in rules.each(syntax.WhenClause)}
    for word in algorithm.inputs:
        own = np.isin(wanted, word.bits) & brief[wanted]
        idle = own & able[wanting] & ~np.isin(wanted, wanted[own & live[wanting]])
        texts = [program.rules[program.template_rule[template]] for template in wanting[idle].tolist()]
        rule = next((lines[text] for text in texts if text in lines), None)
        if rule is None:
            continue
        template = wanting[idle][texts.index(rule.text)]
        gone, other = (
            program.layout.name_of(int(bits[0]))
            for bits in (wanted[idle & (wanting == template)], wanted[(wanting == template) & ~first[wanted]])
        )
        lost = len(np.unique(wanted[idle])) - 1
        more = f" (and {counted(lost, 'more such bit')})" if lost else ""
        yield rule.token.problem(
            f"{gone} is on at the beginning alone, since no rule that can match writes it, and this rule wants it "
            f"together with {other}, which is off then; keep it, as in 'when {gone}=1 {other}=0 write {gone}'{more}"
        )


def _lost_pairs(rules: RuleText, algorithm: Algorithm) -> Iterator[Problem]:
    """Two bits of a block that can both be on at the beginning, where rules speak of each as if it were alone.

    A rule that names the other bit knows of it, and so 1 and 1 giving nothing may be what is meant, as in a
    subtraction. Only if neither rule names the bit of the other is it probably a mistake.
    """
    program = algorithm.program
    name_of, field_of = program.layout.name_of, program.layout.field_of
    pairs: dict[tuple[str, str], list[tuple[int, int]]] = {}
    for pair in _unmatched(algorithm):
        one, other = (program.rules[program.template_rule[template]] for template in pair)
        pairs.setdefault((one, other), []).append(pair)
    lines = {rule.text: rule for rule in rules.each(syntax.WhenClause)} if pairs else {}
    for texts, several in pairs.items():
        # each rule with the bit that it wants on alone, in the order of the text
        both = [(lines[text], _bit_alone(program, at)) for text, at in zip(texts, several[0], strict=True)]
        (earlier, that), (later, this) = sorted(both, key=lambda rule: (rule[0].token.line, rule[0].token.column))
        if field_of(that).name in _tested(later) or field_of(this).name in _tested(earlier):
            continue
        here, there = name_of(that), name_of(this)  # the later rule is for the bit of the earlier one being 0
        where = "the same line" if earlier.token.line == later.token.line else f"line {earlier.token.line}"
        further = f" (and {counted(len(several) - 1, 'more such pair')})" if len(several) > 1 else ""
        yield later.token.problem(
            f"{here} and {there} both become 0 where both are on at the beginning: this rule is for {here}=0, and "
            f"{where} for {there}=0, since bits that are not named are 0; add a rule for both, or say {here}=0 here if "
            f"that is meant{further}"
        )


def _tested(rule: syntax.WhenClause) -> Iterator[str]:
    """The names of the bits and arrays in the conditions of a rule."""
    for test in rule.tests:
        yield test.left.token.text
        if isinstance(test.right, syntax.BitRef | Named):
            yield test.right.token.text


def _unmatched(algorithm: Algorithm) -> Iterator[tuple[int, int]]:
    """Pairs of templates for one bit of a block alone; both bits may be on at first, and no template is for that."""
    program = algorithm.program
    started, free = _mask(list(algorithm.start), program.bits), _mask(algorithm.input_bits, program.bits)
    block, config = program.template_block, program.template_config
    alone = np.flatnonzero((config > 0) & (config & (config - 1) == 0))
    bit = program.block_bits[program.block_start[block[alone]] + np.log2(config[alone]).astype(np.int64)]
    alone, bit = alone[started[bit] | free[bit]], bit[started[bit] | free[bit]]
    starts = np.bincount(program.block_of[started.nonzero()[0]], minlength=program.blocks)
    for apart in range(1, MAX_BLOCK):  # templates stand in the order of their blocks
        one, other = alone[:-apart], alone[apart:]
        both = started[bit[:-apart]].astype(np.int64) + started[bit[apart:]]
        possible = (block[one] == block[other]) & (starts[block[one]] == both)
        one, other = one[possible], other[possible]
        lost = program.lookup(block[one], config[one] | config[other]) < 0
        yield from zip(one[lost].tolist(), other[lost].tolist(), strict=True)


def _bit_alone(program: Program, template: int) -> int:
    """The one bit that a template wants on."""
    place = int(program.template_config[template]).bit_length() - 1
    return int(program.block_members(int(program.template_block[template]))[place])
