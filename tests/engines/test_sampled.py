"""Sampled ensembles have the limit's mean, variance and covariance along a run, and are reproducible.

Statistical comparisons allow 6 standard errors; with fewer than 2,000 of them the chance of a false alarm is below
1e-5, and the seeds are fixed.
"""

import numpy as np
import pytest
from long import LONG
from scipy.stats import norm

from bitwright import addition, parse, run
from bitwright.engines.make import make_engine
from bitwright.engines.sampled import Deviations, SampledEngine
from bitwright.theory.closed_form import variance, weights
from bitwright.theory.encoding import PackedRules
from bitwright.theory.encoding.training_set import TrainingSet
from bitwright.theory.ensemble import calibrated_size
from paper.dense import Predictor


@pytest.mark.parametrize(("networks", "draws_made"), [(1, 2_000), (10, 500)] if LONG else [(3, 600)])
def test_joint_law_along_a_run(networks: int, draws_made: int) -> None:
    """Within six standard errors: 2,000 draws notice a variance that is off by a fifth, 600 one off by a third."""
    algorithm = addition(3)
    program = algorithm.program
    rng = np.random.default_rng(0)
    states = np.unique(rng.random((6, program.bits)) < 0.5, axis=0)
    draws, matched = np.empty((draws_made, len(states), program.bits)), PackedRules(program).matched(states)
    for seed in range(draws_made):
        function = SampledEngine(program, 20, "calibrated", networks, seed).deviations(states[0])
        draws[seed] = [function(row) for row in matched]
    examples = TrainingSet(program, 20 - program.templates)
    predictor = Predictor(examples.inputs().toarray(), examples.labels().toarray())
    encoded = examples.encode(states)
    cov = predictor.covariance(encoded) / networks
    spread = np.sqrt(np.maximum(np.diag(cov), 0))

    error = np.abs(draws.mean(axis=0))
    assert (error <= 6 * spread[:, None] / np.sqrt(draws_made) + 1e-12).all()
    for bit in range(program.bits):
        measured = draws[:, :, bit].T @ draws[:, :, bit] / draws_made
        standard_error = np.sqrt((cov**2 + np.outer(spread**2, spread**2)) / draws_made)
        assert (np.abs(measured - cov) <= 6 * standard_error + 1e-15).all()
    across = (draws[:, :, 0] * draws[:, :, 1]).mean(axis=0)  # different bits are independent
    assert (np.abs(across) <= 6 * spread**2 / np.sqrt(draws_made) + 1e-15).all()


def test_a_state_met_again_gives_the_same_outputs() -> None:
    function = Deviations(np.random.default_rng(5), 12, 1, 9)
    matched = np.random.default_rng(1).random((30, 12)) < 0.5
    first = [function(row).copy() for row in matched]
    assert (np.array(first) == np.array([function(row) for row in matched])).all()
    assert np.array(first).any()


def test_states_with_one_match_or_none_are_not_random() -> None:
    program = addition(3).program
    states = np.zeros((2, 9), dtype=bool)
    states[1, 0] = True
    batch = SampledEngine(program, 12, "calibrated", 1, 5).begin(states)
    batch.step()
    assert batch.rounded().tolist() == [[0.0] * 9, [1.0] + [0.0] * 8]


def test_runs_do_not_depend_on_batches_or_workers() -> None:
    algorithm = addition(4)
    states = np.array([algorithm.state({"p": p, "q": 9}) for p in range(16)])
    engine = make_engine("sampled", algorithm.program, networks=2, seed=11)
    whole = run(algorithm, states=states, engine=engine, margins=True, workers=1)
    for at in (0, 7, 15):
        part = run(algorithm, states=states[at : at + 1], engine=engine, margins=True, workers=3)
        assert (part.states == whole.states[at]).all()
        assert part.margin[0] == whole.margin[at]


def test_uneven_runs_keep_their_functions_when_the_batch_shrinks() -> None:
    """Rows that go on after others are done must keep the networks they started with."""
    walk = parse(
        "bits x[8] stop\nblock x[i] for i in 1..8\nblock stop\nwhen x[i]=1 write x[i-1] for i in 2..8\n"
        "when x[1]=1 write stop\nwhen stop=1 write stop\ninput x\noutput x\nhalt when stop"
    )
    states = np.array([walk.state({"x": 3 if i else 0b11000000}) for i in range(80)])
    together = run(walk, states=states, engine="sampled", networks=40, seed=2, margins=True)
    alone = run(walk, states=states[:1], engine="sampled", networks=40, seed=2, margins=True)
    assert together.margin[0] == alone.margin[0]


def test_too_few_networks_fail_as_often_as_the_gaussian_says() -> None:
    """One network, one step at n = 6 of K = 12: the chance of a wrong bit is that of the Gaussian tail."""
    program = addition(3).program
    state = np.array([1, 1, 1, 0, 0, 0, 1, 1, 1], dtype=bool)
    n, K = 6, 12
    assert len(program.match(state)) == n
    tail = norm.sf(float(weights(n, K).gap) / 2 / float(np.sqrt(variance(n, K))))
    trials, wrong = 3_000 if LONG else 500, 0
    truth = np.zeros(9, dtype=bool)
    for template in program.match(state):
        truth[program.writes(template)] = True
    for seed in range(trials):
        batch = SampledEngine(program, K, "calibrated", 1, seed).begin(state[None])
        batch.step()
        wrong += int((batch.states()[0] != truth).sum())
    expected = trials * 9 * tail
    assert abs(wrong - expected) < 6 * np.sqrt(expected)


def test_the_proven_size_is_enough_for_whole_runs() -> None:
    """delta 1e-6 over all inputs: 50 runs of 8-bit addition without a wrong bit."""
    algorithm = addition(8)
    networks = calibrated_size(algorithm.program, 1e-6).networks or 1
    rng = np.random.default_rng(4)
    for seed, (p, q) in enumerate(rng.integers(0, 256, size=(50, 2)).tolist()):
        done = run(algorithm, p=p, q=q, engine="sampled", networks=networks, seed=seed)
        assert done.value == p + q
