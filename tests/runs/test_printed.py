"""What `print` shows of results: the sentences of the command line, a few lines, never a page of fields."""

from dataclasses import replace

import numpy as np
import pytest

from bitwright import addition, certify, run, train
from bitwright import validate as validated


def test_runs() -> None:
    done = run(addition(10), p=719, q=483, network=train(addition(4)))
    first, second, third = str(done).splitlines()
    assert first == "sum = 1202"
    assert second == f"40 templates, 20 steps, engine network, calibrated rounding, smallest margin {done.margin:.3g}"
    assert third.startswith("one network of width 32 for 2 kinds of cells, proved on all 16 local states")
    assert third.endswith("; 20 steps made from these outputs")
    assert "NOT DONE: addition did not halt within 3 steps" in str(run(addition(10), p=1023, q=1, steps=3))
    large = 2**20_000
    assert str(run(addition(20_001), p=large, q=0)).startswith("sum = 39802768")  # beyond what Python prints by itself


def test_many_runs() -> None:
    starts = addition(2).states(np.ones((3, 4), dtype=bool))
    assert str(run(addition(2), states=starts)) == "3 runs, all halted, at most 4 steps; 8 templates, engine templates"
    assert str(run(addition(2), states=starts, steps=1)).startswith("3 runs, 0 halted, at most 1 step")


def test_validations() -> None:
    exact = str(validated(addition(2))).splitlines()
    assert exact[0].startswith("EXACT: addition (add two 2-bit numbers by ripple carry), engine limit, calibrated")
    assert exact[1] == "  inputs    16, exhaustive; 0 wrong by its ensure lines"
    cells = train(addition(4))
    broken = replace(cells, weights=replace(cells.weights, last=-cells.weights.last))
    lines = str(validated(addition(4), network=broken, random=5)).splitlines()
    assert lines[0].startswith("NOT EXACT: addition (add two 4-bit numbers by ripple carry), engine network")
    assert lines[1] == "  inputs    5, random, sample seed 0; 5 wrong by its ensure lines"
    assert "of which" in lines[-1]


def test_certificates_of_networks() -> None:
    small = addition(2)
    network = train(small, tile="all", width=512)
    broken = replace(network.weights, last=-network.weights.last)
    right, wrong = certify(small, network), certify(small, broken)
    every = "it is right in all 64 states, with every choice in every block"
    assert right.sentence == f"certified: this network computes sum == p + q, in this program; {every}"
    assert "\n  network   right in all 64 states; smallest margin " in str(right)
    about = f"this network is wrong in {wrong.wrong} of 64 states, with every choice in every block"
    assert str(wrong).startswith(f"REFUTED: addition (add two 2-bit numbers by ripple carry): {about}\n")
    assert f"\n  network   wrong in {wrong.wrong} of 64 states\n" in str(wrong)
    assert wrong.counterexample is not None
    assert f"\n  wrong     {wrong.counterexample.bit} must be {wrong.counterexample.expected} at n = " in str(wrong)


# What is said on the way.


def test_true_says_how_much_there_is_and_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    cells = train(addition(4))
    found = certify(addition(9), cells, progress=True)
    out, err = capsys.readouterr()
    assert out == ""
    *_, covered, first, last = [line for line in err.splitlines() if not line.startswith(("comparing", "proving"))]
    assert covered == "all cells of addition at every size are of the network's kinds"
    assert first.startswith("trying 16 local states takes about ")
    assert last == "local states: 16 of 16 (100 %)"
    found.check(addition(9), cells, progress=True)
    assert capsys.readouterr().err.endswith("\nlocal states: 16 of 16 (100 %)\n")
    validated(addition(2), progress=True)
    assert capsys.readouterr().err.endswith("inputs: 16 of 16 (100 %)\n")
    train(addition(2), tile="all", width=64, progress=True)
    assert "training: " in (said := capsys.readouterr().err)
    assert " of " in said
    certify(addition(9), cells, progress=False)
    assert capsys.readouterr().err == ""
