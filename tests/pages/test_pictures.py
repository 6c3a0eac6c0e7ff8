"""Traces in text show the states they are made of."""

import numpy as np
import pytest

from bitwright import Builder, InputError, addition, parse, run
from bitwright.pages import choose_columns, trace_text
from bitwright.rules.trace import Trace


@pytest.fixture
def trace() -> Trace:
    return run(addition(6), p=37, q=45, record=True).trace


def test_text_shows_every_state(trace: Trace) -> None:
    lines = list(trace_text(trace))
    assert len(lines) == len(trace) + 1
    for step, line in enumerate(lines[1:]):
        number, matches, *arrays = line.split()
        assert (int(number), int(matches)) == (step, len(trace.matches(step)))
        shown = [int(array.replace("·", "0"), 2) for array in arrays]
        assert shown == [trace.number(step, name) for name in ("p", "q", "c")]


def test_columns_of_higher_rank_show_one_row_each() -> None:
    program = parse("bits m[2,3] f\nblock m[i,*] for i in 1..2\nblock f\nwhen f=1 write m[*,*]").program
    columns = choose_columns(program)
    assert [column.heading for column in columns] == ["m[1]", "m[2]", "f"]
    assert [column.bits for column in columns] == [(2, 1, 0), (5, 4, 3), (6,)]


def test_only_some_names(trace: Trace) -> None:
    assert next(iter(trace_text(trace, ["c", "p"]))).split() == ["step", "n", "c", "p"]
    with pytest.raises(InputError, match="no bits named 'x'"):
        list(trace_text(trace, ["x"]))


def test_pictures_too_large_are_refused() -> None:
    b = Builder()
    x = b.bits("x", 20_001)
    b.block(x[np.arange(1, 20_002)])
    b.when(x[1] == 1).write(x[1])
    with pytest.raises(InputError, match="at most 20,000 bits"):
        choose_columns(b.build())
