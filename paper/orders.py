"""Lemma 6.1: how the mean and the variance of the limit fall with K, in every regime of n."""

from __future__ import annotations

from typing import Any

from paper.figures import Figure, Setting, Tables
from paper.lemma import orders
from paper.style import COLOURS, MARKERS, number
from paper.table import Table

COLUMNS = ("quantity", "regime", "K", "value", "stated_exponent", "exact_exponent", "fitted_exponent")
_EXPONENTS = ("stated", "exact", "fitted")
_TITLES = {
    "unset": r"Mean of an unset bit, $-\mu$",
    "set": r"Mean of a set bit, $\mu$",
    "variance": r"Variance, $\sigma^2$",
}


def tables(setting: Setting) -> Tables:
    """Closed forms at sizes from 10^2 to 10^6; exponents are fitted from 10^4 on, where the lemma's orders rule."""
    rows: list[tuple[str, str, int, float, float, float, float]] = []
    wide = orders(100, 10_000_000 if setting.full else 1_000_000, 26 if setting.full else 21)
    for shown, fitted in zip(wide, orders(), strict=True):
        rows += [
            (shown.quantity, shown.regime, K, value, fitted.stated, fitted.exact, fitted.fitted)
            for K, value in zip(shown.sizes, shown.values, strict=True)
        ]
    return {"orders": Table.of(COLUMNS, rows)}


def draw(pyplot: Any, given: Tables) -> Any:
    table = given["orders"]
    figure, panels = pyplot.subplots(1, 3, figsize=(10.5, 4.7), sharex=True)
    for axes, quantity in zip(panels, _TITLES, strict=True):
        part = table.where(quantity=quantity)
        for place, regime in enumerate(part.values("regime")):
            line = part.where(regime=regime)
            stated, exact, fitted = (float(line.numbers(f"{which}_exponent")[0]) for which in _EXPONENTS)
            n, *rest = str(regime).replace("sqrt(K)", r"\sqrt{K}").partition(", ")
            lemma = f"$K^{{{exact:g}}}$" + (f" (lemma: $K^{{{stated:g}}}$)" if stated != exact else "")
            look = {"color": COLOURS[place], "markevery": (place % 4, 4), "linestyle": "--" if stated != exact else "-"}
            named = f"${n}${''.join(rest)}:  {lemma}, fitted ${number(fitted, 2)}$"
            axes.plot(line.numbers("K"), line.numbers("value"), MARKERS[place], label=named, **look)
        axes.set(xscale="log", yscale="log", xlabel="examples $K$", title=_TITLES[quantity])
        low, high = axes.get_ylim()
        axes.set_ylim(low, high * (high / low) ** 0.12)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), handlelength=1.8)
    return figure


def caption(given: Tables) -> str:
    table = given["orders"]
    sizes = table.numbers("K")
    worst = max(abs(table.numbers("exact_exponent") - table.numbers("fitted_exponent")))
    return (
        f"**Lemma 6.1.** Mean and variance of the limit against K, in closed form, at {len(set(sizes))} sizes from "
        f"{sizes.min():,.0f} to {sizes.max():,.0f}. Bits have one writer unless the legend states otherwise. An "
        "unwanted correlation is a writer that does not match, and a sublinear n is the square root of K. Exponents "
        f"are least-squares slopes between 10^4 and 10^6; all are within {worst:.3f} of the exact ones. Dashed lines "
        "show the cases in which the lemma is wrong. With n = K/2 and one unwanted correlation, w1 and -w0 cancel "
        "to first order and leave 2/K. With n = K, a set bit with two writers has mean 2 w1 > 0. At n = K every "
        "example matches, so nothing interferes; an unset bit then has no writer and mean 0, and is not drawn."
    )


FIGURE = Figure("Lemma 6.1: mean and variance against K", tables, {"orders": draw}, caption)
