"""What notebooks show of programs, runs and certificates."""

import re
from dataclasses import replace
from html import escape, unescape

import pytest
from whole import trained, with_weights

from bitwright import Algorithm, Program, Run, addition, certify, multiplication, permutation, run, size, train
from bitwright.pages import trace_page
from bitwright.verbs import notebook


@pytest.fixture
def done() -> Run:
    return run(addition(4), p=11, q=6, engine="limit", record=True)


def test_a_recorded_run_is_its_page_in_a_frame_that_reads_nothing_else(done: Run) -> None:
    html = done._repr_html_()
    assert html is not None
    [page] = re.findall(r'srcdoc="(.*?)"', html, re.DOTALL)
    assert unescape(page) == trace_page(done)
    assert 'sandbox="allow-scripts"' in html


def test_other_runs_are_a_table() -> None:
    plain = run(addition(4), p=11, q=6)._repr_html_()
    assert plain is not None
    assert '<td style="text-align:left">17</td>' in plain
    large = replace(addition(4), description="x" * notebook.MOST_BYTES)  # whose page is larger than that
    assert "<iframe" not in (run(large, p=11, q=6, record=True)._repr_html_() or "<iframe")


@pytest.mark.parametrize(("program", "certified"), [(addition(4).program, True), (multiplication(4).program, False)])
def test_a_certificate_says_its_verdict(program: Program, certified: bool) -> None:
    certificate = certify(program, rounding="sign")
    html = certificate._repr_html_() or ""
    assert certificate.certified == certified
    headline, *lines = certificate.report()
    assert f">{headline}</strong>" in html
    assert headline.startswith("CERTIFIED" if certified else "REFUTED")
    for line in lines:
        assert f'<td style="text-align:left">{escape(line[12:])}</td>' in html
    assert (">fails<" in html) != certified


@pytest.mark.parametrize("certified", [True, False])
def test_a_certificate_of_a_network_names_the_network(certified: bool) -> None:
    algorithm = addition(2)
    network = trained(2)
    if not certified:
        network = with_weights(network, thresholds=network.thresholds + 10**9)
    certificate = certify(algorithm, network)
    html = certificate._repr_html_() or ""
    assert certificate.certified == certified
    assert f"sha256 {network.digest}" in html
    assert (">CERTIFIED: " in html) == certified
    assert (">wrong<" in html) != certified
    assert certificate.program_id in html


def test_names_are_escaped() -> None:
    base = permutation([2, 1])
    hostile = Algorithm("<script>alert(1)</script>", base.program, base.inputs, base.outputs, steps=1)
    for thing in (hostile, run(hostile, p=1), run(hostile, p=1, record=True)):
        assert "<script>alert" not in (thing._repr_html_() or "")


def test_a_network_says_what_is_known_of_it() -> None:
    network = train(addition(4))
    html = network._repr_html_() or ""
    for part in (">Network: 2 kinds of cells", "proved on all 16 local states", network.digest):
        assert part in html


def test_a_summary_shows_its_headline_and_rows() -> None:
    found = size(addition(4))
    html = found._repr_html_() or ""
    assert f">{escape(found.sentence)}</strong>" in html
    assert all(escape(part) in html for row in found.rows() for part in re.split("  +", row.strip(), maxsplit=1))
