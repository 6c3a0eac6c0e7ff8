"""Mistakes in node programs: each one problem, at its line and column."""

from __future__ import annotations

import pytest
from cases import for_each
from marked import marked

from bitwright.errors import InputError, ProgramError
from bitwright.program import parse, parse_node_program

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
    "port¦": "expected 'bits', found the end of the line (the form is: port bits heard s[l])",
    "port ¦bit x": "expected 'bits', found 'bit'",
    "port bits¦": "expected a name, found the end of the line (the form is: port bits heard s[l])",
    "port bits ¦a": "bits 'a' are declared twice",
    "port bits ¦q": "q is in no block; add a 'block' for it",
    "whole bits x ¦for": "'for' is a word of the language; choose another name (whole bits done)",
    "bits ¦nodes": "'nodes' is already a number; choose another name for the bits",
    "let ¦nodes = 3": "'nodes' is how many nodes the graph has; choose another name",
    "when r[1]=1 write a for ¦nodes in 1..1": "index 'nodes' is already a name; choose another",
    "bits p\nport bits q\n¦block p q": "a block has bits of one place: of nodes, of ports or whole",
    "bits p[2]\nwhole bits q[2]\n¦block p[i] q[i] for i in 1..2": "a block has bits of one place: of "
    "nodes, of ports or whole (at i=1)",
    "¦cell a e": "a cell has blocks of one place: of nodes, of ports or whole",
    "block far.¦a": "'far.a' can only be written, by a rule of a node program",
    "cell far.¦a": "'far.a' can only be written, by a rule of a node program",
    "start far.¦a": "'far.a' can only be written, by a rule of a node program",
    "¦matches 3": "'matches' is not for node programs",
    "let x = digits(¦)": "expected a number or a name, found ')'",
    "let x = digits(3¦": "expected ')', found the end of the line",
    "let x = digits ¦3": "expected the end of the line, found '3'",
    "let x = digits(¦zz)": "unknown name 'zz'; give it a value with let or for",
}
PATHS = {
    "when b=1 write ¦zz.a": "there is no path 'zz'; the paths are far.x, all.x, far.all.x, back.x, next.x, every.x",
    "when b=1 write far.¦zz": "unknown bit 'zz'; declare it with bits",
    "when b=1 write far.¦b[1]": "far.b takes 0 indices, got 1",
    "when b=1 write far.¦r": "far.r[3] is an array; write far.r[*] for all of it",
    "when b=1 write far.¦r[4]": "index out of range: far.r[4], declared as far.r[3]",
    "when b=1 write far.¦": "expected a bit, found the end of the line",
    "when b=1 write ¦.a": "expected a bit, found '.'",
    "when far.¦a=1 write a": "'far.a' can only be written, by a rule of a node program",
    "when b=far¦.a write a": "expected another condition or 'write', found '.'",
    "¦when b=1 write e": "a rule of a node cannot write e, for e is a bit of ports; "
    "write all.e or back.e or far.e or far.all.e or next.e",
    "¦when b=1 write all.b": "a rule of a node cannot write all.b, for b is a bit of nodes; write b or back.b or far.b",
    "¦when b=1 write every.k[*]": "cannot write every.k[1], for k[1] is a bit of the whole graph; write k[1]",
}
RULES = {
    "¦when a=1 write nothing": "two templates for a=1 (and 0 for b): line 10 has one too",
    "¦when b=1 write far.r[2..1]": "this rule writes no bit",
    "when b!=¦* write a": "expected a number or a name, found '*'",
    "when b=*¦": "expected another condition or 'write', found the end of the line",
    "¦when a=1 b=* write a": "two templates for a=1 b=0: line 10 has one too",
    "when ¦r[*]=* write a": "only a single bit can be left open with =*",
    "bits q[9]\nblock q[*]\n¦when " + " ".join(f"q[{i}]=*" for i in range(1, 10)) + " write a": "too many comparisons "
    "between bits, or open bits, in one rule; at most 8",
}
LINES = {
    "chain¦": "expected a bit, found the end of the line (the form is: chain e -> z)",
    "chain e¦": "expected '->', found the end of the line",
    "chain e ->¦": "expected a bit, found the end of the line",
    "chain e -> ¦zz": "unknown bit 'zz'",
    "chain ¦s[*] -> a": "a chain goes from one bit to one bit",
    "¦chain a -> a": "a chain goes along a bit of ports, and ends in a bit of the node",
    "chain e -> a\n¦chain e -> b": "the chain of e ends in a already",
    "graph¦": "expected a word, found the end of the line (the form is: graph simple, connected, degree 8)",
    "graph ¦simpel": "unknown kind of graph 'simpel'; did you mean 'simple'?",
    "graph simple ¦connected": "expected the end of the line, found 'connected'",
    "graph degree¦": "expected a number or a name, found the end of the line",
    "graph degree ¦a": "'a' names bits, but a number is needed here",
    "¦graph degree 2-3": "degree must be 0 or more, got -1",
    "graph degree 2, ¦degree 3": "'degree' is given twice",
    "graph simple, ¦simple": "'simple' is given twice",
    "¦halt when a": "'halt when' takes a bit of the whole graph; declare it with: whole bits",
    "¦halt when k[*]": "'halt when' takes a single bit",
    "halt when far.¦a": "'far.a' can only be written",
}
WORDS = {
    "¦input one r": "'one' is for an input of one bit",
    "¦input one e": "only what nodes have can be unique, or be had by one",
    "¦output one a": "'one' is for inputs",
    "¦output positive r": "'positive' is for inputs",
    "¦input signed positive r": "what is positive cannot be signed",
    "¦input r, a": "only an input of one bit can set further bits",
    "¦input x = a b, r[*]": "only an input of one bit can set further bits",
    "input a, ¦zz": "unknown bit 'zz'",
    "input a,¦": "expected a bit, found the end of the line",
    "input a, all.¦b": "an input of nodes cannot set all.b, for b is a bit of nodes; set b or back.b or far.b",
    "¦input r if a": "'if' is for outputs",
    "output r if ¦zz": "unknown bit 'zz'",
    "¦output r if e": "'r' and the bit behind 'if' must be of the same place",
    "¦output signed r = place r": "a place is counted from 1, so it cannot be signed",
    "input x = place ¦not r": "unknown bit 'not'",
    "¦input x = a e": "a number has bits of one place: of nodes, of ports or whole",
    "input r\n¦input x = r[1]": "r[1] would be set by two inputs",
    "input r\n¦start r[2]": "r[2] would be set by both 'input' and 'start'",
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
    assert piece in found[0][2]


@for_each("text", [text for text in DECLARATIONS | RULES | LINES | WORDS if "far.¦a" in text])
def test_what_has_a_path_is_only_written_even_if_a_rule_writes_it(text: str) -> None:
    whole, line, column = marked(SOUND.replace("write a\n", "write a far.a\n") + text)
    assert problems_of(whole) == [(line, column, "'far.a' can only be written, by a rule of a node program")]


def test_a_block_with_a_path_and_a_bit_without_a_block() -> None:
    text = "bits go x\nport bits seen\nblock seen all.seen\nwhen seen=1 write all.seen\ninput x = go\n"
    assert [problem[:2] for problem in problems_of(text)] == [(1, 6), (1, 9), (3, 16)]


def test_all_mistakes_of_a_text_are_listed_in_order() -> None:
    mistakes = (
        "chain a -> b\nwhen e=1 write every.a\ngraph round\ninput unique e\noutput r if e\nhalt when a\nmatches 2"
    )
    assert [line for line, _, _ in problems_of(SOUND + mistakes)] == list(range(11, 18))


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
        f"5:1: {what} is for node programs, which run on graphs"
        + "; bits and numbers are separated by spaces" * (what == "','")
    ]


@pytest.mark.parametrize(
    "line", ["graph simple", "port bits e\nblock e", "whole bits d\nblock d", "when a=0 write far.a", "chain a -> a"]
)
def test_a_node_program_is_not_parsed_as_an_ordinary_one(line: str) -> None:
    with pytest.raises(InputError, match="this is a node program, which runs on a graph; use parse_any"):
        parse(ORDINARY + line)


def test_an_ordinary_program_is_a_node_program_whose_nodes_do_not_talk() -> None:
    assert repr(parse_node_program(ORDINARY)) == "NodeProgram 'program': 3 bits of nodes, 1 template"


def test_a_size_that_a_program_is_not_for_is_a_problem_of_that_size() -> None:
    program = parse_node_program("bits q[nodes-3] a\nblock q[*] a\nwhen a=1 write a")
    assert program.schema(5, 0).bits == 3
    with pytest.raises(ProgramError, match="'q' needs an extent of at least 1, got 0"):
        program.schema(3, 0)
    assert program.kinds == program.schema(16, 48).program.kinds.kinds  # 1 to 3 and 1,000 nodes are none of its sizes
    assert [schema.program for schema in program.schemas()] == [program.schema().program]
