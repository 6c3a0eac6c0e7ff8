"""Mistakes in node programs: each one problem, at its line and column."""

import pytest
from cases import for_each
from facts import missing
from marked import marked

from bitwright.common.errors import InputError, ProgramError
from bitwright.rules import parse, parse_node_program

SOUND = """bits a b r[3]
port bits e w s[3]
whole bits done k[2]
block a b
block r[i] for i in 1..3
block e w
block s[i] for i in 1..3
block done
block k[i] for i in 1..2
when a=1 write a
"""

# A ¦ marks the line and column that must be reported.

DECLARATIONS = {
    "port¦": "'bits' s[l]",
    "port ¦bit x": "'bits' 'bit'",
    "port bits¦": "s[l]",
    "port bits ¦a": "'a'",
    "port bits ¦q": "'block'",
    "whole bits x ¦for": "'for'",
    "bits ¦nodes": "'nodes'",
    "let ¦nodes = 3": "'nodes'",
    "when r[1]=1 write a for ¦nodes in 1..1": "'nodes'",
    "bits p\nport bits q\n¦block p q": "block node",
    "bits p[2]\nwhole bits q[2]\n¦block p[i] q[i] for i in 1..2": "i=1)",
    "¦cell a e": "blocks node",
    "block far.¦a": "'far.a'",
    "cell far.¦a": "'far.a'",
    "start far.¦a": "'far.a'",
    "¦matches 3": "'matches'",
    "let x = digits(¦)": "')'",
    "let x = digits(3¦": "')'",
    "let x = digits ¦3": "'3'",
    "let x = digits(¦zz)": "'zz'",
}
PATHS = {
    "when b=1 write ¦zz.a": "'zz' far.x all.x far.all back.x next.x every.x",
    "when b=1 write far.¦zz": "'zz'",
    "when b=1 write far.¦b[1]": "far.b 0 1",
    "when b=1 write far.¦r": "far.r[3] far.r[*]",
    "when b=1 write far.¦r[4]": "far.r[4] far.r[3]",
    "when b=1 write far.¦": "expected found",
    "when b=1 write ¦.a": "'.'",
    "when far.¦a=1 write a": "'far.a'",
    "when b=far¦.a write a": "'write' '.'",
    "¦when b=1 write e": "all.e back.e far.e far.all next.e",
    "¦when b=1 write all.b": "all.b back.b far.b",
    "¦when b=1 write every.k[*]": "every.k[1] k[1]",
}
RULES = {
    "¦when a=1 write nothing": "a=1 0 10",
    "¦when b=1 write far.r[2..1]": "rule writes",
    "when b!=¦* write a": "'*'",
    "when b=*¦": "'write'",
    "¦when a=1 b=* write a": "a=1 b=0 10",
    "when ¦r[*]=* write a": "single bit",
    "bits q[9]\nblock q[*]\n¦when " + " ".join(f"q[{i}]=*" for i in range(1, 10)) + " write a": "8",
}
LINES = {
    "chain¦": "expected chain",
    "chain e¦": "'->'",
    "chain e ->¦": "expected found",
    "chain e -> ¦zz": "'zz'",
    "chain ¦s[*] -> a": "chain single",
    "¦chain a -> a": "chain port node",
    "chain e -> a\n¦chain e -> b": "chain already",
    "graph¦": "8",
    "graph ¦simpel": "'simpel' 'simple'",
    "graph simple ¦connected": "'connected'",
    "graph degree¦": "expected number",
    "graph degree ¦a": "'a'",
    "¦graph degree 2-3": "0 -1",
    "graph degree 2, ¦degree 3": "'degree'",
    "graph simple, ¦simple": "'simple'",
    "¦halt when a": "halt when",
    "¦halt when k[*]": "halt when",
    "halt when far.¦a": "'far.a'",
}
WORDS = {
    "¦input one r": "'one'",
    "¦input one e": "nodes unique",
    "¦output one a": "'one'",
    "¦output positive r": "'positive'",
    "¦input signed positive r": "'positive' 'signed'",
    "¦input r, a": "input additional",
    "¦input x = a b, r[*]": "input additional",
    "input a, ¦zz": "'zz'",
    "input a,¦": "expected found",
    "input a, all.¦b": "all.b back.b far.b",
    "¦input r if a": "'if'",
    "output r if ¦zz": "'zz'",
    "¦output r if e": "'r' 'if'",
    "¦output signed r = place r": "1",
    "input x = place ¦not r": "'not'",
    "¦input x = a e": "number node",
    "input r\n¦input x = r[1]": "r[1]",
    "input r\n¦start r[2]": "r[2] 'input' 'start'",
}


def problems_of(text: str) -> list[tuple[int, int, str]]:
    with pytest.raises(ProgramError) as refusal:
        parse_node_program(text)
    return [(problem.line, problem.column, problem.message) for problem in refusal.value.problems]


@for_each(("text", "piece"), (DECLARATIONS | PATHS | RULES | LINES | WORDS).items())
def test_a_mistake_is_one_problem_at_its_line_and_column(text: str, piece: str) -> None:
    whole, line, column = marked(SOUND + text)
    found = problems_of(whole)
    assert [place[:2] for place in found] == [(line, column)]
    assert missing(found[0][2], piece) == []


@for_each("text", [text for text in DECLARATIONS | RULES | LINES | WORDS if "far.¦a" in text])
def test_what_has_a_path_is_only_written_even_if_a_rule_writes_it(text: str) -> None:
    whole, line, column = marked(SOUND.replace("write a\n", "write a far.a\n") + text)
    assert problems_of(whole) == [(line, column, "'far.a' can only be a target of 'write' in a node program")]


def test_all_mistakes_of_a_text_are_listed_in_order() -> None:
    mistakes = "chain a -> b\nwhen e=1 write every.a\ninput unique e\noutput r if e\nhalt when a\nmatches 2"
    assert [line for line, _, _ in problems_of(SOUND + mistakes)] == list(range(11, 17))


# What is for graphs, in an ordinary text; and the other way round.

ORDINARY = "bits a r[2]\nblock a\nblock r[*]\nwhen a=1 write a\n"


@for_each(
    ("line", "what"),
    [
        ("input unique r", "'unique'"),
        ("input unique id = r", "'unique'"),
        ("input positive r", "'positive'"),
        ("input a, r[1]", "','"),
        ("output r if a", "'if'"),
        ("input x = not r", "'not'"),
        ("output x = place r", "'place'"),
    ],
)
def test_what_only_nodes_have_is_no_part_of_an_ordinary_program(line: str, what: str) -> None:
    with pytest.raises(ProgramError) as refusal:
        parse(ORDINARY + line)
    assert [str(problem) for problem in refusal.value.problems] == [
        f"5:1: {what} is only allowed in node programs, which run on graphs"
        + "; separate bits and numbers with spaces" * (what == "','")
    ]


@pytest.mark.parametrize(
    "line", ["graph simple", "port bits e\nblock e", "whole bits d\nblock d", "when a=0 write far.a", "chain a -> a"]
)
def test_a_node_program_is_not_parsed_as_an_ordinary_one(line: str) -> None:
    with pytest.raises(InputError, match="parse_any"):
        parse(ORDINARY + line)


def test_a_size_that_a_program_is_not_for_is_a_problem_of_that_size() -> None:
    program = parse_node_program("bits q[nodes-3] a\nblock q[*] a\nwhen a=1 write a")
    assert program.schema(5, 0).bits == 3
    with pytest.raises(ProgramError, match=r"dimension of 'q'.*1.*0"):
        program.schema(3, 0)
    assert program.kinds == program.schema(16, 48).program.kinds.kinds  # 1 to 3 and 1,000 nodes are none of its sizes
    assert [schema.program for schema in program.schemas()] == [program.schema().program]
