"""The page of a trace in a real browser: what it shows is what the library says."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graph_runs import searched
from long import LONG
from pages.conftest import PHONE, Open, step_of
from waiting import until

from bitwright import Run, addition, parse, permutation, run, train
from bitwright.engines.make import make_engine
from bitwright.machines import load_sbn, machine_a, machine_b
from bitwright.pages import graph_page, trace_page
from bitwright.theory.closed_form import variance, weights
from paper.kernel_engine import KernelEngine

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@pytest.fixture(scope="module")
def done() -> Run:
    return run(addition(6), p=37, q=45, engine="limit", record=True)


def numbers(page: Any, box: str = "#numbers") -> dict[str, str]:
    """The numbers in a box, by name, in full."""
    return dict(
        page.eval_on_selector_all(
            f"{box} .words > div",
            "divs => divs.map(d => [d.querySelector('dt').textContent, d.querySelector('dd').title || "
            "d.querySelector('dd').textContent])",
        )
    )


def outputs(page: Any) -> dict[str, list[str]]:
    """The rows of the table of outputs, by bit: every figure in full."""
    return dict(
        page.eval_on_selector_all(
            "#outputs tbody tr",
            "rows => rows.map(r => [r.dataset.bit, [...r.cells].map(c => c.title || c.textContent)])",
        )
    )


def test_every_step_shows_the_numbers_of_the_library(show: Open, done: Run) -> None:
    page = show(trace_page(done))
    assert page.title() == page.inner_text("h1") == "addition: p = 37, q = 45 gives sum = 82"
    for step in range(len(done.trace)):
        shown = numbers(page)
        assert shown["p"] == str(done.trace.number(step, "p"))
        assert shown["q"] == str(done.trace.number(step, "q"))
        assert shown["sum"] == str(done.algorithm.read(done.trace.state(step))["sum"])
        assert shown["matches n"] == str(len(done.trace.matches(step)))
        page.click("#next")


def test_stepping_by_buttons_keys_slider_and_number(show: Open, done: Run) -> None:
    page = show(trace_page(done))
    page.click("#next")
    page.click("#next")
    page.click("#back")
    assert step_of(page) == 1
    page.focus("#cells")
    for key, expected in (("ArrowRight", 2), ("Shift+ArrowRight", 12), ("ArrowLeft", 11), ("End", 12), ("Home", 0)):
        page.keyboard.press(key)
        assert step_of(page) == expected, key
    page.fill("#step", "5")
    page.keyboard.press("Enter")
    assert step_of(page) == 5
    page.focus("#slider")
    page.keyboard.press("ArrowRight")
    assert (step_of(page), page.input_value("#step")) == (6, "6")
    page.fill("#step", "999999")
    page.keyboard.press("Enter")
    assert step_of(page) == 12
    page.click("#least")
    assert step_of(page) == 0
    page.click("#overview")  # its middle
    assert step_of(page) == 6


def test_play_runs_to_the_end_and_can_be_paused(show: Open, done: Run) -> None:
    page = show(trace_page(done))
    page.select_option("#speed", "30")
    page.click("#play")
    assert page.inner_text("#play") == "Pause"
    until(page, "document.getElementById('slider').value === '12'")
    until(page, "document.getElementById('play').textContent === 'Play'")
    page.select_option("#speed", "2")
    page.click("#play")  # at the end it starts over
    assert step_of(page) == 0
    page.keyboard.press("Tab")
    page.focus("#cells")
    page.keyboard.press("Space")
    assert page.inner_text("#play") == "Play"


def test_pointing_shows_block_template_rule_and_writes(show: Open) -> None:
    algorithm = parse((EXAMPLES / "addition.bw").read_text())
    done = run(algorithm, p=5, q=7, record=True)
    page = show(trace_page(done))
    program, seen = algorithm.program, 0
    for step in (0, 1, 2):
        for bit in (0, 2, program.bits - 1):
            name = program.layout.name_of(bit)
            spot = page.evaluate("([s, n]) => trace.place(s, n)", [step, name])
            page.mouse.move(spot["x"], spot["y"])
            tip = page.locator("#tip")
            tip.wait_for(state="visible")
            state = done.trace.state(step)
            assert tip.locator(".bit-head").inner_text() == f"{name} = {int(state[bit])} at step {step}"
            block = int(program.block_of[bit])
            members = [f"{program.layout.name_of(b)}={int(state[b])}" for b in program.block_members(block).tolist()]
            assert tip.locator(".bits span").all_inner_texts() == members
            matched = [t for t in done.trace.matches(step).tolist() if program.template_block[t] == block]
            if matched:
                seen += 1
                assert tip.locator(".template").inner_text() == program.template_text(matched[0])
                assert tip.locator(".rule").inner_text() == program.rules[program.template_rule[matched[0]]]
                written = [program.layout.name_of(b) for b in program.writes(matched[0]).tolist()]
                assert tip.locator(".writes").inner_text().split() == written
            else:
                assert "none matches" in tip.inner_text()
    assert seen
    page.mouse.move(5, 5)
    page.locator("#tip").wait_for(state="hidden")


def test_search_finds_bits(show: Open, done: Run) -> None:
    page = show(trace_page(done))
    page.focus("#cells")
    page.keyboard.press("/")
    page.keyboard.type("c[3]")
    assert page.inner_text("#found") == "1 of 18 bits"
    assert page.inner_text("#bit .bit-head").startswith("c[3] = ")
    page.fill("#search", "q")
    assert page.inner_text("#found") == "6 of 18 bits"
    page.fill("#search", "zebra")
    assert page.inner_text("#found") == "no such bit"
    page.keyboard.press("Escape")
    assert (page.input_value("#search"), page.inner_text("#found")) == ("", "")


def test_the_address_keeps_the_place(show: Open, done: Run) -> None:
    page = show(trace_page(done), "#step=7&bit=c[4]")
    assert step_of(page) == 7
    assert page.inner_text("#bit .bit-head").startswith("c[4] = ")
    page.click("#next")
    page.evaluate("trace.choose('p[2]')")
    until(page, "location.hash === '#step=8&bit=p[2]'")
    shared = page.url
    other = page.context.new_page()
    other.goto(shared)
    other.wait_for_selector("html[data-ready]")
    assert step_of(other) == 8
    assert other.inner_text("#bit .bit-head") == page.inner_text("#bit .bit-head")
    other.evaluate("location.hash = '#step=3&bit=q[1]&by=block&find=q'")
    until(other, "document.getElementById('slider').value === '3'")
    assert (other.input_value("#group"), other.input_value("#search")) == ("block", "q")
    for nonsense in ("#step=-5&bit=nothing[9]", "#step=1e99", "#%%%", "#step=2&bit=p[0]&find=%3Cb%3E"):
        other.evaluate("hash => { location.hash = hash }", nonsense)
    until(other, "document.getElementById('slider').value === '2'")


@pytest.mark.parametrize("rounding", ["calibrated", "sign"])
def test_outputs_of_the_limit(show: Open, rounding: str) -> None:
    algorithm = replace(addition(5), examples=None)
    engine = make_engine("limit", algorithm.program, rounding=rounding, examples=90)
    done = run(algorithm, p=21, q=11, engine=engine, record=True)
    check = KernelEngine(algorithm.program, 90, rounding)
    page = show(trace_page(done))
    margins = []
    for step in range(done.steps):
        state = done.trace.state(step)
        expected, n = check.outputs(state[np.newaxis])
        rows = outputs(page)
        assert len(rows) == algorithm.program.bits
        for bit, (name, row) in enumerate(sorted(rows.items(), key=lambda item: algorithm.program.layout.bit(item[0]))):
            assert name == algorithm.program.layout.name_of(bit)
            assert float(row[1]) == pytest.approx(expected[0, bit], abs=1e-9)
            assert int(row[5]) == int(done.trace.state(step + 1)[bit])
            if rounding == "sign":
                assert float(row[2]) == 0
            margins.append(float(row[4]) if row[4] != "–" else np.inf)
        gap = 1.0 if rounding == "sign" else float(weights(n[0], 90).gap)
        assert float(rows["p[1]"][3]) == pytest.approx(float(np.sqrt(variance(n[0], 90))) / gap, rel=1e-12)
        page.click("#next")
    assert min(margins) == pytest.approx(done.margin)
    assert "The run ends here" in page.inner_text("#outputs-more")


@pytest.mark.parametrize("how", [{}, {"tile": "all", "width": 512}], ids=["cells", "whole state"])
def test_outputs_of_a_network(show: Open, how: dict[str, Any]) -> None:
    """G, T, margin and the next value of every bit in every step, as the network gives them."""
    algorithm = addition(4)
    done = run(algorithm, p=11, q=6, network=train(algorithm, **how), record=True)
    said = done.asked.said(done.trace.states()[:-1])
    page = show(trace_page(done))
    assert "sum G and the threshold T" in page.inner_text("#outputs-text")
    for step in range(done.steps):
        for name, row in outputs(page).items():
            bit = algorithm.program.layout.bit(name)
            assert int(row[4]) == int(done.trace.state(step + 1)[bit])
            margin = abs(said.signed[step, bit])
            assert (row[3] == "–") == bool(np.isinf(margin))
            if np.isfinite(margin):
                assert float(row[1]) == pytest.approx(said.output[step, bit], rel=1e-6)
                assert float(row[2]) == pytest.approx(said.threshold[step, bit], rel=1e-6)
                assert float(row[3]) == pytest.approx(margin, rel=1e-5)
        page.click("#next")
    assert f"{done.margin:.3f}" in page.inner_text("#overview-text")


@pytest.mark.parametrize("kind", [machine_a, machine_b])
def test_an_sbn_machine_shows_instructions_phases_and_memory(show: Open, kind: Any) -> None:
    code = load_sbn(EXAMPLES / "sbn" / "gcd.sbn")
    machine = kind(code.sizes)
    done = run(machine.algorithm(code), a=4, b=6, record=True)
    begins = np.flatnonzero(done.trace.states()[:, machine.boundary])
    page = show(trace_page(done))
    assert page.inner_text("#instructions") == f"of {len(begins)}"
    for number, begin in [*enumerate(begins.tolist(), start=1)][:: 1 if LONG else len(begins) // 5]:
        page.fill("#instruction", str(number))
        page.keyboard.press("Enter")
        assert (step_of(page), page.input_value("#instruction")) == (begin, str(number))
        state = done.trace.state(begin)
        words = numbers(page, "#memory")
        assert [int(value) for value in words.values()] == machine.memory(state)
        address = machine.address(state)
        if address < len(code.instructions):
            sbn, names = code.instructions[address], list(words)
            assert page.inner_text("#phase") == "fetch"
            assert f"address {address}" in page.inner_text("#executing")
            assert f"{names[sbn.b]} −= {names[sbn.a]};" in page.inner_text("#executing")
        else:
            assert "done" in page.inner_text("#executing")
    page.fill("#instruction", "1")
    page.keyboard.press("Enter")
    page.focus("#cells")
    for key, number in (("]", 2), ("]", 3), ("[", 2), ("[", 1)):
        page.keyboard.press(key)
        assert (step_of(page), page.input_value("#instruction")) == (begins[number - 1], str(number))
    order = []
    while step_of(page) < begins[1]:
        order.append(page.inner_text("#phase"))
        page.click("#next")
    assert list(dict.fromkeys(order)) == ["fetch", "read", "subtract", "write", "branch"]


def test_a_run_that_goes_wrong_says_so(show: Open) -> None:
    done = run(addition(6), p=37, q=45, engine="sampled", rounding="sign", seed=1, record=True)
    states = done.trace.states()
    rules = make_engine("templates", done.algorithm.program).begin(states[:-1])
    rules.step()
    wrong = int((rules.states() != states[1:]).any(axis=1).sum())
    assert wrong > 0
    page = show(trace_page(done))
    assert re.search(rf"\b{wrong} steps? differs? from the rules", page.inner_text("#about"))


def test_cells_fold_into_one_row_each(show: Open, done: Run) -> None:
    """37 = 100101 and 45 = 101101: in the third cell p and q are on, and the fifth has nothing at the start."""
    page = show(trace_page(done), "#by=cell")
    assert page.input_value("#group") == "cell"
    line = "name => trace.place(0, name).y"
    assert len({page.evaluate(line, name) for name in ("p[3]", "q[3]", "c[3]")}) == 3
    page.click("#fold")
    assert page.inner_text("#fold") == "Unfold"
    assert len({page.evaluate(line, name) for name in ("p[3]", "q[3]", "c[3]")}) == 1
    assert len({page.evaluate(line, f"p[{i}]") for i in range(1, 7)}) == 6
    for name, told in (("p[3]", ["p[3] … (kind 1) at step 0", "on: p[3] q[3]"]),
                       ("p[5]", ["p[5] … (kind 1) at step 0", "all bits are off"]),
                       ("p[6]", ["p[6] … (kind 2) at step 0", "on: p[6] q[6]"])):  # fmt: skip
        spot = page.evaluate("name => trace.place(0, name)", name)
        page.mouse.move(spot["x"], spot["y"])
        assert page.inner_text("#tip").split("\n\n") == told
    page.select_option("#group", "name")
    assert page.inner_text("#fold") == "Fold"  # arrays were not folded


def test_without_cells_there_is_nothing_to_group_by_them(show: Open) -> None:
    plain = parse("bits a b\nblock a\nblock b\nwhen a=1 write b\nwhen b=1 write a\ninput a\noutput b\nsteps 3")
    page = show(trace_page(run(plain, a=1, record=True)), "#by=cell")
    assert page.input_value("#group") == "name"
    for wanted in ("block", "name"):
        page.focus("#cells")
        page.keyboard.press("g")
        assert page.input_value("#group") == wanted


def test_on_a_phone_a_tap_chooses_and_nothing_overflows(show: Open, done: Run) -> None:
    page = show(trace_page(done), **PHONE)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    spot = page.evaluate("trace.place(1, 'p[6]')")
    page.touchscreen.tap(spot["x"], spot["y"])
    assert step_of(page) == 1
    assert page.inner_text("#bit .bit-head").startswith("p[6] = ")


@pytest.mark.parametrize(
    ("make", "stops", "canvas", "spoken"),
    [
        (lambda done: trace_page(done), "search group cells slider play step", "cells", ("Step 1 of 12, ", "p[6] is")),
        (
            lambda _: graph_page(searched()),
            "colour mark search graph slider play step",
            "graph",
            (f"Step 1 of {searched().steps}.", "Node a: level is 0"),
        ),
    ],
    ids=["trace", "graph"],
)
def test_it_can_be_used_by_ear_and_keyboard(
    make: Callable[[Run], str], stops: str, canvas: str, spoken: tuple[str, str], show: Open, done: Run
) -> None:
    page = show(make(done))
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button, input, select, canvas:not([aria-hidden])')].filter(e => "
        "!e.closest('[hidden]') && !(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label')))"
        ".map(e => e.id)"
    )
    assert unnamed == []
    page.evaluate("document.activeElement.blur()")
    order = []
    for _ in range(20):
        page.keyboard.press("Tab")
        order.append(page.evaluate("document.activeElement.id"))
    places = [order.index(name) for name in stops.split()]
    assert places == sorted(places)
    page.focus(f"#{canvas}")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    until(page, f"document.getElementById('spoken').textContent.includes({spoken[1]!r})")
    assert page.inner_text("#spoken").startswith(spoken[0])


def test_hostile_text_stays_text(show: Open) -> None:
    attack = "</script><script>alert(1)</script><img src=x onerror=alert(2)> \"'& {{data}}"
    algorithm = replace(permutation([2, 1]), name=attack, description=attack)
    page = show(trace_page(run(algorithm, p=1, record=True)))
    assert page.inner_text("h1").startswith(attack.split("  ")[0][:40])
    assert attack in page.inner_text("#about")
    assert page.locator("img").count() == 0


def test_inside_a_notebook_it_runs_in_a_frame_of_its_own(show: Open, done: Run) -> None:
    page = show(f"<!DOCTYPE html><html data-ready>{done._repr_html_()}</html>")
    frame = page.frame_locator("iframe")
    frame.locator("#next").click()
    assert frame.locator("#slider").input_value() == "1"
    assert frame.locator("#numbers .words").inner_text()


def test_an_old_browser_is_told_so(show: Open, done: Run) -> None:
    page = show(trace_page(done), init="delete window.DecompressionStream")
    assert "too old" in page.inner_text("#notice")


def test_a_large_run_opens(show: Open) -> None:
    """5,000 steps of 5,000 bits."""
    text = (EXAMPLES / "rule110.bw").read_text()
    algorithm = parse(text.replace("let w = 64", "let w = 1250").replace("steps 41", "steps 5000"))
    row = int.from_bytes(np.random.default_rng(0).bytes(156), "little")
    done = run(algorithm, row=row, record=True)
    page = show(trace_page(done), "#step=3210&bit=centre[625]")
    assert numbers(page)["row (output)"] == str(done.trace.number(3210, "centre"))
    bit = int(done.trace.bit(algorithm.program.layout.bit("centre[625]"))[3210])
    assert page.inner_text("#bit .bit-head") == f"centre[625] = {bit} at step 3,210"
    page.evaluate("document.getElementById('scroller').scrollTo(1e6, 1e6)")
    page.keyboard.press("End")
    assert step_of(page) == 5000
