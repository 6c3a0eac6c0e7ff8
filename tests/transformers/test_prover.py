"""Compares verdicts with all inputs of small tasks, and with known verdicts on third-party networks."""

from dataclasses import fields, is_dataclass, replace
from functools import partial

import numpy as np
import pytest
from adders import NAMES
from adders import load as load_adder
from decoders import TASKS, bit_copier, copier, copy, every_input, groups_of, random_decoder, states_of
from long import LONG, seeds

from bitwright import certify
from bitwright.transformers import steps as bounding
from bitwright.transformers.attention import tabulate
from bitwright.transformers.counterexamples import forced_margins, greedy, right_steps
from bitwright.transformers.decoder import Layer, Linear
from bitwright.transformers.layout import Mixture
from bitwright.transformers.modules import logits
from bitwright.transformers.prover import decide
from bitwright.transformers.steps import EMPTY, LEAF, prove_step, root, split, step_of, steps

COPY = copy(2)
OPTIONS = {"one head": {}, "two heads": {"heads": 2, "norm": "layer", "activation": "relu"}}


def small_network(name: str, seed: int):
    """Returns a copying decoder; the first seeds are wrong on many inputs, and the last ones on none."""
    return copier(np.random.default_rng(seed), COPY, 1.2 + 0.15 * (seed % 12), **OPTIONS[name])


@pytest.mark.parametrize("arithmetic", ["real", "float32"])
@pytest.mark.parametrize("name", OPTIONS)
def test_verdicts_are_those_of_all_inputs(name, arithmetic):
    verdicts, last = set(), len(COPY.layout.answer)
    for seed in seeds(12, of=96):
        decoder = small_network(name, seed)
        margins = forced_margins(decoder, COPY, every_input(COPY))
        decision = decide(decoder, COPY, arithmetic=arithmetic)
        least = [margins[:, :last].min(), margins[:, last].min()]
        for claim, truth in zip(decision.claims, least, strict=True):
            assert claim.verdict == ("proved" if truth > 0 else "refuted"), (seed, truth)
            verdicts.add((claim.about, claim.verdict))
            if claim.verdict == "proved":
                assert 0 < claim.margin <= truth
                assert claim.inputs == COPY.inputs
            else:
                example = claim.counterexample
                written = greedy(partial(logits, decoder), COPY, example.symbols[None])
                assert tuple(written[0]) == example.written
                assert right_steps(COPY, example.symbols[None], written)[0].argmin() == example.step
        assert bool(decision) == (min(least) > 0)
    assert len(verdicts) == 4


@pytest.mark.parametrize("name", TASKS)
def test_groups_are_proved_exactly_if_all_their_inputs_are_right(name):
    """Random decoders are right on some groups and wrong on others; the leaves of a tree divide its inputs."""
    task, inputs, seen = TASKS[name], every_input(TASKS[name]), set()
    symbols = np.concatenate([inputs.reshape(len(inputs), -1), states_of(task, inputs)], 1)
    for seed in seeds(3, of=30):
        rng = np.random.default_rng(seed)
        decoder = random_decoder(rng, task, heads=1 + seed % 2, rank=seed % 3, sharp=3.0, biases=True)
        margins, table = forced_margins(decoder, task, inputs), tabulate(decoder, task, 0.0)
        for number, groups in enumerate(steps(task)):
            of = groups_of(task, inputs, number)
            proof = prove_step(step_of(table, groups), lambda *_: False)
            for case, group in enumerate(groups):
                mine = np.array([g == group for g in of])
                right = bool((margins[mine, number] > 0).all())
                assert (case in proof.stuck) == (not right)
                seen.add(right)
                if right:
                    assert leaves(task, group, proof.trees.preorder(case), symbols[mine]) == mine.sum()
    assert seen == {True, False}


def leaves(task, group, tree: bytes, symbols: np.ndarray) -> int:
    """Returns the number of inputs in the leaves of a tree, after checking the tree and its empty boxes."""
    codes, waiting, count = np.frombuffer(tree, "<u2").tolist(), [root(task, group)], 0
    for code in codes:
        box = waiting.pop()
        inside = ((box[0] <= symbols) & (symbols <= box[1])).all(1).sum()
        if code < EMPTY:
            first, second = split(box[None], np.array([code]))
            waiting += [second[0], first[0]]
        else:
            assert (code == LEAF) == bool(inside)
            count += inside
    assert not waiting
    return count


def test_every_group_has_its_tree():
    claims = decide(small_network("two heads", 11), COPY).claims
    last = len(COPY.layout.answer)
    assert [claim.verdict for claim in claims] == ["proved", "proved"]
    assert list(claims[0].trees) == [group for of in steps(COPY)[:last] for group in of]
    assert list(claims[1].trees) == [group for of in steps(COPY)[last:] for group in of]
    assert all(claim.trees.values() for claim in claims)


def test_a_module_has_the_last_word():
    """The module replays counterexamples; if it is right, nothing is refuted."""
    decoder, inputs = small_network("one head", 0), every_input(COPY)
    claims = decide(decoder, COPY, module=lambda rows: logits(decoder, rows, np.float32)).claims
    assert {claim.counterexample.replayed_by for claim in claims} == {"module"}
    rows = np.concatenate([COPY.rows(inputs), np.full((len(inputs), 1), COPY.layout.stop[0])], 1)
    after = {tuple(row[:at]): row[at] for row in rows for at in range(COPY.prompt_length, rows.shape[1])}

    def perfect(tokens):
        found = np.zeros((*tokens.shape, decoder.shape[1]))
        found[np.arange(len(tokens)), -1, [after[tuple(row)] for row in tokens]] = 1
        return found

    decision = decide(decoder, COPY, module=perfect)
    assert not decision.comparison.agrees
    for claim in decision.claims:
        assert claim.verdict == "not decided"
        assert claim.open


def test_a_module_that_is_another_network_leaves_the_decision_open():
    decoder, other = small_network("one head", 10), small_network("one head", 11)
    begun: list[object] = []
    decisions = [
        decide(
            decoder,
            COPY,
            module=partial(logits, of, dtype=np.float32),
            progress=lambda *_, of=of: begun.append(of),  # type: ignore[misc]
        )
        for of in (decoder, other)
    ]
    assert begun
    assert all(of is decoder for of in begun)  # no proof of the other decoder starts
    assert decisions[1].sentence.startswith("NOT DECIDED: the decoder does not match your module: logits differ by")
    assert [decision.verdict for decision in decisions] == ["proved", "not decided"]
    assert [bool(decision) for decision in decisions] == [True, False]


def test_two_layers_are_tried_or_searched_and_never_proved():
    for length, right, wrong in ((2, "tested", "refuted"), (12, "not decided", "refuted")):
        task, verdicts = copy(length), []
        for sharp in (6.0, 1.5):
            decoder = copier(np.random.default_rng(1), task, sharp)
            twice = replace(decoder, layers=(*decoder.layers, Layer(())))
            decision = decide(twice, task, seconds=1)
            verdicts.append(decision.verdict)
            for claim in decision.claims:
                if claim.verdict == "not decided":
                    assert "this decoder has 2" in claim.open[0]
                if claim.verdict == "refuted":
                    found = greedy(partial(logits, twice), task, claim.counterexample.symbols[None])
                    assert not right_steps(task, claim.counterexample.symbols[None], found).all()
        assert verdicts == [right, wrong]


def test_decisions_repeat_and_say_what_is_open():
    decoder = small_network("two heads", 11)
    first, second = decide(decoder, COPY, seed=3), decide(decoder, COPY, seed=3)
    assert [claim.trees for claim in first.claims] == [claim.trees for claim in second.claims]
    lines: list[tuple[int, ...]] = []
    hurried = decide(decoder, COPY, seconds=0, progress=lambda *done: lines.append(done))
    assert {(claim.verdict, claim.method) for claim in hurried.claims} == {("tested", "all inputs")}
    assert any("not finished" in group for group in hurried.claims[0].open)
    assert "correct on all 81 inputs" in str(hurried)
    assert "not finished" in str(hurried)
    assert lines
    task = copy(12)
    long = decide(copier(np.random.default_rng(1), task, 6.0), task, seconds=0)
    assert long.verdict == "not decided"
    assert any("not finished" in group for group in long.claims[0].open)


def test_a_wrong_input_of_a_small_domain_is_found_without_a_proof():
    decision = decide(small_network("two heads", 0), COPY, seconds=0)
    assert {claim.verdict for claim in decision.claims} == {"refuted"}
    assert {claim.method for claim in decision.claims} == {"all inputs"}


def test_the_time_holds_within_a_step(monkeypatch):
    """The time ends at the fifth check; no later bounds are computed, and the step stays open."""
    looks: list[int] = []

    def late(_) -> None:
        looks.append(0)
        if len(looks) >= 5:
            raise TimeoutError

    monkeypatch.setattr("bitwright.transformers.prover.BoxProof.tick", late)
    bounded: list[int] = []
    bounds = bounding._bound_margins
    monkeypatch.setattr(
        "bitwright.transformers.steps._bound_margins", lambda *of: bounded.append(len(of[1])) or bounds(*of)
    )
    monkeypatch.setattr("bitwright.transformers.steps.MEMORY", 1)
    task = copy(12)
    decision = decide(copier(np.random.default_rng(1), task, 6.0, heads=2), task, arithmetic="real")
    assert decision.verdict == "not decided"
    assert "not finished" in decision.claims[0].open[0]
    assert 0 < len(bounded) < 5
    assert max(bounded) == 1


def test_weights_of_more_bits_are_proved_for_real_numbers_alone():
    decoder = small_network("one head", 11)
    finer = replace(decoder, tables=(decoder.tables[0].astype(np.float64) + 1e-12, decoder.tables[1]))
    assert [claim.arithmetic for claim in decide(decoder, COPY).claims] == ["float32", "float32"]
    assert [claim.arithmetic for claim in decide(finer, COPY).claims] == ["real", "real"]
    assert decide(finer, COPY)


def test_a_tiny_margin_is_proved_for_real_numbers_alone():
    """A bias on one logit leaves a margin of about 1e-6, where float32 may fail."""
    decoder = copier(np.random.default_rng(3), COPY, 3.0)
    head, last = decoder.head[0].weight, len(COPY.layout.answer)
    low, high = 0.0, 100.0  # the bias of one token
    for _ in range(60):
        middle = (low + high) / 2
        bias = np.array([middle, *[0] * (head.shape[1] - 1)], np.float32)
        moved = replace(decoder, head=(Linear(head, bias),))
        least = forced_margins(moved, COPY, every_input(COPY))[:, :last].min()
        low, high = (middle, high) if least > 1e-6 else (low, middle)
    least = forced_margins(moved, COPY, every_input(COPY))[:, :last].min()
    assert 0 < least < 1e-5
    claim = decide(moved, COPY).claims[0]
    assert (claim.verdict, claim.arithmetic) == ("proved", "real")
    assert 0 < claim.margin <= least


def test_a_stop_that_every_token_is_cannot_fail():
    task = replace(COPY, layout=replace(COPY.layout, stop=tuple(range(COPY.vocabulary))))
    decoder = copier(np.random.default_rng(1), task, 3.0)
    assert [claim.verdict for claim in decide(decoder, task).claims] == ["proved", "proved"]


def test_small_batches_prove_the_same(monkeypatch):
    decoder = small_network("two heads", 4)
    whole = decide(decoder, COPY)
    monkeypatch.setattr("bitwright.transformers.steps.MEMORY", 1)
    assert [claim.verdict for claim in decide(decoder, COPY).claims] == [claim.verdict for claim in whole.claims]


def test_attention_by_position_is_decided():
    for sharp, verdict in ((0.5, "refuted"), (1.0, "refuted"), (3.0, "proved")):
        task, decoder = bit_copier(sharp)
        least = forced_margins(decoder, task, every_input(task)).min()
        (claim,) = decide(decoder, task).claims
        assert claim.verdict == verdict == ("proved" if least > 0 else "refuted")
        assert verdict == "refuted" or claim.arithmetic == "float32"


KNOWN = {  # verdicts about the answers and the stop token
    "micro133": ("proved",),
    "micro203": ("proved", "proved"),
    "micro226": ("proved", "refuted"),
    "micro57": ("proved",),
    "micro75": ("proved",),
    "qwen146_lbfgs": ("proved",),
    "qwen155_lbfgs": ("refuted",),
    "tiny311": ("refuted",),
    "tiny456s43": ("proved",),
    "tiny456s44": ("refuted",),
}
QUICK = ("micro57", "tiny311", "tiny456s44")


@pytest.mark.parametrize("name", [n for n in NAMES if LONG or n in QUICK] or [pytest.param("", marks=pytest.mark.skip)])
def test_networks_of_others_are_decided(name):
    task, decoder = load_adder(name)
    decision = certify(task, decoder)
    assert tuple(claim.verdict for claim in decision.claims) == KNOWN[name]
    for claim in decision.claims:
        assert claim.verdict == "refuted" or claim.arithmetic == "float32"


def perturbed(part, rng: np.random.Generator, size: float):
    """Returns a copy in which every weight has a relative error."""
    if isinstance(part, np.ndarray):
        return (part * (1 + size * rng.normal(size=part.shape))).astype(np.float32)
    if isinstance(part, tuple):
        return tuple(perturbed(each, rng, size) for each in part)
    if is_dataclass(part):
        return replace(part, **{field.name: perturbed(getattr(part, field.name), rng, size) for field in fields(part)})
    return part


@pytest.mark.parametrize(
    "name", [n for n in NAMES if LONG and KNOWN[n][0] == "proved"] or [pytest.param("", marks=pytest.mark.skip)]
)
def test_what_fails_on_any_of_many_inputs_is_never_proved(name):
    task, original = load_adder(name)
    for seed in range(12):
        rng = np.random.default_rng(seed)
        decoder = perturbed(original, rng, 10 ** rng.uniform(-3.5, -0.7))
        inputs = Mixture(task).draw(100_000, rng)
        margins, last = forced_margins(decoder, task, inputs), len(task.layout.answer)
        least = [margins[:, :last].min(), *margins[:, last:].min(0)]
        for claim, truth in zip(decide(decoder, task, seconds=60).claims, least, strict=True):
            assert claim.verdict in ("proved", "refuted", "not decided")
            if claim.verdict == "proved":
                assert 0 < claim.margin <= truth
            if claim.verdict == "refuted":
                example = claim.counterexample
                assert forced_margins(decoder, task, example.symbols[None])[0, example.step] < 0
