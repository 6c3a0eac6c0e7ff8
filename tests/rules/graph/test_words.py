"""The words of node programs are names of bits and numbers in texts that were written without them."""

import re

from cases import for_each

from bitwright.rules import parse, parse_node_program

YOUNGER = [
    *("far", "all", "next", "every", "port", "whole", "chain", "graph", "group", "use", "end", "unique", "positive"),
    *("place", "not", "digits", "cell", "nodes", "ports", "degree"),
]
TEXT = """let w_index = 2
bits w other[2]
block w other[1]
block other[2]
when w=1 write w
when w=1 other[1]=1 write w other[1] other[2]
when w=0 other[1]=1 write other[w_index] w
input w other
output w
output both = w other[1]
start other[2] for k in 1..0
steps w_index
halt when w
"""


@for_each("word", YOUNGER)
def test_a_bit_may_be_called_so(word: str) -> None:
    called = parse(re.sub(r"\bw\b", word, TEXT))
    assert called.text() == re.sub(r"\bw\b", word, parse(TEXT).text())
    assert parse(called.text()).same_as(called)


@for_each("word", YOUNGER)
def test_a_number_and_an_index_may_be_called_so(word: str) -> None:
    text = f"let {word} = 3\nbits x[{word}]\nblock x[*]\nwhen x[1]=1 write x[{word}-1]\nsteps ({word}\n+ 1)"
    assert parse(text).program == parse(text.replace(word, "number")).program
    text = f"bits x[3]\nblock x[i] for i in 1..3\nwhen x[{word}]=1 write x[{word}] for {word} in 1..3"
    assert parse(text).program == parse(text.replace(word, "index")).program


def test_in_a_node_program_bits_go_before_words_as_well() -> None:
    program = parse_node_program("bits not x\nblock not x\nwhen not=1 write far.not\ninput a = not x\noutput b = not x")
    assert program.inputs[0].bits == program.outputs[0].bits == (1, 0)
    assert parse_node_program(program.text()).text() == program.text()


def test_paths_may_be_names_of_bits_in_a_node_program() -> None:
    program = parse_node_program("bits far all\nblock far all\nwhen far=1 write all far.all far.far")
    assert list(program.text_lines())[2:4] == ["block far all", "when far=1 all=0 write far.far all far.all"]
    assert parse_node_program(program.text()).text() == program.text()
