"""The page of a trace as text: complete, safe, and with the figures of the library in it."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cases import for_each
from page_data import opened

from bitwright import InputError, Run, addition, permutation, run
from bitwright.machines import interpret, load_sbn, machine_a, machine_b
from bitwright.machines.sbn.sbn_machine import Loaded
from bitwright.pages import page as page_module
from bitwright.pages import trace_page, trace_text
from bitwright.theory.closed_form import weights
from bitwright.theory.rounding import ROUNDINGS

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


def recorded(**settings: Any) -> Run:
    return run(addition(5), p=21, q=11, record=True, **{"engine": "limit", **settings})


def test_the_data_gives_the_run_back() -> None:
    done = recorded()
    facts, arrays = opened(trace_page(done))
    np.testing.assert_array_equal(arrays["states"], done.trace.packed)
    for name in ("block_start", "block_bits", "template_block", "template_config", "write_start", "write_bits"):
        np.testing.assert_array_equal(arrays[name], getattr(done.algorithm.program, name))
    assert arrays["n"].tolist() == [len(done.trace.matches(step)) for step in range(len(done.trace))]
    assert (facts["steps"], facts["program"]) == (10, done.algorithm.program.id)
    assert not arrays["wrong"].any()


@for_each(
    "settings",
    [
        *({"engine": name, "rounding": rule, "padding": 60} for name in ("limit", "sampled") for rule in ROUNDINGS),
        {"engine": "network", "width": 512, "tile": "all"},
    ],
)
def test_the_smallest_margin_is_that_of_the_run(settings: dict[str, Any]) -> None:
    done = recorded(**settings)
    facts, arrays = opened(trace_page(done))
    assert arrays["margin"].min() == pytest.approx(done.margin, rel=1e-5)
    least = facts["real"]["least"]
    assert least["margin"] == arrays["margin"][least["step"]]
    if settings["engine"] != "limit":
        assert least["margin"] == arrays["margin"].min()
    assert arrays["table_w0"] == pytest.approx(weights(arrays["table_n"], facts["real"]["examples"]).unmatched)


def test_a_run_by_the_rules_shows_what_the_limit_says() -> None:
    facts, _ = opened(trace_page(recorded(engine="templates")))
    assert (facts["rounding"], facts["real"]["rounding"], facts["real"]["followed"]) == (None, "calibrated", False)


@pytest.mark.parametrize("kind", [machine_a, machine_b])
def test_phases_and_instructions_are_those_of_the_interpreter(kind: Any) -> None:
    code = load_sbn(EXAMPLES / "sbn" / "gcd.sbn")
    machine = kind(code.sizes)
    done = run(machine.algorithm(code), a=12, b=18, record=True)
    computer = Loaded(machine, code)
    executed = [address for address, _ in interpret(code, {"a": 12, "b": 18})]
    steps, addresses = computer.instructions(done.trace)
    assert addresses.tolist() == [*executed, len(code.instructions)]
    kinds = [number for _, number in computer.phases(done.trace)]
    assert kinds == [0, 1, 2, 3, 4] * len(executed) + [0]
    notes = list(computer.notes(done.trace))
    assert len(notes) == len(done.trace)
    assert notes[steps[-1]] == "end"
    lines = list(trace_text(done.trace, [computer.memory_name()], notes))
    assert all(note in line for note, line in zip(notes, lines[1:], strict=True))


def test_what_is_too_large_for_a_page_or_not_recorded_is_refused() -> None:
    done = run(permutation(range(500_001, 0, -1)), p=1, record=True)
    with pytest.raises(InputError, match=r"at most 500,000 bits, this run has 500,001$"):
        trace_page(done)
    with pytest.raises(InputError, match="record=True"):
        trace_page(run(addition(3), p=1, q=2))


def test_what_is_too_long_for_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many steps are refused; too many outputs are left out."""
    done = recorded(engine="sampled")
    facts, _ = opened(trace_page(done))
    assert facts["real"]["stored"] == "all"
    monkeypatch.setattr(page_module.outputs_data, "__defaults__", (done.steps * facts["bits"] - 1,))
    facts, arrays = opened(trace_page(done))
    assert (facts["real"]["stored"], "outputs" in arrays) == ("nothing", False)
    monkeypatch.setattr(page_module, "MAX_STEPS", done.steps - 1)
    with pytest.raises(InputError, match=rf"at most {done.steps - 1} steps, this run has {done.steps}$"):
        trace_page(done)


@for_each(
    ("engine", "rounding"),
    [("templates", "calibrated"), *product(("limit", "sampled"), ("calibrated", "sign"))],
)
def test_where_nothing_matches_nothing_is_at_stake(engine: str, rounding: str) -> None:
    done = run(addition(3), p=0, q=0, engine=engine, rounding=rounding, record=True)
    facts, arrays = opened(trace_page(done))
    assert facts["real"]["least"] is None
    assert np.isinf(arrays["margin"]).all()
