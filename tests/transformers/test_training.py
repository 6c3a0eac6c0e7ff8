"""Trained decoders for small tasks: verdicts agree with every input, and equal seeds give equal weights."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from decoders import digits

from bitwright.common.errors import InputError
from bitwright.transformers.decoder import Decoder, check
from bitwright.transformers.layout import Mixture
from bitwright.transformers.modules import logits
from bitwright.transformers.prover import decide
from bitwright.transformers.task_text import read_task
from bitwright.transformers.training import TrainingRecipe, decoder_of, frame_of, logits_of, start, train_until_proved

ADDER = read_task("numbers a b: 2 digits base 4\nensure z == a + b\nprompt a[1..2] 0 b[1..2] 0 0\nanswer z[1..3]\n")
QUICK = TrainingRecipe(position_width=4, steps=300, batch=32, rate=4e-2)
SETTINGS = {"ROUNDS": 3, "ROUND_STEPS": 150, "ROUND_RATE": 2e-2, "HOPELESS": 0.3}


@pytest.fixture(scope="module", autouse=True)
def _quick():
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SETTINGS.items():
            patch.setattr(f"bitwright.transformers.training.{name}", value)
        yield


def train(task, recipe, *, seeds, progress=None):
    """Returns the decoders after the first training."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bitwright.transformers.training.ROUNDS", 0)
        return tuple(of.decoder for of in train_until_proved(task, recipe, seeds=seeds, progress=progress))


def added(decoder: Decoder, a: int, b: int) -> int:
    """Decodes the sum greedily."""
    row = [*digits([a], 4, 2)[0], 0, *digits([b], 4, 2)[0], 0, 0]
    for _ in range(3):
        row.append(int(logits(decoder, np.array([row]), np.float32)[0, -1].argmax()))
    return sum(digit * 4**place for place, digit in enumerate(row[-3:]))


@pytest.fixture(scope="module")
def adders():
    return train_until_proved(ADDER, QUICK, seeds=range(6))


def test_adders_that_are_proved_add_and_the_others_do_not(adders):
    verdicts = {training.decision.verdict for training in adders}
    assert verdicts == {"proved", "refuted"}
    for training in adders:
        check(training.decoder)
        wrong = [(a, b) for a in range(16) for b in range(16) if added(training.decoder, a, b) != a + b]
        assert bool(wrong) != bool(training.decision)
        if not training.decision:
            counterexample = training.decision.claims[0].counterexample
            a, b = (ADDER.number(word, 4) for word in counterexample.symbols)
            assert (a, b) in wrong
            assert ADDER.number(np.array(counterexample.written), 4) == added(training.decoder, a, b)
            assert ADDER.number(np.array(counterexample.right), 4) == a + b


def test_rounds_mend_what_training_left(adders):
    mended = [training for training in adders if training.decision and training.rounds]
    assert mended
    for training in adders:
        assert len(training.wrong) == training.rounds + 1
        assert training.wrong[-1] == 0 or not training.decision
        assert training.wrong[0] > 0 or not training.rounds


def test_perturbed_networks_are_proved_only_if_they_add(adders):
    decoder = next(training.decoder for training in adders if training.decision)
    rng, verdicts = np.random.default_rng(0), []
    inputs = np.concatenate(list(ADDER.every_input()))
    for size in (0.05, 0.5, 1.0, 2.0) * 3:
        head = decoder.head[0].weight
        moved = (head + size * rng.normal(size=head.shape) * np.abs(head).mean()).astype(np.float32)
        other = replace(decoder, head=(replace(decoder.head[0], weight=moved),))
        (claim,) = decide(other, ADDER).claims
        values = logits(other, ADDER.rows(inputs)[:, :-1], np.float32)[:, ADDER.prompt_length - 1 :]
        right = (values.argmax(2) == ADDER.answers(inputs)).all()
        verdicts.append(claim.verdict)
        assert claim.verdict == ("proved" if right else "refuted")
    assert {"proved", "refuted"} <= set(verdicts)


def same(some: Decoder, other: Decoder) -> bool:
    def arrays(decoder):
        head, layer = decoder.layers[0].heads[0], decoder.layers[0]
        chains = (head.query, head.key, head.value, layer.output, layer.mlp.up, layer.mlp.down, decoder.head)
        parts = [linear for chain in chains for linear in chain]
        return [*decoder.tables, *(p.weight for p in parts), *(p.bias for p in parts if p.bias is not None)]

    return all(a.tobytes() == b.tobytes() for a, b in zip(arrays(some), arrays(other), strict=True))


def test_the_same_seeds_give_the_same_bytes():
    recipe = replace(QUICK, steps=40)
    first = train(ADDER, recipe, seeds=[3, 5])
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        torch.manual_seed(1)
        second = train(ADDER, recipe, seeds=[3, 5])
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    assert same(first[0], second[0])
    assert same(first[1], second[1])
    assert not same(first[0], first[1])


def test_decoders_compute_what_was_trained():
    task = read_task(
        "numbers a b: 3 digits base 5\nensure z == (a - b) mod 5^3\nprompt 10 a[1..3] b[3..1] 11\nanswer z[1..3]\n"
        "tokens b = 5..9\nstop 12\n"
    )
    recipe = TrainingRecipe(token_width=6, position_width=4, hidden=7, steps=5)
    (decoder,) = train(task, recipe, seeds=[0])
    (earlier,) = train(task, replace(recipe, steps=4), seeds=[0])
    assert not same(decoder, earlier)
    weights = start(task, 6, 4, 7, [0, 1], (False, True))
    rows = task.rows(task.random_inputs(50, np.random.default_rng(0)))
    mine = logits(decoder_of(weights, frame_of(task), 1), rows, np.float32)[:, task.prompt_length - 1 :]
    theirs = logits_of(weights, frame_of(task), torch.from_numpy(rows)[None].expand(2, -1, -1))[1].detach().numpy()
    assert mine.shape == theirs.shape == (50, 4, 13)
    assert np.abs(mine - theirs).max() < 1e-4


def test_training_reports_progress_and_can_be_interrupted():
    reports = []
    train(ADDER, replace(QUICK, steps=70), seeds=[0], progress=lambda *report: reports.append(report))
    assert reports == [(32, 70), (64, 70), (70, 70)]

    def interrupt(*_: int) -> None:
        raise KeyboardInterrupt

    threads = torch.get_num_threads()
    with pytest.raises(KeyboardInterrupt):
        train(ADDER, QUICK, seeds=[0], progress=interrupt)
    assert torch.get_num_threads() == threads


def test_enough_proved_networks_end_the_training(adders):
    some = train_until_proved(ADDER, QUICK, seeds=range(6), enough=1)
    rounds = min(training.rounds for training in adders if training.decision)
    assert max(training.rounds for training in some) == rounds
    assert any(training.decision for training in some)


@pytest.mark.parametrize(
    ("change", "seeds", "message"),
    [
        ({"position_width": 5}, [0], "position_width must be even, got 5"),
        ({"steps": 0}, [0], "steps must be at least 1, got 0"),
        ({"rate": 2.0}, [0], "rate must be between 0 and 1, got 2.0"),
        ({}, [1, 1], "distinct integers of at least 0"),
        ({}, [], "distinct integers of at least 0"),
    ],
)
def test_bad_settings_are_refused(change, seeds, message):
    with pytest.raises(InputError, match=message):
        train(ADDER, TrainingRecipe(**change), seeds=seeds)


TASKS = [
    "numbers a b: 10 digits\nensure z == a + b\nprompt a[1..10] 0 b[1..10] 0 0\nanswer z[1..11]\n",
    "words s: 12 symbols -5..5\nensure z[i] == sum(s[1..i]) mod 4 for i in 1..12\nprompt s[1..12]\nanswer z[1..12]\n",
    "numbers a b c: 3 digits base 2\nensure z == (a - b) mod 2^3\nensure f == (c < a)\n"
    "prompt a[1..3] c[1..3] b[1..3]\nanswer f z[1..3]\n",
]


@pytest.mark.parametrize("text", TASKS)
def test_mixtures_draw_inputs_of_the_task(text):
    task = read_task(text)
    mixture = Mixture(task)
    drawn = mixture.draw(3000, np.random.default_rng(1))
    assert drawn.shape == (3000, *task.positions.shape)
    assert (drawn >= 0).all()
    assert (drawn < np.array(task.columns.symbols)[:, None]).all()
    assert (drawn[:, task.positions < 0] == 0).all()
    for (word, column), position in np.ndenumerate(task.positions):
        if position >= 0:
            assert set(drawn[:, word, column]) == set(range(task.columns.symbols[word]))
    assert (mixture.draw(3000, np.random.default_rng(1)) == drawn).all()


def test_mixtures_have_long_chains():
    """Carries through eight columns or more occur in 3 of 10 million uniform pairs, but often in the mixture."""
    drawn = Mixture(read_task(TASKS[0])).draw(7000, np.random.default_rng(0))
    nines = drawn[:, 0, :10] + drawn[:, 1, :10] == 9
    run, longest = np.zeros(len(drawn), int), np.zeros(len(drawn), int)
    for column in nines.T:
        run = np.where(column, run + 1, 0)
        longest = np.maximum(longest, run)
    assert 500 < (longest >= 8).sum() < 3500


def test_words_of_a_difference_begin_in_opposite_orders():
    text = "numbers a b: 3 digits\nensure z == {}\nprompt a[1..3] b[1..3]\nanswer z[1..3]\n"
    assert Mixture(read_task(text.format("(a - b) mod 10^3"))).opposed() == (False, True)
    assert Mixture(read_task(text.format("(a + b) mod 10^3"))).opposed() == (False, False)
