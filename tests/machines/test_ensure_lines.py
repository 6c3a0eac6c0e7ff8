"""`.ensure` lines of SBN programs, tried by the plain interpreter."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from random import Random

import pytest

from bitwright.errors import ProgramError
from bitwright.machines import assemble, interpret

SBN = Path(__file__).parents[2] / "examples" / "sbn"
WITH_LINES = ["add", "subtract", "multiply", "counter", "divide", "isqrt", "maximum", "sort4"]


@pytest.mark.parametrize("name", WITH_LINES)
def test_the_lines_of_the_examples_are_true(name: str) -> None:
    code = assemble((SBN / f"{name}.sbn").read_text(), name)
    assert code.ensures
    random = Random(1)
    tried = 0
    for _ in range(300):
        values = {word: random.choice([random.randrange(128), random.randrange(-128, 128)]) for word in code.inputs}
        states = list(islice(interpret(code, values), 3_000))
        if len(states) < 3_000:  # else it may never end
            memory = states[-1][1]
            outputs = {word: memory[code.names[word]] for word in code.outputs}
            assert all(line.holds(values, outputs) for line in code.ensures), (values, outputs)
            tried += 1
    assert tried > 100


@pytest.mark.parametrize(
    ("line", "column", "why"),
    [
        (".ensure sun == a", 9, "'sun' is not an input or output"),
        ("  .ensure b = a", 13, "equality is =="),
        (".ensure a + 1", 11, "not true or false"),
    ],
)
def test_a_problem_is_told_with_its_column(line: str, column: int, why: str) -> None:
    with pytest.raises(ProgramError) as error:
        assemble(f".in a b\n.out b\n{line} ; a comment\nsub a b\n")
    (problem,) = error.value.problems
    assert (problem.line, problem.column) == (3, column)
    assert why in problem.message
