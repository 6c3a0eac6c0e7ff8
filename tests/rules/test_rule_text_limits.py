"""Hostile rule text is refused, or read, without taking the machine with it."""

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from cases import for_each
from long import LONG
from rules.test_rule_text import SOUND
from rules.test_rule_text_problems import problems_of

from bitwright.common.errors import ProgramError
from bitwright.rules import parse


@contextmanager
def little(megabytes: int = 1000) -> Iterator[None]:
    """What happens inside takes little memory; that it ends at all is the rest of the test."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < megabytes << 20
    finally:
        tracemalloc.stop()


def tower(levels: int) -> str:
    """An expression within the limits on nesting and on chaining, but whose tree is levels * 98 deep."""
    text = "1"
    for _ in range(levels):
        text = "(" + text + "*1" * 49 + "+0" * 49 + ")"
    return text


MANY = 20_000 if LONG else 4_000
HOSTILE = {
    "nested parentheses": "steps " + "(" * MANY + "1" + ")" * MANY,
    "nested brackets": "start " + "x[" * MANY,
    "a long chain": "steps " + "1+" * MANY + "1",
    "a giant number": "steps " + "9" * 1_000_000,
    "a giant name": "start " + "a" * 1_000_000,
    "a giant range": "when f=1 write g for i in 1..2000000000",
    "a giant range of negative numbers": "when f=1 write g for i in -2147483647..2147483647",
    "a giant range in a block": "block x[1] for i in 1..2000000000",
    "a giant range in start": "start f for i in 1..2000000000",
    "a giant part": "when f=1 write x[1..2000000000]",
    "a giant part in an output": "output x[1..2000000000]",
    "giant bits": "bits p[2147483647]",
    "giant bits by product": "bits p[60000,60000,60000,60000,60000]",
    "giant bits by sum": "".join(f"bits p{i}[9999999]\n" for i in range(200)),
    "overflow by product": "let a = 65536\nsteps a*a*a*a",
    "overflow by power": "steps 2147483647^2147483647",
    "overflow in an index": "when x[i*2147483647*2147483647]=1 write f for i in 1..4",
    "a product of whole arrays": "bits p[99,99,99]\nblock p[1,1,1]\nwhen f=1 write p[*,*,*] for i in 1..4000",
    "many comparisons": "bits p[40]\nblock p[1]\nwhen " + "p[1]=p[2] " * 40 + "write f",
    "many indices": "when f=1 write g " + " ".join(f"for i{n} in 1..2" for n in range(100)),
    "a bracket that stays open": "when x[1\n" + "1\n" * MANY,
}


@for_each("text", HOSTILE.values())
def test_texts_that_ask_for_too_much_are_refused_with_little_memory(text: str) -> None:
    with little():
        assert all(len(str(problem)) < 300 for problem in problems_of(SOUND + text))


@pytest.mark.parametrize("levels", [1, 12, 48])
def test_a_tree_deeper_than_pythons_stack_is_read_or_refused(levels: int) -> None:
    try:
        assert parse(SOUND + "steps " + tower(levels)).steps == 1
    except ProgramError:
        assert levels > 1


def test_limits_are_not_in_the_way() -> None:
    nested = "(" * 50 + "1" + ")" * 50
    assert parse(SOUND + "steps " + nested).steps == 1
    assert parse(SOUND + "steps " + "1+" * 50 + "1").steps == 51
    with little():
        big = parse("bits x[100000]\nblock x[i] for i in 1..100000\nwhen x[i]=1 write x[100001-i] for i in 1..100000")
    assert big.program.templates == 100_000
    eight = " ".join(f"x[{2 * i - 1}]=x[{2 * i}]" for i in range(1, 9))
    assert parse(f"bits x[16]\nblock x[*]\nwhen {eight} write x[1]").program.templates == 256
