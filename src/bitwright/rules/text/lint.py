"""Warns about probable mistakes in valid rule files: rules that never match, outputs never written, unused bits.

`parse` also issues these warnings, because few people run `check` first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from warnings import warn

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.errors import BitwrightWarning, Problem, counted, listing
from bitwright.rules.algorithm import Algorithm
from bitwright.rules.layout import IntArray, spread
from bitwright.rules.program import Program
from bitwright.rules.text import parse_any, syntax
from bitwright.rules.text.rule_text import RuleText

if TYPE_CHECKING:
    from bitwright.rules import NodeProgram

MOST = 5  # most warnings about one text
QUICK = 100_000  # most templates for which checking is about as fast as parsing


def parse(text: str, name: str = "program", **lets: int) -> Algorithm | NodeProgram:
    """Parses rule text into a program; raises ProgramError with every problem, by line and column.

    Keyword arguments such as l=1000 override `let` lines. Text that uses ports or `far` returns a NodeProgram, which
    runs on a graph. A probable mistake, such as a rule that never matches, issues a `BitwrightWarning`; `check` lists
    all of them.

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
    program = parse_any(text, name, lets)
    if isinstance(program, Algorithm):
        warn_about(text, program, name)
    return program


def warn_about(text: str, algorithm: Algorithm, name: str, above: int = 3) -> None:
    """Issues the first few warnings, attributed to the caller `above` frames up."""
    if algorithm.program.templates > QUICK:
        return
    problems = lint(text, algorithm)
    for problem in problems[:MOST]:
        where = f"{name}:{problem.line}:{problem.column}" if problem.line else name
        warn(f"{where}: {problem.message}", BitwrightWarning, stacklevel=above)
    if len(problems) > MOST:
        more = counted(len(problems) - MOST, "more warning")
        warn(f"{name}: {more}; `bitwright check` lists all", BitwrightWarning, stacklevel=above)


def lint(text: str, algorithm: Algorithm) -> list[Problem]:
    """Returns the warnings about the text of an algorithm, in text order, each with line and column."""
    return sorted(_warnings(RuleText.of(text), algorithm))


def possible(algorithm: Algorithm) -> tuple[BoolArray, BoolArray]:  # (k,), (K,)
    """Returns the bits that may be on in some state of a run, and the templates that may match in some state.

    A bit may be on if an input or the start sets it, or if a template that may match writes it; a template may match if
    all bits that it requires on may be on. Bits that it requires to be off are ignored.
    """
    program = algorithm.program
    owner, bit = _required(program)
    missing = np.bincount(owner, minlength=program.templates)  # missing bits of each template
    order = np.argsort(bit, kind="stable")
    by_bit, first = owner[order], np.searchsorted(bit[order], np.arange(program.bits + 1))
    bits, templates = np.zeros(program.bits, dtype=bool), missing == 0
    bits[[*algorithm.start, *algorithm.input_bits]] = True
    bits[_slices(program.write_bits, program.write_start, np.flatnonzero(templates))] = True
    fresh = np.flatnonzero(bits)
    while len(fresh):
        touched, times = np.unique(_slices(by_bit, first, fresh), return_counts=True)
        missing[touched] -= times
        enabled = touched[missing[touched] == 0]
        templates[enabled] = True
        written = np.unique(_slices(program.write_bits, program.write_start, enabled))
        fresh = written[~bits[written]]
        bits[fresh] = True
    return bits, templates


def _required(program: Program) -> tuple[IntArray, IntArray]:
    """Returns each pair of a template and a bit that it requires to be on, as two arrays."""
    owner, place = spread(np.diff(program.block_start)[program.template_block])
    on = program.template_config[owner] >> place & 1 == 1
    return owner[on], program.block_bits[program.block_start[program.template_block[owner]] + place][on]


def _slices(values: IntArray, first: IntArray, rows: IntArray) -> IntArray:
    """Concatenates values[first[r]:first[r + 1]] for all rows r."""
    entry, place = spread(first[rows + 1] - first[rows])
    return np.asarray(values[first[rows][entry] + place])


def _warnings(text: RuleText, algorithm: Algorithm) -> Iterator[Problem]:
    program, (bits, templates) = algorithm.program, possible(algorithm)
    owner, bit = _required(program)
    written = np.zeros(program.bits, dtype=bool)
    written[_slices(program.write_bits, program.write_start, np.flatnonzero(templates))] = True
    alive = {program.rules[rule] for rule in np.unique(program.template_rule[templates]).tolist()}
    dead_texts = {program.rules[rule] for rule in np.unique(program.template_rule).tolist()} - alive
    dead = [rule for rule in text.each(syntax.WhenClause) if rule.text in dead_texts]
    if dead:
        off = ~bits[bit] & (program.writers[bit] == 0)  # if some bit is written by no rule, it is the cause
        off = off if off.any() else ~bits[bit]
        texts = {program.rules[rule] for rule in program.template_rule[owner[off]].tolist()}
        first = next((rule for rule in dead if rule.text in texts), dead[0])
        of_rule = np.array([program.rules[rule] == first.text for rule in program.template_rule[owner].tolist()])
        names = [program.layout.name_of(index) for index in np.unique(bit[~bits[bit] & of_rule]).tolist()]
        others = f" (like {counted(len(dead) - 1, 'other rule')})" if len(dead) > 1 else ""
        yield first.token.problem(
            f"this rule never matches{others}: {listing(names)} can never be on, because no input, 'start' line or "
            f"matching rule sets {'it' if len(names) == 1 else 'them'}"
        )
    for port in text.each(syntax.PortLine):
        name = port.name.text if port.name else port.members[0].token.text if len(port.members) == 1 else "value"
        for word in algorithm.outputs:
            named = port.token.text == "output" and word.name == name and algorithm.steps != 0
            if named and not written[[*word.bits]].any():
                yield port.token.problem(f"output '{name}' is 0 after the first step: no matching rule writes it")
    used = program.writers > 0
    used[[*bit.tolist(), *algorithm.start, *algorithm.input_bits, *algorithm.output_bits]] = True
    if isinstance(algorithm.halt, int):
        used[algorithm.halt] = True
    for item in text.each(syntax.BitsDeclaration):
        for token, _ in item.items:
            if not used[program.layout[token.text].bits()].any():
                yield token.problem(
                    f"'{token.text}' is unused: no rule needs or writes it, and it is neither an input nor an output"
                )
