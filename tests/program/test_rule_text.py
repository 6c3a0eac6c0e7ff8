from __future__ import annotations

import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from bitwright.errors import Problem, ProgramError
from bitwright.program import FIXED_POINT, parse

BITS = "bits x[4] y[4] f g\n"
BLOCKS = "block x[i] y[i] for i in 1..4\nblock f g\n"
RULE = "when f=1 write g\n"
HEAD = BITS + BLOCKS
SOUND = HEAD + RULE

SAME_RULES = {
    "let": ("let n = 3\nlet m = n-1\nwhen x[n]=1 write y[m]", "when x[3]=1 write y[2]"),
    "let below its use": ("when x[n]=1 write f\nlet n = 3", "when x[3]=1 write f"),
    "for": ("when x[i]=1 write y[i] for i in 2..3", "when x[2]=1 write y[2]\nwhen x[3]=1 write y[3]"),
    "for of one value": ("when x[i]=1 write y[i] for i in 2..2", "when x[2]=1 write y[2]"),
    "for of no value": ("when x[i]=1 write y[i] for i in 3..2\nwhen f=1 write f", "when f=1 write f"),
    "two indices, one for": (
        "when f=i g=j write x[i+1] y[j+1] for i in 0..1, j in 0..1",
        "when f=0 g=0 write x[1] y[1]\nwhen f=0 g=1 write x[1] y[2]\n"
        "when f=1 g=0 write x[2] y[1]\nwhen f=1 g=1 write x[2] y[2]",
    ),
    "two indices, two fors": (
        "when f=i g=j write x[i+1] y[j+1] for i in 0..1 for j in 0..1",
        "when f=i g=j write x[i+1] y[j+1] for i in 0..1, j in 0..1",
    ),
    "a range that depends on another index": (
        "when x[i]=1 y[i]=j-i write x[j] for i in 1..4, j in i..i+1 if j<5",
        "when x[4]=1 write x[4]\nwhen x[i]=1 y[i]=k write x[i+k] for i in 1..3, k in 0..1",
    ),
    "if": ("when x[i]=1 write f for i in 1..4 if i%2=1", "when x[1]=1 write f\nwhen x[3]=1 write f"),
    "if with and": ("when x[i]=1 write f for i in 1..4 if i!=1 and i<=3 and i>2", "when x[3]=1 write f"),
    "if >= and <": ("when x[i]=1 write f for i in 1..4 if i>=2 and i<3", "when x[2]=1 write f"),
    "if about no index": ("when x[i]=1 write f for i in 1..4 if 1=2\nwhen f=1 write f", "when f=1 write f"),
    "if without for": ("let n = 4\nwhen f=1 write g if n>3\nwhen g=1 write f if n>4", "when f=1 write g"),
    "all of an index": ("when f=1 write x[*]", "when f=1 write x[1] x[2] x[3] x[4]"),
    "part of an index": ("when f=1 write x[2..3]", "when f=1 write x[2] x[3]"),
    "a part by index": (
        "when x[i]=1 write y[i..4] for i in 3..4",
        "when x[3]=1 write y[3] y[4]\nwhen x[4]=1 write y[4]",
    ),
    "an empty part": ("when f=1 write g x[3..2]", "when f=1 write g"),
    "and between conditions": ("when f=1 and g=0 write x[1]", "when f=1 g=0 write x[1]"),
    "conditions in any order": ("when g=0 f=1 write x[2] x[1]", "when f=1 g=0 write x[1] x[2]"),
    "bits not named are 0": ("when f=1 write g", "when f=1 g=0 write g"),
    "a target named twice": ("when f=1 write g x[2] g x[*]", "when f=1 write g x[*]"),
    "!= with a value": ("when f!=0 g!=1 write g", "when f=1 g=0 write g"),
    "a computed value": ("when x[i]=i%2 write f for i in 1..2", "when x[1]=1 write f\nwhen x[2]=0 write f"),
    "!= with a computed value": ("when x[i]!=(i+1)%2 write f for i in 1..2", "when x[i]=i%2 write f for i in 1..2"),
    "= between bits": ("when f=g write g", "when f=0 g=0 write g\nwhen f=1 g=1 write g"),
    "!= between bits": (
        "when x[i]!=y[i] write f for i in 1..4",
        "when x[i]=1 y[i]=0 write f for i in 1..4\nwhen x[i]=0 y[i]=1 write f for i in 1..4",
    ),
    "a comment": ("when f=1 write g # when g=1 write f", "when f=1 write g"),
    "a backslash": ("when f=1 \\\n write \\\ng", "when f=1 write g"),
    "brackets across lines": ("when x[\n1 # one\n+\n\n1]=1 write y[2\n..\n3]", "when x[2]=1 write y[2..3]"),
    "no spaces": ("when f=1g=0write x[1]y[2]", "when f=1 g=0 write x[1] y[2]"),
    "any spaces": ("\twhen  f =\t1 write x [ 2 ]\f", "when f=1 write x[2]"),
    "a name that only begins like a keyword": (
        "let fort = 1\nlet in_ = 4\nwhen x[i]=1 write f for i in fort..in_",
        "when x[i]=1 write f for i in 1..4",
    ),
}


@pytest.mark.parametrize(("text", "plain"), SAME_RULES.values(), ids=SAME_RULES)
def test_a_feature_of_the_language_says_the_same_as_its_plain_form(text: str, plain: str) -> None:
    assert parse(HEAD + text).program == parse(HEAD + plain).program


SAME_BLOCKS = {
    "one line a block": "block x[1] y[1]\nblock x[2] y[2]\nblock x[3] y[3]\nblock x[4] y[4]\nblock f g",
    "other order": "block g f\nblock y[5-i] x[5-i] for i in 1..4",
    "ranges": "block x[i..i] y[i] for i in 1..2\nblock f\\\ng\nblock x[i] y[i] for i in 1..4 if i>2",
}


@pytest.mark.parametrize("blocks", SAME_BLOCKS.values(), ids=SAME_BLOCKS)
def test_blocks_may_be_written_in_many_ways(blocks: str) -> None:
    assert parse(BITS + blocks + "\n" + RULE).program == parse(SOUND).program


@pytest.mark.parametrize(
    "declarations",
    [
        "bits x[4]\nbits y[4]\nbits f\nbits g",
        "let l = 2\nbits x[l^2] y[2*l] f g",
        "bits x[\n4\n] y[(4)] f \\\n g",
    ],
)
def test_bits_may_be_declared_in_many_ways(declarations: str) -> None:
    assert parse(declarations + "\n" + BLOCKS + RULE).program == parse(SOUND).program


def test_arrays_of_two_indices() -> None:
    text = """
        bits m[2,3] f
        block m[k,*] for k in 1..2
        block f
        when m[k,j]=1 write m[3-k,j..3] for k in 1..2, j in 1..3
        when f=1 write m[*,2] m[*,*]
        when f=0 write m[*,2..3]
    """
    program = parse(text).program
    assert program.block_names(1) == ["m[2,1]", "m[2,2]", "m[2,3]"]
    written = {program.template_text(t) for t in range(program.templates)}
    assert "when m[1,1]=0 m[1,2]=1 m[1,3]=0 write m[2,2] m[2,3]" in written
    assert "when f=1 write m[1,1] m[1,2] m[1,3] m[2,1] m[2,2] m[2,3]" in written
    assert "when f=0 write m[1,2] m[1,3] m[2,2] m[2,3]" in written
    assert len(written) == program.templates == 8


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2+3*4", 14),
        ("(2+3)*4", 20),
        ("10-3-2", 5),
        ("10-(3-2)", 9),
        ("7//2", 3),
        ("-7//2", -4),
        ("7%3", 1),
        ("-7%3", 2),
        ("7%-3", -2),
        ("100//10//5", 2),
        ("2*3%4", 2),
        ("2^10", 1024),
        ("2^3^2", 512),
        ("-2^2", -4),
        ("(-2)^3", -8),
        ("(-1)^1001", -1),
        ("(-1)^2147483646", 1),
        ("0^0", 1),
        ("0^5", 0),
        ("1^2147483647", 1),
        ("2^-0", 1),
        ("--3", 3),
        ("2--3", 5),
        ("2*-3", -6),
        ("2147483647-1", 2147483646),
        ("46340*46340", 46340**2),
        ("0-2147483647", -2147483647),
        ("((((5))))", 5),
        ("a*b-c", 3),
    ],
)
def test_arithmetic(expression: str, value: int) -> None:
    text = f"{SOUND}let a = 2\nlet b = 5\nlet c = 7\nlet value = {expression}\n"
    assert parse(text + "steps value % 65536").steps == value % 65536
    assert parse(text + "steps value // 65536 + 40000").steps == value // 65536 + 40000


def test_ports_start_and_end() -> None:
    ports = "input x\ninput b = g y[3..4]\noutput f\noutput y[1..2]\noutput all = y x[1]\nstart f y[1]"
    algorithm = parse(SOUND + ports)
    assert [word.name for word in algorithm.inputs] == ["x", "b"]
    assert [word.name for word in algorithm.outputs] == ["f", "y", "all"]
    names = algorithm.program.layout.names
    assert [[names[bit] for bit in word.bits] for word in (*algorithm.inputs, *algorithm.outputs)] == [
        ["x[1]", "x[2]", "x[3]", "x[4]"],
        ["y[3]", "y[4]", "g"],
        ["f"],
        ["y[1]", "y[2]"],
        ["x[1]", "y[1]", "y[2]", "y[3]", "y[4]"],
    ]
    state = algorithm.state({"x": 0b0011, "b": 0b110})
    assert [names[bit] for bit in np.flatnonzero(state)] == ["x[1]", "x[2]", "y[1]", "y[4]", "f", "g"]
    assert algorithm.read(state) == {"f": 1, "y": 0b01, "all": 0b10011}


def test_unnamed_inputs_are_several_numbers_and_an_unnamed_output_is_one() -> None:
    algorithm = parse(SOUND + "input x y f\noutput x y f")
    assert [(word.name, len(word.bits)) for word in algorithm.inputs] == [("x", 4), ("y", 4), ("f", 1)]
    assert [(word.name, len(word.bits)) for word in algorithm.outputs] == [("value", 9)]
    assert algorithm.read(algorithm.state({"x": 0b1000, "y": 0b0001, "f": 1})) == {"value": 0b1000_0001_1}


def test_without_an_output_every_number_and_flag_is_one() -> None:
    text = "bits m[2,2] x[2] f\nblock m[*,*] x[*] f\nwhen f=1 write f"
    assert [word.name for word in parse(text).outputs] == ["x", "f"]


def test_start_takes_indices() -> None:
    algorithm = parse(SOUND + "start x[i] y[i] for i in 1..4 if i%2=0\nstart g g")
    assert [algorithm.program.layout.name_of(bit) for bit in algorithm.start] == ["x[2]", "x[4]", "y[2]", "y[4]", "g"]


@pytest.mark.parametrize(
    ("end", "steps", "halt"),
    [
        ("", None, FIXED_POINT),
        ("steps 0", 0, None),
        ("let l = 5\nsteps 4*l^2+3*l", 115, None),
        ("halt at fixed point", None, FIXED_POINT),
        ("halt when g", None, 9),
        ("halt when x[3]", None, 2),
        ("steps 7\nhalt when f", 7, 8),
        ("halt at fixed point\nsteps 7", 7, FIXED_POINT),
    ],
)
def test_the_end_of_a_run(end: str, steps: int | None, halt: int | str | None) -> None:
    algorithm = parse(SOUND + end)
    assert (algorithm.steps, algorithm.halt) == (steps, halt)


def test_promises_for_the_theory() -> None:
    algorithm = parse(SOUND + "let l = 5\nmatches 7*l+1\nexamples 21*l")
    assert (algorithm.matches, algorithm.examples) == (36, 105)
    assert (parse(SOUND).matches, parse(SOUND).examples) == (None, None)


def test_every_line_ending_gives_the_same_algorithm() -> None:
    text = "# add\n#  two numbers\n\n" + SOUND + "when x[\n1]=1 \\\n write f # done\ninput x\nsteps 3\n"
    unix, dos = parse(text), parse(text.replace("\n", "\r\n"))
    assert unix.same_as(dos)
    assert unix.description == dos.description == "add two numbers"
    assert parse(text.rstrip("\n")).same_as(unix)


@pytest.mark.parametrize(
    ("text", "description"),
    [
        (SOUND, ""),
        ("# one line\n" + SOUND, "one line"),
        ("  ## one\n\t# two  \n" + SOUND + "# three\n", "one two"),
        ("\n# too late\n" + SOUND, ""),
    ],
)
def test_the_comment_at_the_top_is_the_description(text: str, description: str) -> None:
    assert parse(text).description == description


def test_templates_remember_the_rule_they_come_from() -> None:
    program = parse(HEAD + "when  x[i]=1   write f \\\n  for i in 1..2 # two\nwhen f!=g write g").program
    texts = [program.rules[rule] for rule in program.template_rule]
    assert texts == ["when x[i]=1 write f for i in 1..2"] * 2 + ["when f!=g write g"] * 2


def test_the_name_is_part_of_the_message() -> None:
    assert parse(SOUND, "mine").name == "mine"
    with pytest.raises(ProgramError) as refusal:
        parse(SOUND + "when z=1 write f\nhalt", "mine")
    assert str(refusal.value) == "mine:5:6: unknown bit 'z'; declare it with bits (and 1 more problem)"


# Problems. A ¦ in the text marks the line and column that must be reported.

UNREADABLE = {
    "¦blok x": "unknown statement 'blok'; did you mean 'block'?",
    "¦zzz": "unknown statement 'zzz'; a line starts with one of let, bits, block, when, input",
    "¦3": "unknown statement '3'",
    "¦) when f=1 write g": "unknown statement ')'",
    "when g=1 write f ¦;": "unexpected character ';'",
    "when g=1 write f ¦\\": "unexpected character '\\\\'",
    "steps 3¦.5": "unexpected character '.'",
    "steps ¦é": "unexpected character 'é'",
    "steps ¦\x00 3": "unexpected character '?'",
    "steps ¦²": "unexpected character '²'",
    "let¦": "expected a name, found the end of the line (the form is: let l = 4)",
    "let n¦": "expected '=', found the end of the line",
    "let n =¦": "expected a number or a name, found the end of the line",
    "let n = ¦*2": "expected a number or a name, found '*'",
    "let n = 1 +¦": "expected a number or a name, found the end of the line",
    "let n = (1¦": "expected ')', found the end of the line",
    "let n = 1¦)": "expected the end of the line, found ')'",
    "let n = 1 ¦2": "expected the end of the line, found '2'",
    "let n = 2 ¦n": "expected the end of the line, found 'n'",
    "let ¦in = 1": "'in' is a word of the language; choose another name (let l = 4)",
    "let n = ¦for": "expected a number or a name, found 'for'",
    "let n = ¦2147483648": "a number must be below 2^31, got '2147483648'",
    "bits¦": "expected a name, found the end of the line (the form is: bits p[l] q[l] flag)",
    "bits ¦halt": "'halt' is a word of the language",
    "bits p[¦]": "expected a number or a name, found ']'",
    "bits p[3¦": "expected ']', found the end of the line",
    "bits p[3¦..4]": "expected ']', found '..'",
    "bits p[3]¦, q[3]": "expected the end of the line, found ','",
    "bits ¦" + "a" * 65: "a name has at most 64 characters",
    "block¦": "expected a bit, found the end of the line (the form is: block p[i] q[i] for i in 1..l)",
    "block x[*] ¦4": "expected the end of the line, found '4'",
    "block x[i] for ¦1": "expected an index, found '1'",
    "block x[i] for i in 1¦": "expected '..', found the end of the line",
    "block x[i] for i in 1..¦": "expected a number or a name, found the end of the line",
    "when¦": "expected a bit, found the end of the line (the form is: when p[i]=0 q[i]=1 write p[i] for i in 1..l)",
    "when ¦1=f write g": "expected a bit, found '1'",
    "when f¦": "expected '=' or '!=' after 'f', found the end of the line",
    "when x[1] ¦write f": "expected '=' or '!=' after 'x', found 'write'",
    "when f ¦< 1 write g": "expected '=' or '!=' after 'f', found '<'",
    "when f=1¦": "expected another condition or 'write', found the end of the line",
    "when f=1¦, g=1 write f": "expected another condition or 'write', found ','",
    "when f=1 ¦for i in 1..2": "expected another condition or 'write', found 'for'",
    "when f=1 ¦wirte g": "expected 'write', found 'wirte'; did you mean 'write'?",
    "when f=1 write¦": "expected a bit, found the end of the line",
    "when f=1 write ¦1": "expected a bit, found '1'",
    "when f=1 write g ¦= 1": "expected the end of the line, found '='",
    "when f=1 write g if 1¦": "expected a comparison such as '<', found the end of the line",
    "when f=1 write g if 1 < 2 ¦< 3": "expected the end of the line, found '<'",
    "input¦": "expected a bit, found the end of the line (the form is: input p q, or input a = p)",
    "input a =¦": "expected a bit, found the end of the line",
    "output a = x ¦= y": "expected the end of the line, found '='",
    "start¦": "expected a bit, found the end of the line (the form is: start flag x[1])",
    "steps¦": "expected a number or a name, found the end of the line (the form is: steps 2*l)",
    "matches¦": "expected a number or a name, found the end of the line (the form is: matches 2*l)",
    "examples 2 ¦x": "expected the end of the line, found 'x'",
    "bits ¦matches": "'matches' is a word of the language",
    "steps 3 ¦4": "expected the end of the line, found '4'",
    "halt¦": "expected 'at', found the end of the line (the form is: halt when flag, or halt at fixed point)",
    "halt at ¦fixd point": "expected 'fixed', found 'fixd'; did you mean 'fixed'?",
    "halt when¦": "expected a bit, found the end of the line",
}
MEANINGLESS = {
    "let n = 1\nlet ¦n = 2": "'n' has a value already (1)",
    "let n = ¦z": "unknown name 'z'; give it a value with let or for",
    "let width = 3\nlet n = ¦widht": "unknown name 'widht'; did you mean 'width'?",
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
    "bits ¦p[2,4]": "p[1,1], p[1,2], p[1,3], p[1,4], p[2,1] and 3 more are in no block; add a 'block' for it",
    "bits ¦p[10000001]": "'p' has 10,000,001 bits; a rule file may declare 10,000,000",
    "¦block f": "f is in two blocks; line 3 has it too",
    "¦block x[i] for i in 2..4": "x[2], x[3], x[4] are in two blocks; line 2 has them too (at i=2)",
    "bits p\n¦block p p": "p is twice in one block",
    "bits p[17]\n¦block p[*]": "a block holds at most 16 bits, this one has 17",
    "bits p[2,17]\n¦block p[i,*] for i in 1..2": "a block holds at most 16 bits, this one has 17 (at i=1)",
    "block ¦x": "x[4] is an array; write x[*] for all of it",
    "bits m[2,2]\nblock ¦m": "m[2,2] is an array; write m[*,*] for all of it",
    "block ¦x[1,2]": "x[4] takes 1 index(es), got 2",
    "block ¦f[1]": "f takes 0 index(es), got 1",
    "when ¦flag=1 write g": "unknown bit 'flag'; declare it with bits",
    "bits counter\nblock counter\nwhen ¦cuonter=1 write g": "unknown bit 'cuonter'; did you mean 'counter'?",
    "when f=1 write ¦x[5]": "index out of range: x[5], declared as x[4]",
    "when f=1 write ¦x[0]": "index out of range: x[0], declared as x[4]",
    "when f=1 write ¦x[-1]": "index out of range: x[-1], declared as x[4]",
    "when f=1 write ¦x[2..5]": "index out of range: x[5], declared as x[4]",
    "when x[i]=1 write ¦y[i+1] for i in 1..4": "index out of range: y[5], declared as y[4] (at i=4)",
    "when x[i]=1 write ¦y[i-j] for i in 2..4, j in 1..2": "index out of range: y[0], declared as y[4] (at i=2, j=2)",
    "when x[¦i]=1 write f": "unknown name 'i'; give it a value with let or for",
    "when x[i]=1 write f for i in 1..¦n": "unknown name 'n'; give it a value with let or for",
    "when x[1]=1 write f for ¦f in 1..2": "index 'f' is already a name; choose another",
    "when x[i]=1 write f for i in 1..4 for ¦i in 1..2": "index 'i' is already a name; choose another",
    "let k = 1\nwhen x[k]=1 write f for ¦k in 1..2": "index 'k' is already a name; choose another",
    "when x[i]=1 write y[4¦//(i-2)] for i in 1..3": "division by zero in '//'",
    "when x[i]=1 write y[1+i¦*2147483647] for i in 1..2": "the result of '*' must stay below 2^31",
    "when ¦f=2 write g": "a bit is 0 or 1, but 'f' is compared with 2",
    "when f=1 ¦g!=-1 write g": "a bit is 0 or 1, but 'g' is compared with -1",
    "when ¦x[i]=i write g for i in 1..3": "a bit is 0 or 1, but 'x' is compared with 2 (at i=2)",
    "when ¦x[1..2]=y[1] write g": "only single bits can be compared with each other",
    "when f=¦x write g": "x[4] is an array; write x[*] for all of it",
    "¦when f=1 x[1]=1 write g": "'when' spans blocks: f, x[1] must share one block",
    "¦when x[i]!=y[5-i] write g for i in 1..2": "'when' spans blocks: x[1], y[4] must share one block (at i=1)",
    "¦when g=1 g=0 write g": "'when' names a bit twice: g, g",
    "¦when g=g write g": "'when' names a bit twice: g, g",
    "¦when f=1 write f": "two templates for f=1: line 4 has one too",
    "¦when f=1 g=0 write f": "two templates for f=1 g=0: line 4 has one too",
    "¦when g=1 write x[i] for i in 2..3": "two templates for g=1: this rule itself has one too (at i=2) (at i=3)",
    "when x[i]=1 write f for i in 1..4\n¦when x[3]=1 write g": "two templates for x[3]=1: line 5 has one too (at i=3)",
    "¦when g=1 write x[3..2]": "this rule writes no bit",
    "¦when x[3..2]=1 write f": "this rule names no bit",
    "input ¦x[1]": "an input without a name must be a whole array; name it, as in: input a = x[...]",
    "input x ¦z": "unknown bit 'z'",
    "bits m[2,2]\nblock m[*,*]\noutput ¦m": "m[2,2] is not one number; choose a row, such as [1,*]",
    "¦output a = x x[1]": "'a' names a bit twice",
    "input x\n¦input a = x[2..3]": "x[2], x[3] would be set by two inputs",
    "input a = x\n¦input a = y": "two inputs are called 'a'; name them apart",
    "output x[1]\n¦output x[2]": "two outputs are called 'x'; name them apart",
    "input x\n¦start x[2] f": "x[2] would be set by both 'input' and 'start'",
    "start ¦x": "x[4] is an array; write x[*] for all of it",
    "¦steps 2-3": "steps must be 0 or more, got -1",
    "¦matches -1": "matches must be 0 or more, got -1",
    "matches 1\nexamples 2\n¦examples 2": "'examples' is given twice",
    "steps 1\n¦steps 1": "'steps' is given twice",
    "halt when f\n¦halt at fixed point": "'halt' is given twice",
    "¦halt when x[*]": "'halt when' takes a single bit",
    "halt when ¦x": "x[4] is an array",
}


def problems_of(text: str) -> tuple[Problem, ...]:
    with pytest.raises(ProgramError) as refusal:
        parse(text)
    return refusal.value.problems


def marked(text: str) -> tuple[str, int, int]:
    before, _, after = text.partition("¦")
    return before + after, before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


@pytest.mark.parametrize(("text", "piece"), (UNREADABLE | MEANINGLESS).items(), ids=ascii)
def test_a_mistake_is_one_problem_at_its_line_and_column(text: str, piece: str) -> None:
    whole, line, column = marked(SOUND + text)
    assert [(problem.line, problem.column) for problem in problems_of(whole)] == [(line, column)]
    assert piece in problems_of(whole)[0].message


@pytest.mark.parametrize(
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


def test_a_word_is_not_suggested_for_itself() -> None:
    for text in UNREADABLE:
        for problem in problems_of(marked(SOUND + text)[0]):
            found = problem.message.partition("found '")[2].partition("'")[0]
            assert not found or f"did you mean '{found}'" not in problem.message


def test_all_mistakes_of_a_file_are_listed_in_order() -> None:
    mistakes = "whn f=1 write g\nwhen x[i]=1 write y[i+1] for i in 1..4\nsteps 3 $\nwhen f=2 write f\ninput q\nhalt 3"
    assert [str(problem) for problem in problems_of(HEAD + mistakes)] == [
        "4:1: unknown statement 'whn'; did you mean 'when'?",
        "5:19: index out of range: y[5], declared as y[4] (at i=4)",
        "6:9: unexpected character '$'",
        "7:6: a bit is 0 or 1, but 'f' is compared with 2",
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


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("let l = 10", "¦lte l = 10"),
        ("let l = 10", "let l = ¦ten"),
        ("let l = 10", "let l = 10¦//0"),
        ("let l = 10", "let l ¦10"),
        ("bits p[l] q[l] c[l]", "¦bist p[l] q[l] c[l]"),
        ("bits p[l] q[l] c[l]", "bits p[l] q[l ¦c[l]"),
        ("bits p[l] q[l] c[l]", "bits p[l] q[l] ¦c[l-l]"),
        ("bits p[l] q[l] c[l]", "bits p[l] q[l] c[¦k]"),
        ("bits p[l] q[l] c[l]", "bits p[l] ¦@ q[l] c[l]"),
        ("block c[i] for i in 1..l", "¦blok c[i] for i in 1..l"),
        ("block c[i] for i in 1..l", "block c[i] for i ¦1..l"),
        ("block c[i] for i in 1..l", "block c[¦j] for i in 1..l"),
        ("block c[i] for i in 1..l", "block ¦c[i] for i in 0..l-1"),
        ("block c[i] for i in 1..l", "block c[i] for i in 1..¦n"),
        ("block c[i] for i in 1..l", "block c[i] for ¦l in 1..l"),
        ("block c[i] for i in 1..l", "block c[i] for ¦i in 1..2000000000"),
        ("block c[i] for i in 1..l", "¦block c[*] p[1] q[*]"),
        ("when c[l]=1 write c[l]", "when c[l¦=1 write c[l]"),
        ("when c[l]=1 write c[l]", "¦when p[3..2]=1 write c[l] for i in 1..3"),
        ("when c[l]=1 write c[l]", "when c[l]=1 write c[i] for ¦i in 1..2000000000"),
    ],
)
def test_one_mistake_is_one_problem(right: str, wrong: str) -> None:
    assert ADDITION.count(right + "\n") == 1
    text, line, column = marked(ADDITION.replace(right, wrong))
    assert [(problem.line, problem.column) for problem in problems_of(text)][:3] == [(line, column)]


def test_a_bracket_left_open_does_not_hide_the_statements_below() -> None:
    found = problems_of(SOUND + "steps (3\nwhen z=1 write f\ninput x[1\n  bits x\n")
    assert [(problem.line, problem.column) for problem in found] == [(5, 9), (6, 6), (7, 10), (8, 8)]


def test_rules_that_span_blocks_do_not_clash_as_well() -> None:
    found = problems_of(SOUND + "when f=1 x[1]=1 write g\nwhen f=1 x[1]=1 write f")
    assert [(problem.line, problem.message[:18]) for problem in found] == [
        (5, "'when' spans block"),
        (6, "'when' spans block"),
    ]


def test_a_number_that_nothing_declares_is_complained_about_once() -> None:
    assert len(problems_of(ADDITION.replace("let l = 10", "let n = 10"))) == 1


def test_bits_in_two_blocks_are_named_once_and_counted_right() -> None:
    assert problems_of("bits x\nblock x for i in 1..3\nwhen x=1 write x")[0].message == "x is in two blocks (at i=2)"
    doubled = "bits x[200]\nblock x[i] for i in 1..200\nblock x[i] for i in 1..200\nwhen x[1]=1 write x[1]"
    assert "x[5] and 195 more are in two blocks" in problems_of(doubled)[0].message


def test_problems_of_blocks_are_listed_even_where_no_rule_can_be_read() -> None:
    text = "bits x y z\nblock x x\nblock y\nwhen w=1 write x"
    assert [(problem.line, problem.column) for problem in problems_of(text)] == [(1, 10), (2, 1), (4, 6)]


def test_rules_that_stand_for_no_template_make_no_program() -> None:
    (problem,) = problems_of(HEAD + "when x[i]=1 write f for i in 2..1")
    assert problem.line > 0
    assert problem.column > 0


# Texts that ask for more than there is.


@contextmanager
def little(seconds: float = 5, megabytes: int = 1000) -> Iterator[None]:
    tracemalloc.start()
    begin = time.perf_counter()
    try:
        yield
        assert time.perf_counter() - begin < seconds
        assert tracemalloc.get_traced_memory()[1] < megabytes << 20
    finally:
        tracemalloc.stop()


def tower(levels: int) -> str:
    """An expression within the limits on nesting and on chaining, but whose tree is levels * 98 deep."""
    text = "1"
    for _ in range(levels):
        text = "(" + text + "*1" * 49 + "+0" * 49 + ")"
    return text


MANY = 20_000
HOSTILE = {
    "nested parentheses": "steps " + "(" * MANY + "1" + ")" * MANY,
    "open parentheses": "steps " + "(" * MANY,
    "nested signs": "steps " + "-" * MANY + "1",
    "nested powers": "steps " + "1^" * MANY + "1",
    "nested brackets": "start " + "x[" * MANY,
    "a long chain": "steps " + "1+" * MANY + "1",
    "a long product": "steps " + "1*" * MANY + "1",
    "a giant number": "steps " + "9" * 1_000_000,
    "a giant name": "start " + "a" * 1_000_000,
    "a giant range": "when f=1 write g for i in 1..2000000000",
    "a giant range of negative numbers": "when f=1 write g for i in -2147483647..2147483647",
    "a giant range inside another": "when f=1 write g for i in 1..60000, j in 1..60000",
    "a giant range in a block": "block x[1] for i in 1..2000000000",
    "a giant range in start": "start f for i in 1..2000000000",
    "a giant part": "when f=1 write x[1..2000000000]",
    "a giant part in an output": "output x[1..2000000000]",
    "giant bits": "bits p[2147483647]",
    "giant bits by product": "bits p[60000,60000,60000,60000,60000]",
    "giant bits by sum": "".join(f"bits p{i}[9999999]\n" for i in range(200)),
    "overflow by product": "let a = 65536\nsteps a*a*a*a",
    "overflow by sum": "let a = 2147483647\nsteps a+a+a+a",
    "overflow by power": "steps 2147483647^2147483647",
    "overflow in an index": "when x[i*2147483647*2147483647]=1 write f for i in 1..4",
    "a product of whole arrays": "bits p[99,99,99]\nblock p[1,1,1]\nwhen f=1 write p[*,*,*] for i in 1..99999",
    "many whole arrays": "bits p[9999]\nblock p[1]\nwhen f=1 write " + "p[*] " * 9999,
    "many comparisons": "bits p[40]\nblock p[1]\nwhen " + "p[1]=p[2] " * 40 + "write f",
    "many indices": "when f=1 write g " + " ".join(f"for i{n} in 1..2" for n in range(100)),
    "a bracket that stays open": "when x[1\n" + "1\n" * MANY,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_texts_that_ask_for_too_much_are_refused_with_little_time_and_memory(text: str) -> None:
    with little():
        assert all(len(str(problem)) < 300 for problem in problems_of(SOUND + text))


@pytest.mark.parametrize("levels", [1, 12, 48])
def test_a_tree_deeper_than_pythons_stack_is_read_or_refused(levels: int) -> None:
    try:
        assert parse(SOUND + "steps " + tower(levels)).steps == 1
    except ProgramError:
        assert levels > 1


def test_a_file_of_junk_is_refused_soon() -> None:
    begin = time.perf_counter()
    assert problems_of("@" * 300_000)
    assert time.perf_counter() - begin < 2


@pytest.mark.parametrize("blocks", ["block x[{ones}]\nblock y", "block y", "block x[{ones}]\nblock x[{ones}]\nblock y"])
def test_an_array_of_many_indices_is_read_or_refused(blocks: str) -> None:
    ones = ",".join("1" * 70)
    text = f"bits x[{ones}] y\n{blocks.format(ones=ones)}\nwhen y=1 write x[{ones}]"
    try:
        algorithm = parse(text)
    except ProgramError:
        return
    assert parse(algorithm.text()).same_as(algorithm)


def test_limits_are_not_in_the_way() -> None:
    nested = "(" * 50 + "1" + ")" * 50
    assert parse(SOUND + "steps " + nested).steps == 1
    assert parse(SOUND + "steps " + "1+" * 50 + "1").steps == 51
    with little(seconds=10):
        big = parse("bits x[100000]\nblock x[i] for i in 1..100000\nwhen x[i]=1 write x[100001-i] for i in 1..100000")
    assert big.program.templates == 100_000
    eight = " ".join(f"x[{2 * i - 1}]=x[{2 * i}]" for i in range(1, 9))
    assert parse(f"bits x[16]\nblock x[*]\nwhen {eight} write x[1]").program.templates == 256


def test_a_port_may_be_called_like_a_word_of_the_language() -> None:
    algorithm = parse("bits x[2]\nblock x[*]\nwhen x[*]=1 write x[*]\ninput when = x\noutput signed steps = x[2] x[1]")
    assert [word.name for word in (*algorithm.inputs, *algorithm.outputs)] == ["when", "steps"]
    assert algorithm.outputs[0].signed
    assert parse(algorithm.text()).same_as(algorithm)
