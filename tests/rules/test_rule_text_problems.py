"""Mistakes in rule text: each one problem, at its line and column."""

import pytest
from cases import for_each
from facts import missing
from marked import marked
from rules.test_rule_text import HEAD, SOUND

from bitwright.common.errors import Problem, ProgramError
from bitwright.rules import parse

# Problems. A ¦ in the text marks the line and column that must be reported.

UNREADABLE = {
    "¦blok x": "'blok' 'block'",
    "when g=1 write f ¦;": "';'",
    "steps 3¦.5": "'.'",
    "steps ¦\x00 3": "'?'",
    "let¦": "4",
    "let n¦": "'='",
    "let n =¦": "expected number",
    "let n = 1 +¦": "expected number",
    "let n = (1¦": "')'",
    "let ¦in = 1": "'in' 4",
    "let n = ¦2147483648": "2^31 '2147483648'",
    "bits¦": "p[l] q[l]",
    "bits p[¦]": "']'",
    "bits p[3¦": "']'",
    "bits p[3]¦, q[3]": "','",
    "when f=1 write g¦, f": "','",
    "bits p[3¦\n# a comment\n\n": "']'",
    "bits ¦" + "a" * 65: "64",
    "block¦": "p[i] q[i] 1",
    "block x[*] ¦4": "'4'",
    "block x[i] for ¦1": "'1'",
    "block x[i] for i in 1¦": "'..'",
    "block x[i] for i in 1..¦": "expected number",
    "when¦": "p[i] 0 q[i] 1",
    "when f¦": "'=' '!=' 'f'",
    "when f=1¦": "'write'",
    "when f=1 ¦wirte g": "'write' 'wirte'",
    "when f=1 write¦": "expected found",
    "when f=1 write g ¦= 1": "'='",
    "when f=1 write g if 1¦": "'<'",
    "when f=1 write g if 1 < 2 ¦< 3": "'<'",
    "input¦": "expected found",
    "input a =¦": "expected found",
    "output a = x ¦= y": "'='",
    "halt¦": "'at'",
    "halt at ¦fixd point": "'fixed' 'fixd'",
    "halt when¦": "expected found",
}
MEANINGLESS = {
    "let n = 1\nlet ¦n = 2": "'n' 1",
    "let n = ¦z": "'z'",
    "steps ¦f": "'f'",
    "let n = 1 ¦// 0": "'//'",
    "let n = 1 ¦% (2-2)": "'%'",
    "let n = 2147483647 ¦+ 1": "'+' 2^31",
    "let n = -2147483647 ¦- 1": "'-' 2^31",
    "let n = 65536 ¦* 65536": "'*' 2^31",
    "let n = 2 ¦^ 31": "'^' 2^31",
    "let n = (-2) ¦^ 31": "'^' 2^31",
    "let n = 3 ¦^ 2147483647": "'^' 2^31",
    "let n = 2 ¦^ -1": "0",
    "bits ¦x": "'x'",
    "bits ¦p[0]": "'p' 1 0",
    "bits ¦p[2,3-5]": "'p' 1 -2",
    "let p = 1\nbits ¦p[2]": "'p'",
    "bits ¦p": "'block'",
    "bits ¦p[2,4]": "p[1,1] p[1,2] p[1,3] p[1,4] p[2,1] 3 'block'",
    "bits ¦p[10000001]": "'p' 10,000,001 10,000,000",
    "¦block f": "3",
    "¦block x[i] for i in 2..4": "x[2] x[3] x[4] 2 i=2)",
    "bits p[17]\n¦block p[*]": "16 17",
    "bits p[2,17]\n¦block p[i,*] for i in 1..2": "16 17 i=1)",
    "¦cell x[i] for i in 1..4": "'cell'",
    "¦cell f": "x[1] y[1] 'cell' 3",
    "cell x[i] for i in 1..4\n¦cell f y[2]": "x[2] y[2] 5",
    "cell f\ncell x[*] ¦p": "'p'",
    "cell f\ncell ¦x[i+1] for i in 1..4": "x[5] x[4] i=4)",
    "cell ¦x f": "x[4] x[*]",
    "block ¦x": "x[4] x[*]",
    "block ¦x[1,2]": "x[4] 1 2",
    "block ¦f[1]": "0 1",
    "when ¦flag=1 write g": "'flag'",
    "when f=1 write ¦x[5]": "x[5] x[4]",
    "when f=1 write ¦x[-1]": "x[-1] x[4]",
    "when x[i]=1 write ¦y[i-j] for i in 2..4, j in 1..2": "y[0] y[4] i=2 j=2)",
    "when x[¦i]=1 write f": "'i'",
    "when x[i]=1 write f for i in 1..¦n": "'n'",
    "when x[1]=1 write f for ¦f in 1..2": "'f'",
    "when x[i]=1 write y[1+i¦*2147483647] for i in 1..2": "'*' 2^31",
    "when ¦f=2 write g": "0 1 'f' 2 x[1] % x[2] //",
    "when f=1 ¦g!=-1 write g": "0 1 'g' -1",
    "when ¦x[1..2]=y[1] write g": "single compared",
    "when f=¦x write g": "x[4] x[*]",
    "¦when f=1 x[1]=1 write g": "'when' x[1]",
    "¦when x[i]!=y[5-i] write g for i in 1..2": "'when' x[1] y[4] i=1)",
    "¦when g=1 g=0 write g": "'when'",
    "¦when f=1 write f": "f=1 0 4 'write'",
    "¦when g=1 write x[3..2]": "rule writes",
    "¦when x[3..2]=1 write f": "rule tests",
    "input ¦x[1]": "x[...]",
    "input x ¦z": "'z'",
    "bits m[2,2]\nblock m[*,*]\noutput ¦m": "m[2,2] 1",
    "¦output v = x[4..1]": "'v' x[1..4]",
    "¦input x, y": "','",
    "¦output a = x x[1]": "'a'",
    "input x\n¦input a = x[2..3]": "x[2] x[3]",
    "input a = x\n¦input a = y": "'a'",
    "input x\n¦start x[2] f": "x[2] 'input' 'start'",
    "¦steps 2-3": "0 -1",
    "¦matches -1": "0 -1",
    "¦matches 0": "1 0",
    "when x[1]=i y[1]=j write f for i in 0..1, j in 0..1\nwhen x[2]=i y[2]=j write f for i in 0..1, j in 0..1\n"
    "¦matches 1": "2 1",
    "when f=0 g=1 write f\n¦examples 1": "2 1",
    "¦examples 2000000000": "1,000,000,000 2,000,000,000",
    "matches 1\nexamples 2\n¦examples 2": "'examples'",
    "halt when f\n¦halt at fixed point": "'halt'",
    "¦halt when x[*]": "halt when",
    "halt when ¦x": "x[4]",
}


def problems_of(text: str) -> tuple[Problem, ...]:
    with pytest.raises(ProgramError) as refusal:
        parse(text)
    return refusal.value.problems


@for_each(("text", "piece"), (UNREADABLE | MEANINGLESS).items())
def test_a_mistake_is_one_problem_at_its_line_and_column(text: str, piece: str) -> None:
    whole, line, column = marked(SOUND + text)
    assert [(problem.line, problem.column) for problem in problems_of(whole)] == [(line, column)]
    assert missing(problems_of(whole)[0].message, piece) == []


@for_each(
    ("text", "line", "column"),
    [
        ("", 1, 1),
        ("# nothing\n\n", 1, 1),
        ("bits x\nblock x", 1, 1),
        (SOUND.replace("\n", "\r\n") + "steps\t\tz", 5, 8),
        (SOUND + "\n\n  steps z", 7, 9),
        (SOUND + "steps \\\n  z", 6, 3),
        (SOUND + "steps (\n\n1 +\n z)", 8, 2),
        (SOUND + "steps (\n1 # z (\n+z)", 7, 2),
        (SOUND + "steps 'é' + z", 5, 7),
    ],
)
def test_lines_and_columns_are_counted_from_1(text: str, line: int, column: int) -> None:
    assert (problems_of(text)[0].line, problems_of(text)[0].column) == (line, column)


def test_all_mistakes_of_a_file_are_listed_in_order() -> None:
    """First those of the syntax; once there are none, those of the meaning."""
    assert [str(problem) for problem in problems_of(HEAD + "whn f=1 write g\nsteps 3 $\ninput q\nhalt 3")] == [
        "4:1: unknown statement 'whn'; did you mean 'when'?",
        "5:9: unexpected character '$'",
        "7:6: expected 'at', found '3' (for example: halt when flag, or halt at fixed point)",
    ]
    mistakes = "when x[i]=1 write y[i+1] for i in 1..4\nwhen f=2 write f\ninput q"
    assert [str(problem) for problem in problems_of(HEAD + mistakes)] == [
        "4:19: index out of range: y[5], declared as y[4] (at i=4)",
        "5:6: a bit is 0 or 1, but 'f' is compared with 2; compare a number bit by bit: x[1]=n%2 x[2]=n//2%2",
        "6:7: unknown bit 'q'; declare it with 'bits'",
    ]


# One mistake must not bring others with it, however much depends on the line that has it.

ADDITION = """let l = 10
bits p[l] q[l] c[l]
block p[i] q[i] for i in 1..l
block c[i] for i in 1..l
when p[i]!=q[i] write p[i] for i in 1..l
when p[i]=1 q[i]=1 write c[i] for i in 1..l
when c[i]=1 write q[i+1] for i in 1..l-1
when c[l]=1 write c[l]
input p q
output sum = c[l] p
start c[1]
steps 2*l
"""


@for_each(
    ("right", "wrong"),
    [
        ("let l = 10", "¦lte l = 10"),
        ("let l = 10", "let l = ¦ten"),
        ("let l = 10", "let l = 10¦//0"),
        ("let l = 10", "let l ¦10"),
        ("bits p[l] q[l] c[l]", "¦bist p[l] q[l] c[l]"),
        ("bits p[l] q[l] c[l]", "bits p[l] q[l ¦c[l]"),
        ("bits p[l] q[l] c[l]", "bits p[l] q[l] ¦c[l-l]"),
        ("bits p[l] q[l] c[l]", "bits p[l] ¦@ q[l] c[l]"),
        ("block c[i] for i in 1..l", "¦blok c[i] for i in 1..l"),
        ("block c[i] for i in 1..l", "block c[i] for i ¦1..l"),
        ("block c[i] for i in 1..l", "block c[¦j] for i in 1..l"),
        ("block c[i] for i in 1..l", "block ¦c[i] for i in 0..l-1"),
        ("block c[i] for i in 1..l", "block c[i] for ¦l in 1..l"),
        ("block c[i] for i in 1..l", "block c[i] for ¦i in 1..2000000000"),
        ("block c[i] for i in 1..l", "¦block c[*] p[1] q[*]"),
        ("when c[l]=1 write c[l]", "when c[l¦=1 write c[l]"),
        ("when c[l]=1 write c[l]", "¦when p[3..2]=1 write c[l] for i in 1..3"),
    ],
)
def test_one_mistake_is_one_problem(right: str, wrong: str) -> None:
    assert ADDITION.count(right + "\n") == 1
    text, line, column = marked(ADDITION.replace(right, wrong))
    assert [(problem.line, problem.column) for problem in problems_of(text)][:3] == [(line, column)]


def test_a_bracket_left_open_does_not_hide_the_statements_below() -> None:
    found = problems_of(SOUND + "steps (3\nwhen z=1 write f\ninput x[1\n  bits x\n")
    assert [(problem.line, problem.column) for problem in found] == [(5, 9), (7, 10)]


def test_bits_in_two_blocks_are_named_once_and_counted_right() -> None:
    assert problems_of("bits x\nblock x for i in 1..3\nwhen x=1 write x")[0].message == "x is in two blocks (at i=2)"
    doubled = "bits x[200]\nblock x[i] for i in 1..200\nblock x[i] for i in 1..200\nwhen x[1]=1 write x[1]"
    assert "x[5] and 195 more are in two blocks" in problems_of(doubled)[0].message


def test_rules_that_stand_for_no_template_make_no_program() -> None:
    (problem,) = problems_of(HEAD + "when x[i]=1 write f for i in 2..1")
    assert problem.line > 0
    assert problem.column > 0
