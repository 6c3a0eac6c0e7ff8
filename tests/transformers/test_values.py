"""Columns against Python's integers, layouts, and decoders against other arithmetic."""

import numpy as np
import pytest
from adders import NAMES, addition, load

from bitwright.common.errors import InputError
from bitwright.transformers.layout import ColumnTask, Place, PromptLayout
from bitwright.transformers.modules import logits


def test_sums_are_those_of_python():
    rng = np.random.default_rng(1)
    inputs = rng.integers(0, 10, (500, 2, 11))
    inputs[:, :, 10] = 0
    columns = addition()
    answers, _ = columns.run(inputs)
    value = lambda rows: [sum(int(d) * 10**i for i, d in enumerate(row)) for row in rows]  # noqa: E731
    assert value(answers) == [a + b for a, b in zip(value(inputs[:, 0]), value(inputs[:, 1]), strict=True)]


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
