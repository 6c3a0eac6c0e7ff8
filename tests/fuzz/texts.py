"""Readers of text: rule files, assembly languages, and images."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
from fuzz import grammars
from fuzz.grammars import Grammar, make_text, words_of
from fuzz.mutations import edit_text
from fuzz.reader import Reader

from bitwright import addition, multiplication, parse, permutation
from bitwright.machines import assemble
from bitwright.machines.subleq import assemble_sq, parse_image
from bitwright.rules import Topology, parse_node_program

EXAMPLES = Path(__file__).parents[2] / "examples"


@cache
def examples(pattern: str) -> tuple[str, ...]:
    """The texts of the shipped examples."""
    found = tuple(path.read_text() for path in sorted(EXAMPLES.glob(pattern)))
    assert found, pattern
    return found


def made(grammar: Grammar, pattern: str = "") -> Callable[[Random], str]:
    """Half the cases are made from the grammar, half are shipped examples with edits, or grammar texts with edits."""
    words = words_of(grammar)

    def make(rng: Random) -> str:
        if pattern and rng.random() < 0.5:
            return edit_text(rng, rng.choice(examples(pattern)), words)
        text = make_text(rng, grammar)
        return edit_text(rng, text, words) if rng.random() < 0.3 else text

    return make


CANONICAL = tuple(algorithm.text() for algorithm in (addition(2), multiplication(2), permutation([3, 1, 2])))
LOOP = Topology.from_edges(1, [(0, 0)])
COUNT = {"node": 1, "port": 2, "whole": 1}


def canonical(rng: Random) -> str:
    return edit_text(rng, rng.choice(CANONICAL), words_of(grammars.RULES))


def same_again(text: str) -> None:
    """A program that is read is written in a form that is read as the same program."""
    algorithm = parse(text)
    again = parse(algorithm.text())
    assert again.same_as(algorithm), "the canonical text is another program"
    assert again.program.kinds.kinds == algorithm.program.kinds.kinds, "the canonical text has other cells"


def same_node_program(text: str) -> None:
    """The same for node programs; and on a small graph it is a program, or the graph is refused."""
    program = parse_node_program(text)
    again = parse_node_program(program.text())
    assert again.text() == program.text(), "the canonical text is another node program"
    assert again.schema().program.kinds.kinds == program.schema().program.kinds.kinds
    values = {word.name: np.full(COUNT[word.place], word.range[0]) for word in program.schema(1, 2).inputs}
    program.on(LOOP, values)


READERS = (
    Reader("rule text", made(grammars.RULES, "*.bw"), same_again),
    Reader("node programs", made(grammars.NODES, "graphs/*.bw"), same_node_program),
    Reader("expressions of rule text", made(grammars.EXPRESSIONS), same_again),
    Reader("canonical text", canonical, same_again),
    Reader("SBN assembly (.sbn)", made(grammars.SBN, "sbn/*.sbn"), assemble),
    Reader("SUBLEQ assembly (.sq)", made(grammars.SUBLEQ, "subleq/*.sq"), assemble_sq),
    Reader("SUBLEQ images (.dec)", made(grammars.IMAGE), parse_image),
)
