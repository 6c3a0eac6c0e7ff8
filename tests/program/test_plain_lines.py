"""The short way for written-out lines gives what the full parser gives: the same program or the same problems."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from long import LONG, examples

from bitwright import ProgramError, addition, multiplication
from bitwright.errors import Problem
from bitwright.program import Algorithm
from bitwright.program.text.expand import MAX_WORK, expand
from bitwright.program.text.parser import parse_statements
from bitwright.program.text.plain import split_plain
from bitwright.program.text.syntax import Block, WhenClause

HEAD = "bits p[3] m[2,2] f\n"
LINES = [
    *("block p[1] p[2]", "block p[3]", "block m[1,1] m[1,2] m[2,1] m[2,2]", "block f"),
    *("when p[1]=1 write p[2]", "when p[1]=0 p[2]=1 write f p[1]", "when p[3]=1 write p[3] m[1,1] m[2,2]"),
    *("when m[1,2]=1 m[2,1]=0 write f", "when f=1 write f", "when f=0 write p[1] p[2] p[3]"),
    *("when p[1]!=0 and p[2]=1 write f", "when m[1,1]!=0 m[1,2]=1 and m[2,1]!=1 write p[3]"),
]
WHOLE = HEAD + "\n".join(LINES) + "\n"
CANONICAL = [
    WHOLE,
    addition(2).text(),
    multiplication(2).text(),
    "let l = 2\n" + WHOLE + "when p[l]=1 write f\n",
]
PIECES = [
    *("when", "block", "write", "bits", "let", "for i in 1..3", "if", "and", "input", "halt when f", "steps 3"),
    *("p", "q", "p[1]", "p[01]", "p[4]", "p[0]", "p[1,1]", "m[1,2]", "m[3,1]", "f", "f[1]", "p[9999999999]", "p[*]"),
    *("p[i]",),
    *("=1", "=0", "=2", "=01", "!=1", "=p[2]", "=", " = 1", "[", "]", "(", ")", ",", "*", "..", "+1", "x" * 64),
    *("x" * 65,),
    *("\n", "\r\n", "\\\n", "\\\r\n", " \\", "#", "# a comment\n", "# \\\n", "\t", "\f", "\r", " ", "\x0b", "\x85"),
    *("é",),
    *("@", "\nwhen", "\nblock", "when p[1]=1 write p[2]\n", "block f\n", "\nwhen f=1 write f\n"),
    *("when p[3]=1 write q q\n",),
]


def outcome(text: str, short_way: bool, work: int = MAX_WORK) -> Algorithm | tuple[Problem, ...]:
    try:
        return expand(parse_statements(text, short_way), "program", "", work)
    except ProgramError as error:
        return error.problems


def check(text: str) -> None:
    short, full = outcome(text, True), outcome(text, False)
    if not isinstance(short, Algorithm) or not isinstance(full, Algorithm):
        assert short == full
        return
    assert short.same_as(full)
    for one, other in (
        (short.program.block_families, full.program.block_families),
        (short.program.rule_families, full.program.rule_families),
    ):
        assert (one.labels, one.places) == (other.labels, other.places)
        assert one.of.tolist() == other.of.tolist()
        assert one.index.tolist() == other.index.tolist()


@st.composite
def changed(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(CANONICAL))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        end = min(len(text), at + draw(st.sampled_from([0, 0, 0, 1, 1, 2, 5, 30])))
        text = text[:at] + draw(st.sampled_from(["", *PIECES, text[at:end] * 2])) + text[end:]
    return text


@settings(deadline=None, max_examples=600 if LONG else 80)
@given(changed())
@example(WHOLE.replace("block f", "block p[1,\nblock f\n2]"))
@example(WHOLE.replace("block f\n", "block f \\\n"))
@example(WHOLE.replace("block f\n", "block f # on \\\n"))
@example(WHOLE + "halt \\\nwhen f=1 write f\n")
@example(WHOLE + "halt \\\r\nwhen f=1 write f\n")
@example(HEAD + "when p[1]=1 write q\nwhen p[2]=1 write q\nwhen q=1 write p[1]\n")
@example(HEAD + "block p[1] for i in 1..x\n" + "\n".join(LINES))
@example(WHOLE + "when p[1]=1 write f\nwhen p[1]=1 p[1]=1 write f\nwhen p[1]=1 f=1 write f\nblock f\nblock f f\n")
@example("@\n" * 1100 + WHOLE)
@example("when p[1]=1 write f\n" + WHOLE.replace("bits p[3]", "bits p[10000001]"))
def test_changed_texts_give_the_same_either_way(text: str) -> None:
    check(text)


@settings(deadline=None, max_examples=300 if LONG else 60)
@given(st.lists(st.sampled_from([*LINES, *PIECES]), max_size=20), st.sampled_from(["\n", " ", "\n\n", ""]))
def test_lines_in_any_order_give_the_same_either_way(lines: list[str], between: str) -> None:
    check(HEAD + between.join(lines))


@settings(max_examples=examples(60))
@given(st.randoms(use_true_random=False), st.integers(0, 12))
def test_a_budget_that_runs_out_is_reported_at_the_same_place(random: Random, left: int) -> None:
    lines = random.sample(LINES, len(LINES))
    text = HEAD + "\n".join(lines)

    short, full = outcome(text, True, 4 * left), outcome(text, False, 4 * left)
    assert short == full if isinstance(full, tuple) else full.same_as(short)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", CANONICAL)
def test_plain_lines_do_take_the_short_way(text: str) -> None:
    rest, runs = split_plain(text)
    assert rest.count("\n") == text.count("\n")
    taken = sum(len(run.blocks) + len(run.rules) for run in runs.values())
    assert taken == sum(line.startswith(("block", "when")) and "[l]" not in line for line in text.splitlines())
    assert all(not isinstance(s, Block | WhenClause) or "[l]" in s.text for s in parse_statements(text).statements)
