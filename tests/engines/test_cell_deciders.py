"""Cells decided by the limit, a dense solve, drawn ensembles and averages: the steps of the rules, n the cell's own."""

import pickle
from functools import cache

import numpy as np
import pytest
from cases import for_each
from long import LONG

from bitwright import Algorithm, Builder, InputError, addition, multiplication, run, train, validate
from bitwright.engines.cells import KernelDecider, LimitDecider
from bitwright.engines.cells.engine import CellEngine
from bitwright.engines.rules import RuleEngine
from bitwright.engines.sampled import SampledDecider
from bitwright.rules import span
from bitwright.rules.cells import LocalStates
from bitwright.rules.pattern import Pattern
from bitwright.theory.closed_form import covariance
from bitwright.theory.ensemble import calibrated_size, sizes
from bitwright.verbs.cells import pattern_of
from bitwright.verbs.engines import EngineChoice, choose_engine

SEEDS = 2_000 if LONG else 700


def made(algorithm: Algorithm, name: str, **how: object) -> CellEngine:
    engine = choose_engine(algorithm, EngineChoice(name, **{"tile": 1, **how}))  # type: ignore[arg-type]
    assert isinstance(engine, CellEngine)
    return engine


@cache
def enough(pattern: Pattern) -> int:
    """As many networks as the theory asks for, so that no local state is wrong with a probability above 1e-6."""
    return int(sizes(pattern, 1e-6)["calibrated"]["networks"])


def matches_of(pattern: Pattern) -> np.ndarray:
    """All local states of all kinds, as matches among all templates of the pattern."""
    rows = []
    for number, kind in enumerate(pattern.kinds):
        local = LocalStates(kind)
        matched = np.zeros((local.count, pattern.program.templates), dtype=bool)
        own = slice(*pattern.first_template[number : number + 2])
        matched[:, own] = local.matched(np.arange(local.count))
        rows.append(matched)
    return np.concatenate(rows)


@for_each("name", ["limit", "sampled"])
@for_each(
    ("task", "tile", "a", "b"),
    [
        (addition(2_000), 1, 2**1999 + 5, 3**1200),
        (addition(2_000), 2, 2**1999 + 5, 3**1200),
        (multiplication(40), 1, 10**12 - 1, 987654321987),
    ],
)
def test_sizes_at_which_whole_states_need_large_ensembles(
    task: Algorithm, tile: int, a: int, b: int, name: str
) -> None:
    networks = enough(pattern_of([task.program], tile))
    whole = calibrated_size(task.program, 1e-6).networks
    assert whole > 10 * networks
    engine = made(task, name, tile=tile, networks=networks if name == "sampled" else 1)
    assert engine.wiring.tile == tile
    assert engine.right
    values = dict(zip((word.name for word in task.inputs), (a, b), strict=True))
    assert run(task, values, engine=engine).value == (a + b if task.name == "addition" else a * b)


@pytest.mark.parametrize("rounding", ["calibrated", "sign"])
@pytest.mark.parametrize("padding", [0, 20])
def test_the_closed_form_and_the_dense_solve_agree(rounding: str, padding: int) -> None:
    """Bits and margins at every bit of every local state, also where the sign rule is wrong."""
    pattern = pattern_of([multiplication(3).program, addition(4).program])
    matched = matches_of(pattern)
    n = np.count_nonzero(matched, axis=1)
    assert n.max() > 3
    K = pattern.program.templates + padding
    limit, kernel = LimitDecider(pattern, K, rounding), KernelDecider(pattern, K, rounding)  # type: ignore[arg-type]
    (bits, margins), (others, solved) = limit(matched, n), kernel(matched, n)
    assert (bits == others).all()
    if rounding == "sign":
        assert np.allclose(np.where(np.isfinite(margins), margins, 9), np.where(np.isfinite(solved), solved, 9))
    else:
        assert np.allclose(margins, solved)
    truth = matched @ pattern.program.write_matrix > 0
    assert rounding == "sign" or (bits == truth).all()


def test_drawn_ensembles_have_the_joint_law() -> None:
    """Means, variances and covariances of own ports over 2,000 seeds, within six standard errors."""
    pattern = pattern_of([addition(4).program], 2)
    K, networks = pattern.program.templates + 3, 5
    matched = matches_of(pattern)[:64]  # of the first kind
    n = np.count_nonzero(matched, axis=1)
    own = pattern.port_bits(0)
    drawn = (SampledDecider(pattern, K, "calibrated", networks, seed) for seed in range(SEEDS))
    draws = np.array([decider.deviations(matched, n)[:, own] for decider in drawn])
    shared = matched.astype(int) @ matched.astype(int).T
    wanted = covariance(n[:, None], n, shared, K) / networks
    spread = np.sqrt(np.maximum(np.diag(wanted), 0))
    assert (spread[n > 1] > 0).all()
    assert not draws[:, n <= 1].any()
    assert (np.abs(draws.mean(axis=0)) <= 6 * spread[:, None] / np.sqrt(SEEDS)).all()
    error = np.sqrt((wanted**2 + np.outer(spread**2, spread**2)) / SEEDS)
    for port in range(draws.shape[2]):
        found = draws[:, :, port].T @ draws[:, :, port] / SEEDS
        assert (np.abs(found - wanted) <= 6 * error + 1e-15).all()
    across = (draws[:, :, 0] * draws[:, :, 1]).mean(axis=0)  # different ports are independent
    assert (np.abs(across) <= 6 * spread**2 / np.sqrt(SEEDS) + 1e-15).all()


def test_a_drawn_ensemble_is_one_whatever_it_is_asked_and_how() -> None:
    pattern = pattern_of([multiplication(4).program])
    K = pattern.program.templates
    matched = matches_of(pattern)
    n = np.count_nonzero(matched, axis=1)
    first = SampledDecider(pattern, K, "calibrated", 2, seed=7)
    bits, margins = first(matched, n)
    order = np.random.default_rng(0).permutation(len(n))
    again = pickle.loads(pickle.dumps(first))  # as it travels to other processes
    for decider in (first, again, SampledDecider(pattern, K, "calibrated", 2, seed=7)):
        for part in (order[:50], order[50:51], order[::-1]):
            found = decider(matched[part], n[part])
            assert (found[0] == bits[part]).all()
            assert (found[1] == margins[part]).all()
    assert (SampledDecider(pattern, K, "calibrated", 2, seed=8)(matched, n)[1] != margins).any()
    assert np.isfinite(margins[n > 0]).all()


def test_too_few_networks_are_wrong_and_make_their_own_steps() -> None:
    task = addition(9)
    engines = [made(task, "sampled", tile=3, seed=seed) for seed in range(6)]
    bad = [engine for engine in engines if not engine.right]
    assert bad
    engine = bad[0]
    assert engine.fallible
    assert engine.cell_facts["wrong"]
    states = np.random.default_rng(0).random((2_000, task.program.bits)) < 0.5
    rules = RuleEngine(task.program).begin(states)
    rules.step()
    following, _ = engine.following(states)
    assert (following != rules.states()).any()
    assert (made(task, "sampled", tile=3, seed=engine.seed, evaluate=True).following(states)[0] == following).all()


def test_the_sign_rule_on_cells_may_be_wrong_and_then_says_so() -> None:
    """Many templates of one cell write a bit: the limit's mean has the wrong sign there, and padding mends it."""
    b = Builder()
    x, y = b.bits("x", 6), b.bit("y")
    i = span(1, 6)
    b.block(x[i])
    b.block(y)
    b.when(x[i] == 1).write(y)
    z = b.bits("z", 6)
    b.block(z[i])
    b.when(z[i] == 1).write(z[i])
    b.cell(*(x[j] for j in range(1, 7)), *(z[j] for j in range(1, 7)))
    b.cell(y)
    task = Algorithm("crowded", b.build())
    assert not made(task, "limit", rounding="sign").right
    assert made(task, "limit", rounding="sign", padding=60).right
    assert made(task, "limit").right


def test_averages_of_trained_networks() -> None:
    """Trained on the pattern by hand, or by the engine; the average is another network than each."""
    task = addition(40)
    held = [train(task, integer=False, width=256, seed=seed) for seed in (1, 2, 3)]
    for networks in (held, held[:1]):
        done = run(task, p=2**39 + 5, q=2**39 + 7, network=networks)
        assert done.value == 2**40 + 12
        assert done.networks == len(networks)
        assert done.cells["proved"] is False
    engine = made(task, "network", networks=3, width=256)
    assert (engine.networks, engine.decider.width, engine.right) == (3, 256, True)
    with pytest.raises(InputError, match=r"trained.*program"):
        run(task, p=1, q=2, network=train(addition(2), tile="all", integer=False, width=64))


@pytest.mark.parametrize("name", ["limit", "kernel", "sampled", "network"])
def test_engines_of_cells_go_to_other_processes(name: str) -> None:
    task = multiplication(3)
    engine = choose_engine(task, EngineChoice(name, tile=1))
    for evaluate in (False, True):
        there = pickle.loads(pickle.dumps(choose_engine(task, EngineChoice(name, tile=1, evaluate=evaluate))))
        assert (there.digests, there.seed, there.evaluate) == (engine.digests, engine.seed, evaluate)
        assert run(task, multiplicand=6, multiplier=7, engine=there).value == 42
    if LONG or name == "network":
        assert validate(task, engine=engine, workers="2").verdict == "exact"


@for_each(
    ("settings", "message"),
    [
        ({"engine": "templates", "tile": 1}, "tile goes with engine limit or kernel or sampled or network"),
        ({"engine": "limit", "tile": -1}, "tile is an integer from 1 to 16"),
        ({"engine": "limit", "tile": "a"}, "tile is an integer from 1 to 16"),
        ({"engine": "network", "padding": 3}, "padding goes with networks of the whole state"),
        ({"engine": "network", "rounding": "sign"}, "leave out rounding sign"),
        ({"engine": "sampled", "tile": 4}, "3,000 local states of a kind, got 4,096"),
    ],
)
def test_what_does_not_go_together(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        run(addition(8), {"p": 1, "q": 2}, **settings)  # type: ignore[arg-type]
