"""The width of one network: measured, with the law it is said to follow."""

from __future__ import annotations

import numpy as np
import pytest

from bitwright import addition
from bitwright.checking.width import Measurement, WidthLaw, measure_width
from bitwright.engines.network import NetworkEngine
from bitwright.errors import InputError
from bitwright.networks import Plan, Recipe, train
from bitwright.running.run import run_batch
from bitwright.running.sampling import random_starts


def test_the_law_gives_the_width() -> None:
    law = WidthLaw(tuple(Measurement(w, 0, 8 / np.sqrt(w)) for w in (256, 1024, 4096)), 1, 0)
    assert law.constant == pytest.approx(8)
    assert law.slope == pytest.approx(-0.5)
    assert law.width == 1024  # 8/sqrt(1024) = 1/4


def test_a_measured_width_suffices_and_the_margin_is_as_foretold() -> None:
    algorithm = addition(4)
    law = measure_width(algorithm, members=2, states=300)
    assert -0.75 < law.slope < -0.25
    network, _ = train(algorithm.program, Recipe(law.width, seed=11, plan=Plan(momentum=True)))
    states = random_starts(algorithm, 256, 1)
    engine = NetworkEngine(algorithm.program, [network], "calibrated")
    got = run_batch(algorithm, states, engine=engine, margins=True)
    assert np.array_equal(got.states, run_batch(algorithm, states).states)
    assert got.margin is not None
    assert float(got.margin.min()) > 0.1


def test_programs_that_are_too_large() -> None:
    with pytest.raises(InputError, match="up to 5,000 examples"):
        measure_width(addition(2_000))
