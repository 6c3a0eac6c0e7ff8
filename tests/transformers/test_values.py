"""Columns against Python's integers, layouts, and decoders against other arithmetic."""

import numpy as np
import pytest
from adders import NAMES, addition, load

from bitwright.common.errors import InputError
from bitwright.transformers.columns import Columns, check, digits
from bitwright.transformers.layout import ColumnTask, Place, PromptLayout
from bitwright.transformers.modules import logits


def signed_difference(length: int) -> Columns:
    """|a - b| and whether it is negative: the automaton guesses the sign, and checks that 0 is not negative."""
    edges = []
    for negative in (0, 1):
        for borrow in (0, 1):
            for nonzero in (0, 1):
                for a in range(10):
                    for b in range(10):
                        d = (b - a if negative else a - b) - borrow
                        after = (negative, int(d < 0), int(nonzero or d % 10 != 0))
                        state = 4 * negative + 2 * borrow + nonzero
                        edges.append((state, a, b, d % 10, 4 * after[0] + 2 * after[1] + after[2]))
    starts, ends = np.zeros(8, bool), np.zeros(8, bool)
    starts[[0, 4]] = True
    ends[[0, 1, 5]] = True
    flag = {"negative": np.arange(8) // 4}
    return Columns("z == |a - b|", ("a", "b"), (10, 10), "z", 10, length, np.array(edges), starts, ends, flag)


def test_sums_are_those_of_python():
    rng = np.random.default_rng(1)
    inputs = rng.integers(0, 10, (500, 2, 11))
    inputs[:, :, 10] = 0
    columns = addition()
    check(columns)
    answers, _ = columns.run(inputs)
    value = lambda rows: [sum(int(d) * 10**i for i, d in enumerate(row)) for row in rows]  # noqa: E731
    assert value(answers) == [a + b for a, b in zip(value(inputs[:, 0]), value(inputs[:, 1]), strict=True)]


def test_an_automaton_may_guess_a_sign():
    columns = signed_difference(2)
    check(columns)
    numbers = np.array([(a, b) for a in range(100) for b in range(100)])
    inputs = np.stack([digits(numbers[:, 0], 10, 2), digits(numbers[:, 1], 10, 2)], axis=1)
    answers, flags = columns.run(inputs)
    assert (answers @ [1, 10] == np.abs(numbers[:, 0] - numbers[:, 1])).all()
    assert (flags["negative"] == (numbers[:, 0] < numbers[:, 1])).all()


def test_an_automaton_with_two_runs_is_refused():
    columns = signed_difference(2)
    ends = columns.ends.copy()
    ends[4] = True  # minus zero
    two = Columns("z", ("a", "b"), (10, 10), "z", 10, 2, columns.edges, columns.starts, ends)
    with pytest.raises(InputError, match="several runs"):
        check(two)


def test_a_layout_places_numbers_in_tokens():
    layout = PromptLayout(
        (12, *(Place("a", c) for c in (1, 0)), 10, *(Place("b", c) for c in (1, 0)), 11),
        tuple(Place("z", c) for c in (2, 1, 0)),
    )
    task = ColumnTask(addition(2), layout)
    inputs = np.zeros((1, 2, 3), np.int64)
    inputs[0, 0], inputs[0, 1] = [5, 9, 0], [7, 0, 0]
    assert task.rows(inputs).tolist() == [[12, 9, 5, 10, 0, 7, 11, 1, 0, 2]]
    assert task.inputs == 10**4
    assert sum(len(batch) for batch in task.every_input()) == 10**4
    assert task.describe(inputs[0]) == "a=95, b=7"


def test_a_layout_that_names_a_place_twice_is_refused():
    with pytest.raises(InputError, match="twice"):
        ColumnTask(addition(2), PromptLayout((Place("a", 0), Place("a", 0)), (Place("z", 0),)))


@pytest.mark.parametrize("name", NAMES or [pytest.param("", marks=pytest.mark.skip("no networks of others here"))])
def test_networks_of_others_add(name):
    task, decoder = load(name)
    inputs = task.random_inputs(200, np.random.default_rng(2))
    rows = task.rows(inputs)
    found = logits(decoder, rows, np.float32)[:, task.prompt_length - 1 : -1].argmax(-1)
    assert (found == task.answers(inputs)).all(1).mean() > 0.99
