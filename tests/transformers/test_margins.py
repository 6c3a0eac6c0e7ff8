"""Smallest margins and numbers of wrong inputs against all inputs of small tasks."""

from dataclasses import replace

import numpy as np
import pytest
from decoders import TASKS, copier, copy, every_input, random_decoder
from long import seeds

from bitwright.transformers.attention import tabulate
from bitwright.transformers.boxes import root
from bitwright.transformers.counterexamples import forced_margins
from bitwright.transformers.decoder import Linear
from bitwright.transformers.layout import ColumnTask, Place, PromptLayout
from bitwright.transformers.margins import Pieces, _count, count_wrong, smallest_margin


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


def test_wrong_inputs_are_counted_once_by_the_first_wrong_step():
    some = 0
    for task, decoder in networks():
        wrong = forced_margins(decoder, task, every_input(task)) < 0
        first = [int((wrong[:, step] & ~wrong[:, :step].any(1)).sum()) for step in range(wrong.shape[1])]
        found = count_wrong(decoder, task)
        assert found.first == tuple((number, number) for number in first)
        assert found.least == found.most == wrong.any(1).sum()
        some += 0 < found.least < task.inputs
    assert some


def test_a_hurried_count_is_a_bracket():
    some = 0
    for task, decoder in networks():
        wrong = (forced_margins(decoder, task, every_input(task)) < 0).any(1).sum()
        found = count_wrong(decoder, task, boxes=1)
        assert found.least <= wrong <= found.most
        some += found.least < found.most
    assert some


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
                wrong = count_wrong(decoder, task, seconds=seconds)
            assert closest.bound <= margins.min() + 1e-9
            assert margins.min() - 1e-9 <= closest.attained
            assert wrong.least <= (margins < 0).any(1).sum() <= wrong.most <= task.inputs
            for step, (least, most) in enumerate(wrong.first):
                number = ((margins[:, step] < 0) & ~(margins[:, :step] < 0).any(1)).sum()
                assert least <= number <= most
            wide += wrong.least < wrong.most and closest.bound < margins.min() - 1e-3
    assert wide


def test_a_count_that_is_cut_off_is_a_bracket(monkeypatch):
    """All boxes are bounded, but the time is up before those of different steps are told apart."""

    def late(*_: object) -> None:
        raise TimeoutError

    monkeypatch.setattr("bitwright.transformers.margins._count_first", late)
    task, decoder = copy(2), copier(np.random.default_rng(0), copy(2), 1.2)
    wrong = forced_margins(decoder, task, every_input(task)) < 0
    found, many = count_wrong(decoder, task), wrong.sum(0).max()
    assert many <= found.least <= wrong.any(1).sum() <= found.most
    for step, (least, most) in enumerate(found.first):
        assert least <= (wrong[:, step] & ~wrong[:, :step].any(1)).sum() <= most
    assert wrong.sum() > wrong.any(1).sum()  # some inputs are wrong at two steps


def test_progress_reaches_100_percent_and_an_interrupt_ends_the_work():
    decoder = copier(np.random.default_rng(2), copy(2), 1.3)

    def interrupt(*_: int) -> None:
        raise KeyboardInterrupt

    for measure in (smallest_margin, count_wrong):
        seen: list[tuple[int, int]] = []
        measure(decoder, copy(2), progress=lambda *done, seen=seen: seen.append(done))
        assert seen == sorted(seen)
        assert seen[-1] == (100, 100)
        assert len({done for done, _ in seen}) > len(copy(2).layout.answer)
        with pytest.raises(KeyboardInterrupt):
            measure(decoder, copy(2), progress=interrupt)


def test_numbers_of_inputs_are_exact_beyond_64_bits():
    """All inputs of a group of 30-digit additions, and those whose third digit of the sum is 7."""
    from decoders import addition, prompt

    columns = addition(30, 10)
    layout = PromptLayout(prompt(30, 10), (Place("z", 2), Place("z", 5)))
    task = ColumnTask(columns, layout)
    decoder = random_decoder(np.random.default_rng(1), task)
    edges = tabulate(decoder, task, 0.0).edges
    box = root(task, (0, -1, 7))[None]
    wanted = np.full((1, columns.length + 1), -1)
    both = [
        Pieces(box, np.where(np.arange(32) == 2, digit, wanted), columns.ends[None], np.ones(1, bool))
        for digit in (-1, 7)
    ]
    assert [int(_count(edges, pieces)[0]) for pieces in both] == [10**60, 10**59]


def test_a_better_head_has_a_larger_margin():
    """The margin scales with the head's last matrix."""
    decoder = copier(np.random.default_rng(2), copy(2), 3.0)
    double = replace(decoder, head=(Linear(2 * decoder.head[0].weight),))
    once, twice = (smallest_margin(of, copy(2), gap=1e-6).attained for of in (decoder, double))
    assert twice == pytest.approx(2 * once)
