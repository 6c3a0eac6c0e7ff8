"""Laws hold along runs of plain simulation, and are not found where two blocks write one bit at once."""

from itertools import pairwise

import numpy as np
from programs import random_program

from bitwright import Algorithm, Builder, addition
from bitwright.program import word
from bitwright.proofs.unrolling.graph import AndGraph
from bitwright.proofs.unrolling.laws import LawFinder
from bitwright.proofs.unrolling.runs import Stepper, start_state, unroll
from bitwright.running.successors import successors


def symbolic(algorithm, steps):
    graph = AndGraph()
    stepper, states = Stepper(algorithm.program, graph), [start_state(algorithm, graph)]
    for _ in range(steps):
        states.append(stepper.step(states[-1]))
    return graph, states


def values_of(graph, states, given):
    """All states for these values of the inputs."""
    nodes = graph.evaluate(given)
    return np.array([[nodes[literal >> 1] ^ (literal & 1) for literal in state] for state in states], dtype=bool)


def all_bits(program):
    return Algorithm("any", program, inputs=(word_of(program),), steps=4)


def word_of(program):
    from bitwright.program import Word

    return Word("x", tuple(range(program.bits)))


def test_symbolic_steps_are_those_of_the_rules():
    rng = np.random.default_rng(5)
    for _ in range(20):
        algorithm = all_bits(random_program(rng, bits=12, largest=4, fan=3))
        graph, states = symbolic(algorithm, 4)
        for _ in range(5):
            run = values_of(graph, states, rng.integers(0, 2, 12).tolist())
            for before, after in pairwise(run):
                assert (successors(algorithm.program, before[np.newaxis])[0] == after).all()


def test_addition_conserves_what_its_bits_stand_for():
    algorithm = addition(5)
    states = unroll(algorithm).states
    output = {bit: 1 << place for place, bit in enumerate(algorithm.outputs[0].bits)}
    law = LawFinder(algorithm.program).law(states, output, 7)
    name_of = algorithm.program.layout.name_of
    named = {name_of(bit): weight for bit, weight in law.weights.items()}
    assert law.since == 0
    assert named == {f"{name}[{i}]": 1 << i - 1 + (name == "c") for name in "pqc" for i in range(1, 6)}


def test_weights_stay_along_random_runs_of_random_programs():
    rng, long = np.random.default_rng(7), 0
    for trial in range(300):
        algorithm = all_bits(random_program(rng, bits=8, largest=2, fan=2))
        graph, states = symbolic(algorithm, 4)
        wanted = {int(bit): int(rng.integers(1, 16)) for bit in rng.choice(8, 2, replace=False)}
        exponent = int(rng.integers(1, 7))
        law = LawFinder(algorithm.program).law(states, wanted, exponent)
        long += law.since < 4 and bool(law.weights)
        for given in rng.integers(0, 2, (16, 8)).tolist():
            run = values_of(graph, states, given)
            end = sum(weight for bit, weight in wanted.items() if run[-1][bit])
            for state in run[law.since :]:
                now = sum(weight for bit, weight in law.weights.items() if state[bit])
                assert (now - end) % (1 << exponent) == 0, trial
    assert long > 20  # laws that cover a step


def merging(top):
    """x and y both write z; the weights of x, y and z are equal."""
    b = Builder()
    x, y, z = b.bit("x"), b.bit("y"), b.bit("z")
    for bit in (x, y, z):
        b.block(bit)
    b.when(x == 1).write(z)
    b.when(y == 1).write(z)
    b.when(z == 1).write(z)
    return Algorithm("merge", b.build(), inputs=(word(x), word(y))[:top], outputs=(word(z),), steps=1)


def test_a_bit_that_two_blocks_write_at_once_breaks_a_law():
    one, two = merging(1), merging(2)
    for algorithm, since in ((one, 0), (two, 1)):
        states = unroll(algorithm).states
        assert LawFinder(algorithm.program).law(states, {2: 1}, 4).since == since


def test_a_weight_that_is_conserved_only_modulo_does_not_bound_the_state():
    """u (4) becomes x, y and s (12, the same modulo 8), of which x and y merge into z: 8 is left."""
    b = Builder()
    u, x, y, s, z = (b.bit(name) for name in "uxysz")
    for bit in (u, x, y, s, z):
        b.block(bit)
    b.when(u == 1).write(x, y, s)
    b.when(x == 1).write(z)
    b.when(y == 1).write(z)
    b.when(s == 1).write(s)
    b.when(z == 1).write(z)
    algorithm = Algorithm("split", b.build(), inputs=(word(u),), outputs=(word(z),), steps=2)
    states = unroll(algorithm).states
    found = LawFinder(algorithm.program)
    assert found.since(states, {0: 4, 1: 4, 2: 4, 3: 4, 4: 4}, 3) == 2
