"""Lemma 6.1: the exponents of K that its formulas have, against those that it states."""

from __future__ import annotations

import pytest

from paper.lemma import orders


def test_orders_of_the_lemma() -> None:
    """Lemma 6.1: fitted exponents of K between 10^4 and 10^6; a finite range leaves them a few hundredths off."""
    wrong = []
    for order in orders():
        assert order.fitted == pytest.approx(order.exact, abs=0.03), (order.quantity, order.regime)
        assert min(order.values) > 0, (order.quantity, order.regime)
        wrong += [order.regime] * (order.stated != order.exact)
    assert wrong == ["n = K/2, one unwanted", "n = K, two writers"]
