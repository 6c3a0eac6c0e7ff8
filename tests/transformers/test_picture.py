"""The picture of a decision: its numbers are those of all inputs, and it fits a phone."""

import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from decoders import TASKS, bit_copier, copier, copy, every_input, random_decoder

from bitwright import certify
from bitwright.pages.drawing import text_width
from bitwright.transformers.counterexamples import forced_margins
from bitwright.transformers.decision import Decision
from bitwright.transformers.layout import ColumnTask
from bitwright.transformers.modules import forced_rows, logits
from bitwright.transformers.picture import WRONG, count_splits, decision_page, decision_svg, measure_margins

COPY = copy(2)
CROSSED = 'stroke="#fff"'


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


def test_what_is_wrong_is_crossed_and_what_is_right_is_not() -> None:
    for sharp, wrong in ((6.0, False), (1.2, True)):
        decision = decided(sharp)
        assert (decision.verdict == "refuted") == wrong
        picture = decision_svg(decision)
        ElementTree.fromstring(picture)
        assert (WRONG in picture, CROSSED in picture) == (wrong, wrong)
        for claim in decision.claims:
            if claim.counterexample is not None:
                assert f">{claim.counterexample.inputs}<" in picture


def test_nothing_stands_outside_of_400() -> None:
    for name, task in TASKS.items():
        decoder = random_decoder(np.random.default_rng(3), task)
        picture = ElementTree.fromstring(decision_svg(certify(task, decoder, measure=True)))
        whole, height = map(float, picture.attrib["viewBox"].split()[2:])
        assert whole == 400
        for part in picture.iter():
            x, y = float(part.get("x", 0)), float(part.get("y", 0))
            width = float(part.get("width", "0").rstrip("%"))
            long = text_width(part.text or "", 11) if part.tag.endswith("text") else width
            before = {"end": long, "middle": long / 2}.get(part.get("text-anchor", ""), 0.0)
            low, high = x - before, x - before + long
            assert (low >= 0, high <= 400, y <= height) == (True, True, True), (name, part.attrib, part.text)


def test_a_count_has_two_ends_and_a_legend() -> None:
    """The pale bar is for inputs that may be wrong; without any there is no legend of it."""
    task, decoder = bit_copier(0.0)
    for seconds in (60.0, 0.0):
        decision = certify(task, decoder, measure=True, seconds=seconds)
        assert decision.wrong is not None
        picture = decision_svg(decision)
        open_ = any(least < most for least, most in decision.wrong.first)
        assert (">at most</text>" in picture) == open_
        for place, (least, most) in zip(task.layout.answer, decision.wrong.first, strict=True):
            assert (f">{place}: {least} to {most}, " in picture) == bool(most)
    assert open_


def test_a_wrong_token_stands_in_the_middle_of_its_frame() -> None:
    root = ElementTree.fromstring(decision_svg(decided(1.2)))
    frames = [part for part in root.iter() if part.get("stroke") == WRONG and part.get("fill") == "none"]
    words = [part for part in root.iter() if part.get("text-anchor") == "middle" and part.get("font-weight") == "bold"]
    assert len(frames) == len(words) > 0
    for frame, word in zip(frames, words, strict=True):
        middle = float(frame.get("x", 0)) + float(frame.get("width", 0)) / 2
        assert float(word.get("x", 0)) == pytest.approx(middle, abs=0.2)


def test_rows_and_columns_of_squares_are_labelled() -> None:
    root = ElementTree.fromstring(decision_svg(decided(6.0)))
    labels = [part.text for part in root.iter() if part.get("font-size") == "7"]
    size = len(COPY.tokens("z"))
    assert labels[: 2 * size : 2] == labels[1 : 2 * size : 2] == [str(digit) for digit in range(size)]


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
    picture = decision_svg(certify(task, decoder, seconds=0))
    assert picture.count(">0 over 1: ") == 24
