"""The run loop: when it ends, what it reports, and that batches, chunks and workers change nothing."""

import numpy as np
import pytest
from cases import for_each

from bitwright import InputError, addition, multiplication, parse, permutation, run
from bitwright.engines.make import make_engine
from bitwright.engines.rules import RuleEngine
from bitwright.rules import Algorithm

# A token walks along x; `length` is the place where it starts, so runs have different lengths.
WALK = """
bits x[8] stop
block x[i] for i in 1..8
block stop
when x[i]=1 write x[i-1] for i in 2..8
when x[1]=1 write stop
when stop=1 write stop
input x
output x
"""
BLINK = "bits a b\nblock a\nblock b\nwhen a=1 write b\nwhen b=1 write a\nstart a\noutput a\n"


def walk(ending: str) -> Algorithm:
    return parse(WALK + ending, "walk")


def test_exactly_the_declared_steps() -> None:
    done = run(walk("steps 3"), x=0b10000000)
    assert (done.value, done.steps, done.halted) == (0b10000, 3, True)


@for_each("place", range(8))
def test_halt_when_a_bit_is_on(place: int) -> None:
    done = run(walk("halt when stop"), x=1 << place)
    assert (done.steps, done.halted) == (place + 1, True)


def test_halt_bit_on_at_the_start_takes_no_step() -> None:
    done = run(parse(BLINK + "halt when a"))
    assert (done.value, done.steps, done.halted) == (1, 0, True)


@for_each("place", range(8))
def test_halt_at_a_fixed_point_counts_the_steps_that_changed_something(place: int) -> None:
    done = run(walk("halt at fixed point"), x=1 << place)
    assert (done.steps, done.halted) == (place + 1, True)


def test_no_ending_means_a_fixed_point() -> None:
    assert run(walk(""), x=4).steps == 3


def test_a_run_that_never_halts_meets_the_limit() -> None:
    done = run(parse(BLINK), steps=101)
    assert (done.value, done.steps, done.halted) == (0, 101, False)


def test_declared_steps_limit_a_run_that_should_halt() -> None:
    done = run(walk("halt when stop\nsteps 5"), x=0b10000000)
    assert (done.steps, done.halted) == (5, False)


def test_a_limit_below_the_declared_steps_is_no_halt() -> None:
    done = run(addition(4), p=15, q=1, steps=3)
    assert (done.steps, done.halted) == (3, False)


def test_zero_steps() -> None:
    done = run(walk("steps 0"), x=5)
    assert (done.value, done.steps, done.halted) == (5, 0, True)


def test_steps_after_a_fixed_point_are_counted_though_not_made() -> None:
    made: list[int] = []
    done = run(addition(5000), p=3, q=4, progress=lambda step, _: made.append(step))
    assert (done.value, done.steps, done.halted) == (7, 10_000, True)
    assert made[-1] < 100


class SmallChunks(RuleEngine):
    chunk = 10


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_chunks_and_workers_change_nothing(workers: int) -> None:
    algorithm = multiplication(4)
    states = np.array([algorithm.state({"multiplicand": a, "multiplier": b}) for a in range(16) for b in range(16)])
    whole = run(algorithm, states=states, workers=1)
    parts = run(algorithm, states=states, engine=SmallChunks(algorithm.program), workers=workers)
    assert (whole.states == parts.states).all()
    assert (whole.steps == parts.steps).all()


def test_an_empty_batch() -> None:
    algorithm = addition(3)
    done = run(algorithm, states=np.zeros((0, algorithm.program.bits), dtype=bool))
    assert done.states.shape == (0, 9)
    assert done.halted.shape == (0,)


def test_a_trace_to_a_fixed_point_ends_there() -> None:
    done = run(walk("halt at fixed point"), x=4, record=True)
    assert done.trace is not None
    assert done.trace.steps == done.steps == 3


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"p": 3}, "needs a value for q; give q=NUMBER"),
        ({"p": 3, "q": 4, "r": 5}, "has no input 'r'"),
        ({"p": 16, "q": 4}, "input p must fit in 4 bits, got 16, which needs 5"),
        ({"p": -1, "q": 4}, "input p must be 0 or more, got -1"),
    ],
)
def test_wrong_inputs_are_refused(values: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(addition(4), values)


def test_negative_limit() -> None:
    with pytest.raises(InputError, match=r"limit.*0"):
        run(addition(4), p=1, q=2, steps=-1)


def test_states_of_another_shape_are_refused() -> None:
    with pytest.raises(InputError, match=r"\(batch, 12\)"):
        run(addition(4), states=np.zeros((2, 11), dtype=bool))


def test_value_needs_a_single_output() -> None:
    done = run(parse("bits a b\nblock a b\nwhen a=1 write b\nstart a\nsteps 1"))
    assert done.outputs == {"a": 0, "b": 1}
    with pytest.raises(InputError, match="2 outputs"):
        _ = done.value


def test_an_engine_of_another_program_is_refused() -> None:
    other = make_engine("templates", permutation([3, 2, 1]).program)
    with pytest.raises(InputError, match=r"different.*program"):
        run(permutation([2, 1, 3]), p=1, engine=other)
    same = make_engine("templates", permutation([2, 1, 3]).program)
    assert run(permutation([2, 1, 3]), p=1, engine=same).value == 2


def test_a_fixed_point_reached_in_the_last_step_allowed_is_one() -> None:
    done = run(walk("halt at fixed point\nsteps 3"), x=4)
    assert (done.steps, done.halted) == (3, True)
    cut = run(walk("halt at fixed point\nsteps 2"), x=4)
    assert (cut.steps, cut.halted, cut.value) == (2, False, 1)
    unending = run(parse(BLINK + "halt at fixed point\nsteps 5"))
    assert (unending.steps, unending.halted, unending.value) == (5, False, 0)


@for_each(
    "settings",
    [{"rounding": "sgin"}, {"networks": 0}, {"networks": 10**30}, {"seed": -1}, {"seed": 10**40}, {"padding": 10**30}],
)
def test_settings_that_cannot_be(settings: dict[str, object]) -> None:
    with pytest.raises(InputError):
        run(addition(4), p=1, q=2, engine="sampled", **settings)
