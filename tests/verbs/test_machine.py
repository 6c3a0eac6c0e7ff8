"""`machine(letter, ...)`, and many images on one machine through `run`."""

from typing import Any

import pytest
from facts import missing

import bitwright as bw
from bitwright.machines import Sizes, assemble, machine_a, machine_b
from bitwright.machines.subleq import DIALECTS, Shape
from bitwright.machines.subleq.images import run_images

SMALL = bw.machine("V", words=8, word_width=5, dialect="plain")
IMAGES = [[6, 7, 30, 0, 0, 0, a, b] for a in range(3) for b in range(3)]  # M[7] - M[6]


def test_a_machine_is_the_one_of_its_letter_and_sizes() -> None:
    sizes = {"instructions": 3, "words": 4, "word_width": 5}
    for letter, make in (("A", machine_a), ("B", machine_b)):
        assert bw.machine(letter, **sizes).program == make(Sizes(3, 4, 5)).program  # type: ignore[call-overload]
        assert bw.machine(letter, Sizes(3, 4, 5), halt=False).program == make(Sizes(3, 4, 5), False).program  # type: ignore[call-overload]
    assert SMALL.shape == Shape(8, 5, DIALECTS["plain"])
    assert bw.machine("V", words=16, word_width=8).shape.dialect == DIALECTS["howerj"]


def test_code_runs_on_either_machine() -> None:
    code = assemble(".width 6\n.in a b\n.out b\nsub a b")
    for letter in ("A", "B"):
        algorithm = bw.machine(letter, code.sizes).algorithm(code)  # type: ignore[call-overload]
        assert [bw.run(algorithm, a=a, b=13).value for a in range(9)] == [13 - a for a in range(9)]


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (("C", {}), "'C'"),
        (("A", {}), "word_width"),
        (("B", {"instructions": 1, "words": 2}), "word_width word_width=16"),
        (("A", {"instructions": 1, "words": 2, "word_width": 3, "dialect": "kth"}), "dialect machine"),
        (("A", {"sizes": Sizes(1, 2, 3), "words": 2}), "both"),
        (("V", {"words": 8}), "word_width"),
        (("V", {"words": 8, "word_width": 5, "instructions": 3}), "leave others"),
        (("V", {"words": 8, "word_width": 5, "dialect": "pain"}), "'plain'"),
        (("V", {"words": "8", "word_width": 5}), "words must"),
    ],
)
def test_what_is_no_machine_is_said(given: tuple[str, dict[str, Any]], line: str) -> None:
    letter, sizes = given
    with pytest.raises(bw.InputError) as refused:
        bw.machine(letter, **sizes)  # type: ignore[call-overload]
    assert missing(str(refused.value), line) == []


def test_many_images_through_run() -> None:
    found = bw.run(SMALL, images=IMAGES, instructions=9)  # some of them never halt
    assert [done.memory[7] for done in found] == [(b - a) % 32 for a in range(3) for b in range(3)]
    assert found == run_images(SMALL, IMAGES, max_instructions=9)
    for how in ({"engine": "limit"}, {"network": bw.train(SMALL.program)}):
        assert bw.run(SMALL, images=IMAGES, instructions=9, **how) == found
    assert bw.run(SMALL, images=IMAGES, instructions=1) == run_images(SMALL, IMAGES, max_instructions=1)
    entered = run_images(SMALL, IMAGES, start=3, max_instructions=9)
    assert bw.run(SMALL, images=IMAGES, entry=3, instructions=9) == entered


@pytest.mark.parametrize(
    ("what", "how", "line"),
    [
        (SMALL, {}, "machine images"),
        (bw.addition(2), {"images": IMAGES}, "images machine"),
        (SMALL, {"images": IMAGES, "steps": 3}, "steps images"),
        (SMALL, {"images": IMAGES, "record": True}, "record images"),
        (SMALL, {"images": IMAGES, "instruktions": 3}, "'instruktions'"),
        (SMALL, {"images": IMAGES, "inputs": [b""]}, "9 images"),
    ],
)
def test_what_does_not_go_with_images(what: Any, how: dict[str, Any], line: str) -> None:
    with pytest.raises(bw.InputError) as refused:
        bw.run(what, **how)
    assert missing(str(refused.value), line) == []


def test_the_face_is_small() -> None:
    assert len(set(dir(bw)) - {"__version__"}) <= 33
    assert {*bw.__all__, "open"} == set(dir(bw))
