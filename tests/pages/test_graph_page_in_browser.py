"""The page of a run on a graph in a real browser: what it shows is what the library says."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from graph_runs import NAMES, glider, one, program, searched, torus
from pages.conftest import PHONE, Open, step_of
from waiting import until

from bitwright import Run, run
from bitwright.pages import graph_page
from bitwright.pages.graph.view import SCALE, GraphView
from bitwright.rules import Topology

LIT = "#0072b2"  # a flag that is on, in light colours


@pytest.fixture(scope="module")
def done() -> Run:
    return searched()


def colours(page: Any, names: Any) -> list[str]:
    return list(page.evaluate("names => names.map(graph.colour)", list(names)))


def ports(page: Any) -> list[list[str]]:
    """The table of ports: where each leads, and what is on at its ends."""
    found: list[list[str]] = page.eval_on_selector_all(
        "#ports tbody tr",
        "rows => rows.map(r => [r.cells[0].textContent, ...[...r.cells].slice(1).map(c => "
        "[...c.children].map(s => s.textContent).join(' '))])",
    )
    return found


def scale_colour(share: float) -> str:
    """The colour between the two nearest of the scale."""
    low = min(int(share * (len(SCALE) - 1)), len(SCALE) - 2)
    pairs = zip(*(bytes.fromhex(colour[1:]) for colour in SCALE[low : low + 2]), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * (share * (len(SCALE) - 1) - low)):02x}" for a, b in pairs)


def test_every_step_shows_the_colours_and_bits_of_the_library(show: Open, done: Run) -> None:
    page, view = show(graph_page(done)), GraphView(done)
    assert page.title() == page.inner_text("h1") == "bfs: 10 nodes, 10 edges"
    level = view.colours[0]
    _, most = view.range(level) or (0, 0)
    layout = done.trace.layout
    page.evaluate("graph.choose('d')")
    for step in range(len(done.trace)):
        values, has = view.values(level, step)
        shown = colours(page, NAMES)
        for node in range(10):
            assert (shown[node] == scale_colour(values[node] / most)) == bool(has[node])
        state = done.trace.state(step)
        bits = {chip.split("=")[0]: chip.split("=")[1] for chip in page.locator("#node .bits span").all_inner_texts()}
        assert bits["x"] == str(int(state[layout["x"].offset + 3]))
        assert bits["level"] == "".join(str(int(b)) for b in state[layout["level"].bits().reshape(10, -1)[3]][::-1])
        value = view.algorithm.read_places(state)["level"][3]
        assert f"level = {'none' if value is None else value}" in page.inner_text("#node")
        lamps = [text for text in page.locator("#whole .lamp.is-on").all_inner_texts() if "rest" not in text]
        assert lamps == [name for name in ("busy", "done") if state[layout[name].offset]]
        for row, port in zip(ports(page), np.flatnonzero(view.topology.port_node == 3), strict=True):
            other = view.topology.opposite[port]  # type: ignore[index]
            for shown_bits, at in ((row[1], port), (row[2], other)):
                expected = [n for n in ("heard", "shut", "s", "cand", "parent") if state[layout[n].offset + at]]
                assert shown_bits.split() == (expected or ["–"])
            assert row[0] == NAMES[int(view.topology.port_far[port])]
        page.click("#next")


def test_rules_that_match_are_listed(show: Open, done: Run) -> None:
    page = show(graph_page(done), "#step=0&node=a")
    assert "when x=0 w=1 write x" in page.inner_text("#rules")
    page.evaluate("graph.choose('j')")  # never reached, it only counts
    assert page.locator("#rules code").all_inner_texts() == ["when x=0 w=0 write carry[1]"]


def test_the_tree_and_other_choices(show: Open, done: Run) -> None:
    page = show(graph_page(done), f"#step={done.steps}")
    assert page.locator("#mark option:checked").inner_text() == "parent"
    groups = page.eval_on_selector_all("#colour optgroup", "all => all.map(g => g.label)")
    assert groups == ["outputs", "bits", "bit of some port"]
    page.select_option("#colour", label="x")
    reached = [node["level"] is not None for node in done.nodes.values()]
    assert [hue == LIT for hue in colours(page, NAMES)] == reached
    assert f"on: {sum(reached)}" in page.inner_text("#legend")
    page.focus("#graph")
    page.keyboard.press("e")
    assert page.locator("#mark option:checked").inner_text() != "parent"
    page.keyboard.press("c")
    assert page.locator("#colour option:checked").inner_text() == "w"


def test_pointing_choosing_and_finding_nodes(show: Open, done: Run) -> None:
    page = show(graph_page(done), "#step=2")
    spot = page.evaluate("graph.place('d')")
    page.mouse.move(spot["x"], spot["y"])
    page.locator("#tip").wait_for(state="visible")
    assert page.inner_text("#tip .node-name") == "d"
    page.mouse.click(spot["x"], spot["y"])
    assert page.inner_text("#node .node-name") == "d"
    page.click("#ports tbody tr:first-child")
    assert page.inner_text("#node .node-name") == "b"
    page.fill("#search", "j")
    assert page.inner_text("#node .node-name") == "j"
    page.fill("#search", "nobody")
    assert page.inner_text("#found") == "no such node"
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowUp")
    assert page.inner_text("#node .node-name") == "i"
    page.keyboard.press("Escape")
    assert "Point at a node" in page.inner_text("#node")


def test_the_address_keeps_the_place(show: Open, done: Run) -> None:
    page = show(graph_page(done), "#step=3&node=c&colour=x&edges=shut")
    assert (step_of(page), page.inner_text("#node .node-name")) == (3, "c")
    assert page.locator("#colour option:checked").inner_text() == "x"
    assert page.locator("#mark option:checked").inner_text() == "shut"
    page.click("#next")
    until(page, "location.hash === '#step=4&node=c&colour=x&edges=shut'")
    for nonsense in ("#step=-5&node=nobody", "#step=1e99", "#%%%", "#step=2&colour=%3Cb%3E"):
        page.evaluate("hash => { location.hash = hash }", nonsense)
    until(page, "document.getElementById('slider').value === '2'")


def test_zooming_and_moving_keep_nodes_under_the_pointer(show: Open, done: Run) -> None:
    page = show(graph_page(done))
    fitted, other = page.evaluate("[graph.place('a'), graph.place('j')]")
    page.mouse.move(fitted["x"], fitted["y"])
    page.mouse.wheel(0, -400)
    until(page, f"Math.abs(graph.place('j').x - {other['x']}) > 20")
    zoomed = page.evaluate("graph.place('a')")
    assert (zoomed["x"], zoomed["y"]) == pytest.approx((fitted["x"], fitted["y"]), abs=1)
    page.mouse.down()
    page.mouse.move(fitted["x"] + 60, fitted["y"] + 30, steps=4)
    page.mouse.up()
    moved = page.evaluate("graph.place('a')")
    assert (moved["x"] - zoomed["x"], moved["y"] - zoomed["y"]) == pytest.approx((60, 30), abs=1)
    assert "Point at a node" in page.inner_text("#node")  # moving is not choosing
    page.click("#fit")
    assert page.evaluate("graph.place('a')") == pytest.approx(fitted)


def test_a_grid_plays_one_generation_after_the_other(show: Open) -> None:
    done = glider()
    page, names = show(graph_page(done)), GraphView(done).names
    assert page.is_checked("#changes")
    page.focus("#graph")
    for generation in range(5):
        page.keyboard.press("]")
        assert step_of(page) == 9 * generation + 1
        alive = GraphView(done).algorithm.read_places(done.trace.state(9 * generation + 1))["alive"]
        assert [hue == LIT for hue in colours(page, names)] == [bool(cell) for cell in alive]
    page.keyboard.press("[")
    assert step_of(page) == 28
    corner, next_to = page.evaluate("[graph.place('0.0'), graph.place('0.1')]")
    assert corner["y"] == next_to["y"]
    assert corner["x"] < next_to["x"]


def test_flags_together_and_directed_graphs(show: Open) -> None:
    graph, names = torus(4, 6)
    values = {"wire": np.ones(24, dtype=np.int64), "head": one(24, 8), "tail": one(24, 7)}
    done = run(program("wireworld", generations=2).on(graph, values, names), record=True)
    page = show(graph_page(done), "#step=1")
    assert page.locator("#colour option:checked").inner_text() == "wire, head, tail"
    assert "wire, head: 1" in page.inner_text("#legend")
    directed = Topology.from_edges(4, [(0, 1), (1, 0), (1, 2), (3, 3)], directed=True)
    page = show(
        graph_page(run(program("flooding").on(directed, {"source": one(4, 0)}, list("abcd")), record=True)), "#node=b"
    )
    assert [row[0] for row in ports(page)] == ["a", "c"]
    assert "outgoing edge" in page.inner_text("#ports-of")
    page.click("#last")
    assert [hue == LIT for hue in colours(page, "abcd")] == [True, True, True, False]


def test_values_of_ports_are_shown_as_numbers(show: Open) -> None:
    graph = Topology.from_edges(3, [(0, 1), (1, 2)])
    weights = np.array([5, 5, 9, 9])
    done = run(program("shortest-paths").on(graph, {"source": one(3, 0), "weight": weights}, list("abc")), record=True)
    page = show(graph_page(done), f"#step={done.steps}&node=b")
    assert [row[1].split()[0] for row in ports(page)] == ["weight=5", "weight=9"]
    assert "distance = 5" in page.inner_text("#node")


def test_hostile_names_stay_text(show: Open) -> None:
    attack = "</script><script>alert(1)</script><img src=x onerror=alert(2)> \"'& {{data}}"
    done = searched("flooding", [f"{attack}{number}" for number in range(10)])
    done = replace(done, algorithm=replace(done.algorithm, name=attack, description=attack))
    page = show(graph_page(done), "#step=1")
    page.evaluate("name => graph.choose(name)", f"{attack}3")
    assert page.text_content("#node .node-name") == f"{attack}3"
    assert ports(page)[0][0] == f"{attack}1"
    spot = page.evaluate("name => graph.place(name)", f"{attack}5")
    page.mouse.move(spot["x"], spot["y"])
    page.locator("#tip").wait_for(state="visible")
    assert page.locator("img").count() == 0
    assert page.text_content("h1").startswith(attack)


@pytest.mark.parametrize("options", [PHONE, {"viewport": {"width": 700, "height": 900}}, {"color_scheme": "dark"}])
def test_it_fits_every_screen(show: Open, done: Run, options: dict[str, Any]) -> None:
    page = show(graph_page(done), "#step=3&node=d", **options)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box = page.locator("#graph").bounding_box()
    for name in NAMES:
        spot = page.evaluate("name => graph.place(name)", name)
        assert box["x"] < spot["x"] < box["x"] + box["width"]
        assert box["y"] < spot["y"] < box["y"] + box["height"]
    page.click("#theme")
    assert page.evaluate("document.documentElement.dataset.theme") == (
        "light" if options.get("color_scheme") == "dark" else "dark"
    )


RINGED = """names => {
  const canvas = document.getElementById("graph"), box = canvas.getBoundingClientRect();
  const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.drawImage(canvas, 0, 0);
  return names.filter((name) => {
    const { x, y } = graph.place(name), { data } = context.getImageData(x - box.left, y - box.top, 40, 1);
    return Array.from({ length: 40 }, (_, at) => data.slice(4 * at, 4 * at + 3).join()).includes("29,35,43");
  });
}"""


def test_the_source_has_a_ring(show: Open, done: Run) -> None:
    """A line in the colour of text goes around the node that was given the flag, and around no other."""
    page = show(graph_page(done), "#step=2")
    assert page.evaluate(RINGED, NAMES) == ["a"]


def test_touching_a_node_chooses_it(show: Open, done: Run) -> None:
    page = show(graph_page(done), **PHONE)
    spot = page.evaluate("graph.place('e')")
    page.touchscreen.tap(spot["x"], spot["y"])
    assert page.inner_text("#node .node-name") == "e"
