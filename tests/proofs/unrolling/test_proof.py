"""Proofs at a size: what holds for all inputs by trying them all is proved, and nothing else."""

import random
import sys
import warnings
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from long import LONG

import bitwright
from bitwright import addition
from bitwright.proofs.unrolling import proof as proofs
from bitwright.proofs.unrolling import prove_at_size, solver
from bitwright.proofs.unrolling.runs import RunTooLargeError, Stepper, unroll
from bitwright.runs.run import run_batch

EXAMPLES = Path(__file__).parents[3] / "examples"
NAMES = ["addition", "addition-counter", "subtraction", "comparison", "gray", "permutation"]
BLINKER = "bits x y\nblock x\nblock y\nwhen x=1 write y\nwhen y=1 write x\ninput x\nhalt at fixed point\n"
THIRD = (Path(__file__).parents[1] / "function" / "third.bw").read_text()


def example(name, l):
    return bitwright.open(EXAMPLES / f"{name}.bw", l=l)


def is_right(algorithm):
    """Whether every run, by the rules, does what is ensured."""
    names = [word.name for word in algorithm.inputs]
    rows = [dict(zip(names, v, strict=True)) for v in product(*(range(2 ** len(w.bits)) for w in algorithm.inputs))]
    done = run_batch(algorithm, np.array([algorithm.state(row) for row in rows]), limit=200)
    pairs = zip(rows, done.states, done.halted, strict=True)
    return all(h and all(line.holds(row, algorithm.read(s)) for line in algorithm.ensures) for row, s, h in pairs)


def mutants(algorithm, rng):
    """The rules with one template dropped, or writing to other bits, and with another number of steps."""
    lines = [line for line in algorithm.text().splitlines() if not line.startswith("cell ")]
    lines += ["steps 20"] * (algorithm.steps is None)  # a run that does not end is then soon replayed
    names = algorithm.program.layout.names
    for number, line in enumerate(lines):
        if line.startswith("when"):
            head, writes = line.split(" write ")
            more = " ".join(dict.fromkeys([*writes.split(), rng.choice(names)]))
            others = [[], [f"{head} write {more}"], [f"{head} write {rng.choice(names)}"]]
        elif line.startswith("steps"):
            others = [[f"steps {int(line.split()[1]) + more}"] for more in (-1, 1)]
        else:
            continue
        for other in others:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                yield bitwright.parse("\n".join([*lines[:number], *other, *lines[number + 1 :]]) + "\n")


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_proved_at_their_sizes(name):
    assert is_right(example(name, 3))
    for l in (1, 2, 3, 16):
        assert prove_at_size(example(name, l)).verdict == "proved", l


@pytest.mark.parametrize("name", [*NAMES, "multiplication"])
def test_a_mutant_is_proved_only_if_it_is_right(name, monkeypatch):
    """Without runs and samples beforehand: only the graph and the solver decide."""
    monkeypatch.setattr(proofs, "_wrong_run", lambda *_: None)
    monkeypatch.setattr(solver, "_sampled", lambda *_: ())
    rng, decided = random.Random(3), {True: 0, False: 0}
    tried = list(mutants(example(name, 2), rng))
    for mutant in tried if len(tried) <= 80 else tried[:: 3 if LONG else 9]:
        found, right = prove_at_size(mutant, conflicts=2_000), is_right(mutant)
        assert found.verdict in (("proved", "not decided") if right else ("refuted", "not decided")), mutant.text()
        decided[right] += found.verdict != "not decided"
    assert decided[False]


def test_a_rare_error_is_found_by_the_solver_and_replayed():
    lines = addition(24).text().replace("ensure sum == p + q", "ensure sum != 12345678 or p != 99")
    wrong = bitwright.parse(lines if "12345678" in lines else lines + "ensure sum != 12345678 or p != 99\n")
    found = prove_at_size(wrong)
    assert found.verdict == "refuted"
    assert found.counterexample == {"p": 99, "q": 12345678 - 99}
    assert found.to_dict()["counterexample"] == found.counterexample


def test_division_is_proved_and_its_mistake_refuted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        right, wrong = bitwright.parse(THIRD), bitwright.parse(THIRD.replace("x % 3", "(x + 1) % 3"))
    assert is_right(right)
    assert all(prove_at_size(right.sizing.at(l=l)).verdict == "proved" for l in range(1, 20))
    assert prove_at_size(wrong).verdict == "refuted"


def test_multiplication_unrolled_needs_no_invariant():
    plain, longer = (without_invariants(l) for l in (4, 9))
    found = prove_at_size(plain)
    assert (found.verdict, "CaDiCaL" in found.method) == ("proved", True)
    few = prove_at_size(longer, conflicts=10)
    assert few.verdict == "not decided"
    assert "10 conflicts; try a smaller size; 2^18 inputs are too many to run" in few.method


def without_invariants(l):
    lines = example("multiplication", l).text().splitlines()
    return bitwright.parse("".join(f"{line}\n" for line in lines if not line.startswith("invariant")))


def test_few_inputs_are_all_tried_where_nothing_else_decides(monkeypatch):
    """Within 10 conflicts, and without the solver, whose absence is one of the reasons where there are many inputs."""
    assert prove_at_size(without_invariants(4), conflicts=10).sentence == "proved (all 256 inputs tried)"
    monkeypatch.setitem(sys.modules, "pysat.solvers", None)
    assert prove_at_size(without_invariants(4)).sentence == "proved (all 256 inputs tried)"
    monkeypatch.setattr(proofs, "_wrong_run", lambda *_: None)
    found = prove_at_size(replace(without_invariants(4), ensures=["product != 143"]))
    assert (found.verdict, found.counterexample) == ("refuted", {"multiplicand": 11, "multiplier": 13})
    many = prove_at_size(without_invariants(9))
    assert (many.verdict, many.method) == (
        "not decided",
        "a solver needs python-sat; install it with: pip install 'bitwright[prove]'; "
        "2^18 inputs are too many to run; at most 2^16 are supported",
    )


def test_runs_that_may_end_later_are_not_tried_to_the_end(monkeypatch):

    def too_large(*_):
        raise RunTooLargeError

    monkeypatch.setattr(proofs, "unroll", too_large)
    rules = "bits x h\nblock x h\nwhen x=1 write x\nwrite h\ninput x\nhalt when h\noutput x\nensure x == 0"
    waits = bitwright.parse(rules.replace("write h", "when x=0 h=0 write h"))
    assert "some input runs for more than" in prove_at_size(waits).method


def test_nothing_stated_is_said():
    silent = bitwright.parse("bits x\nblock x\nwhen x=1 write x\ninput x\nsteps 1\n")
    assert prove_at_size(silent).verdict == "not stated"


def test_a_claim_names_the_size():
    claim = prove_at_size(example("comparison", 5))
    assert (claim.about, claim.verdict, claim.sizes) == ("function", "proved", "5")


def test_a_run_that_goes_in_circles_does_not_end():
    found = prove_at_size(bitwright.parse(BLINKER + "output x = x\nsteps 50\nensure x == in.x\n"))
    assert (found.verdict, found.counterexample) == ("refuted", {"x": 1})


def test_a_counterexample_that_is_none_when_replayed_decides_nothing(monkeypatch):
    wrong = bitwright.parse(addition(3).text().replace("steps 6", "steps 5") + "ensure sum == p + q + 1\n")
    assert prove_at_size(wrong).verdict == "refuted"
    monkeypatch.setattr(proofs, "wrong_input", lambda *_: None)
    monkeypatch.setattr(proofs, "_MOST_BITS", 0)
    assert prove_at_size(wrong).verdict == "not decided"


def test_endless_circles_are_seen(monkeypatch):
    """Without a number of steps, states that come again say that a run does not end."""
    step, taken = Stepper.step, iter(range(50))
    monkeypatch.setattr(Stepper, "step", lambda self, state: step(self, state) if next(taken) >= 0 else None)
    run = unroll(bitwright.parse(BLINKER + "ensure x == 0\n"))
    (ended,) = run.ended
    assert [run.graph.evaluate([x])[ended >> 1] ^ (ended & 1) for x in (0, 1)] == [1, 0]
