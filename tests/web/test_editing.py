"""The editor, the graph editor and links, by pointer and by keys."""

import base64
import json
import zlib
from typing import Any

import pytest
from long import LONG
from waiting import until
from web.pages import Visit, choose, press_run, text_of


def graph_of(page: Any) -> dict[str, Any]:
    return dict(page.evaluate("import('./assets/graph.js').then((graph) => graph.graphState())"))


def drawn(page: Any, count: int) -> None:
    until(page, f"document.querySelectorAll('#graph .node').length === {count}")


def test_inputs_are_never_those_of_another_program(visit: Visit) -> None:
    page = visit()
    choose(page, "rules", a="7", b="5")
    page.fill("#text", "bits x[3]\nblock x[i] for i in 1..3\nwhen x[1]=1 wrte x[2]\ninput x\n")
    page.wait_for_selector("html[data-checked=wrong]")
    assert page.locator("#inputs input").count() == 0
    assert page.inner_text("#inputs-note") == "They are known once the text has no problems."
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


def test_a_graph_is_drawn_with_the_mouse(visit: Visit) -> None:
    page = visit()
    choose(page, "nodes")
    page.select_option("#example", "flooding.bw")
    drawn(page, 16)
    page.wait_for_selector("html[data-checked=right]")  # its inputs are there
    page.click("#clear")
    drawn(page, 1)
    box = page.locator("#graph").bounding_box()
    for down in (40, box["height"] - 40):
        page.locator("#graph").dblclick(position={"x": box["width"] - 40, "y": down})
    drawn(page, 3)
    page.click("#connect")
    page.click("#graph [data-node='0'] circle")
    page.click("#graph [data-node='1'] circle")
    assert page.inner_text("#graph-note") == "a and b are joined"
    page.click("#connect")  # off
    assert graph_of(page)["edges"] == [[0, 1]]
    before = graph_of(page)["nodes"][2]
    spot = page.locator("#graph [data-node='2'] circle").bounding_box()
    page.mouse.move(spot["x"] + spot["width"] / 2, spot["y"] + spot["height"] / 2)
    page.mouse.down()
    page.mouse.move(spot["x"] - 30, spot["y"] - 10, steps=3)
    page.mouse.up()
    assert graph_of(page)["nodes"][2][1] < before[1]
    page.check("#chosen label:has-text('source') input")
    page.click("#graph [data-node='0'] circle")
    page.check("#chosen label:has-text('source') input")
    assert page.input_value("#inputs input[name=source]") == "c,a"
    press_run(page)
    frame = page.frame_locator("#trace")
    frame.locator("html[data-ready]").wait_for(state="attached")
    page.click("#tab-nodes")
    rows = page.locator("#nodes tbody tr").all_inner_texts()
    assert [row.split() for row in rows] == [["a", "1"], ["b", "1"], ["c", "1"]]
    page.click("#graph .edge .hit", force=True)
    page.click("#remove")
    assert graph_of(page)["edges"] == []
    page.click("#graph [data-node='1'] circle")
    page.fill("#chosen label:has-text('Name') input", "hub")
    page.press("#chosen label:has-text('Name') input", "Enter")
    assert [node[0] for node in graph_of(page)["nodes"]] == ["a", "hub", "c"]


def test_a_graph_is_drawn_with_the_keyboard_alone(visit: Visit) -> None:
    page = visit()
    choose(page, "nodes")
    page.select_option("#example", "flooding.bw")
    page.select_option("#shape", "path")
    page.wait_for_selector("html[data-checked=right]")
    page.fill("#inputs input[name=source]", "")
    page.fill("#shape-size", "3")
    page.press("#shape-size", "Enter")
    drawn(page, 3)
    page.focus("#clear")
    page.keyboard.press("Tab")  # into the graph
    assert page.evaluate("document.activeElement.ariaLabel").startswith("node 0")
    page.keyboard.press("n")
    drawn(page, 4)
    assert page.evaluate("document.activeElement.ariaLabel").startswith("node a, 0 edges")
    page.keyboard.press("e")
    moved = [page.keyboard.press(key) for key in ("ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown")]
    assert len(moved) == 4
    if page.evaluate("document.activeElement.dataset.node") == "3":
        page.keyboard.press("ArrowLeft")
    other = int(page.evaluate("document.activeElement.dataset.node"))
    page.keyboard.press("e")
    assert [3, other] in graph_of(page)["edges"]
    assert page.input_value("#shape") == ""
    page.keyboard.press("Enter")  # the first input, here
    name = graph_of(page)["nodes"][other][0]
    assert name in page.input_value("#inputs input[name=source]").split(",")
    count = len(graph_of(page)["nodes"])
    page.keyboard.press("Delete")
    drawn(page, count - 1)
    assert name not in page.input_value("#inputs input[name=source]").split(",")
    page.locator("#graph-box summary").click()
    page.fill("#edges", "x y\ny z\nlonely\n")
    page.click("#use-edges")
    drawn(page, 4)
    assert [node[0] for node in graph_of(page)["nodes"]] == ["x", "y", "z", "lonely"]
    page.fill("#edges", "<b> y")
    page.click("#use-edges")
    until(page, "document.getElementById('graph-note').innerText.includes('a line has one or two names')")


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


def link_to(document: Any) -> str:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    return "#program=" + base64.urlsafe_b64encode(packer.compress(data) + packer.flush()).decode().rstrip("=")


@pytest.mark.parametrize("kind", ["rules", "nodes", *("subleq", "addition", "sbn") * LONG])
def test_a_link_brings_the_program_and_its_inputs(visit: Visit, kind: str) -> None:
    page = visit()
    choose(page, kind)
    until(page, "document.documentElement.dataset.checked === 'right'")
    if kind == "rules":
        page.fill(
            "#text", "bits mine[4]  # é 🙂\nblock mine[i] for i in 1..4\nwhen mine[1]=1 write mine[2]\ninput mine\n"
        )
        page.wait_for_selector("#inputs input[name=mine]")
        page.fill("#inputs input[name=mine]", "5")
    if kind == "subleq":
        page.select_option("#example", "echo.sq")
        page.fill("#console-in", "said\n")
    if kind == "nodes":
        drawn(page, 24)
        page.locator("#graph [data-node='3']").focus()
        page.keyboard.press("Delete")
        drawn(page, 23)
    page.select_option("#engine", "templates")
    before = page.evaluate("import('./assets/program.js').then((program) => JSON.stringify(program.shared()))")
    page.click("#share")
    until(page, "document.getElementById('link').value.length > 20")
    link = page.input_value("#link")
    other = visit(link=link)
    other.wait_for_selector("html[data-checked=right]")
    if kind == "rules":
        other.wait_for_selector("#inputs input[name=mine]")
    after = other.evaluate("import('./assets/program.js').then((program) => JSON.stringify(program.shared()))")
    assert json.loads(after) == json.loads(before)
    assert other.input_value("#engine") == "templates"
    assert "#" not in other.url  # a reload finds what was changed since


SETTINGS = dict.fromkeys(["networks", "seed", "width", "max-steps", "max-instructions"], "1")
WHOLE = {
    **dict.fromkeys(["language", "text", "console", "words", "word-width", "dialect"], ""),
    "v": 1,
    "kind": "addition",
    "bits": "4",
    "order": "1",
    "machine": "B",
    "counter": False,
    "graph": None,
    "inputs": {},
    "settings": {**SETTINGS, "engine": "limit", "rounding": "calibrated"},
}


HOSTILE = [
    ("#program=%%%", "it is damaged"),
    ("#program=" + "A" * 70_000, "it is too long"),
    (link_to(b"\xff\xfe"), "it is damaged"),
    (link_to(b" " * 20_000_000), "it holds too much"),
    (link_to(None), "its version"),
    (link_to({**WHOLE, "v": 2}), "its version"),
    (link_to({**WHOLE, "kind": 'x"] body *'}), "its kind of program"),
    (link_to({**WHOLE, "text": 7}), "its text"),
    (link_to({**WHOLE, "kind": "sbn", "language": "toString"}), "its language"),
    (link_to({**WHOLE, "inputs": {"p": 1}}), "its inputs"),
    (link_to({**WHOLE, "machine": "C"}), "its machine"),
    (link_to({**WHOLE, "settings": {**WHOLE["settings"], "engine": "evil"}}), "its engine"),
    (link_to({**WHOLE, "kind": "nodes"}), "its graph"),
    (link_to({**WHOLE, "kind": "nodes", "graph": {"nodes": [["<img>", 0, 0]]}}), "its graph"),
    (
        link_to({**WHOLE, "graph": {"shape": None, "directed": False, "nodes": [["a", 0, 0]], "edges": [[0, 9]]}}),
        "its graph",
    ),
]


@pytest.mark.parametrize("first", [0, *[len(HOSTILE) - 1] * LONG])
def test_hostile_links_are_refused_with_a_line(visit: Visit, first: int) -> None:
    """The first one opens the page; those behind it come to the same page, one after the other."""
    page = visit(link="/" + HOSTILE[first][0])
    for number, (fragment, message) in enumerate(HOSTILE[first:]):
        if number:
            page.evaluate(f"location.hash = {json.dumps(fragment)}")
        page.wait_for_selector("#failure:not([hidden])")
        shown = page.inner_text("#failure")
        assert shown.startswith(f"This link cannot be opened: {message}"), shown
        assert page.is_checked("input[name=kind][value=addition]")
        if number % 6 == 0 or LONG:
            press_run(page)  # the page is as it was
            assert page.is_hidden("#failure")
        bits = str(5 + number % 2)
        page.evaluate(f"location.hash = {json.dumps(link_to({**WHOLE, 'bits': bits}))}")
        until(page, f"document.getElementById('bits').value === '{bits}'")
