"""Chains, clocks and specifications against their definitions."""

from random import Random

import numpy as np
import pytest
from programs import next_state

from bitwright.proofs.function.affine import NoChainError
from bitwright.proofs.function.chain import read_chain
from bitwright.proofs.function.closure import Invariant, Search
from bitwright.proofs.function.laws import conserved
from bitwright.proofs.function.machine import ChainMachine, Clock
from bitwright.proofs.function.prove import _runs, _settings, _with_steps
from bitwright.proofs.function.specification import Specification
from bitwright.rules import parse
from bitwright.rules.text import RuleText
from tests.proofs.function.cases import SOME, text_of


def kinds_of(length: int) -> list[int]:
    return [1, 2, *[3] * (length - 4), 4, 5]


@pytest.mark.parametrize("name", SOME)
def test_a_chain_steps_like_the_program(name: str) -> None:
    text = text_of(name)
    chain = read_chain(RuleText.of(text))
    random = Random(3)
    for size in (5, 6, 9):
        algorithm = parse(text, lets={"l": size})
        layout, length = algorithm.program.layout, chain.length(size)
        machine = ChainMachine(chain, Clock(fixed=10**6), False)
        values = {word.name: random.getrandbits(len(word.bits)) for word in algorithm.inputs}
        chosen = [0] * length
        for word_name, value in values.items():
            weights = chain.inputs[word_name]
            for k in range(length):
                if value >> k & 1:
                    chosen[weights.first + k] |= 1 << weights.track
        word = [machine.begin(kind, one) for kind, one in zip(kinds_of(length), chosen, strict=True)]
        state = machine.start_globals
        on = set(algorithm.state(values).nonzero()[0].tolist())
        for _ in range(2 * length):
            assert sum(bin(letter[3]).count("1") for letter in word) + bin(state & (1 << machine.width) - 1).count(
                "1"
            ) == len(on)
            for out in chain.outputs:
                expected = sum(
                    (bit in on) << k for k, bit in enumerate(next(w for w in algorithm.outputs if w.name == out).bits)
                )
                assert value_of(chain.outputs[out], word, state) == expected
            now = next_state(algorithm.program, np.isin(np.arange(algorithm.program.bits), list(on)))
            on = set(now.nonzero()[0].tolist())
            state, word = machine.step(state, word)
        assert layout.size == algorithm.program.bits


def value_of(weights, word, state: int) -> int:
    total = sum(
        weight * 2**position
        for position, letter in enumerate(word)
        for track, weight in weights.tracks.get(letter[0], {}).items()
        if letter[3] >> track & 1
    )
    for (kind, track), weight in weights.few.items():
        total += sum(weight for letter in word if letter[0] == kind and letter[3] >> track & 1)
        total += weight if kind == 0 and state >> track & 1 else 0
    return total


def test_a_clock_ends_after_just_the_steps_it_stands_for() -> None:
    chain = read_chain(RuleText.of(text_of("addition")))
    for rate in (1, 2, 3):
        for extra in (-2, -1, 0, 1, 3):
            for clock in _with_steps(rate, extra):
                machine = ChainMachine(chain, clock, False)
                for length in range(5, 10):
                    word = [machine.begin(kind, 0) for kind in kinds_of(length)]
                    state, steps = 0, 0
                    while not any(machine.clock.ended(letter[1], letter[0]) for letter in word):
                        state, word = machine.step(state, word)
                        steps += 1
                        assert steps <= rate * length + extra, clock
                    assert steps == rate * length + extra, clock


@pytest.mark.parametrize("name", SOME)
def test_every_state_of_real_runs_lies_in_the_invariant(name: str) -> None:
    chain = read_chain(RuleText.of(text_of(name)))
    specs = [Specification(chain, line) for line in parse(text_of(name)).ensures]
    for setting in list(_settings(chain, specs))[:2]:
        machine = ChainMachine(chain, setting.clock, setting.ghosts)
        runs = list(_runs(machine))
        seen = {(letter[0], letter[3]) for _, states in runs[:40] for _, word in states[:-1] for letter in word}
        search = Search(machine, [*conserved(chain, seen), *setting.terms], 60_000)
        invariant = Invariant()
        search.close(invariant)  # from the start words alone
        for chosen, states in runs:
            for state, word in states:
                assert invariant.holds(state, word, search.judged(word, chosen))


LINES = [
    "sum == p + q",
    "sum == (p - q) mod 2^l",
    "sum % 3 == (p + 2*q) % 3",
    "sum == (p + q) // 3",
    "sum // 2 == p",
    "p + q < 2^l => sum == p + q",
    "sum >= 2^(l-1) or not p == q",
    "(p[1] == q[l]) == (sum < p)",
    "sum - 7 <= p and q != 3",
    "(3*p - q) mod 2^(l-1) == p",
    "(p + 5*q) mod 2^(l+2) == p + 5*q",
    "p // 4 > q",
    "7 * q // 5 - p >= 2",
    "p[i] == q[i+1] for i in 1..l-1",
    "p[i+1] + q[i] == 1 for i in 2..l-1",
    "p[l] or q[l-1]",
]


@pytest.mark.parametrize("line", LINES)
def test_a_specification_says_of_random_words_what_the_line_says(line: str) -> None:
    text = text_of("addition").replace("ensure sum == p + q", f"ensure {line}")
    chain = read_chain(RuleText.of(text))
    spec = Specification(chain, parse(text).ensures[0])
    random = Random(4)
    both: set[bool] = set()
    algorithms = {size: parse(text, lets={"l": size}) for size in range(5, 10)}
    for _ in range(400):
        size = random.randrange(5, 10)
        algorithm = algorithms[size]
        values = {"p": random.getrandbits(size), "q": random.getrandbits(size)}
        if random.random() < 0.4:
            values["q"] = (values["p"] >> 1) & ((1 << size) - 1)
        if random.random() < 0.4:
            out = min(
                2 ** (size + 1) - 1,
                max(0, random.choice([values["p"] + values["q"], (values["p"] + values["q"]) // 3])),
            )
        else:
            out = random.getrandbits(size + 1)
        bits = [(out >> k & 1) | (4 if k == size - 1 and out >> size & 1 else 0) for k in range(size)]
        chosen = [(values["p"] >> k & 1) | (values["q"] >> k & 1) << 1 for k in range(size)]
        found = True
        for node in spec.begin(0):
            at = node
            for kind, shown, entered in zip(kinds_of(size), bits, chosen, strict=True):
                at = spec.read(at, kind, shown, entered) if at is not None else None
            if at is not None and not spec.holds(at):
                found = False
        expected = algorithm.ensures[0].holds(values, {"sum": out})
        assert found == expected, (values, out)
        both.add(expected)
    assert False in both


TRAPS = [
    ("for i in 1..l-1", "for i in 1..l-1 if 2*i < l", "line 14"),
    ("for i in 1..l-1", "for i in 40..l-1", "got 40"),
    ("for i in 1..l-1", "for i in 1..l-1 if i != 30", "got 30"),
    ("write q[i+1] for i in 1..l-1", "write q[i+20] for i in 1..l-20", "got 20"),
    ("for i in 1..l-1", "for i in 1..l-1 if 100*i <= 99*l", "line 14"),
    ("for i in 1..l-1", "for i in 1..l-1 if i%7!=3", "'%' of an index"),
    ("for i in 1..l-1", "for i in 1..l//2", "'//' of an index"),
    ("write q[i+1] for i in 1..l-1", "write q[1]", "longer than one position"),
    ("steps 2*l", "steps l*l", "'*' of an index"),
]


@pytest.mark.parametrize(("old", "new", "why"), TRAPS)
def test_what_is_not_the_same_at_every_size_is_refused(old: str, new: str, why: str) -> None:
    text = text_of("addition")
    assert old in text
    if "write q[1]" in new:
        text = text.replace("when c[i]=1", "when c[3]=1")
    with pytest.raises(NoChainError, match=why):
        read_chain(RuleText.of(text.replace(old, new)))
