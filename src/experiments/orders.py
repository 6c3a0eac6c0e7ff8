"""Lemma 6.1: how the mean and the variance of the limit fall with K, in every regime of n."""

from __future__ import annotations

from typing import Any

from bitwright.theory.lemma import orders
from experiments.figures import Figure, Setting, Tables
from experiments.style import COLOURS, MARKERS, number
from experiments.table import Table

COLUMNS = ("quantity", "regime", "K", "value", "stated_exponent", "fitted_exponent")
_TITLES = {
    "unset": r"Mean of an unset bit, $|\mu|$",
    "set": r"Mean of a set bit, $|\mu|$",
    "variance": r"Variance, $\sigma^2$",
}
_SIGNS = {"n = 2": "$n=2$", "n = sqrt(K)": r"$n=\sqrt{K}$", "n = K/4": "$n=K/4$", "n = K": "$n=K$"}


def tables(setting: Setting) -> Tables:
    """Closed forms at sizes from 10^2 to 10^6; exponents are fitted from 10^4 on, where the lemma's orders rule."""
    rows: list[tuple[str, str, int, float, float, float]] = []
    wide = orders(100, 10_000_000 if setting.full else 1_000_000, 26 if setting.full else 21)
    for shown, fitted in zip(wide, orders(), strict=True):
        rows += [
            (shown.quantity, shown.regime, K, value, fitted.stated, fitted.fitted)
            for K, value in zip(shown.sizes, shown.values, strict=True)
        ]
    return {"orders": Table.of(COLUMNS, rows)}


def draw(pyplot: Any, given: Tables) -> Any:
    table = given["orders"]
    figure, panels = pyplot.subplots(1, 3, figsize=(10.5, 4.0), sharex=True)
    for axes, quantity in zip(panels, _TITLES, strict=True):
        part = table.where(quantity=quantity)
        for place, regime in enumerate(part.values("regime")):
            line = part.where(regime=regime)
            stated, fitted = float(line.numbers("stated_exponent")[0]), float(line.numbers("fitted_exponent")[0])
            name = _SIGNS.get(str(regime), "$n=K$, 1 conflict")
            look = {"color": COLOURS[place], "markevery": 4}
            named = f"{name}:  $K^{{{stated:g}}}$, fitted ${number(fitted, 2)}$"
            axes.plot(line.numbers("K"), line.numbers("value"), MARKERS[place] + "-", label=named, **look)
        axes.set(xscale="log", yscale="log", xlabel="examples $K$", title=_TITLES[quantity])
        low, high = axes.get_ylim()
        axes.set_ylim(low, high * (high / low) ** 0.12)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), handlelength=1.4)
    return figure


def caption(given: Tables) -> str:
    table = given["orders"]
    sizes = table.numbers("K")
    worst = max(abs(table.numbers("stated_exponent") - table.numbers("fitted_exponent")))
    return (
        f"**Lemma 6.1.** Mean and variance of the limit against K, in closed form, at {len(set(sizes))} sizes from "
        f"{sizes.min():,.0f} to {sizes.max():,.0f}. A bit has one writer, with a conflict two; a sublinear n is the "
        "square root of K. Exponents are least-squares slopes between 10^4 and 10^6; none is further than "
        f"{worst:.3f} from the lemma's. With n = K and a conflict the mean of a set bit is negative: Assumption 5.1 "
        "fails and the sign is wrong, though the order of |mu| is as stated."
    )


FIGURE = Figure("Lemma 6.1: mean and variance against K", tables, {"orders": draw}, caption)
