"""Smallest margins and numbers of wrong inputs against all inputs of small tasks."""

from dataclasses import replace

import numpy as np
import pytest
from decoders import TASKS, copier, copy, every_input, random_decoder
from long import seeds

from bitwright.transformers.counterexamples import forced_margins
from bitwright.transformers.decoder import Linear
from bitwright.transformers.margins import WrongInputs, count_wrong, smallest_margin


def networks():
    """Decoders of which some are wrong on few inputs, and some on most."""
    for seed in seeds(4, of=24):
        rng = np.random.default_rng(seed)
        for task in TASKS.values():
            yield task, random_decoder(rng, task, heads=1 + seed % 2, rank=seed % 3, sharp=2.0)
        yield copy(2), copier(rng, copy(2), 1.3 + 0.1 * seed, heads=1 + seed % 2)


def test_the_smallest_margin_is_that_of_all_inputs():
    for task, decoder in networks():
        margins, found = forced_margins(decoder, task, every_input(task)), smallest_margin(decoder, task, gap=1e-4)
        least = margins.min()
        assert found.bound <= least + 1e-9
        assert found.attained - found.bound <= 1e-4 * abs(least) + 1e-8
        assert forced_margins(decoder, task, found.symbols[None])[0, found.step] == pytest.approx(found.attained)


def test_wrong_inputs_are_those_of_all_inputs_or_of_a_sample(monkeypatch):
    some = 0
    for task, decoder in networks():
        wrong = (forced_margins(decoder, task, every_input(task)) <= 0).any(1)
        assert count_wrong(decoder, task) == WrongInputs(int(wrong.sum()), task.inputs)
        some += 0 < wrong.sum() < task.inputs
    assert some
    task, decoder = copy(2), copier(np.random.default_rng(0), copy(2), 1.3)
    share = (forced_margins(decoder, task, every_input(task)) <= 0).any(1).mean()
    monkeypatch.setattr("bitwright.transformers.margins.SAMPLE", 70)
    monkeypatch.setattr("bitwright.transformers.margins.BATCH", 20)
    found = count_wrong(decoder, task, seed=1)
    assert found.tried == 70
    assert abs(found.wrong / 70 - share) < 4 * (share * (1 - share) / 70) ** 0.5  # false alarm: 1 of 10,000
    assert found == count_wrong(decoder, task, seed=1)


def test_what_is_known_when_the_time_is_up_is_a_bracket():
    """Also where the time is up at any moment of the search."""
    wide = 0
    for task, decoder in list(networks())[::3]:
        margins, now = forced_margins(decoder, task, every_input(task)), 0.0

        def tick() -> float:
            nonlocal now
            now += 1
            return now

        for seconds in (0, 2, 5):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("time.monotonic", tick)
                closest = smallest_margin(decoder, task, seconds=seconds, gap=1e-6)
            assert closest.bound <= margins.min() + 1e-9
            assert margins.min() - 1e-9 <= closest.attained
            wide += closest.bound < margins.min() - 1e-3
    assert wide


def test_progress_reaches_100_percent_and_an_interrupt_ends_the_work():
    decoder = copier(np.random.default_rng(2), copy(2), 1.3)

    def interrupt(*_: int) -> None:
        raise KeyboardInterrupt

    for measure, last, least in ((smallest_margin, 100, len(copy(2).layout.answer)), (count_wrong, 81, 0)):
        seen: list[tuple[int, int]] = []
        measure(decoder, copy(2), progress=lambda *done, seen=seen: seen.append(done))
        assert seen == sorted(seen)
        assert seen[-1] == (last, last)
        assert len({done for done, _ in seen}) > least
        with pytest.raises(KeyboardInterrupt):
            measure(decoder, copy(2), progress=interrupt)


def test_a_better_head_has_a_larger_margin():
    """The margin scales with the head's last matrix."""
    decoder = copier(np.random.default_rng(2), copy(2), 3.0)
    double = replace(decoder, head=(Linear(2 * decoder.head[0].weight),))
    once, twice = (smallest_margin(of, copy(2), gap=1e-6).attained for of in (decoder, double))
    assert twice == pytest.approx(2 * once)
