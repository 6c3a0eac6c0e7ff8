"""The rule text: every feature says what its plain form says."""

import numpy as np
import pytest
from cases import for_each

from bitwright.rules import FIXED_POINT, parse

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
    "rows of one line for one configuration": ("when g=1 write x[i] for i in 2..3", "when g=1 write x[2] x[3]"),
    "a table that computes which bits it writes": (
        "when f=k%2 g=k//2 write x[b] for k in 0..3, b in 1..2 if (k*k)//2^(b-1)%2=1",
        "when f=1 g=0 write x[1]\nwhen f=1 g=1 write x[1]",
    ),
    "rows that leave bits open and share a configuration": (
        "when f=* write x[1+i] for i in 0..1",
        "when f=0 write x[1] x[2]\nwhen f=1 write x[1] x[2]",
    ),
    "open bits whose rows meet in one configuration": (
        "bits a[2]\nblock a[*]\nwhen a[i]=* write x[i] for i in 1..2",
        "bits a[2]\nblock a[*]\nwhen a[*]=0 write x[1] x[2]\nwhen a[1]=1 write x[1]\nwhen a[2]=1 write x[2]",
    ),
    "rows of one line that write nothing": ("when f=1 write nothing for i in 1..2", "when f=1 write nothing"),
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


@for_each(("text", "plain"), SAME_RULES.values())
def test_a_feature_of_the_language_says_the_same_as_its_plain_form(text: str, plain: str) -> None:
    assert parse(HEAD + text).program == parse(HEAD + plain).program


@for_each(
    ("expression", "value"),
    [
        *(("2+3*4", 14), ("(2+3)*4", 20), ("10-3-2", 5), ("10-(3-2)", 9), ("7//2", 3), ("-7//2", -4), ("7%3", 1)),
        *(("-7%3", 2), ("7%-3", -2), ("100//10//5", 2), ("2*3%4", 2), ("2^10", 1024), ("2^3^2", 512), ("-2^2", -4)),
        *(("(-2)^3", -8), ("(-1)^1001", -1), ("(-1)^2147483646", 1), ("0^0", 1), ("0^5", 0), ("1^2147483647", 1)),
        *(("2^-0", 1), ("--3", 3), ("2--3", 5), ("2*-3", -6), ("2147483647-1", 2147483646)),
        *(("46340*46340", 46340**2), ("0-2147483647", -2147483647), ("((((5))))", 5), ("a*b-c", 3)),
        *(("digits(0)", 1), ("digits(1)", 1), ("digits(-7)", 3), ("digits(8)", 4)),
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


@for_each(
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


def test_a_port_may_be_called_like_a_word_of_the_language() -> None:
    algorithm = parse("bits x[2]\nblock x[*]\nwhen x[*]=1 write x[*]\ninput when = x\noutput signed steps = x[2] x[1]")
    assert [word.name for word in (*algorithm.inputs, *algorithm.outputs)] == ["when", "steps"]
    assert algorithm.outputs[0].signed
    assert parse(algorithm.text()).same_as(algorithm)
