"""Exported pages in a real browser: values are Python's, nothing is loaded, names and contrast suffice for everyone."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from cases import for_each
from long import LONG, seeds
from paged import computer, network_for, node_program
from waiting import wait_until
from whole import whole

from bitwright import addition, multiplication, run
from bitwright.api.export.pages import Page, computer_page, graph_page, program_page
from bitwright.api.graphs import on_graph
from bitwright.machines.programs import open_program

Open = Callable[..., Any]
PHONE = {"viewport": {"width": 400, "height": 800}, "has_touch": True, "is_mobile": True}
TASKS = {"addition": addition, "multiplication": multiplication}


@cache
def page_of(name: str) -> Page:
    if name in TASKS:
        network, pattern = network_for(name)
        return program_page(network, pattern, TASKS[name](10), {}, ("bits", 10, TASKS[name]))
    if name == "whole":
        return program_page(whole(addition(3).program, 256), None, addition(3), {"p": 5, "q": 6})
    network, pattern = network_for(name, 1_024 if name.endswith(".sq") else 256)
    if name.endswith(".sbn"):
        return program_page(network, pattern, open_program(f"examples/sbn/{name}"), {"a": 12, "b": 18})
    if name.endswith(".sq"):
        return computer_page(network, pattern, computer(name))
    return graph_page(network, pattern, node_program(name), {"life": "torus:12x40", "bfs": "grid:3x4"}[name])


EVERY = ["addition", "multiplication", "whole", "gcd.sbn", "bfs", "life", "echo.sq"]
SOME = EVERY if LONG else ["addition", "whole", "bfs", "echo.sq"]  # pages of all forms


def until(page: Any, expression: str) -> None:
    wait_until(lambda: page.evaluate(expression), expression)


MOVE = "step => { const w = document.getElementById('when'); w.value = step; w.dispatchEvent(new Event('input')); }"


def finish(page: Any) -> None:
    """Runs to the end."""
    page.click("#run")
    until(page, "document.documentElement.dataset.mode === 'idle'")
    until(page, "/ended|halted|limit|waits/.test(document.getElementById('status').textContent)")


def outputs(page: Any) -> dict[str, int | None]:
    """The results that are shown; None where there is none yet."""
    rows = page.eval_on_selector_all("#outputs dd", "cells => cells.map(c => [c.dataset.word, c.textContent])")
    return {name: None if text == "–" else int(text) for name, text in rows}


SIZES: dict[str, dict[int, tuple[int, int]]] = {
    "addition": {10: (719, 483), 200: (3**120, 2**199 + 5)},
    "multiplication": {10: (719, 483), 1: (1, 1), **({64: (3**40, 7**22)} if LONG else {})},
}


@pytest.mark.parametrize("name", TASKS)
def test_numbers_of_any_size(name: str, show: Open) -> None:
    page = show(page_of(name).text)
    for size, numbers in SIZES[name].items():
        algorithm = TASKS[name](size)
        values = dict(zip((word.name for word in algorithm.inputs), numbers, strict=True))
        page.fill("#size", str(size))
        for word, value in values.items():
            page.fill(f"#input-{word}", str(value))
        finish(page)
        done = run(algorithm, **values)
        assert outputs(page) == done.outputs
        assert f"Step {done.steps:,} of {done.steps:,}." in page.text_content("#status")
        page.evaluate(MOVE, 1)
        until(page, f"document.getElementById('status').textContent.startsWith('Step 1 of {done.steps:,}.')")
        assert "ended" not in page.text_content("#status") or done.steps == 1


def test_the_whole_run_is_in_the_trace(show: Open) -> None:
    page = show(page_of("multiplication").text)
    finish(page)
    steps = run(multiplication(10), multiplicand=13, multiplier=11).steps
    assert page.text_content("#trace-note").endswith(f"; steps 0 to {steps}")


def test_many_sums(show: Open) -> None:
    page = show(page_of("addition").text)
    for at in seeds(6, of=25):
        values = {"p": 37 * at % 1024, "q": (911 * at + 5) % 1024}
        for word, value in values.items():
            page.fill(f"#input-{word}", str(value))
        finish(page)
        assert outputs(page) == {"sum": values["p"] + values["q"]}


def test_steps_and_looking_back(show: Open) -> None:
    """Every step shows the value that the state of that step holds; there is none before the first."""
    page = show(page_of("addition").text)
    page.fill("#input-p", "719")
    page.fill("#input-q", "483")
    states = run(addition(10), p=719, q=483, record=True).trace.states()
    expected = [None, *(addition(10).read(state)["sum"] for state in states[1:])]
    for step in range(1, 6):
        page.click("#step")
        until(page, f"document.getElementById('status').textContent.startsWith('Step {step} ')")
        assert outputs(page)["sum"] == expected[step]
    finish(page)
    for step in (3, 0, 20, 11):
        page.evaluate(MOVE, step)
        until(page, f"document.getElementById('status').textContent.startsWith('Step {step} ')")
        assert outputs(page)["sum"] == expected[step]


def test_what_a_cell_says(show: Open) -> None:
    """G and T of a port are those of the network."""
    network, pattern = network_for("addition")
    page = show(page_of("addition").text)
    page.fill("#input-p", "1023")
    page.fill("#input-q", "1023")
    page.fill("#cell-number", "3")
    said = "[...document.querySelectorAll('#ports tbody tr')].map((row) => row.cells[4].textContent).join()"
    until(page, f"{said} === 'off,on,off'")
    rows = page.eval_on_selector_all("#ports tbody tr", "rows => rows.map(r => [...r.cells].map(c => c.textContent))")

    bits = pattern.port_bits(0)
    both = {"kind1_block1[1]", "kind1_block1[2]"}
    state = np.array([name in both for name in pattern.program.layout.names])
    own = [example for example in pattern.program.match(state).tolist() if example < pattern.first_template[1]]
    first = network.first[:, own].astype(int)
    sums = network.last[bits].astype(int) @ np.maximum(first.sum(axis=1), 0)
    assert [int(row[1].replace(",", "").replace("−", "-")) for row in rows] == sums.tolist()


REDS = """() => {
  const wrong = getComputedStyle(document.documentElement).getPropertyValue("--wrong").trim();
  const colour = [1, 3, 5].map((at) => parseInt(wrong.slice(at, at + 2), 16));
  return [...document.querySelectorAll("canvas")].reduce((sum, canvas) => {
    const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
    const context = copy.getContext("2d", { willReadFrequently: true });
    context.drawImage(canvas, 0, 0);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    for (let at = 0; at < data.length; at += 4) sum += colour.every((value, i) => data[at + i] === value);
    return sum;
  }, 0);
}"""
BROKEN = "document.querySelector('header').classList.contains('is-broken')"


def broken(page: Any) -> int:
    """Breaks the run on the screen; gives the first step that is wrong."""
    page.click("#weakest")
    until(page, BROKEN)
    said = re.search(r"wrong first in step ([0-9,]+): ", page.text_content("#status"))
    return int(said[1].replace(",", ""))


@pytest.mark.parametrize("name", SOME)
def test_a_weight_breaks_the_run_on_the_screen_and_is_restored(name: str, show: Open) -> None:
    claim = page_of(name).claim
    page = show(page_of(name).text)
    page.click("#prove")
    until(page, "document.documentElement.dataset.proof")
    said = json.loads(page.evaluate("document.documentElement.dataset.proof"))
    assert (said["states"], said["wrong"]) == (claim.states, claim.wrong)
    before = page.text_content("#about")
    assert f"When this page was written: {claim.note}." in before
    assert page.evaluate(REDS) == 0
    step = broken(page)
    assert f"refuted: {page.text_content('#weight-note .wrong').removesuffix(' now.')}" in page.text_content("#about")
    assert f"this run is wrong from step {step:,} on" in page.text_content("#about")
    assert "proved" not in page.text_content("header")
    assert page.text_content("#proof-note") == ""  # the old proof is of another network
    assert f"{step:,} step" in page.text_content("#status") or f"Step {step:,}" in page.text_content("#status")
    assert page.evaluate(REDS) > 0
    page.click("#prove")
    until(page, "document.documentElement.dataset.proof")
    wrong = json.loads(page.evaluate("document.documentElement.dataset.proof"))["wrong"]
    assert f"refuted: {wrong} of " in page.text_content("#about")
    assert "Refuted" in page.text_content("#proof-note")
    page.click("#restore")
    until(page, f"!{BROKEN}")
    assert page.text_content("#about") == before
    assert page.evaluate(REDS) == 0
    page.click("#step")
    page.click("#step")
    assert "wrong" not in page.text_content("#status")
    page.evaluate("() => delete document.documentElement.dataset.proof")
    page.click("#prove")
    until(page, "document.documentElement.dataset.proof")
    assert json.loads(page.evaluate("document.documentElement.dataset.proof"))["wrong"] == claim.wrong


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("multiplication", {"multiplicand": 719, "multiplier": 483}),
        ("addition", {"p": 719, "q": 483}),
        *[("multiplication", {"multiplicand": 0, "multiplier": 1})] * LONG,
    ],
)
def test_a_broken_run_is_right_until_the_step_that_is_called_wrong(
    name: str, values: dict[str, int], show: Open
) -> None:
    page = show(page_of(name).text)
    for word, value in values.items():
        page.fill(f"#input-{word}", str(value))
    step = broken(page)
    done = run(TASKS[name](10), **values, record=True)
    expected = [next(iter(TASKS[name](10).read(state).values())) for state in done.trace.states()]
    for at in range(max(1, step - 6), step):  # there is no result at step 0
        page.evaluate(MOVE, at)
        until(page, f"document.getElementById('status').textContent.startsWith('Step {at} ')")
        assert list(outputs(page).values()) == [expected[at]]
    finish(page)
    (word, said), right = next(iter(outputs(page).items())), expected[-1]
    assert said != right
    assert f"Its result: {word} {said}; without the change: {word} {right}." in page.text_content("#weight-note")


def test_a_run_that_no_weight_breaks(show: Open) -> None:
    """Where nothing is on, nothing matches, and the network is never asked."""
    page = show(page_of("addition").text)
    for word in ("p", "q"):
        page.fill(f"#input-{word}", "0")
    page.click("#weakest")
    until(page, "document.getElementById('weight-note').textContent.startsWith('No single weight that was tried')")
    assert not page.evaluate(BROKEN)
    assert page.is_disabled("#restore")


def test_a_change_that_does_no_harm_is_said_to_do_none(show: Open) -> None:
    page = show(page_of("addition").text)
    page.fill("#weight-value", str(int(page.input_value("#weight-value")) + 1))
    page.click("#weights button[type=submit]")
    until(page, "document.getElementById('about').textContent.includes('A weight was changed')")
    assert "all 16 local states are still right" in page.text_content("#about")
    assert not page.evaluate(BROKEN)


def test_a_proof_can_be_cancelled(show: Open) -> None:
    page = show(page_of("multiplication").text)
    page.evaluate("() => { document.getElementById('prove').click(); document.getElementById('cancel').click(); }")
    assert page.text_content("#proof-note") == "Cancelled: nothing is proved."
    assert not page.evaluate("document.documentElement.dataset.proof")
    assert page.is_enabled("#prove")


def test_sbn(show: Open) -> None:
    """With inputs the page opens with their result; otherwise there is none before the machine has halted."""
    page = show(page_of("gcd.sbn").text)
    until(page, "document.querySelector('#outputs dd')?.textContent === '6'")
    page.click("#reset")
    said = "[...document.querySelectorAll('#outputs dd')].map(c => c.textContent).join()"
    until(page, f"{said} === '–'")
    for _ in range(2):
        page.click("#step")
        assert page.evaluate(said) == "–"
    finish(page)
    assert outputs(page) == {"gcd": 6}
    page.evaluate(MOVE, 9)
    until(page, f"{said} === '–'")


def test_breadth_first_search(show: Open) -> None:
    page = show(page_of("bfs").text)
    finish(page)
    done = run(on_graph(node_program("bfs"), "grid:3x4", {"source": "0.0"}))
    rows = page.eval_on_selector_all("#nodes tbody tr", "rows => rows.map(r => r.cells[1].textContent)")
    assert [int(row) for row in rows] == [own["level"] for own in done.nodes.values()]
    page.click("details summary")
    page.fill("#edges", "0 1\n1 2\n2 3\n7 3")
    page.click("#edges-form button")
    page.fill("#input-source", "2")
    page.keyboard.press("Tab")
    finish(page)
    rows = page.eval_on_selector_all("#nodes tbody tr", "rows => rows.map(r => r.cells[1].textContent)")
    assert rows == ["2", "1", "0", "1", "–", "–", "–", "2"]


def test_life(show: Open) -> None:
    """A glider, compared with a board that is written out naively."""
    page = show(page_of("life").text)
    glider = ((0, 1), (1, 2), (2, 0), (2, 1), (2, 2))
    alive = {(row + down, column + right) for down, right in ((1, 1), (6, 20), (1, 30)) for row, column in glider}
    for generation in range(1, 9):
        page.click("#generation")
        near: dict[tuple[int, int], int] = {}
        for row, column in alive:
            for down in (-1, 0, 1):
                for right in (-1, 0, 1):
                    if down or right:
                        at = ((row + down) % 12, (column + right) % 40)
                        near[at] = near.get(at, 0) + 1
        alive = {at for at, count in near.items() if count == 3 or (count == 2 and at in alive)}
        note = f"{len(alive)} alive; generation {generation}"
        until(page, f"document.getElementById('board-note').textContent.endsWith('{note}')")


def test_a_console(show: Open) -> None:
    page = show(page_of("echo.sq").text)
    finish(page)
    assert "waits for input" in page.text_content("#status")
    page.fill("#line", "hello")
    page.click("#typing button[type=submit]")
    until(page, "document.getElementById('screen').textContent.includes('hello')")


def test_what_cannot_be_run_is_said(show: Open) -> None:
    page = show(page_of("addition").text)
    for where, text, sound, line in (
        ("#input-p", "abc", "5", "p must be an integer in decimal digits."),
        ("#input-p", "1024", "5", "p must fit in 10 bits. Give a larger number for bits."),
        ("#size", "0", "10", "bits must be an integer, 1 or more."),
        ("#size", "9999999", "10", "needs 29,999,997 bits"),
    ):
        page.fill(where, text)
        assert line in page.text_content("#notice")
        page.click("#run")
        assert line in page.text_content("#notice")
        page.fill(where, sound)
        assert page.is_hidden("#notice")


@pytest.mark.parametrize("name", dict.fromkeys([*SOME, "life"]))
def test_nothing_overflows_and_everyone_can_use_it(name: str, show: Open) -> None:
    """Every width; a phone and a desk in one of the colour schemes, or all in both."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="pip install axe-playwright-python")
    page = show(page_of(name).text, viewport={"width": 400, "height": 800})
    page.click("#step")
    both = ("light", "dark")
    for schemes, width in ((("dark",), 400), ((), 800), (("light",), 1400)):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        for scheme in both if LONG else schemes:
            page.emulate_media(color_scheme=scheme)
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
            found = axe.Axe().run(page).response["violations"]
            assert [(one["id"], [node["target"] for node in one["nodes"]]) for one in found] == [], (width, scheme)


def test_a_keyboard_is_enough(show: Open) -> None:
    page = show(page_of("addition").text)
    reached = []
    page.evaluate("() => document.activeElement.blur()")
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none" or not reached[-1]
    ids = "theme input-p input-q size run step play reset speed when cells cell-number layer weight-row weight-column"
    assert {*ids.split(), "weight-value", "weakest", "prove"} <= set(reached)
    page.focus("#cells")
    before = page.input_value("#cell-number")
    page.keyboard.press("ArrowRight")
    until(page, f"document.getElementById('cell-number').value !== '{before}'")
    page.focus("#input-p")
    page.keyboard.press("Enter")
    until(page, "/ended/.test(document.getElementById('status').textContent)")


@for_each("name", EVERY)
def test_the_policy_is_strict_and_nothing_is_outside(name: str) -> None:
    text = page_of(name).text
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert "eval(" not in text
    assert not re.findall(r"(?:src|href)=|@import|url\(|https?://", text)
    assert " style=" not in text
    if name in TASKS:
        assert len(text.encode()) < 500_000


def test_a_size_at_which_the_formula_was_not_compared_is_told(show: Open) -> None:
    page = show(page_of("addition").text)
    told = "comes from a formula that was not compared with the program at this size"
    for size, compared in ((64, True), (65, False), (100, True), (501, False), (10, True)):
        page.fill("#size", str(size))
        until(
            page, f"document.getElementById('verdict').textContent.includes('{told}') === {str(not compared).lower()}"
        )
