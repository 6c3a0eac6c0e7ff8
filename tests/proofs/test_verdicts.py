"""Verdicts on the sign rule against every state: what is certified is right in all, what is refuted wrong in one."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from long import LONG
from numpy.typing import NDArray
from programs import random_program

from bitwright import Builder, InputError, Program, multiplication, parse
from bitwright.common.bits import BoolArray
from bitwright.engines.rules import LimitEngine, RuleEngine
from bitwright.proofs.certificate import LimitVerdict, certify
from bitwright.theory.closed_form import weights
from bitwright.theory.decisions import Range, declared_range
from bitwright.theory.encoding.training_set import TrainingSet
from bitwright.theory.proof import smallest_examples
from bitwright.theory.rounding import Rounding

SOME = 400 if LONG else 60  # programs, of all of which every state is looked at


def dense_program(rng: np.random.Generator) -> Program:
    """Of up to 9 bits in small blocks; many of the templates write x[1], so that the sign rule is often in trouble."""
    bits, share = int(rng.integers(7, 10)), rng.random()
    b, at = Builder(), 1
    x = b.bits("x", bits)
    while at <= bits:
        members = [x[i] for i in range(at, min(at + int(rng.choice([1, 1, 1, 2])), bits + 1))]
        at += len(members)
        b.block(*members)
        for config in rng.choice(2 ** len(members), size=2 ** len(members) - int(rng.random() < 0.3), replace=False):
            crowd = [x[i] for i in (1, 2) if rng.random() < share / i]
            tests = [member == int(config) >> place & 1 for place, member in enumerate(members)]
            b.when(*tests).write(*crowd, x[int(rng.integers(3, bits + 1))])
    return b.build()


@cache
def programs() -> list[Program]:
    return [dense_program(rng) for rng in np.random.default_rng(5).spawn(400)]


class Everything:
    """All states of a program: n of each, and m of each bit, by matching them one by one."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.states = np.array(list(product([False, True], repeat=program.bits)))
        matched = np.zeros((len(self.states), program.templates))
        for at, state in enumerate(self.states):
            matched[at, program.match(state)] = 1
        self.n = matched.sum(axis=1).astype(int)
        self.m = matched @ TrainingSet(program).labels().toarray()

    def means(self, examples: int) -> NDArray[np.float64]:
        """Of the limit, by the closed form; neither the table of decisions nor feasibility has a part in it."""
        w = weights(self.n, examples)
        return np.asarray(w.unmatched[:, None] * self.program.writers + w.gap[:, None] * self.m)

    def wrong(self, examples: int) -> BoolArray:  # (states,)
        return np.asarray(((self.means(examples) > 0) != (self.m > 0)).any(axis=1) & (self.n > 0))


everything = cache(Everything)


def state_of(program: Program, certificate: LimitVerdict) -> BoolArray:  # (1, k)
    state = np.zeros((1, program.bits), dtype=bool)
    names = [program.layout.name_of(bit) for bit in range(program.bits)]
    state[0, [names.index(name) for name in certificate.witness]] = True
    return state


def place_of(program: Program, name: str | None) -> int:
    return [program.layout.name_of(at) for at in range(program.bits)].index(name or "")


def outcomes(program: Program, examples: int, state: BoolArray) -> tuple[BoolArray, BoolArray]:
    """The state after a step by the limit and by the templates."""
    found = []
    for engine in (LimitEngine(program, examples, "sign"), RuleEngine(program)):
        batch = engine.begin(state)
        batch.step()
        found.append(batch.states()[0])
    return found[0], found[1]


def test_every_refusal_has_a_failing_state_and_every_certificate_none() -> None:
    verdicts = {"certified": 0, "refuted": 0}
    for number, program in enumerate(programs()[:SOME]):
        every = everything(program)
        for examples in {program.templates, program.templates + 2 * (number % 9)}:
            certificate, wrong = certify(program, "sign", examples=examples), every.wrong(examples)
            verdict = "refuted" if wrong.any() else "certified"
            assert (certificate.verdict, certificate.certified) == (verdict, verdict == "certified")
            verdicts[verdict] += 1
            if wrong.any():
                assert certificate.fails_from == every.n[wrong].min()
                state, bit = state_of(program, certificate), place_of(program, certificate.fails_bit)
                matched = program.match(state[0]).tolist()
                matches = sum(bit in program.writes(t) for t in matched)
                assert (len(matched), matches) == (certificate.fails_from, certificate.fails_matches)
                limit, right = outcomes(program, examples, state)
                assert right[bit]
                assert not limit[bit]
    assert min(verdicts.values()) >= SOME // 8


def test_within_a_bound_too_what_is_refused_fails_in_a_state_but_is_no_refutation() -> None:
    for program in programs()[: 120 if LONG else 50]:
        every = everything(program)
        wrong = every.wrong(program.templates)
        for most in set(every.n[every.n > 0].tolist()):
            within = certify(program, "sign", Range(most, "declared", "test"))
            assert within.certified == (not wrong[every.n <= most].any())
            assert within.verdict == ("certified" if within.certified else "not proved")
            assert within.witness is None


def test_the_margin_is_the_smallest_mean_of_a_set_bit() -> None:
    for program in programs()[:SOME]:
        every = everything(program)
        means, certificate = every.means(program.templates), certify(program, "sign")
        lowest = means[every.m > 0].min()
        assert certificate.margin == pytest.approx(lowest, rel=1e-9, abs=1e-14)
        unset = -means[(every.m == 0) & (program.writers > 0) & (every.n > 1)[:, None]]
        assert (certificate.margin_unset is None) == (len(unset) == 0)
        if len(unset):
            assert certificate.margin_unset == pytest.approx(unset.min(), rel=1e-9)
        situation = (every.n == certificate.worst_n) & (every.m[:, place_of(program, certificate.worst_bit)] > 0)
        assert means[situation, place_of(program, certificate.worst_bit)].min() == pytest.approx(lowest, abs=1e-12)


def test_the_calibrated_margin_is_that_of_a_situation_that_occurs() -> None:
    """Of a bit of which m writers match it is |m - 1/2| gaps, by the definition of its threshold."""
    elsewhere, rng = 0, np.random.default_rng(6)
    sparse = [random_program(rng, int(rng.integers(2, 8)), int(rng.integers(1, 4)), 4) for _ in range(300)]
    for program in [*programs()[:100], *sparse]:
        every, certificate = everything(program), certify(program, "calibrated")
        distance = np.abs(every.m - 0.5) * weights(every.n, program.templates).gap[:, None]
        assert certificate.margin == pytest.approx(distance[every.m > 0].min(), rel=1e-9)
        bit = place_of(program, certificate.worst_bit)
        named = (every.n == certificate.worst_n) & (every.m[:, bit] == certificate.worst_matches)
        assert named.any()
        assert distance[named, bit].min() == pytest.approx(certificate.margin, rel=1e-9)
        assert certificate.worst_writers == program.writers[bit]
        unset = distance[(every.m == 0) & (every.n > 1)[:, None]]
        assert (certificate.margin_unset is None) == (len(unset) == 0)
        if len(unset):
            assert certificate.margin_unset == pytest.approx(unset.min(), rel=1e-9)
        elsewhere += certificate.worst_n < certificate.n_max or certificate.worst_matches > 1
    assert elsewhere > 3


@pytest.mark.parametrize("rounding", ["sign", "calibrated"])
def test_where_no_state_sets_a_bit_there_is_nothing_to_decide(rounding: Rounding) -> None:
    idle = parse("bits a b\nblock a\nblock b\nwhen a=1 write nothing\nwhen b=0 write nothing\n").program
    with pytest.raises(InputError, match=r"program.*nothing"):
        certify(idle, rounding)
    late = parse(
        "bits a b\nblock a\nblock b\nwhen a=0 write nothing\nwhen a=1 write nothing\nwhen b=1 write b\n"
    ).program
    with pytest.raises(InputError, match=r"program.*1"):
        certify(late, rounding, Range(1, "declared", "test"))
    assert certify(late, rounding).worst_n == 2


def test_the_padding_proposed_is_the_least() -> None:
    tried = 0
    for program in programs()[:150]:
        needed = smallest_examples(program)
        assert certify(program, "sign", examples=needed).certified
        assert certify(program, "sign").examples_needed == needed
        if needed > program.templates:
            tried += 1
            assert certify(program, "sign", examples=needed - 1).verdict == "refuted"
    assert tried > 10


EITHER = """
bits x out[8]
block x
block out[i] for i in 1..8
when x=0 write x
when out[i]=0 write x for i in 1..8
when out[i]=1 write x for i in 1..8
when x=1 write x
"""


def test_a_bit_that_every_block_writes_is_right_in_every_state() -> None:
    """Both values of each block write x, so that all nine matches do: 18 writers, and never a doubt."""
    program = parse(EITHER).program
    certificate = certify(program, "sign")
    assert (certificate.verdict, certificate.n_min, certificate.n_max) == ("certified", 9, 9)
    assert (certificate.worst_writers, certificate.worst_matches) == (18, 9)
    assert certificate.margin_unset is None
    with pytest.raises(InputError, match=r"9.*templates"):
        certify(program, "sign", Range(8, "declared", "test"))


def test_a_declared_bound_is_an_assumption_and_a_broken_one_no_refutation() -> None:
    task = multiplication(4)
    certified = certify(task.program, "sign", declared_range(task), task.examples)
    assert (certified.verdict, certified.assumption) == ("certified", "n <= 29")
    assert certified.sentence == "certified assuming n <= 29"
    failed = certify(task.program, "sign", Range(42, "declared", "test"), task.examples)
    assert (failed.verdict, failed.witness) == ("not proved", None)
    assert failed.sentence == "not proved even assuming n <= 42"
    assert certify(task.program, "sign", examples=task.examples).assumption is None


def test_a_declared_bound_that_is_no_less_than_the_blocks_is_proved() -> None:
    algorithm = parse("bits x y\nblock x\nblock y\nwhen x=1 write y\nwhen y=1 write y\nmatches 2")
    assert (declared_range(algorithm).source, declared_range(algorithm).assumption) == ("blocks", None)
