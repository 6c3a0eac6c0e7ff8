"""The numbers behind the figures that need no training are what theory says."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from bitwright import addition, run
from bitwright.machines import machine_a
from bitwright.theory.closed_form import weights
from bitwright.theory.ensemble import sign_size
from paper import Setting, Table
from paper.ensemble_complexity import growth
from paper.figures import find_figure
from paper.predictor import matrix
from paper.sbn import DATA, FIRST, FLAG, SHOWN, shape_of
from paper.templates import matrix as cells


def table(name: str, stem: str | None = None, **more: object) -> Table:
    return find_figure(name).tables(Setting(folder=Path("nowhere"), **more))[stem or name]  # type: ignore[arg-type]


def test_templates_show_an_orthonormal_set_and_the_next_state() -> None:
    shown = table("templates")
    X, Y, encoded = (cells(shown, part)[0] for part in ("X", "Y", "encoded"))
    assert np.array_equal(X @ X.T, np.eye(8))
    rules = cells(shown, "X")[2]
    matched = np.array([rule.endswith("*") for rule in rules])
    assert encoded[0] == pytest.approx(matched / np.sqrt(2))
    assert np.array_equal(cells(shown, "output")[0][0] > 0, (matched @ Y) > 0)
    steps = cells(shown, "run")[2]
    assert steps == ["step 0: sum = 2", "step 1: sum = 5"]
    assert run(addition(2), p=2, q=3).value == 5


def test_predictor_multiplies_what_it_shows() -> None:
    shown = table("predictor")
    theta, inverse, f, w, labels = (matrix(shown, part) for part in ("Theta", "inverse", "f", "w", "Y'"))
    assert theta @ inverse == pytest.approx(np.eye(8), abs=1e-9)
    assert inverse @ f == pytest.approx(w)
    assert labels @ w == pytest.approx(matrix(shown, "mean"))
    assert np.array_equal(matrix(shown, "sign"), matrix(shown, "truth"))
    closed = weights(2, 8)
    assert sorted(set(w[:, 0].round(12))) == pytest.approx([float(closed.unmatched), float(closed.matched)])


def test_ensemble_complexity() -> None:
    shown = table("ensemble-complexity")
    for task in shown.values("task"):
        part = shown.where(task=task)
        printed, tight, ours = (part.numbers(name) for name in ("sign_printed", "sign_tight", "calibrated"))
        assert not np.isnan(np.concatenate((printed, tight, ours))).any(), task
        alone = (task == "permutation") & (part.numbers("bits") == 2)  # at n = 2 both bits are set: none to be wrong
        assert (ours < tight)[~alone].all(), task
        assert (tight < printed).all(), task
        longer = part.numbers("bits") >= 4  # below, the ratio itself still falls
        assert (np.diff(printed[longer]) > 0).all(), task
        assert (np.diff(ours) > 0).all(), task
        # The worst case is n = 2, where sigma^2/w0^2 grows like 2.80 K: the slope that every inset settles to.
        assert 2.4 < growth(part)[0] < 2.85, task
        half = len(part) // 2
        ratio = printed[half:] / part.numbers("order")[half:]
        assert ratio.max() / ratio.min() < 1.8, task  # the same growth up to a constant
    ten = shown.where(task="addition", bits=10)
    assert ten.column("sign_printed") == [sign_size(addition(10).program, 0.01, "runs", steps=20).networks]
    assert ten.column("calibrated") == [50]


def test_orders() -> None:
    shown = table("orders")
    for quantity in shown.values("quantity"):
        for regime in shown.where(quantity=quantity).values("regime"):
            line = shown.where(quantity=quantity, regime=regime)
            exact = float(line.numbers("exact_exponent")[0])
            assert float(line.numbers("fitted_exponent")[0]) == pytest.approx(exact, abs=0.03)
            assert (line.numbers("value") > 0).all()  # unset bits below 0, set bits above, in all that can occur
            if exact:
                assert (np.diff(line.numbers("value")) < 0).all(), (quantity, regime)


def test_steps_per_instruction() -> None:
    shown = table("sbn")
    rows = [dict(zip(shown.columns, row, strict=True)) for row in shown.rows]
    for smaller, larger in pairwise(rows):
        assert larger["words"] == 2 * smaller["words"]  # type: ignore[operator]
        assert larger["machine_b"] - smaller["machine_b"] == 4  # type: ignore[operator]
        assert larger["machine_a_most"] > smaller["machine_a_most"]  # type: ignore[operator]
    assert all(row["machine_b"] < row["machine_a_least"] <= row["machine_a_most"] for row in rows)  # type: ignore[operator]
    counted = [row for row in rows if row["measured_b_most"] is not None]
    assert len(counted) >= 5
    for row in counted:
        assert (row["measured_a_most"], row["measured_a_least"]) == (row["machine_a_most"], row["machine_a_least"])
        assert row["measured_b_most"] == row["measured_b_least"] == row["machine_b"]


def test_links_of_the_machines() -> None:
    shown = table("sbn", "sbn-blocks")
    for machine in ("A", "B"):
        part = shown.where(machine=machine)
        assert len(part) > 50
        assert (part.numbers("templates") > 0).all()
        assert any("HALT" in str(name) for name in part.column("to"))


def test_shapes_in_the_diagrams_of_machines() -> None:
    """As in the paper's Figure 6 for machine A; the star is at the bits that begin an instruction."""
    data = "curr_instr instr a b c a_delay b_delay c_delay addr a_addr b_addr mem_cont sub_result a_cont_delay"
    data += " b_cont_delay tc_p tc_q tc_carry sub_p sub_q sub_carry sum_p sum_q carry pre_candidate candidate"
    machine = machine_a(SHOWN)
    arrays = dict.fromkeys(machine.program.array_families)
    shapes = {name: shape_of("I_to_compare", name) for name in arrays}
    assert {name.split("_", 1)[1] for name in arrays if shapes[name] == DATA} == set(data.split())
    assert [name for name in arrays if shapes[name] == FIRST] == ["I_to_compare"]
    assert machine.program.layout.name_of(machine.boundary).startswith("I_to_compare[")
    assert {shapes[name] for name in arrays} == {DATA, FLAG, FIRST}
    pyplot = pytest.importorskip("matplotlib.pyplot")
    for stem, first in (("sbn-machine-a", "to_compare"), ("sbn-machine-b", "carry")):
        drawn = find_figure("sbn").pictures[stem](pyplot, {})
        words = " ".join(text.get_text() for text in drawn.axes[0].texts).split()
        pyplot.close(drawn)
        assert f"{FIRST}{first}" in words
        assert sum(word.startswith(FLAG) for word in words) > 10


def test_the_loop_of_figure_1_is_drawn() -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    from matplotlib.patches import ConnectionPatch

    figure = find_figure("templates")
    drawn = figure.pictures["templates"](pyplot, figure.tables(Setting(folder=Path("nowhere"))))
    ends = [(arrow.xy1, arrow.xy2) for arrow in drawn.findobj(ConnectionPatch)]
    pyplot.close(drawn)
    assert len(ends) == 3  # to the encoded state, to the next state, and back
    assert ends[2][0][0] == ends[2][1][0] == 3.0  # the middle of the six bits of a state
