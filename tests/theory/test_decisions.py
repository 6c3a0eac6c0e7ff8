"""The table of decisions against the mean written out as in App. C, in exact order and in Arb at high precision."""

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from long import examples
from programs import crowded

from bitwright import BitwrightError, addition, parse
from bitwright.theory import decisions as module
from bitwright.theory.closed_form import weights
from bitwright.theory.decisions import decide
from bitwright.theory.encoding import PackedRules, count_rows, largest, pack, unpack
from bitwright.theory.intervals import enclose, precision
from bitwright.theory.rounding import round_outputs


def mean(n: int, c: int, m: int, K: int) -> flint.arb:
    """App. C as printed: alpha, S, w1 and w0, with 400 bits."""
    before, flint.ctx.prec = flint.ctx.prec, 400
    try:
        pi, root = flint.arb.pi(), flint.arb(n).sqrt()
        alpha = (2 * (pi - (1 / root).acos()) + flint.arb(n - 1).sqrt()) / root
        S = (n * alpha + K - n) / (2 * pi - 1 + K)
        w1, w0 = (alpha - S) / (2 * pi - 1), (1 - S) / (2 * pi - 1)
        return w0 * (c - m) + w1 * m
    finally:
        flint.ctx.prec = before


@settings(max_examples=examples(30))
@given(st.integers(2, 60), st.integers(0, 40), st.integers(0, 60))
def test_every_entry_is_the_sign_of_the_mean(writers: int, bystanders: int, padding: int) -> None:
    program = crowded(writers, bystanders)
    K = program.templates + padding
    table = decide(program, K, "sign")
    for n in range(2, len(table.needed)):
        for c in table.writers.tolist():
            for m in {0, 1, 2, c // 2, c - 1, c}:
                value = mean(n, c, m, K)
                assert value > 0 or value < 0
                assert table.sets((n, c, m)) == bool(value > 0)


def test_margins() -> None:
    table = decide(addition(10).program, 40, "sign")
    w = weights(20, 40)
    assert table.margin([(0, 1, 0), (1, 1, 1)]) is None  # nothing is at stake
    found = table.margin([(20, 2, 1), (20, 2, 2), (1, 1, 0)])
    exact = float(w.matched + w.unmatched)
    assert found[0] == pytest.approx(exact, rel=1e-12)
    assert found[0] <= exact * (1 + 1e-15)
    assert found[1] == (20, 2, 1)
    calibrated = decide(addition(10).program, 40, "calibrated")
    assert calibrated.margin([(3, 2, 2), (2, 1, 1)]) == (0.5, (2, 1, 1))
    assert calibrated.margin([(0, 1, 0)]) is None


def test_no_noise_sets_a_bit_that_nothing_writes() -> None:
    """Under sign its mean is exactly 0, so that it is off whatever the output is, and has no margin."""
    bits, margins = round_outputs(np.array([[0.5, 0.25]]), np.array([2]), np.array([1, 0]), 8, "sign")
    assert (bits.tolist(), margins.tolist()) == ([[True, False]], [0.5])


@pytest.mark.parametrize("states", [5, 70])
def test_counts_in_planes_are_sums(states: int) -> None:
    rows = np.random.default_rng(states).random((states, 7)) < 0.5
    planes = count_rows(pack(rows))
    bits = unpack(np.array(planes), states).astype(int)
    assert (bits @ (1 << np.arange(len(planes))) == rows.sum(axis=1)).all()
    assert largest(planes) == rows.sum(axis=1).max()


def test_rules_that_write_nothing_match_all_the_same() -> None:
    rules = PackedRules(parse("bits f\nblock f\nwhen f=1 write nothing\ninput f\nsteps 1").program)
    assert rules.matched(np.array([[False], [True]])).tolist() == [[False], [True]]


def test_a_wrong_table_does_not_come_out(monkeypatch: pytest.MonkeyPatch) -> None:
    program = crowded(40, 20)
    right = decide(program, program.templates, "sign").needed
    assert right.max() > 2
    worst = int(right[:, -1].argmax())
    for shift in (-1, 1):
        spoiled = right[:, -1:].copy()
        spoiled[worst] += shift
        monkeypatch.setattr(module, "matches_needed", lambda *_, table=spoiled: table)
        with pytest.raises(BitwrightError, match=r"cannot prove"):
            decide(program, program.templates, "sign").needed  # noqa: B018


def test_rho_grows_with_n() -> None:
    """What the proof of a whole range by its two ends rests on, in balls over all real n >= 2, and from 1 to 2.

    rho(n) = n - a/beta(n), z = 1/sqrt(n), grows where a z^3 (pi + 2 asin z + z/sqrt(1 - z^2))/2 < beta^2.
    """
    with precision():
        pi = flint.arb.pi()
        parts = 4_000
        top = 1 / flint.arb(2).sqrt()
        for part in range(parts):
            low, high = top * part / parts, top * (part + 1) / parts
            z = low.union(high)
            root = (1 - z * z).sqrt()
            beta_over_z = pi + 2 * z.asin() - z / (1 + root)
            assert (2 * pi - 1) * z * (pi + 2 * z.asin() + z / root) / 2 < beta_over_z * beta_over_z
        assert enclose(1, 50).rho < enclose(2, 50).rho
