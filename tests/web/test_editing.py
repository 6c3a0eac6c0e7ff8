"""The editor and the graph of a node program, by pointer and by keys."""

from typing import Any

import pytest
from waiting import until
from web.pages import Visit, choose, press_run, text_of


def laid_out(page: Any, nodes: int) -> None:
    until(page, f"document.getElementById('graph-note').textContent.startsWith('{nodes} nodes, ')")


def click_node(page: Any, number: int) -> None:
    drawing = "import('./assets/graph.js').then(({ drawing }) => drawing)"
    x, y = page.evaluate(f"{drawing}.then((one) => [one.x({number}), one.y({number})])")
    page.click("#graph", position={"x": x, "y": y})


def test_inputs_are_never_those_of_another_program(visit: Visit) -> None:
    page = visit()
    choose(page, "rules", a="7", b="5")
    page.fill("#text", "bits x[3]\nblock x[i] for i in 1..3\nwhen x[1]=1 wrte x[2]\ninput x\n")
    page.wait_for_selector("html[data-checked=wrong]")
    assert page.locator("#inputs input").count() == 0
    assert page.inner_text("#inputs-note") == "Inputs appear once the text has no problems."
    page.fill("#text", "bits x[3]\nblock x[i] for i in 1..3\nwhen x[1]=1 write x[2]\ninput x\n")
    page.wait_for_selector("#inputs input[name=x]")
    assert page.locator("#inputs input").count() == 1
    assert page.is_hidden("#inputs-note")
    choose(page, "addition")
    page.wait_for_selector("#inputs input[name=q]")
    page.fill("#bits", "0")
    page.wait_for_selector("html[data-checked=wrong]")
    assert page.locator("#inputs input").count() == 0
    choose(page, "sbn")
    page.fill("#text", "broken")
    page.wait_for_selector("html[data-checked=wrong]")
    assert page.locator("#inputs input").count() == 0


def test_words_are_coloured_and_names_of_bits_completed(visit: Visit) -> None:
    page = visit()
    choose(page, "rules")
    page.fill("#text", "bits borrow[3] other\n# borrowed\nblock ")
    assert page.locator(".tok-keyword").all_inner_texts() == ["bits", "block"]
    assert page.locator(".tok-comment").all_inner_texts() == ["# borrowed"]
    page.click("#text")
    page.keyboard.press("Control+End")
    page.keyboard.type("bo")
    page.wait_for_selector(".cm-tooltip-autocomplete li")
    offered = page.locator(".cm-tooltip-autocomplete li").all_inner_texts()
    assert offered[0].split() == ["borrow[3]"]
    assert not any(label.startswith("borrowed") for label in offered)
    until(page, "document.querySelector('.cm-tooltip-autocomplete li[aria-selected]') !== null")
    page.locator(".cm-tooltip-autocomplete li").first.click()  # it takes no keys in its first moment
    until(page, "document.querySelectorAll('.cm-tooltip-autocomplete').length === 0")
    assert text_of(page) == "bits borrow[3] other\n# borrowed\nblock borrow"
    page.keyboard.press("Control+a")
    page.keyboard.type("x")  # over a selection, of which the policy forbids to keep the style
    assert text_of(page) == "x"


def test_a_problem_behind_wide_characters_is_marked_where_it_is(visit: Visit) -> None:
    page = visit()
    choose(page, "subleq")
    page.fill("#text", '.words 16\n.width 8\n.dialect howerj\n.data "🙂🙂", nowhere\n')
    page.wait_for_selector("html[data-checked=wrong]")
    assert page.locator(".cm-lintRange-error").first.inner_text() in ("nowhere", '"🙂🙂"', '"')
    assert page.locator("#problems li").count() > 0


def test_the_program_can_be_made_wider(visit: Visit) -> None:
    page = visit()
    box = page.locator("#setup").bounding_box()
    right, bottom = box["x"] + box["width"], box["y"] + box["height"]
    page.mouse.move(right - 4, bottom - 4)
    page.mouse.down()
    page.mouse.move(right + 96, bottom - 4)
    page.mouse.up()
    results = page.locator("#results").bounding_box()
    assert page.locator("#setup").bounding_box()["width"] == pytest.approx(box["width"] + 100, abs=2)
    assert results["x"] == pytest.approx(right + 100, abs=2)


def test_a_graph_is_a_shape_or_a_list_of_edges(visit: Visit) -> None:
    page = visit()
    choose(page, "nodes")
    page.select_option("#example", "flooding.bw")
    laid_out(page, 16)
    page.wait_for_selector("html[data-checked=right]")  # its inputs are there
    page.select_option("#shape", "grid")
    laid_out(page, 24)
    page.fill("#shape-size", "2x3")
    page.press("#shape-size", "Tab")
    laid_out(page, 6)
    assert page.input_value("#edges").splitlines()[0] == "0.0 0.1"
    page.fill("#edges", "x y\ny z\nlonely\n")
    laid_out(page, 4)
    assert page.input_value("#shape") == ""
    assert page.input_value("#inputs input[name=source]") == "x"  # the node that had it is gone
    for node, source in ((2, "x,z"), (0, "z")):
        click_node(page, node)
        assert page.input_value("#inputs input[name=source]") == source
    page.check("#directed")
    page.wait_for_selector("html[data-checked=right]")
    press_run(page)
    page.frame_locator("#trace").locator("html[data-ready]").wait_for(state="attached")
    page.click("#tab-nodes")
    rows = [row.split() for row in page.locator("#nodes tbody tr").all_inner_texts()]
    assert rows == [["x", "0"], ["y", "0"], ["z", "1"], ["lonely", "0"]]
    page.fill("#edges", "<b> y")
    until(page, "document.getElementById('graph-note').innerText.includes('a line must have one or two names')")
    page.wait_for_selector("html[data-checked=wrong]")


def test_a_reload_finds_what_was_typed(visit: Visit) -> None:
    page = visit()
    choose(page, "nodes")
    page.fill("#edges", "x y\n")
    laid_out(page, 2)
    page.select_option("#engine", "templates")
    page.reload()
    laid_out(page, 2)
    assert page.input_value("#edges") == "x y\n"
    assert page.input_value("#engine") == "templates"


def test_a_large_shape_is_run_without_being_drawn(visit: Visit) -> None:
    page = visit()
    choose(page, "nodes")
    page.select_option("#example", "flooding.bw")
    page.select_option("#shape", "path")
    page.fill("#shape-size", "400")
    page.press("#shape-size", "Tab")
    until(page, "document.getElementById('graph-note').textContent.startsWith('400 nodes are too many')")
    page.fill("#inputs input[name=source]", "7")
    page.fill("#max-steps", "5")
    press_run(page)
    page.click("#tab-nodes")
    assert page.locator("#nodes tbody tr").count() == 400
