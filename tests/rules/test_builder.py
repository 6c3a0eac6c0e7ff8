import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from cases import for_each

from bitwright.common.errors import BitwrightError, InputError, ProgramError
from bitwright.rules import Bits, Builder, Program, Ref, grid, parse, span, word


def half_adders(b: Builder) -> None:
    p, q, c = b.bits("p", 3), b.bits("q", 3), b.bits("c", 3)
    i = span(1, 3)
    b.block(p[i], q[i])
    b.block(c[i])
    b.when(p[i] == 0, q[i] == 1).write(p[i])
    b.when(p[i] == 1, q[i] == 0).write(p[i])
    b.when(p[i] == 1, q[i] == 1).write(c[i])
    b.when(c[i[:-1]] == 1).write(q[i[:-1] + 1])
    b.when(c[3] == 1).write(c[3])


HALF_ADDERS = """
    bits p[3] q[3] c[3]
    block p[i] q[i] for i in 1..3
    block c[i] for i in 1..3
    when p[i]=0 q[i]=1 write p[i] for i in 1..3
    when p[i]=1 q[i]=0 write p[i] for i in 1..3
    when p[i]=1 q[i]=1 write c[i] for i in 1..3
    when c[i]=1 write q[i+1] for i in 1..2
    when c[3]=1 write c[3]
"""


def comparisons_between_bits(b: Builder) -> None:
    x, y, less = b.bits("x", 2), b.bits("y", 2), b.bit("less")
    i = span(1, 2)
    b.block(x[i], y[i])
    b.block(less)
    b.when(x[i] != y[i]).write(less, x[i])
    b.when(x[i] == y[i]).write(y[i])


COMPARISONS_BETWEEN_BITS = """
    bits x[2] y[2] less
    block x[1] y[1]
    block x[2] y[2]
    block less
    when x[1]=0 y[1]=1 write less x[1]
    when x[1]=1 y[1]=0 write less x[1]
    when x[2]=0 y[2]=1 write less x[2]
    when x[2]=1 y[2]=0 write less x[2]
    when x[1]=0 y[1]=0 write y[1]
    when x[1]=1 y[1]=1 write y[1]
    when x[2]=0 y[2]=0 write y[2]
    when x[2]=1 y[2]=1 write y[2]
"""


def values_by_row(b: Builder) -> None:
    p, seen = b.bits("p", 4), b.bits("seen", 4)
    i = span(1, 4)
    b.block(p[i])
    b.block(seen[i])
    b.when(p[i] == np.array([0, 1, 1, 0])).write(seen[i])
    b.when(seen[i] != [0, 1, 1, 0]).write(p[i])


VALUES_BY_ROW = """
    bits p[4] seen[4]
    block p[i] for i in 1..4
    block seen[i] for i in 1..4
    when p[1]=0 write seen[1]
    when p[2]=1 write seen[2]
    when p[3]=1 write seen[3]
    when p[4]=0 write seen[4]
    when seen[1]=1 write p[1]
    when seen[2]=0 write p[2]
    when seen[3]=0 write p[3]
    when seen[4]=1 write p[4]
"""


def whole_arrays(b: Builder) -> None:
    x, m, flag = b.bits("x", 3), b.bits("m", 2, 3), b.bit("flag")
    k = span(1, 2)
    b.block(x[:])
    b.block(m[k, :])
    b.block(flag)
    b.when(x[:] == 1).write(flag)
    b.when(m[k, :] == [0, 1]).write(x[k], m[:, 3])
    b.when(flag == 1).write(m[:, :])
    b.when(flag == 0).write(x[:])


WHOLE_ARRAYS = """
    bits x[3] m[2,3] flag
    block x[1] x[2] x[3]
    block m[1,1] m[1,2] m[1,3]
    block m[2,1] m[2,2] m[2,3]
    block flag
    when x[1]=1 x[2]=1 x[3]=1 write flag
    when m[1,1]=0 m[1,2]=0 m[1,3]=0 write x[1] m[1,3] m[2,3]
    when m[2,1]=1 m[2,2]=1 m[2,3]=1 write x[2] m[1,3] m[2,3]
    when flag=1 write m[1,1] m[1,2] m[1,3] m[2,1] m[2,2] m[2,3]
    when flag=0 write x[1] x[2] x[3]
"""


def a_grid(b: Builder) -> None:
    m, sums = b.bits("m", 2, 3), b.bits("sums", 2)
    k, j = grid((1, 2), (1, 3))
    b.block(m[k, j])
    b.block(sums[:])
    b.when(m[k, j] == 1).write(sums[k], m[k, j % 3 + 1])
    b.when(sums[1] == 1).write(m[1, 2])


A_GRID = """
    bits m[2,3] sums[2]
    block m[k,j] for k in 1..2 for j in 1..3
    block sums[*]
    when m[k,j]=1 write sums[k] m[k,j%3+1] for k in 1..2 for j in 1..3
    when sums[1]=1 write m[1,2]
"""


def empty_spans(b: Builder) -> None:
    p, flag = b.bits("p", 1), b.bit("flag")
    none = span(2, 1)
    b.block(p[1], flag)
    b.block(p[none], flag)
    b.when(p[1] == 1).write(flag)
    b.when(p[none] == 0).write(p[none])
    b.when(p[none] == p[none + 1], flag == 1).write(flag)


EMPTY_SPANS = """
    bits p[1] flag
    block p[1] flag
    when p[1]=1 write flag
"""

PAIRS = [
    (half_adders, HALF_ADDERS),
    (comparisons_between_bits, COMPARISONS_BETWEEN_BITS),
    (values_by_row, VALUES_BY_ROW),
    (whole_arrays, WHOLE_ARRAYS),
    (a_grid, A_GRID),
    (empty_spans, EMPTY_SPANS),
]


def built(fill: Callable[[Builder], None]) -> Program:
    builder = Builder()
    fill(builder)
    return builder.build()


@for_each(("fill", "text"), PAIRS)
def test_builder_and_rule_text_give_the_same_program(fill: Callable[[Builder], None], text: str) -> None:
    from_python, from_text = built(fill), parse(text).program
    assert from_python == from_text
    assert hash(from_python) == hash(from_text)
    assert from_python.id == from_text.id
    assert list(from_python.text_lines()) == list(from_text.text_lines())


def test_different_programs_differ_and_have_different_ids() -> None:
    lines = HALF_ADDERS.strip().splitlines()
    changed = [
        *("\n".join([*lines[:number], *lines[number + 1 :]]) for number in range(3, len(lines))),
        HALF_ADDERS.replace("write c[3]", "write p[3]"),
        HALF_ADDERS.replace("when c[3]=1", "when c[3]=0"),
        HALF_ADDERS.replace("bits p[3] q[3]", "bits q[3] p[3]"),
        HALF_ADDERS.replace("p[3]", "pp[3]").replace("p[i]", "pp[i]"),
        HALF_ADDERS.replace("block c[i] for i in 1..3", "block c[1] c[2]\nblock c[3]"),
    ]
    programs = [parse(text).program for text in (HALF_ADDERS, *changed)]
    assert len({program.id for program in programs}) == len(programs)
    for number, program in enumerate(programs):
        assert [program == other for other in programs] == [number == other for other in range(len(programs))]
    assert programs[0] != "a program"


def test_blocks_are_ordered_by_first_bit_and_templates_by_block_and_configuration() -> None:
    def scattered(b: Builder) -> None:
        x = b.bits("x", 5)
        b.block(x[4], x[3])
        b.block(x[5], x[1])
        b.block(x[2])
        b.when(x[3] == 1, x[4] == 1).write(x[5], x[1])
        b.when(x[5] == 1).write(x[3])
        b.when(x[2] == 0).write(x[2])
        b.when(x[1] == 1).write(x[4], x[2])
        b.when(x[1] == 0, x[5] == 0).write(x[1])

    program = built(scattered)
    assert program.block_start.tolist() == [0, 2, 3, 5]
    assert program.block_bits.tolist() == [0, 4, 1, 2, 3]
    assert program.template_block.tolist() == [0, 0, 0, 1, 2]
    assert program.template_config.tolist() == [0b00, 0b01, 0b10, 0, 0b11]
    assert [program.writes(t).tolist() for t in range(5)] == [[0], [1, 3], [2], [1], [0, 4]]
    assert program.block_of.tolist() == [0, 1, 2, 2, 0]
    assert program.position.tolist() == [0, 0, 0, 1, 1]


@dataclass
class Setting:
    b: Builder
    p: Bits  # 3 bits
    q: Bits  # 3 bits
    f: Ref  # 1 bit


@pytest.fixture
def setting() -> Setting:
    b = Builder()
    return Setting(b, b.bits("p", 3), b.bits("q", 3), b.bit("f"))


BLOCK_PROBLEMS = {
    "p[2], p[3] are not in any block": lambda s: s.b.block(s.p[1], s.q[:], s.f),
    "f is not in any block": lambda s: s.b.block(s.p[:], s.q[:]),
    "at most 16 bits, got 17": lambda s: s.b.block(s.b.bits("r", 10)[:], s.p[:], s.q[:], s.f),
}
RULE_PROBLEMS = {
    "'when' tests a bit twice: p[1], p[1]": lambda s: s.b.when(s.p[1] == 1, s.p[1] == 1).write(s.f),
    "'when' tests a bit twice: p[2], p[1], p[2]": lambda s: s.b.when(s.p[2] == 1, s.p[1] == s.p[2]).write(s.f),
    "this rule tests no bits": lambda s: s.b.when().write(s.f),
    "two templates for p[1]=1 (and 0 for p[2], p[3], q[1], q[2], q[3]): test_builder.py:": lambda s: (
        s.b.when(s.q[2] == 0, s.p[1] == 1).write(s.f),
        s.b.when(s.p[1] == 1).write(s.q[1]),
    ),
}


@pytest.mark.parametrize(("message", "fill"), BLOCK_PROBLEMS.items(), ids=BLOCK_PROBLEMS)
def test_every_kind_of_problem_with_blocks_is_reported(
    message: str, fill: Callable[[Setting], object], setting: Setting
) -> None:
    fill(setting)
    assert message in reported(setting.b)


@pytest.mark.parametrize(("message", "fill"), RULE_PROBLEMS.items(), ids=RULE_PROBLEMS)
def test_every_kind_of_problem_with_rules_is_reported(
    message: str, fill: Callable[[Setting], object], setting: Setting
) -> None:
    setting.b.block(setting.p[:], setting.q[:])
    setting.b.block(setting.f)
    setting.b.when(setting.q[1] == 1, setting.q[2] == 1).write(setting.q[1])
    fill(setting)
    assert re.fullmatch(r"test_builder\.py:\d+: " + re.escape(message) + ".*", reported(setting.b))


def reported(builder: Builder) -> str:
    with pytest.raises(ProgramError) as refusal:
        builder.build()
    return "\n".join(str(problem) for problem in refusal.value.problems)


def test_all_problems_come_at_once_each_with_the_line_of_python_that_made_it() -> None:
    b = Builder()
    declared = inspect.currentframe().f_lineno + 1
    p, lost = b.bits("p", 4), b.bits("lost", 7)
    b.block(p[span(1, 4)])
    b.block(p[2])
    b.when(p[1] == 1, p[3] == 1).write(p[1])
    b.when(p[4] == 0)
    b.when(p[3] == 0).write()
    b.when(lost[1] == 1).write(p[1])
    with pytest.raises(ProgramError) as refusal:
        b.build()
    found = {int(problem.place.split(":")[1]) - declared: problem.message for problem in refusal.value.problems}
    assert found == {
        0: "lost[1], lost[2], lost[3], lost[4], lost[5] and 2 more are not in any block; add a 'block' for them",
        2: f"p[2] is in two blocks; test_builder.py:{declared + 1} also contains it",
        3: "'when' spans blocks; p[1], p[3] must share one block",
        4: "'when' without 'write'",
        5: "this rule writes no bits",
    }
    assert len(refusal.value.problems) == 5
    assert str(refusal.value).endswith("(and 4 more problems)")


@for_each("name", ["", "1x", "a b", "a-b", "x[1]", "é", "x\n", "a" * 65, "when", "in", "point", "examples"])
def test_names_are_those_of_the_rule_text(name: str) -> None:
    with pytest.raises(InputError, match=r"letters.*digits"):
        Builder().bits(name, 2)


def test_misuse_is_refused_where_it_happens() -> None:
    b = Builder()
    p, m = b.bits("p", 3), b.bits("m", 2, 2)
    for mistake, message in (
        (lambda: b.bit("p"), "'p' is declared twice"),
        (lambda: b.bits("z", 2, 0), r"the dimensions of 'z' must be at least 1, got \[2, 0\]"),
        (lambda: b.bits("z", -1), r"the dimensions of 'z' must be at least 1, got \[-1\]"),
        (lambda: p[1, 2], r"p\[3\] takes 1 index, got 2"),
        (lambda: m[1], r"m\[2,2\] takes 2 ind(ex|ices), got 1"),
        (lambda: p[1:2], r"p\[3\] only takes \[:\] as a slice; use span for part of a dimension"),
        (lambda: p[1] == 2, "a bit is 0 or 1, but p is compared with 2"),
        (lambda: p[span(1, 2)] != [0, -1], "a bit is 0 or 1, but p is compared with"),
        (lambda: p[span(2, 4)], r"index out of range: p\[4\], declared as p\[3\]"),
        (lambda: b.block(p[1], p[-1]), r"index out of range: p\[-1\], declared as p\[3\]"),
        (lambda: b.block(p[span(1, 3)], m[1, span(1, 2)]), r"indices must have the same length, got lengths \[2, 3\]"),
        (
            lambda: b.when(p[span(1, 3)] == 1).write(m[1, span(1, 2)]),
            r"indices must have the same length, got lengths \[2, 3\]",
        ),
    ):
        with pytest.raises(InputError, match=message):
            mistake()


WITHOUT_MEANING = {
    "indices of different lengths in one reference": lambda s: s.b.bits("m", 3, 3)[span(1, 2), span(1, 3)],
    "a rule that writes twice": lambda s: [rule.write(s.f) for rule in [s.b.when(s.f == 1)] * 2],
    "a comparison with a fraction": lambda s: s.b.when(s.f == 0.5).write(s.f),
    "a fractional index": lambda s: s.b.when(s.p[1.5] == 1).write(s.f),
    "whole arrays compared with each other": lambda s: s.b.when(s.p[:] == s.q[:]).write(s.f),
    "bits of another builder": lambda s: s.b.when(Builder().bit("other") == 1).write(s.f),
    "a number of no bits": lambda s: word(s.p[span(2, 1)]),
}


@pytest.mark.parametrize("misuse", WITHOUT_MEANING.values(), ids=WITHOUT_MEANING)
def test_what_has_no_meaning_is_refused_in_words(misuse: Callable[[Setting], object], setting: Setting) -> None:
    setting.b.block(setting.p[:], setting.q[:], setting.f)
    setting.b.when(setting.q[3] == 1).write(setting.f)
    with pytest.raises(BitwrightError):  # noqa: PT012
        misuse(setting)
        setting.b.build()


def test_sizes_in_the_papers_letters() -> None:
    program = built(half_adders)
    assert (program.bits, program.blocks, program.templates) == (9, 6, 12)
    assert repr(program) == "<Program: 9 bits, 6 blocks, 12 templates>"
    names = program.layout.names
    assert dict(zip(names, program.writers.tolist(), strict=True)) == {
        **dict.fromkeys(("p[1]", "p[2]", "p[3]", "c[3]"), 2),
        **dict.fromkeys(("q[2]", "q[3]", "c[1]", "c[2]"), 1),
        "q[1]": 0,
    }
    assert program.template_text(2) == "when p[1]=1 q[1]=1 write c[1]"
    assert program.block_names(1) == ["p[2]", "q[2]"]
