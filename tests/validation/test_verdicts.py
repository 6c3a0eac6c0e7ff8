"""The three verdicts: what is exact, what is not, and what a step limit leaves open."""

from collections.abc import Mapping

import pytest
from cases import for_each
from lockstep import run_interpreter
from tasks import task_of

from bitwright import parse, run
from bitwright.machines import assemble, machine_b
from bitwright.machines.sbn.code import InterpreterOracle
from bitwright.validation import UNKNOWN, Validation, validate

BOTH = pytest.mark.parametrize("plain", [False, True], ids=["sliced", "plain"])
SWAP = "bits x y\nblock x\nblock y\nwhen x=1 write y\nwhen y=1 write x\ninput x\n"


def counts(done: Validation) -> tuple[str, int, int, int, int]:
    tally = done.tally
    assert done.exact == (done.verdict == "exact")
    assert tally.undecided == tally.unfinished - tally.endless + tally.unjudged
    return done.verdict, tally.wrong, tally.unfinished, tally.endless, tally.unjudged


class Says:
    """An oracle that answers by the first input."""

    name = "says"

    def __init__(self, *answers: object) -> None:
        self.answers = answers

    def __call__(self, values: Mapping[str, int]) -> object:
        return self.answers[next(iter(values.values())) % len(self.answers)]


@BOTH
@for_each(("limit", "verdict"), [(5, "exact"), (9, "exact"), (4, "not decided"), (0, "not decided")])
def test_a_number_of_steps_that_is_not_reached(limit: int, verdict: str, plain: bool) -> None:
    """`steps 5` is done after five steps; before that nothing is known of its outputs, though every step agreed."""
    done = validate(task_of(parse(SWAP + "steps 5\n"), limit=limit, plain=plain))
    assert counts(done) == (verdict, 0, 2 if limit < 5 else 0, 0, 0)
    assert done.tally.wrong_steps == 0


@BOTH
def test_a_wrong_step_is_not_exact_even_if_runs_are_cut_off(plain: bool) -> None:
    """One of 14 writers among many matches: the sign rule loses the bit."""
    rules = "bits x[14] z[9] y\nblock x[i] for i in 1..14\nblock z[i] for i in 1..9\nblock y\n"
    rules += "when x[i]=1 write y x[i] for i in 1..14\nwhen z[i]=1 write z[i] for i in 1..9\ninput x z\noutput y\n"
    task = task_of(parse(rules + "steps 4"), "limit", random=5000, limit=2, plain=plain, rounding="sign")
    done = validate(task)
    assert done.tally.wrong_steps > 0
    assert counts(done) == ("not exact", 0, 5000, 0, 0)


@BOTH
def test_what_an_oracle_may_say(plain: bool) -> None:
    """x = 0 rests at once and gives y = 0; x = 1 goes on for ever."""
    blink = parse(SWAP + "output y\nhalt at fixed point\nsteps 50\n")
    right, wrong = {"y": 0}, {"y": 1}
    for answers, wanted in (
        ((right, None), ("exact", 0, 1, 1, 0)),
        ((right, UNKNOWN), ("not decided", 0, 1, 0, 0)),
        ((right, right), ("not decided", 0, 1, 0, 0)),
        ((wrong, None), ("not exact", 1, 1, 1, 0)),
        ((wrong, right), ("not exact", 1, 1, 0, 0)),
        ((None, None), ("not exact", 1, 1, 1, 0)),
        ((UNKNOWN, None), ("not decided", 0, 1, 1, 1)),
        ((UNKNOWN, UNKNOWN), ("not decided", 0, 1, 0, 1)),
    ):
        assert counts(validate(task_of(blink, oracle=Says(*answers), plain=plain))) == wanted, answers


ENDLESS = """
.width 3
.in a
.out a
    sbn three a again   ; a - 3: if negative, round and round
    jmp halt
again:
    sbn zero a again
.word zero 0
.word three 3
"""


def test_the_plain_interpreter_proves_that_a_run_never_ends() -> None:
    code = assemble(ENDLESS, "endless")
    algorithm = machine_b(code.sizes).algorithm(code)
    inputs = range(-4, 4)
    ends = {a: run(algorithm, a=a, steps=3_000).halted for a in inputs}
    assert set(ends.values()) == {True, False}
    oracle = InterpreterOracle(code, 3_000)
    for a in inputs:
        answer = oracle({"a": a})
        assert answer == (run_interpreter(code, {"a": a}) if ends[a] else None)
    endless = sum(not end for end in ends.values())
    done = validate(task_of(algorithm, "templates", oracle=oracle, limit=3_000))
    assert counts(done) == ("exact", 0, endless, endless, 0)
    done = validate(task_of(algorithm, "templates", oracle=InterpreterOracle(code, 1), limit=3_000))
    assert done.verdict == "not decided"  # of those that end, it has not seen the end
    assert (done.tally.wrong, done.tally.unfinished, done.tally.endless) == (0, endless, 0)


@BOTH
@pytest.mark.parametrize("engine", ["templates", "limit"])
def test_a_declared_bound_that_runs_break(engine: str, plain: bool) -> None:
    """Three bits that stay: n is how many are on. Inputs with two or three of them break `matches 1`."""
    rules = "bits x[3]\nblock x[i] for i in 1..3\nwhen x[i]=1 write x[i] for i in 1..3\ninput x\nsteps 2\n"
    for declared, runs, first in ((1, 4, {"x": 3}), (2, 1, {"x": 7}), (3, 0, None), (None, 0, None)):
        text = rules if declared is None else f"{rules}matches {declared}\n"
        done = validate(task_of(parse(text), engine, plain=plain))
        assert done.tally.n_max == 3
        assert done.verdict == "exact"  # the verdict is about exactness
        assert (done.bound_broken, done.tally.beyond) == (runs > 0, runs)
        assert (done.tally.first_beyond.inputs if done.tally.first_beyond else None) == first


@BOTH
def test_a_declared_bound_holds_while_a_run_goes_on(plain: bool) -> None:
    """The state in which a run ends is not stepped from, and does not count."""
    rules = "bits h x[3]\nblock h\nblock x[i] for i in 1..3\nwhen h=1 write h\nwhen x[1]=1 write h x[1] x[2] x[3]\n"
    rules += "when x[2]=1 write x[2]\nwhen x[3]=1 write x[3]\nstart x[1]\nhalt when h\nmatches 1\n"
    done = validate(task_of(parse(rules), plain=plain))
    assert (done.tally.n_max, done.bound_broken, done.verdict) == (1, False, "exact")
