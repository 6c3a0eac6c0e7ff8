"""The page of a trace as text: complete, safe, and with the figures of the library in it."""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import for_each
from page_data import opened, unpacked

from bitwright import InputError, Run, addition, multiplication, permutation, run
from bitwright.machines import interpret, load_sbn, machine_a, machine_b
from bitwright.machines.sbn.loaded import Loaded
from bitwright.pages import trace_page, trace_text
from bitwright.pages.page import page as page_module
from bitwright.pages.page.assemble import Blob, SampledSteps
from bitwright.pages.page.outputs import outputs_data
from bitwright.theory import weights

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def recorded(**settings: Any) -> Run:
    return run(addition(5), p=21, q=11, record=True, **{"engine": "limit", **settings})


def test_the_data_gives_the_run_back() -> None:
    done = recorded()
    assert done.trace is not None
    facts, arrays = opened(trace_page(done))
    np.testing.assert_array_equal(arrays["states"], done.trace.packed)
    for name in ("block_start", "block_bits", "template_block", "template_config", "write_start", "write_bits"):
        np.testing.assert_array_equal(arrays[name], getattr(done.algorithm.program, name))
    assert arrays["n"].tolist() == [len(done.trace.matches(step)) for step in range(len(done.trace))]
    assert (facts["steps"], facts["program"]) == (10, done.algorithm.program.id)
    assert not arrays["wrong"].any()


@for_each("engine", ["limit", "kernel", "sampled", "network"])
@for_each("rounding", ["calibrated", "sign"])
def test_the_smallest_margin_is_that_of_the_run(engine: str, rounding: str) -> None:
    done = recorded(engine=engine, rounding=rounding, **({"width": 512} if engine == "network" else {"padding": 60}))
    facts, arrays = opened(trace_page(done))
    assert arrays["margin"].min() == pytest.approx(done.margin, rel=1e-5)
    least = facts["real"]["least"]
    assert least["margin"] == arrays["margin"][least["step"]]
    if engine in ("sampled", "network"):
        assert least["margin"] == arrays["margin"].min()
    assert arrays["table_w0"] == pytest.approx(weights(arrays["table_n"], facts["real"]["examples"]).unmatched)


def test_a_run_by_the_rules_shows_what_the_limit_says() -> None:
    facts, _ = opened(trace_page(recorded(engine="templates")))
    assert (facts["rounding"], facts["real"]["rounding"], facts["real"]["followed"]) == (None, "calibrated", False)


def test_of_long_runs_the_closest_outputs_are_kept() -> None:
    done = run(multiplication(3), multiplicand=5, multiplier=6, engine="kernel", record=True)
    everything = opened(trace_page(done))[1]["outputs"].reshape(done.steps, -1)
    assert done.trace is not None
    blob = Blob()
    said = outputs_data(done, done.trace, blob, SampledSteps(1, done.steps), most=100, closest=7)
    assert (said["stored"], said["closest"]) == ("closest", 7)
    arrays = unpacked(blob.directory, blob.packed())
    chosen, kept = arrays["chosen"].reshape(done.steps, 7), arrays["outputs"].reshape(done.steps, 7)
    np.testing.assert_array_equal(kept, np.take_along_axis(everything, chosen, axis=1))
    for step in range(done.steps):
        margin = np.abs(everything[step] - 0.5)
        assert max(margin[chosen[step]]) <= min(np.delete(margin, chosen[step])) + 1e-12


@pytest.mark.parametrize("kind", [machine_a, machine_b])
def test_phases_and_instructions_are_those_of_the_interpreter(kind: Any) -> None:
    code = load_sbn(EXAMPLES / "sbn" / "gcd.sbn")
    machine = kind(code.sizes)
    done = run(machine.algorithm(code), a=12, b=18, record=True)
    assert done.trace is not None
    computer = Loaded(machine, code)
    executed = [done_.address for done_, _ in interpret(code, {"a": 12, "b": 18})]
    steps, addresses = computer.instructions(done.trace)
    assert addresses.tolist() == [*executed, len(code.instructions)]
    kinds = [number for _, number in computer.phases(done.trace)]
    assert kinds == [0, 1, 2, 3, 4] * len(executed) + [0]
    notes = list(computer.notes(done.trace))
    assert len(notes) == len(done.trace)
    assert notes[steps[-1]] == "end"
    lines = list(trace_text(done.trace, [computer.memory_name()], notes))
    assert all(note in line for note, line in zip(notes, lines[1:], strict=True))


def test_nothing_in_the_data_can_become_markup_and_no_other_script_may_run() -> None:
    attack = "</script><script>alert(1)</script><!--\"'&"
    done = run(replace(permutation([2, 1]), name=attack, description=attack), p=1, record=True)
    html = trace_page(done, title=attack)
    assert html.count("<script") == 3
    assert "<!--" not in html
    [script] = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    [style] = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    for text in (script, style):
        assert f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" in html
    assert "http:" not in html
    assert "https:" not in html


def test_numbers_of_any_length() -> None:
    value = 2**20_000 - 1
    done = run(permutation(range(20_000, 0, -1)), p=value, record=True)
    facts, _ = opened(trace_page(done))
    assert [len(bits) for name, bits, _ in facts["words"] if name.startswith("p")] == [20_000]


def test_what_is_too_large_for_a_page_is_refused() -> None:
    done = run(permutation(range(500_001, 0, -1)), p=1, record=True)
    with pytest.raises(InputError, match=r"at most 500,000 bits, this run has 500,001$"):
        trace_page(done)


def test_a_run_must_be_recorded() -> None:
    with pytest.raises(InputError, match="record=True"):
        trace_page(run(addition(3), p=1, q=2))


@for_each(
    ("engine", "rounding"),
    [("templates", "calibrated"), *product(("limit", "kernel", "sampled"), ("calibrated", "sign"))],
)
def test_where_nothing_matches_nothing_is_at_stake(engine: str, rounding: str) -> None:
    done = run(addition(3), p=0, q=0, engine=engine, rounding=rounding, record=True)
    facts, arrays = opened(trace_page(done))
    assert facts["real"]["least"] is None
    assert np.isinf(arrays["margin"]).all()


def test_a_run_of_no_steps() -> None:
    facts, arrays = opened(trace_page(run(addition(3), p=1, q=2, steps=0, record=True)))
    assert (facts["steps"], facts["halted"], facts["real"]["least"]) == (0, False, None)
    assert len(arrays["states"]) == 1


def shown_steps(steps: int, every: int) -> list[int]:
    return [*range(0, steps, every), steps]


@pytest.mark.parametrize("engine", ["templates", "kernel"])
def test_a_run_too_long_for_a_page_is_sampled(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run(multiplication(3), multiplicand=5, multiplier=6, engine=engine, record=True)
    assert done.trace is not None
    whole, before = opened(trace_page(done))
    assert (whole["steps"], whole["run_steps"], whole["every"]) == (done.steps, done.steps, 1)
    monkeypatch.setattr(page_module, "MAX_STEPS", 20)
    facts, arrays = opened(trace_page(done))
    every = facts["every"]
    steps = shown_steps(done.steps, every)
    assert every > 1
    assert facts["run_steps"] == done.steps
    assert facts["steps"] == len(steps) - 1 <= 20
    np.testing.assert_array_equal(arrays["states"], done.trace.packed[steps])
    assert arrays["n"].tolist() == [len(done.trace.matches(step)) for step in steps]
    pieces = list(pairwise(steps))
    assert arrays["margin"].tolist() == [before["margin"][a:b].min() for a, b in pieces]
    least = facts["real"]["least"]
    assert least["number"] == whole["real"]["least"]["step"] == whole["real"]["least"]["number"]
    assert pieces[least["step"]][0] <= least["number"] < pieces[least["step"]][1]
    if engine == "kernel":
        kept = before["outputs"].reshape(done.steps, -1)
        np.testing.assert_array_equal(arrays["outputs"].reshape(len(pieces), -1), kept[steps[:-1]])


def test_a_run_of_many_bytes_is_sampled_too(monkeypatch: pytest.MonkeyPatch) -> None:
    done = recorded()
    assert done.trace is not None
    monkeypatch.setattr(page_module, "MAX_BYTES", 5 * done.trace.packed.shape[1])
    facts, arrays = opened(trace_page(done))
    assert arrays["states"].nbytes <= 5 * done.trace.packed.shape[1]
    assert facts["every"] > 1


def test_wrong_steps_are_counted_in_the_run_and_shown_in_their_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    done = recorded(engine="sampled", rounding="sign", seed=3)
    _, before = opened(trace_page(done))
    assert before["wrong"].any()
    monkeypatch.setattr(page_module, "MAX_STEPS", 4)
    facts, arrays = opened(trace_page(done))
    assert facts["real"]["wrong_steps"] == np.count_nonzero(before["wrong"])
    steps = shown_steps(done.steps, facts["every"])
    assert arrays["wrong"].tolist() == [before["wrong"][a:b].sum() for a, b in pairwise(steps)]


def test_which_arrays_are_one_hot() -> None:
    done = run(multiplication(4), multiplicand=11, multiplier=13, record=True)
    assert done.trace is not None
    found, _ = opened(trace_page(done))
    layout = done.trace.layout
    expected = []
    for field in layout.fields:
        ones = [int(done.trace.state(step)[field.bits()].sum()) for step in range(len(done.trace))]
        if field.size > 2 and max(ones) == 1:
            expected.append(field.offset)
    assert layout["sum_counter"].offset in expected
    assert found["one_hot"] == expected
