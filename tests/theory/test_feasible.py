"""Which situations can occur: the closed form against every state of small programs, and the states it builds."""

from itertools import product

import numpy as np
from cases import for_each
from long import seeds
from programs import random_program

from bitwright import Program
from bitwright.bits import BoolArray
from bitwright.proofs.certificate import witness
from bitwright.theory.proof import Feasible

Found = set[tuple[int, int, int]]  # n, bit, m


def small_programs(count: int, seed: int = 0) -> list[Program]:
    """Of up to 10 bits; full blocks, blocks that always write a bit and bits that nothing writes are among them."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < count:
        bits, largest, fan = int(rng.integers(2, 11)), int(rng.integers(1, 4)), int(rng.integers(1, 6))
        found.append(random_program(rng, bits, largest, fan))
    return found


def all_states(program: Program) -> BoolArray:
    return np.array(list(product([False, True], repeat=program.bits)))


def situations(program: Program) -> Found:
    """Every (n, bit, m) of every state, by matching it."""
    found: Found = set()
    for state in all_states(program):
        matched = program.match(state)
        writers = np.zeros(program.bits, dtype=int)
        for template in matched.tolist():
            writers[program.writes(template)] += 1
        found |= {(len(matched), bit, int(m)) for bit, m in enumerate(writers) if program.writers[bit]}
    return found


def least(found: Found, most: int) -> dict[tuple[int, int], int]:
    """The least m >= 1 of each n up to `most` and bit."""
    return {
        (n, bit): min(m for k, b, m in found if (k, b) == (n, bit) and m)
        for n, bit in {(n, bit) for n, bit, m in found if m and n <= most}
    }


PROGRAMS = small_programs(150)


def test_the_sample_has_every_kind_of_block() -> None:
    kinds = [Feasible(program, 99) for program in PROGRAMS]
    assert sum(f.full > 0 for f in kinds) > 20
    assert sum((f.always_full > 0).any() for f in kinds) > 5
    assert sum((f.always_open > 0).any() for f in kinds) > 20
    assert sum(f.chosen_full.any() for f in kinds) > 20


@for_each("program", [PROGRAMS[seed] for seed in seeds(50, of=150)])
def test_what_can_occur_is_what_occurs(program: Program) -> None:
    found = situations(program)
    numbers = sorted({n for n, _, _ in found if n})
    for most in {numbers[0], (numbers[0] + numbers[-1]) // 2, numbers[-1]}:
        feasible, occurring = Feasible(program, most), least(found, most)
        assert list(range(feasible.first, feasible.last + 1)) == [n for n in numbers if n <= most]
        worst = {}
        for (n, bit), m in occurring.items():
            worst[n] = max(worst.get(n, 0), program.writers[bit] / m)
        tightest = feasible.tightest
        assert (
            dict(zip(tightest.matches.tolist(), (tightest.writers / tightest.matching).tolist(), strict=True)) == worst
        )
        for batch in feasible.situations():
            columns = (batch.matches, batch.writers, batch.matching, batch.bits)
            for n, c, m, bit in zip(*(column.tolist() for column in columns), strict=True):
                assert (occurring[n, bit], int(program.writers[bit])) == (m, c)
        n, fewest = feasible.unset()
        unset = {(n, program.writers[bit]) for n, bit, m in found if m == 0 and 0 < n <= most}
        assert dict(zip(n.tolist(), fewest.tolist(), strict=True)) == {
            n: min(c for k, c in unset if k == n) for n, _ in unset
        }


@for_each("program", [PROGRAMS[seed] for seed in seeds(25, of=60)])
def test_a_state_can_be_built_for_each_of_them(program: Program) -> None:
    for (n, bit), m in least(situations(program), program.blocks).items():
        matched = program.match(witness(program, bit, n, m)).tolist()
        assert (len(matched), sum(bit in program.writes(t) for t in matched)) == (n, m)
