"""Exported pages in a real browser: values are Python's, nothing is loaded, names and contrast suffice for everyone."""

import json
import re
from functools import cache
from typing import Any

import numpy as np
import pytest
from cases import for_each
from long import LONG
from paged import network_for, node_program
from pages.conftest import Open
from waiting import until, wait_until
from whole import whole

from bitwright import addition, multiplication, run
from bitwright.engines.cells.engine import CellEngine
from bitwright.exports.pages import Page, graph_page, program_page
from bitwright.machines.programs import open_program
from bitwright.rules.pattern import Pattern
from bitwright.verbs.graphs import on_graph

TASKS = {"addition": addition, "multiplication": multiplication}


@cache
def page_of(name: str) -> Page:
    if name in TASKS:
        network, pattern = network_for(name)
        return program_page(network, pattern, TASKS[name](10), {})
    if name == "whole":
        pattern = Pattern.of_state(addition(3).program)
        return program_page(whole(addition(3).program, 256), pattern, addition(3), {"p": 5, "q": 6})
    network, pattern = network_for(name)
    if name.endswith(".sbn"):
        return program_page(network, pattern, open_program(f"examples/sbn/{name}"), {"a": 12, "b": 18})
    return graph_page(network, pattern, node_program(name), {"life": "torus:12x40", "bfs": "grid:3x4"}[name])


EVERY = ["addition", "multiplication", "whole", "gcd.sbn", "bfs", "life"]
SOME = EVERY if LONG else ["addition", "whole", "bfs"]  # pages of all forms


def to_step(page: Any, step: int) -> None:
    page.fill("#step", str(step))
    page.keyboard.press("Enter")


ENDED = (
    "document.documentElement.dataset.mode === 'idle' && "
    "/ended|limit/.test(document.getElementById('status').textContent)"
)


def finish(page: Any) -> None:
    """Waits for the end of a run that a change of inputs began."""
    until(page, ENDED)


def outputs(page: Any) -> dict[str, int | None]:
    """The results that are shown; None where there is none yet."""
    rows = page.eval_on_selector_all("#results dd", "cells => cells.map(c => [c.dataset.word, c.textContent])")
    return {name: None if text == "–" else int(text) for name, text in rows}


@pytest.mark.parametrize("name", TASKS)
def test_numbers(name: str, show: Open) -> None:
    page, algorithm = show(page_of(name).text), TASKS[name](10)
    values = {word.name: number for word, number in zip(algorithm.inputs, (719, 483), strict=True)}
    for word, value in values.items():
        page.fill(f"#input-{word}", str(value))
    finish(page)
    done = run(algorithm, **values)
    assert outputs(page) == done.outputs
    assert page.text_content("#status").startswith(f"{done.steps:,} step")
    assert page.input_value("#step") == str(done.steps)


def test_the_trace_is_that_of_the_library(show: Open) -> None:
    """Every bit of every step, and G, T and the margin of every bit; there is no result before the first step."""
    network, pattern = network_for("addition")
    page = show(page_of("addition").text)
    page.fill("#input-p", "719")
    page.fill("#input-q", "483")
    finish(page)
    algorithm = addition(10)
    engine = CellEngine(algorithm.program, pattern, network)
    done = run(algorithm, p=719, q=483, engine=engine, record=True)
    states, names = done.trace.states(), algorithm.program.layout.names
    said = engine.said(states)
    for step in (0, 1, 7, done.steps - 1):
        to_step(page, step)
        assert outputs(page)["sum"] == (algorithm.read(states[step])["sum"] if step else None)
        rows = page.eval_on_selector_all(
            "#outputs tbody tr",
            "rows => rows.map(r => [r.dataset.bit, ...[...r.cells].slice(1).map(c => c.title || c.textContent)])",
        )
        assert len(rows) == algorithm.program.bits
        for name, total, limit, margin, following in rows:
            bit = names.index(name)
            assert int(following) == int(states[step + 1][bit])
            assert (margin == "–") == bool(np.isinf(said.signed[step, bit]))
            if margin != "–":
                assert (float(total), float(limit)) == (said.output[step, bit], said.threshold[step, bit])
                assert float(margin) == pytest.approx(abs(said.signed[step, bit]), rel=1e-6)
    page.click("#restart")
    finish(page)
    assert outputs(page)["sum"] == 1202


def test_a_bit_says_which_rule_set_it(show: Open) -> None:
    page = show(page_of("addition").text)
    finish(page)
    program = addition(10).program
    state = run(addition(10), p=13, q=11, record=True).trace.state(0)
    page.evaluate("trace.go(0)")
    for bit in (0, 11):
        page.evaluate("trace.choose", program.layout.name_of(bit))
        block = int(program.block_of[bit])
        matched = [t for t in program.match(state).tolist() if program.template_block[t] == block]
        assert page.inner_text("#bit .template") == program.template_text(matched[0])


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
    said = re.search(r"first went wrong in step ([0-9,]+): ", page.text_content("#status"))
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
    wait_until(lambda: page.evaluate(REDS) == 0, "nothing is red")
    step = broken(page)
    assert f"refuted: {page.text_content('#weight-note .wrong').removesuffix(' now.')}" in page.text_content("#about")
    assert f"this run is wrong from step {step:,} on" in page.text_content("#about")
    assert "proved" not in page.text_content("header")
    assert page.text_content("#proof-note") == ""  # the old proof is of another network
    assert page.input_value("#step") == str(step)
    wait_until(lambda: page.evaluate(REDS) > 0, "something is red")
    page.click("#prove")
    until(page, "document.documentElement.dataset.proof")
    wrong = json.loads(page.evaluate("document.documentElement.dataset.proof"))["wrong"]
    assert f"refuted: {wrong} of " in page.text_content("#about")
    assert "Refuted" in page.text_content("#proof-note")
    page.click("#restore")
    until(page, f"!{BROKEN}")
    assert page.text_content("#about") == before
    wait_until(lambda: page.evaluate(REDS) == 0, "nothing is red")
    page.click("#first")
    page.click("#next")
    page.click("#next")
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
        to_step(page, at)
        assert list(outputs(page).values()) == [expected[at]]
    page.click("#run")
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
    until(page, "document.getElementById('weight-note').textContent.startsWith('No change that was tried')")
    assert not page.evaluate(BROKEN)
    assert page.is_disabled("#restore")


def test_a_proof_can_be_cancelled(show: Open) -> None:
    page = show(page_of("multiplication").text)
    page.evaluate("() => { document.getElementById('prove').click(); document.getElementById('cancel').click(); }")
    assert page.text_content("#proof-note") == "Cancelled: nothing was proved."
    assert not page.evaluate("document.documentElement.dataset.proof")
    assert page.is_enabled("#prove")


def test_sbn(show: Open) -> None:
    """There is no result before the machine has halted."""
    page = show(page_of("gcd.sbn").text)
    finish(page)
    assert outputs(page) == {"gcd": 6}
    said = "[...document.querySelectorAll('#results dd')].map(c => c.textContent).join()"
    for step in (0, 1, 9):
        to_step(page, step)
        assert page.evaluate(said) == "–"


@pytest.mark.parametrize(
    ("name", "shape", "given"),
    [
        ("bfs", "grid:3x4", {"source": "0.2"}),
        ("leader", "ring:9", {"id": "order"}),
        ("shortest-paths", "random:9,14,1", {"source": "3", "weight": "*:3,0-1:5"}),
    ],
)
def test_node_programs_put_out_what_the_library_says(name: str, shape: str, given: dict[str, str], show: Open) -> None:
    network, pattern = network_for(name)
    page = show(graph_page(network, pattern, node_program(name), shape).text)
    for word, text in given.items():
        page.fill(f"#input-{word}", text)
        page.keyboard.press("Tab")
    finish(page)
    graph = on_graph(node_program(name), shape, given)
    done = run(graph, record=True)
    assert page.input_value("#step") == str(done.steps)
    for step in (done.steps, done.steps // 2):
        to_step(page, step)
        for word, values in graph.read_places(done.trace.state(step)).items():
            for node, value in enumerate(values):
                page.evaluate("graph.choose", str(graph.names[node]))
                assert f"{word} = {'none' if value is None else value}" in page.inner_text("#node")


def test_clicking_a_node_changes_an_input(show: Open) -> None:
    page = show(page_of("bfs").text)
    finish(page)
    page.fill("#input-source", "")
    spot = page.evaluate("graph.place('1.2')")
    page.mouse.click(spot["x"], spot["y"])
    finish(page)
    assert page.input_value("#input-source") == "1.2"
    assert "level = 0" in page.inner_text("#node")


def test_life(show: Open) -> None:
    """A glider, compared with a board that is written out naively."""
    page = show(page_of("life").text)
    glider = ((0, 1), (1, 2), (2, 0), (2, 1), (2, 2))
    alive = {(row + down, column + right) for down, right in ((1, 1), (6, 20), (1, 30)) for row, column in glider}
    cells = [f"{row}.{column}" for row in range(12) for column in range(40)]
    page.focus("#graph")
    page.keyboard.press("]")
    for _ in range(8):
        page.keyboard.press("]")
        near: dict[tuple[int, int], int] = {}
        for row, column in alive:
            for down in (-1, 0, 1):
                for right in (-1, 0, 1):
                    if down or right:
                        at = ((row + down) % 12, (column + right) % 40)
                        near[at] = near.get(at, 0) + 1
        alive = {at for at, count in near.items() if count == 3 or (count == 2 and at in alive)}
        lit = page.evaluate("names => names.map(graph.colour)", cells)
        assert {cell for cell, hue in zip(cells, lit, strict=True) if hue == "#0072b2"} == {
            f"{row}.{column}" for row, column in alive
        }
    page.click("#clear")
    assert page.input_value("#input-alive") == ""
    page.click("#gun")
    assert "on: 36" in page.inner_text("#legend")


def test_what_cannot_be_run_is_said(show: Open) -> None:
    page = show(page_of("addition").text)
    for where, text, sound, line in (
        ("#input-p", "abc", "5", "p must be an integer in decimal digits."),
        ("#input-p", "1024", "5", "p must fit in 10 bits."),
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
    page.click("#next")
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
    for _ in range(48):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none" or reached[-1] in ("", "cells")  # whose frame has a shadow
    ids = "theme input-p input-q run restart search cells slider play step weakest prove learnt"
    assert {*ids.split()} <= set(reached)
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
