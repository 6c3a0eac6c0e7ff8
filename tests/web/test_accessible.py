"""Every state of the page, narrow and wide, light and dark: no serious accessibility fault, nothing cut off."""

import gzip
from itertools import count
from pathlib import Path
from typing import Any

from long import LONG
from waiting import until
from web.pages import Visit, choose, press_run

AXE = gzip.decompress((Path(__file__).parent / "axe" / "axe.min.js.gz").read_bytes()).decode()
DESK = (1400, 900)
LOOKS = (((400, 850), "dark"), (DESK, "light"))  # the last one stays
_looked = count()


def look(page: Any, state: str) -> None:
    """Raises for what axe calls serious or critical, and for a page that must be scrolled sideways."""
    for (width, height), scheme in LOOKS if LONG else (LOOKS[next(_looked) % 2],):
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found = page.evaluate(
            "axe.run(document, { iframes: false, resultTypes: ['violations'] }).then(({ violations }) => violations"
            ".filter((one) => ['serious', 'critical'].includes(one.impact))"
            ".map((one) => [one.id, one.nodes.map((node) => node.html.slice(0, 160) + ' ' + node.failureSummary)]))"
        )
        assert found == [], (state, width, scheme, found)
    for width in (400, 800, DESK[0]):
        page.set_viewport_size({"width": width, "height": DESK[1]})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, (state, width)


def test_no_state_of_the_page_has_a_serious_fault(visit: Visit) -> None:
    page = visit(viewport=dict(zip(("width", "height"), DESK, strict=True)))
    page.evaluate(AXE)
    look(page, "at the start")
    press_run(page)
    look(page, "a trace")
    page.click("#tab-certificate")
    look(page, "a certificate")
    page.click("#tab-size")
    look(page, "a size")
    page.click("#tab-files")
    look(page, "downloads")
    page.click("#train")
    page.wait_for_selector("html[data-busy='']")
    look(page, "a network")
    choose(page, "rules")
    page.fill("#text", "bits x[3] y\nblock x[i] for i in 1..3\nwhen x[1]=1 wrte x[2]  # so\n")
    page.wait_for_selector("html[data-checked=wrong]")
    look(page, "problems")
    page.click("#run")
    page.wait_for_selector("#failure:not([hidden])")
    look(page, "a failure")
    choose(page, "subleq")
    page.wait_for_selector("html[data-checked=right]")
    press_run(page)
    page.click("#panel-console summary")
    page.click("#shape-box summary")
    look(page, "a console")
    choose(page, "nodes")
    page.select_option("#example", "shortest-paths.bw")
    until(page, "document.getElementById('graph-note').textContent.startsWith('12 nodes')")
    page.wait_for_selector("html[data-checked=right]")
    look(page, "a graph")
    press_run(page)
    page.click("#tab-nodes")
    look(page, "nodes")


def test_everything_is_reached_by_the_keyboard(visit: Visit) -> None:
    """Tab goes through all controls that are shown, none of which keeps it, and each has a name."""
    page = visit()
    choose(page, "nodes")
    until(page, "document.getElementById('graph-note').textContent.startsWith('24 nodes')")
    page.wait_for_selector("html[data-checked=right]")
    wanted = "button, select, summary, input, textarea, [tabindex='0'], .cm-content"
    shown = page.evaluate(
        f"[...document.querySelectorAll({wanted!r})].filter((one) => one.checkVisibility() && !one.disabled)"
        ".map((one) => one.type === 'radio' ? 'kind' : one.id || one.name || one.textContent)"
    )
    page.evaluate("document.activeElement.blur()")
    reached = set()
    for _ in range(2 * len(shown) + 10):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate(
                "(() => { const one = document.activeElement;"
                " return one.type === 'radio' ? 'kind' : one.id || one.name || one.textContent; })()"
            )
        )
    assert set(shown) - reached == set()
    page.focus("#text")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("#found:not([hidden])")
    page.wait_for_selector("html[data-busy='']")
    page.focus("#tab-trace")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "tab-nodes"
    assert page.is_visible("#panel-nodes")
