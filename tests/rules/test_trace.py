"""A trace is the states of a run, over named bits; with a program it knows the matches too."""

import numpy as np
import pytest

from bitwright import InputError
from bitwright.rules import Layout
from bitwright.rules.trace import Recorder, Trace

LAYOUT = Layout.of([("p", (3,)), ("m", (2, 2)), ("f", ())])


@pytest.fixture
def states() -> np.ndarray:
    return np.random.default_rng(3).random((5, 8)) < 0.5


def trace_of(states: np.ndarray) -> Trace:
    recorder = Recorder(LAYOUT)
    for state in states:
        recorder.add(state)
    return recorder.trace(len(states) - 1)


def test_a_trace_needs_only_a_layout(states: np.ndarray) -> None:
    trace = trace_of(states)
    assert np.array_equal(trace.states(), states)
    assert (trace.steps, len(trace)) == (4, 5)
    for step in range(5):
        assert np.array_equal(trace.state(step), states[step])
        assert trace.number(step, "p") == sum(1 << i for i in range(3) if states[step, i])
    assert np.array_equal(trace.bit(7), states[:, 7])
    with pytest.raises(InputError, match=r"templates.*matches"):
        trace.matches(0)


def test_a_trace_without_a_program_is_shown_without_matches(states: np.ndarray) -> None:
    trace = trace_of(states)
    heading, *lines = str(trace).splitlines()
    assert heading.split() == ["step", "p", "m[1]", "m[2]", "f"]
    for step, line in enumerate(lines):
        signs = "".join(line.split()[1:]).replace("·", "0")
        shown = states[step][[2, 1, 0, 4, 3, 6, 5, 7]]
        assert signs == "".join("1" if bit else "0" for bit in shown)


def test_traces_are_equal_when_their_states_are(states: np.ndarray) -> None:
    trace, same = trace_of(states), trace_of(states.copy())
    assert trace == same
    assert hash(trace) == hash(same)
    changed = states.copy()
    changed[2, 3] ^= True
    assert trace != trace_of(changed)
    assert trace != Trace(LAYOUT, trace.packed, np.zeros((4, 8), dtype=np.float32))
    assert trace.first(2) == trace_of(states[:3])
