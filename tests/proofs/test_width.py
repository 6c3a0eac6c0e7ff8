"""The width of one network, from the law: what is said holds of networks that are trained."""

import numpy as np
import pytest
from long import LONG
from whole import engine_of

from bitwright import Algorithm, InputError, addition, multiplication
from bitwright.engines.rules import RuleEngine
from bitwright.networks import Recipe, TrainingError, train
from bitwright.proofs.width import suggested_width
from bitwright.rules import Builder
from bitwright.rules.pattern import Pattern, pattern_of
from bitwright.runs.successors import random_starts
from bitwright.verbs.cells import quantized
from paper.measurements.width_law import SPREAD, Case, exact_lines, spread_lines, voters
from paper.network_width import network_width


def whole(algorithm: Algorithm) -> tuple[Pattern, Algorithm]:
    """The whole state of an algorithm as one cell, and the algorithm whose runs are looked at."""
    return Pattern.of_state(algorithm.program), algorithm


def test_the_spread_of_trained_networks() -> None:
    """Five programs, 50 networks each, K/width below 1/200: the ratio to the law lies within 5%.

    Beyond that by 4 standard errors is a failure: for a true ratio on the edge, a false alarm of 1 in 30,000 a program.
    """
    lines = list(spread_lines(120 if LONG else 50))
    assert [line["program"] for line in lines] == list(SPREAD)
    for line in lines:
        assert line["K"] / line["width"] < 1 / 200
        assert line["standard_error"] < (0.02 if LONG else 0.03)
        assert abs(line["ratio"] - 1) < 0.05 + 4 * line["standard_error"], line
        assert -0.05 < line["bias"] < 0.25, line  # away from the threshold


def test_the_expected_width_suffices() -> None:
    """Two shapes here, two networks each, proved; `python -m paper.measurements.width_law` has ten."""
    chosen = [
        Case("addition of 3 bits", lambda: addition(3)),
        Case("cells of multiplication", lambda: pattern_of([multiplication(4).program]), "cells"),
    ]
    for line in exact_lines(2, chosen):
        assert line["exact"] == line["seeds"] == 2, line


@pytest.mark.parametrize(("count", "examples"), [(14, 43), (24, 73)] if LONG else [(14, 43)])
def test_many_voters_are_right_at_the_default_width(count: int, examples: int) -> None:
    """Many bits with many writers: 100 hidden units an example, which was once the default, are too few."""
    algorithm = voters(count)
    program, starts = algorithm.program, random_starts(algorithm, 3_000, 0)
    assert program.templates == examples
    with pytest.raises(TrainingError):
        _wrong(algorithm, 100 * examples, starts)
    assert _wrong(algorithm, suggested_width(*whole(algorithm)), starts) == 0


def _wrong(algorithm: Algorithm, width: int, states: np.ndarray) -> int:
    network, _ = quantized(
        train(algorithm.program, Recipe(width, 0))[0], Pattern.of_state(algorithm.program), runs=algorithm
    )
    found = engine_of(algorithm.program, network).begin(states)
    truth = RuleEngine(algorithm.program).begin(states)
    found.step()
    truth.step()
    return int((found.states() != truth.states()).any(axis=1).sum())


def test_widths_for_states_and_for_runs() -> None:
    cells = Pattern.of_state(addition(4).program)
    states, runs = network_width(cells), network_width(cells, runs=addition(4))
    assert states.states == 4_096
    assert runs.states == 256 * 8
    assert runs.expected < states.expected
    careful, padded = network_width(cells, 1e-6), network_width(cells, padding=50)
    assert careful.expected > states.expected
    assert padded.examples == 66
    assert all(found.expected % 2 == 0 for found in (states, runs, careful, padded))


def test_programs_without_errors_and_programs_too_large() -> None:
    b = Builder()
    x = b.bit("x")
    b.block(x)
    b.when(x == 1).write(x)
    alone = network_width(Pattern.of_state(b.build()))  # n is at most 1: nothing is left to chance
    assert (alone.expected, alone.error.interval[0]) == (2, 0.0)
    with pytest.raises(InputError, match="templates times bits"):
        network_width(Pattern.of_state(addition(3_000).program))
    with pytest.raises(InputError, match=r"delta.*0.*1"):
        network_width(pattern_of([addition(2).program]), 1.5)
