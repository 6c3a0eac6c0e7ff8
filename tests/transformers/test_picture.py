"""The picture of a decision: its numbers are those of all inputs."""

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from decoders import TASKS, bit_copier, copier, copy, every_input, random_decoder

from bitwright import certify
from bitwright.transformers.counterexamples import forced_margins
from bitwright.transformers.decision import Decision
from bitwright.transformers.layout import ColumnTask
from bitwright.transformers.modules import forced_rows, logits
from bitwright.transformers.picture import CROSS, WRONG, count_splits, decision_html, decision_page, measure_margins

COPY = copy(2)


def parts_of(picture: str) -> list[ElementTree.Element]:
    return [*ElementTree.fromstring(f"<all>{picture}</all>").iter()]


def decided(sharp: float) -> Decision:
    return certify(COPY, copier(np.random.default_rng(1), COPY, sharp), measure=True)


@pytest.mark.parametrize("name", TASKS)
def test_margins_are_those_of_all_inputs_for_each_pair(name: str) -> None:
    """All inputs of these tasks are among those that are evaluated."""
    task = TASKS[name]
    decoder = random_decoder(np.random.default_rng(3), task)
    _, positions = measure_margins(certify(task, decoder, seconds=0))
    inputs = every_input(task)
    values = logits(decoder, forced_rows(task, inputs))[:, task.prompt_length - 1 :]
    margins, answers = forced_margins(decoder, task, inputs), task.answers(inputs)
    for step, position in enumerate(positions):
        assert position.least == pytest.approx(margins[:, step].min())
        if step == len(task.layout.answer):
            continue
        tokens = task.tokens(task.layout.answer[step].word)
        for right, other in np.argwhere(~np.isnan(position.pairs[:, : len(tokens)])).tolist():
            of = values[answers[:, step] == tokens[right], step]
            assert position.pairs[right, other] == pytest.approx((of[:, tokens[right]] - of[:, tokens[other]]).min())


def test_boxes_are_those_of_the_claims() -> None:
    decision = decided(6.0)
    splits, boxes = count_splits(decision)
    assert boxes.sum() == sum(claim.boxes for claim in decision.claims)
    leaves = (boxes.sum() + sum(len(claim.trees) for claim in decision.claims)) // 2
    assert splits.sum() == boxes.sum() - leaves


def test_what_is_wrong_is_crossed_and_framed_and_what_is_right_is_not() -> None:
    for sharp, wrong in ((6.0, False), (1.2, True)):
        decision = decided(sharp)
        assert (decision.verdict == "refuted") == wrong
        picture = decision_html(decision)
        assert (f"background:{WRONG}" in picture, CROSS in picture) == (wrong, wrong)
        framed = [part.text for part in parts_of(picture) if part.get("class") == "wrong"]
        assert len(framed) >= sum(claim.counterexample is not None for claim in decision.claims)
        for claim in decision.claims:
            if claim.counterexample is not None:
                assert f">{claim.counterexample.inputs}<" in picture
                assert str(claim.counterexample.written[claim.counterexample.step]) in framed


def test_every_task_is_drawn_as_well_formed_markup() -> None:
    for task in TASKS.values():
        decoder = random_decoder(np.random.default_rng(3), task)
        assert parts_of(decision_html(certify(task, decoder, measure=True)))


def test_rows_and_columns_of_squares_are_labelled() -> None:
    picture = decision_html(decided(6.0))
    size = len(COPY.tokens("z"))
    for digit in range(size):
        row, column = f"{digit + 1}/1/auto/span 1", f"{size + 1}/{digit + 2}/auto/span 1"
        for place in (row, column):
            assert f'<span style="grid-area:{place}">{digit}</span>' in picture


def test_a_page_loads_nothing_and_says_the_verdict(tmp_path: Path) -> None:
    decision = decided(1.2)
    decision.save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page == decision_page(decision)
    assert not re.search(r"(src|href)=|url\(|@import|<script", page)
    assert "REFUTED" in page
    colours = [re.search('style="color:(#[0-9a-f]{6})"', text) for text in (page, decision._repr_html_() or "")]
    assert len({colour and colour[1] for colour in colours}) == 1
    assert colours[0] is not None


def test_long_answers_and_large_alphabets_are_drawn_in_part() -> None:
    task, decoder = bit_copier(8.0, length=30)
    assert isinstance(task, ColumnTask)
    picture = decision_html(certify(task, decoder, seconds=0))
    assert picture.count('"0 over 1: ') == 24
