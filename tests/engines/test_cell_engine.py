"""One small network in every cell: at every size the steps of the rules, and of nothing else where it is wrong."""

from functools import cache

import numpy as np
import pytest
from whole import with_weights

from bitwright import Algorithm, InputError, Network, addition, multiplication, parse, permutation, run, validate
from bitwright.engines.cells.engine import CellEngine
from bitwright.engines.rules import RuleEngine
from bitwright.networks import Recipe
from bitwright.proofs.exhaustion.task import ProofTask, prove
from bitwright.proofs.width import suggested_width
from bitwright.rules.pattern import pattern_of
from bitwright.verbs.cells import train_on_pattern
from bitwright.verbs.trace import trace_states, trace_text


@cache
def cells_of(name: str, tile: int = 1) -> Network:
    make = {"addition": addition, "multiplication": multiplication}[name]
    sizes = range(1, 9) if tile > 1 else range(1, 5)
    pattern = pattern_of([make(size).program for size in sizes], tile)
    return train_on_pattern(pattern, Recipe(suggested_width(pattern)))


def engine(algorithm: Algorithm, found: Network) -> CellEngine:
    return CellEngine(algorithm.program, found.pattern, found.weights)


@pytest.mark.parametrize("tile", [2, 4])
def test_several_positions_a_cell(tile: int) -> None:
    """Trained on K examples, it is right in all local states, of which there are many more."""
    found = cells_of("addition", tile)
    assert found.proved
    assert found.pattern.local_states > 6 * found.pattern.program.templates
    for bits in (1, 3, 8, 101):
        task = addition(bits)
        made = engine(task, found)
        assert made.wiring.tile == tile or bits < tile
        a, b = 2**bits - 1, 2 ** (bits - 1) + 1 if bits > 1 else 1
        assert run(task, p=a, q=b, engine=made).value == a + b


def test_all_inputs_through_the_network_at_the_speed_of_the_rules() -> None:
    task = multiplication(4)
    done = validate(task, engine=engine(task, cells_of("multiplication")))
    assert done.verdict == "exact"
    assert done.task.sliced


def test_a_wrong_network_makes_its_own_steps() -> None:
    """A threshold is raised beyond all sums, so that no port is ever set where one template matches."""
    good = cells_of("addition")
    thresholds = good.weights.thresholds.copy()
    thresholds[0] = 10**9
    bad = with_weights(good.weights, thresholds=thresholds)
    task = addition(3)
    made = CellEngine(task.program, good.pattern, bad)
    assert not made.proved
    assert made.fallible
    assert made.decisions is None
    assert made.tables.wrong > 0
    done = run(task, p=5, q=2, engine=made)
    assert done.value != 7
    own = made.begin(np.array([task.state({"p": 5, "q": 2})]))
    own.step()
    rules = RuleEngine(task.program).begin(np.array([task.state({"p": 5, "q": 2})]))
    rules.step()
    assert (own.states() != rules.states()).any()


def test_the_proof_and_the_tables_agree() -> None:
    """Two ways to try all local states: the domain `cells`, and the engine's table; for right and wrong networks."""
    good = cells_of("multiplication")
    thresholds = good.weights.thresholds.copy()
    thresholds[1, -1] += 60_000
    for network in (good.weights, with_weights(good.weights, thresholds=thresholds)):
        found = prove(ProofTask(Algorithm("cells", good.pattern.program), network, "cells"))
        made = CellEngine(multiplication(6).program, good.pattern, network)
        assert found.states == good.pattern.local_states
        # the program at 6 bits may lack kinds that the pattern has from other sizes
        if len(made.wiring.kinds) == len(good.pattern.kinds):
            assert found.wrong == made.tables.wrong
        assert bool(found.wrong) >= bool(made.tables.wrong)


def test_a_cell_is_encoded_from_its_own_matches_only() -> None:
    """Where a block has a template for all bits off, the idle cells of a pattern's state would match as well."""
    rules = "bits x[6]\nblock x[i] for i in 1..6\nwhen x[i]=0 write x[i] for i in 1..6\ninput x\noutput x\nsteps 1\n"
    task = parse(rules, "invert")
    found = train_on_pattern(pattern_of([task.program]), Recipe(64))
    made = CellEngine(task.program, found.pattern, found.weights)
    for value in (0, 5, 63):
        assert run(task, x=value, engine=made).value == 63 - value


def test_a_program_with_another_cell_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"p\[1\].*1.*2"):
        engine(permutation([2, 1, 3]), cells_of("addition"))


def test_without_tables_what_was_evaluated_is_kept() -> None:
    """More local states than are tabled: tiles of eight, by a network that need not be right everywhere."""
    task = addition(16)
    pattern = pattern_of([task.program], 8)
    assert pattern.local_states > 2**20
    found = train_on_pattern(pattern, Recipe(512))
    assert found.tables is None
    assert not found.proved
    kept, fresh = engine(task, found), lambda: engine(task, found)
    assert kept.tables is None
    assert kept.fallible
    states = np.random.default_rng(0).random((40, task.program.bits)) < 0.3
    for _ in range(3):  # the second time everything is known
        for one, other in zip(kept.following(states), fresh().following(states), strict=True):
            assert (one == other).all()
        states = states[::-1] if len(states) == 40 else states


def test_a_trace_shows_what_the_network_said_of_every_bit() -> None:
    """G > T sets a bit, in every step; the smallest margin is that of every cell evaluated, shown behind its step."""
    task, found = multiplication(4), cells_of("multiplication")
    network = found
    done = run(task, multiplicand=13, multiplier=11, network=network, record=True)
    states = done.trace.states()
    said = done.asked.said(states[:-1])
    assert ((said.output > said.threshold) & np.isfinite(said.signed) == states[1:]).all()
    assert ((said.signed > 0) == states[1:]).all()
    wanted = engine(task, found).following(states[:-1])[1]
    margins, bits = done.asked.closest(states[:-1])
    assert (margins == wanted).all()
    assert done.margin == margins.min()
    lines = list(trace_text(done))
    for line, margin, bit in zip(lines[1:], margins, bits, strict=False):
        assert line.endswith(f"margin {margin:.3f} at {task.program.layout.name_of(int(bit))}")
    shown = trace_states(done)
    assert [state["margin"] for state in shown[:-1]] == margins.tolist()
    assert "margin" not in shown[-1]


def test_integer_networks_show_their_sums_and_thresholds() -> None:
    """One cell, by the definition: G is the last layer on the ReLU of the first, summed over what matches."""
    found = cells_of("addition")
    made = engine(addition(1), found)
    network, [kind] = found.weights, made.wiring.places
    state = np.array([[True, True, False]])
    matched = found.pattern.first_template[kind] + 2  # p = q = 1
    hidden = np.maximum(network.first[:, [matched]].astype(np.int64).sum(axis=1), 0)
    ports = found.pattern.port_bits(kind)
    wanted = network.last[ports].astype(np.int64) @ hidden
    on, _ = made.decider.ports(kind, made.wiring.numbers(state)[0][0])
    sums, thresholds = made.decider.compared(kind, made.wiring.numbers(state)[0][0])
    assert (sums[0] == wanted).all()
    assert ((sums > thresholds) == on).all()
