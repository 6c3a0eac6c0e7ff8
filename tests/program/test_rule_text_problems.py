"""Mistakes in rule text: each one problem, at its line and column."""

from __future__ import annotations

import pytest
from cases import for_each
from marked import marked

from bitwright.errors import Problem, ProgramError
from bitwright.program import parse

BITS = "bits x[4] y[4] f g\n"
BLOCKS = "block x[i] y[i] for i in 1..4\nblock f g\n"
RULE = "when f=1 write g\n"
HEAD = BITS + BLOCKS
SOUND = HEAD + RULE

# Problems. A ¦ in the text marks the line and column that must be reported.

UNREADABLE = {
    "¦blok x": "unknown statement 'blok'; did you mean 'block'?",
    "when g=1 write f ¦;": "unexpected character ';'; every statement has a line of its own",
    "steps 3¦.5": "expected the end of the line, found '.'",
    "steps ¦\x00 3": "unexpected character '?'",
    "let¦": "expected a name, found the end of the line (the form is: let l = 4)",
    "let n¦": "expected '=', found the end of the line",
    "let n =¦": "expected a number or a name, found the end of the line",
    "let n = 1 +¦": "expected a number or a name, found the end of the line",
    "let n = (1¦": "expected ')', found the end of the line",
    "let ¦in = 1": "'in' is a word of the language; choose another name (let l = 4)",
    "let n = ¦2147483648": "a number must be below 2^31, got '2147483648'",
    "bits¦": "expected a name, found the end of the line (the form is: bits p[l] q[l] flag)",
    "bits p[¦]": "expected a number or a name, found ']'",
    "bits p[3¦": "expected ']', found the end of the line",
    "bits p[3]¦, q[3]": "expected the end of the line, found ','; conditions, bits and numbers are separated by spaces",
    "when f=1 write g¦, f": "expected the end of the line, found ','; conditions, bits and numbers are separated",
    "bits p[3¦\n# a comment\n\n": "expected ']', found the end of the line",
    "bits ¦" + "a" * 65: "a name has at most 64 characters",
    "block¦": "expected a bit, found the end of the line (the form is: block p[i] q[i] for i in 1..l)",
    "block x[*] ¦4": "expected the end of the line, found '4'",
    "block x[i] for ¦1": "expected an index, found '1'",
    "block x[i] for i in 1¦": "expected '..', found the end of the line",
    "block x[i] for i in 1..¦": "expected a number or a name, found the end of the line",
    "when¦": "expected a bit, found the end of the line (the form is: when p[i]=0 q[i]=1 write p[i] for i in 1..l)",
    "when f¦": "expected '=' or '!=' after 'f', found the end of the line",
    "when f=1¦": "expected another condition or 'write', found the end of the line",
    "when f=1 write g ¦else write f": "there is no 'else' in rules; give the other case a 'when' line of its own",
    "when f=1 ¦then write g": "there is no 'then' in rules; what a rule sets stands behind 'write'",
    "when f=1 ¦wirte g": "expected 'write', found 'wirte'; did you mean 'write'?",
    "when f=1 write¦": "expected a bit, found the end of the line",
    "when f=1 write g ¦= 1": "expected the end of the line, found '='; 'write' turns bits on, and a bit that no rule "
    "writes becomes 0 by itself",
    "when f=1 write g if 1¦": "expected a comparison such as '<', found the end of the line",
    "when f=1 write g if 1 < 2 ¦< 3": "expected the end of the line, found '<'",
    "input¦": "expected a bit, found the end of the line (the form is: input p q, or input a = p)",
    "input a =¦": "expected a bit, found the end of the line",
    "output a = x ¦= y": "expected the end of the line, found '='",
    "halt¦": "expected 'at', found the end of the line (the form is: halt when flag, or halt at fixed point)",
    "halt at ¦fixd point": "expected 'fixed', found 'fixd'; did you mean 'fixed'?",
    "halt when¦": "expected a bit, found the end of the line",
}
MEANINGLESS = {
    "let n = 1\nlet ¦n = 2": "'n' has a value already (1)",
    "let n = ¦z": "unknown name 'z'; give it a value with let or for",
    "steps ¦f": "'f' names bits, but a number is needed here",
    "let n = 1 ¦// 0": "division by zero in '//'",
    "let n = 1 ¦% (2-2)": "division by zero in '%'",
    "let n = 2147483647 ¦+ 1": "the result of '+' must stay below 2^31",
    "let n = -2147483647 ¦- 1": "the result of '-' must stay below 2^31",
    "let n = 65536 ¦* 65536": "the result of '*' must stay below 2^31",
    "let n = 2 ¦^ 31": "the result of '^' must stay below 2^31",
    "let n = (-2) ¦^ 31": "the result of '^' must stay below 2^31",
    "let n = 3 ¦^ 2147483647": "the result of '^' must stay below 2^31",
    "let n = 2 ¦^ -1": "an exponent must be 0 or more",
    "bits ¦x": "bits 'x' are declared twice",
    "bits ¦p[0]": "'p' needs an extent of at least 1, got 0",
    "bits ¦p[2,3-5]": "'p' needs an extent of at least 1, got -2",
    "let p = 1\nbits ¦p[2]": "'p' is already a number; choose another name for the bits",
    "bits ¦p": "p is in no block; add a 'block' for it",
    "bits ¦p[2,4]": "p[1,1], p[1,2], p[1,3], p[1,4], p[2,1] and 3 more are in no block; add a 'block' for them",
    "bits ¦p[10000001]": "'p' has 10,000,001 bits; a program may declare 10,000,000",
    "¦block f": "f is in two blocks; line 3 has it too",
    "¦block x[i] for i in 2..4": "x[2], x[3], x[4] are in two blocks; line 2 has them too (at i=2)",
    "bits p[17]\n¦block p[*]": "a block holds at most 16 bits, this one has 17",
    "bits p[2,17]\n¦block p[i,*] for i in 1..2": "a block holds at most 16 bits, this one has 17 (at i=1)",
    "¦cell x[i] for i in 1..4": "the block f g is in no cell; add a 'cell' for it",
    "¦cell f": "the block x[1] y[1] is in no cell; add a 'cell' for it (and 3 more blocks)",
    "cell x[i] for i in 1..4\n¦cell f y[2]": "the block x[2] y[2] is in two cells; line 5 has it too",
    "cell f\ncell x[*] ¦p": "unknown bit 'p'; declare it with bits",
    "cell f\ncell ¦x[i+1] for i in 1..4": "index out of range: x[5], declared as x[4] (at i=4)",
    "cell ¦x f": "x[4] is an array; write x[*] for all of it",
    "block ¦x": "x[4] is an array; write x[*] for all of it",
    "block ¦x[1,2]": "x[4] takes 1 index, got 2",
    "block ¦f[1]": "f takes 0 indices, got 1",
    "when ¦flag=1 write g": "unknown bit 'flag'; declare it with bits",
    "when f=1 write ¦x[5]": "index out of range: x[5], declared as x[4]",
    "when f=1 write ¦x[-1]": "index out of range: x[-1], declared as x[4]",
    "when x[i]=1 write ¦y[i-j] for i in 2..4, j in 1..2": "index out of range: y[0], declared as y[4] (at i=2, j=2)",
    "when x[¦i]=1 write f": "unknown name 'i'; give it a value with let or for",
    "when x[i]=1 write f for i in 1..¦n": "unknown name 'n'; give it a value with let or for",
    "when x[1]=1 write f for ¦f in 1..2": "index 'f' is already a name; choose another",
    "when x[i]=1 write y[1+i¦*2147483647] for i in 1..2": "the result of '*' must stay below 2^31",
    "when ¦f=2 write g": "a bit is 0 or 1, but 'f' is compared with 2; a number is compared bit by bit, "
    "x[1]=n%2 x[2]=n//2%2",
    "when f=1 ¦g!=-1 write g": "a bit is 0 or 1, but 'g' is compared with -1",
    "when ¦x[1..2]=y[1] write g": "only single bits can be compared with each other",
    "when f=¦x write g": "x[4] is an array; write x[*] for all of it",
    "¦when f=1 x[1]=1 write g": "'when' spans blocks: f, x[1] must share one block",
    "¦when x[i]!=y[5-i] write g for i in 1..2": "'when' spans blocks: x[1], y[4] must share one block (at i=1)",
    "¦when g=1 g=0 write g": "'when' names a bit twice: g, g",
    "¦when f=1 write f": "two templates for f=1 (and 0 for g): line 4 has one too; put all bits into one 'write'",
    "¦when g=1 write x[3..2]": "this rule writes no bit",
    "¦when x[3..2]=1 write f": "this rule names no bit",
    "input ¦x[1]": "an input without a name must be a whole array; name it, as in: input a = x[...]",
    "input x ¦z": "unknown bit 'z'",
    "bits m[2,2]\nblock m[*,*]\noutput ¦m": "m[2,2] is not one number; choose a row, such as [1,*]",
    "¦output v = x[4..1]": "'v' has no bits; ranges go upwards, as in x[1..4]",
    "¦input x, y": "',' is for node programs, which run on graphs; bits and numbers are separated by spaces",
    "¦output a = x x[1]": "'a' names a bit twice",
    "input x\n¦input a = x[2..3]": "x[2], x[3] would be set by two inputs",
    "input a = x\n¦input a = y": "two inputs are called 'a'; name them apart",
    "input x\n¦start x[2] f": "x[2] would be set by both 'input' and 'start'",
    "¦steps 2-3": "steps must be 0 or more, got -1",
    "¦matches -1": "matches must be 0 or more, got -1",
    "¦matches 0": "matches must be 1 or more, got 0",
    "when x[1]=i y[1]=j write f for i in 0..1, j in 0..1\nwhen x[2]=i y[2]=j write f for i in 0..1, j in 0..1\n"
    "¦matches 1": "matches must be 2 or more, got 1: that many blocks have a template for every configuration",
    "when f=0 g=1 write f\n¦examples 1": "examples must be 2 or more, one for each template, got 1",
    "¦examples 2000000000": "examples must be at most 1,000,000,000, got 2,000,000,000",
    "matches 1\nexamples 2\n¦examples 2": "'examples' is given twice",
    "halt when f\n¦halt at fixed point": "'halt' is given twice",
    "¦halt when x[*]": "'halt when' takes a single bit",
    "halt when ¦x": "x[4] is an array",
}


def problems_of(text: str) -> tuple[Problem, ...]:
    with pytest.raises(ProgramError) as refusal:
        parse(text)
    return refusal.value.problems


@for_each(("text", "piece"), (UNREADABLE | MEANINGLESS).items())
def test_a_mistake_is_one_problem_at_its_line_and_column(text: str, piece: str) -> None:
    whole, line, column = marked(SOUND + text)
    assert [(problem.line, problem.column) for problem in problems_of(whole)] == [(line, column)]
    assert piece in problems_of(whole)[0].message


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
    mistakes = "whn f=1 write g\nwhen x[i]=1 write y[i+1] for i in 1..4\nsteps 3 $\nwhen f=2 write f\ninput q\nhalt 3"
    assert [str(problem) for problem in problems_of(HEAD + mistakes)] == [
        "4:1: unknown statement 'whn'; did you mean 'when'?",
        "5:19: index out of range: y[5], declared as y[4] (at i=4)",
        "6:9: unexpected character '$'",
        "7:6: a bit is 0 or 1, but 'f' is compared with 2; a number is compared bit by bit, x[1]=n%2 x[2]=n//2%2",
        "8:7: unknown bit 'q'; declare it with bits",
        "9:6: expected 'at', found '3' (the form is: halt when flag, or halt at fixed point)",
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
    assert [(problem.line, problem.column) for problem in found] == [(5, 9), (6, 6), (7, 10), (8, 8)]


def test_bits_in_two_blocks_are_named_once_and_counted_right() -> None:
    assert problems_of("bits x\nblock x for i in 1..3\nwhen x=1 write x")[0].message == "x is in two blocks (at i=2)"
    doubled = "bits x[200]\nblock x[i] for i in 1..200\nblock x[i] for i in 1..200\nwhen x[1]=1 write x[1]"
    assert "x[5] and 195 more are in two blocks" in problems_of(doubled)[0].message


def test_rules_that_stand_for_no_template_make_no_program() -> None:
    (problem,) = problems_of(HEAD + "when x[i]=1 write f for i in 2..1")
    assert problem.line > 0
    assert problem.column > 0
