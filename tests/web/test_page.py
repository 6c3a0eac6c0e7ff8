"""The page in a real browser: what it shows is what the library says."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from serving import LOOP
from waiting import until
from web.pages import Visit, choose, press_run

from bitwright import Algorithm, ProgramError, addition, certify, multiplication, parse, permutation, run
from bitwright.pages import run_title
from bitwright.theory.ensemble import calibrated_size, sign_size

SUBTRACTION = (Path(__file__).parent.parent.parent / "examples" / "subtraction.bw").read_text()


def shown_outputs(page: Any) -> dict[str, str]:
    return dict(
        page.eval_on_selector_all(
            "#outputs > div", "divs => divs.map(d => [d.querySelector('dt').textContent, d.querySelector('dd').title])"
        )
    )


def certificate_rows(page: Any) -> dict[str, str]:
    return dict(
        page.eval_on_selector_all(
            "#panel-certificate dt", "names => names.map(n => [n.textContent, n.nextElementSibling.textContent])"
        )
    )


ALGORITHMS: list[tuple[str, dict[str, str], Algorithm, dict[str, int]]] = [
    ("addition", {"p": "719", "q": "483"}, addition(10), {"p": 719, "q": 483}),
    (
        "multiplication",
        {"multiplicand": "31", "multiplier": "0x1d"},
        multiplication(10),
        {"multiplicand": 31, "multiplier": 29},
    ),
    ("permutation", {"p": "10110"}, permutation([3, 1, 2, 5, 4]), {"p": 0b10110}),
]


@pytest.mark.parametrize(("kind", "inputs", "algorithm", "values"), ALGORITHMS, ids=[a[0] for a in ALGORITHMS])
def test_every_algorithm_shows_the_numbers_of_the_library(
    visit: Visit, kind: str, inputs: dict[str, str], algorithm: Algorithm, values: dict[str, int]
) -> None:
    page = visit()
    choose(page, kind, **inputs)
    press_run(page)
    done = run(algorithm, values, engine="limit")
    expected = {name: str(value) for name, value in done.outputs.items()}
    if kind == "permutation":
        expected = {"p": f"{done.value:05b}"}
    assert shown_outputs(page) == expected
    assert page.text_content("#title") == run_title(done)
    assert f"{done.steps} step" in page.text_content("#facts")
    trace = page.frame_locator("#trace")
    trace.locator("html[data-ready]").wait_for(state="attached")
    assert trace.locator("h1").inner_text() == run_title(done)
    trace.locator("#last").click()
    assert trace.locator("#slider").input_value() == str(done.steps)

    page.click("#tab-certificate")
    program = algorithm.program
    certificate, rows = certify(program), certificate_rows(page)
    assert page.inner_text("#panel-certificate .verdict").startswith("Certified: ")
    assert rows["margin"].startswith(f"{certificate.margin_enclosure} at n = {certificate.worst_n}")
    assert rows["matches"].startswith(f"n = 1 to {certificate.n_max}, ")
    assert rows["program"] == program.id

    page.click("#tab-size")
    options = {"examples": max(program.templates, algorithm.examples or 0), "steps": algorithm.steps}
    sizes = [sign_size(program, 0.01, printed=printed, **options).networks for printed in (True, False)]
    sizes.append(calibrated_size(program, 0.01).networks)
    shown = ["unbounded" if size is None else f"{size:,}" for size in sizes]
    rows = page.locator("#panel-size dd").all_inner_texts()[:3]
    assert [row.split(", ")[0] for row in rows] == shown


def test_problems_appear_at_their_lines_while_typing(visit: Visit) -> None:
    page = visit()
    choose(page, "rules")
    broken = SUBTRACTION.replace("write a[i] borrow[i]", "wrte a[i] borrow[i]").replace("input a b", "inptu a b")
    page.fill("#text", broken)
    page.wait_for_selector("html[data-checked=wrong]")
    with pytest.raises(ProgramError) as caught:
        parse(broken)
    problems = caught.value.problems
    assert page.locator("#problems li").all_inner_texts() == [f"{p.line}:{p.column} {p.message}" for p in problems]
    assert page.inner_text("#verdict") == f"{len(problems)} problems"
    marked = page.locator(".cm-lintRange-error").all_inner_texts()
    assert marked == ["wrte", "inptu"]  # underlined where they stand
    assert page.locator(".cm-lint-marker-error").count() == len({p.line for p in problems})
    page.locator("#problems button").first.click()
    assert page.locator(".cm-activeLine").inner_text() == broken.split("\n")[problems[0].line - 1]
    assert page.evaluate("document.activeElement.id") == "text"
    page.click("#run")
    page.wait_for_selector("#failure:not([hidden])")
    assert "expected 'write', found 'wrte'" in page.inner_text("#failure")
    page.fill("#text", SUBTRACTION)
    page.wait_for_selector("html[data-checked=right]")
    assert page.locator("#problems li").count() == page.locator(".cm-lintRange-error").count() == 0
    choose(page, "rules", a="3", b="5")
    press_run(page)
    assert shown_outputs(page) == {"difference": "1022", "negative": "1"}


def test_sbn_a_program_that_does_not_halt_and_limits(visit: Visit) -> None:
    page = visit()
    choose(page, "sbn", a="48", b="36")
    press_run(page)
    assert shown_outputs(page) == {"gcd": "12"}
    page.fill("#text", "loop: jmp loop")
    until(page, "document.getElementById('verdict').textContent.includes('1 instruction')")
    page.select_option("#engine", "templates")
    page.fill("#max-steps", "50")
    press_run(page)
    expected = "The run did not halt within 50 steps, the step limit; below is the run so far."
    assert page.inner_text("#note") == expected
    page.select_option("#engine", "network")
    choose(page, "addition")
    page.fill("#bits", "100")
    until(page, "document.getElementById('verdict').textContent.includes('400 templates')")
    press_run(page)
    assert "one network of width 32 for 2 kinds of cells, proved on all 16 local states" in page.inner_text("#facts")
    page.select_option("#network-tile", "all")
    page.click("#train")
    page.wait_for_selector("#failure:not([hidden])")
    assert "network takes at most 256 examples here; this program has 400" in page.inner_text("#failure")
    page.fill("#bits", "99999")
    page.wait_for_selector("html[data-checked=wrong]")
    assert page.inner_text("#verdict") == "The number of bits must be an integer between 1 and 20,000, got “99999”"


def test_a_run_can_be_cancelled(visit: Visit) -> None:
    page = visit()
    choose(page, "subleq")
    page.fill("#text", LOOP)
    page.wait_for_selector("html[data-checked=right]")
    page.click("#run")
    until(page, "/running: [1-9].* instructions/.test(document.getElementById('doing').textContent)")
    page.click("#cancel")
    page.wait_for_selector("html[data-busy='']")
    assert page.inner_text("#doing") == "cancelled"
    assert page.is_hidden("#failure")
    choose(page, "addition", p="1", q="2")
    page.select_option("#engine", "sampled")
    page.fill("#networks", "1000")
    press_run(page)
    assert shown_outputs(page) == {"sum": "3"}


def test_everything_can_be_downloaded(visit: Visit, server: Any) -> None:
    page = visit()
    press_run(page)
    page.click("#tab-files")
    names = page.locator(".files a").all_inner_texts()
    assert names == [*("trace.html", "certificate.json", "size.json", "program.bw", "run.json")]
    for name in names:
        with page.expect_download() as waiting:
            page.click(f".files a[download='{name}']")
        link = page.get_attribute(f".files a[download='{name}']", "href")
        assert waiting.value.suggested_filename == name
        assert Path(waiting.value.path()).read_bytes() == server.http.get(link).content


def test_run_waits_for_the_inputs_of_what_was_just_typed(visit: Visit) -> None:
    page = visit()
    choose(page, "sbn")
    page.fill("#text", ".in n\n.out n\ninc n")
    press_run(page)
    assert shown_outputs(page) == {"n": "1"}


def test_without_a_server_the_page_says_so(browser: Any, server: Any) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(str(server.http.base_url))
    page.wait_for_selector("html[data-ready][data-checked=right]")
    context.set_offline(True)
    press_run(page)
    assert page.inner_text("#failure") == "The server is not responding; is bitwright serve still running?"
    context.close()


# Blocks of 23 kinds: each has one template more than the one before.
MANY_KINDS = "bits x[115]\n" + "".join(
    f"block {' '.join(f'x[{5 * at + bit}]' for bit in range(1, 6))}\n"
    + "".join(
        f"when {' '.join(f'x[{5 * at + bit + 1}]={config >> bit & 1}' for bit in range(5))} write x[1]\n"
        for config in range(1, at + 2)
    )
    for at in range(23)
)


def test_only_engines_that_fit_are_offered_and_the_reason_is_said(visit: Visit) -> None:
    page = visit()
    choose(page, "sbn")
    page.select_option("#example", "sort4.sbn")
    page.select_option("#machine", "A")
    until(page, "document.getElementById('verdict').textContent.includes('3,082 templates')")
    offered = "[...document.getElementById('engine').options].filter(o => !o.disabled).map(o => o.value)"
    for rounding in ("calibrated", "sign"):  # a network is of cells, which are few, under both
        page.select_option("#rounding", rounding)
        assert page.evaluate(offered) == ["templates", "limit", "sampled", "network"]
    press_run(page)
    assert not page.is_visible("#failure")
    assert shown_outputs(page) == {"a": "2", "b": "4", "c": "7", "d": "9"}
    choose(page, "addition")
    until(page, "document.getElementById('verdict').textContent.includes('40 templates')")
    assert page.evaluate(offered) == ["templates", "limit", "sampled", "network"]
    page.select_option("#engine", "network")
    choose(page, "rules")
    page.fill("#text", MANY_KINDS)
    until(page, "document.getElementById('verdict').textContent.includes('276 templates')")
    expected = "The engine network takes at most 256 examples here; the cells of this program have 276"
    assert page.inner_text("#engine-text") == expected
    page.select_option("#engine", "limit")
    assert page.evaluate(offered) == ["templates", "limit", "sampled"]


def test_another_program_clears_results_and_inputs_of_the_former_one(visit: Visit) -> None:
    page = visit()
    empty = "document.getElementById('found').hidden && !document.getElementById('empty').hidden"
    changes: list[tuple[str, Callable[[], None], dict[str, str]]] = [
        ("rules", lambda: page.select_option("#example", "comparison.bw"), {"a": "719", "b": "483"}),
        ("rules", lambda: page.fill("#text", SUBTRACTION.replace("l = 10", "l = 3")), {"a": "0", "b": "5"}),
        ("addition", lambda: page.fill("#bits", "4"), {"p": "0", "q": "0"}),
        ("permutation", lambda: page.fill("#order", "2,1,3"), {"p": "101"}),
        ("nodes", lambda: page.select_option("#shape", "path"), {"source": "0"}),
        ("sbn", lambda: page.select_option("#machine", "A"), {"a": "12", "b": "18"}),
    ]
    for kind, change, inputs in changes:
        choose(page, kind)
        page.wait_for_selector("html[data-checked=right]")
        assert page.evaluate(empty), kind
        if kind == "rules":
            page.fill("#inputs input[name=a]", "1000")
            page.fill("#inputs input[name=b]", "5")
        press_run(page)
        assert not page.evaluate(empty), page.inner_text("#failure")
        change()
        assert page.evaluate(empty), kind
        assert page.inner_text("#doing") == ""
        page.wait_for_selector("html[data-checked=right]")
        shown = "[...document.querySelectorAll('#inputs input')].map(({ name, value }) => [name, value])"
        until(
            page, f"JSON.stringify({shown}) === {json.dumps(json.dumps(list(inputs.items()), separators=(',', ':')))}"
        )


def test_a_run_of_a_program_that_is_changed_is_cancelled(visit: Visit) -> None:
    page = visit()
    choose(page, "subleq")
    page.fill("#text", LOOP)
    page.click("#run")
    until(page, "/running: [1-9].* instructions/.test(document.getElementById('doing').textContent)")
    choose(page, "addition", p="1", q="2")
    page.wait_for_selector("html[data-busy='']")
    page.select_option("#engine", "limit")
    press_run(page)
    assert shown_outputs(page) == {"sum": "3"}
