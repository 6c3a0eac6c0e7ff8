"""Draws the pictures of docs/explanation/theory.md from the formulas themselves.

python -m paper.theory_pictures docs/pictures
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bitwright import addition
from bitwright.rules.pattern import Pattern
from bitwright.theory.closed_form import beta, weights
from bitwright.theory.width_plan import regions_of
from paper.width_integrals import Sums, spread

ON, OFF, INK, SOFT = "#1f6fb2", "#9aa3ad", "#1c2126", "#6b7480"
GOOD, BAD = "#23803f", "#b3362b"
WIDE = 400


def text(x: float, y: float, words: str, at: str = "start", fill: str = INK, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{at}" fill="{fill}"{more}>{words}</text>'


def line(x: float, y: float, to_x: float, to_y: float, stroke: str = INK, more: str = "") -> str:
    return f'<path d="M{x:g} {y:g}L{to_x:g} {to_y:g}" stroke="{stroke}" fill="none"{more}/>'


def rect(x: float, y: float, wide: float, high: float, fill: str, more: str = "") -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{wide:g}" height="{high:g}" fill="{fill}"{more}/>'


def svg(title: str, said: str, high: float, parts: Iterator[str]) -> str:
    """A picture on white, wide enough for a phone; dark pages invert it."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {high:g}" width="{1.5 * WIDE:g}" '
            f'height="{1.5 * high:g}" role="img" font-family="DejaVu Sans, Verdana, Arial, sans-serif" font-size="12">',
            f"<title>{title}</title>",
            f"<desc>{said}</desc>",
            rect(0, 0, WIDE, high, "#fff"),
            *parts,
            "</svg>\n",
        ]
    )


def kernel(examples: int = 12, n: int = 3) -> str:
    """What a state shares with each example, and the weight that the limit gives to each."""
    found = weights(n, examples)
    rise = float(beta(n))
    matched, other = float(found.matched), float(found.unmatched)
    at = {2, 5, 9}

    def bars(zero: float, scale: float, on: float, off: float) -> Iterator[str]:
        for number in range(examples):
            value = on if number in at else off
            x, high = 22 + 30 * number, abs(value) * scale
            yield rect(x, zero - high if value > 0 else zero, 20, high, ON if number in at else OFF)
        yield line(14, zero, WIDE - 14, zero, INK, ' stroke-width="1"')

    def parts() -> Iterator[str]:
        yield text(14, 20, f"Kernel of the state with each of K = {examples} examples")
        yield text(14, 37, f"1 + β = {1 + rise:.2f} where it matches (n = {n}),", "start", ON)
        yield text(262, 37, "1 elsewhere", "start", SOFT)
        yield from bars(138, 26, 1 + rise, 1)
        yield line(200, 146, 200, 166, SOFT, ' stroke-width="1.5"')
        yield f'<path d="M195 161L200 169L205 161Z" fill="{SOFT}"/>'
        yield text(212, 163, "times the inverse train kernel", "start", SOFT)
        yield text(14, 192, "Weight of each example's label")
        yield text(14, 209, f"w₁ = {matched:.3f} where it matches,", "start", ON)
        yield text(246, 209, f"w₀ = −{-other:.3f} elsewhere", "start", SOFT)
        yield from bars(288, 160, matched, other)

    said = "Two bar charts: kernel values of twelve examples take two values, and so do their weights."
    return svg("Kernel and weights", said, 304, parts())


def rounding(examples: int = 40, n: int = 8, most: int = 24) -> str:
    """The means of set and unset bits against the number of writers, with both thresholds."""
    found = weights(n, examples)
    gap, other = float(found.gap), float(found.unmatched)
    left, right, top, bottom = 52.0, 386.0, 44.0, 250.0
    low, high = other * most - 0.02, gap + 0.02

    def place(c: float, value: float) -> tuple[float, float]:
        return left + (right - left) * c / most, bottom - (bottom - top) * (value - low) / (high - low)

    def mean(m: float, stroke: str, more: str) -> str:
        return line(*place(0, gap * m), *place(most, other * most + gap * m), stroke, more)

    cross = gap / -other

    def parts() -> Iterator[str]:
        yield text(14, 20, f"Mean of a bit with c writers, at n = {n} matches, K = {examples}")
        zero, end = place(0, 0), place(most, 0)
        corners = "L".join(f"{x:.1f} {y:.1f}" for x, y in (place(cross, 0), end, place(most, other * most + gap)))
        yield f'<path d="M{corners}Z" fill="{BAD}" opacity="0.16"/>'
        yield line(*zero, *end, BAD, ' stroke-width="2"')
        yield mean(1, ON, ' stroke-width="2.5"')
        yield mean(0, OFF, ' stroke-width="2.5"')
        yield mean(0.5, GOOD, ' stroke-width="2" stroke-dasharray="6 4"')
        yield line(left, top, left, bottom, SOFT)
        yield line(left, bottom, right, bottom, SOFT)
        for c in range(0, most + 1, 4):
            x, _ = place(c, low)
            yield line(x, bottom, x, bottom + 4, SOFT) + text(x, bottom + 17, str(c), "middle", SOFT)
        for value in (-0.4, -0.2, 0, 0.2):
            _, y = place(0, value)
            yield line(left - 4, y, left, y, SOFT) + text(left - 7, y + 4, f"{value:g}".replace("-", "−"), "end", SOFT)
        yield text((left + right) / 2, bottom + 34, "writers c of the bit", "middle", SOFT)
        y = bottom + 56
        rows = (
            (ON, "", "one writer matches: must become 1"),
            (OFF, "", "none matches: must become 0"),
            (GOOD, "6 4", "calibrated threshold: always half way"),
            (BAD, "", f"sign threshold, 0: wrong from {math.floor(cross) + 1} writers on"),
        )
        for colour, dashes, words in rows:
            yield line(14, y - 4, 44, y - 4, colour, f' stroke-width="2.5" stroke-dasharray="{dashes}"')
            yield text(52, y, words)
            y += 18

    said = (
        "Two parallel falling lines; the calibrated threshold runs between them, the zero line is crossed by the upper."
    )
    return svg("Why calibrated rounding works", said, 368, parts())


def width() -> str:
    """How one trained network scatters around the number of matching writers, by the law."""
    program = addition(4).program
    (region,) = regions_of(Pattern.of_state(program))
    matched = region.sample(1 << 13, np.random.default_rng(0))  # all states
    n, m = matched.sum(axis=1), matched @ program.write_matrix
    law = spread(n[:, None], m, program.writers, program.templates, Sums.of(m, program.writers), 1)
    law[m > 1] = 0
    state, bit = np.unravel_index(law.argmax(), law.shape)
    rows = (128, 512, 2048)

    def bell(zero: float, centre: float, deviation: float, colour: str) -> str:
        points = []
        for step in range(121):
            x = centre + (step / 60 - 1) * 4 * deviation
            if -0.85 <= x <= 1.85:
                high = 62 * math.exp(-((x - centre) ** 2) / (2 * deviation**2)) * min(1, 0.18 / deviation) ** 0.5
                points.append(f"{200 + (x - 0.5) * 140:.1f} {zero - high:.1f}")
        return f'<path d="M{"L".join(points)}" stroke="{colour}" fill="{colour}" fill-opacity="0.14" stroke-width="2"/>'

    def parts() -> Iterator[str]:
        yield text(14, 20, "Estimate ẑ of one network, addition of 4 bits")
        yield text(14, 37, f"worst case: n = {n[state]}, c = {program.writers[bit]}", "start", SOFT)
        for place, hidden in enumerate(rows):
            zero, deviation = 128 + 92 * place, law[state, bit] / math.sqrt(hidden)
            yield line(14, zero, WIDE - 14, zero, SOFT)
            yield bell(zero, 0, deviation, OFF) + bell(zero, 1, deviation, ON)
            yield text(14, zero - 58, f"{hidden:,} units")
            yield text(14, zero - 43, f"σ = {deviation:.2f}", "start", SOFT)
        bottom = 128 + 92 * (len(rows) - 1)
        yield line(200, 62, 200, bottom + 6, GOOD, ' stroke-width="2" stroke-dasharray="6 4"')
        yield text(200, bottom + 22, "½", "middle", GOOD)
        yield text(130, bottom + 22, "0: no match", "middle", SOFT)
        yield text(270, bottom + 22, "1: one match", "middle", ON)
        yield text(200, bottom + 44, "σ = √(2V/h) / (w₁ − w₀): four times the width, half the spread", "middle")

    said = "Bells around 0 and 1 with the threshold one half between them, narrower as the width grows."
    return svg("The width law", said, 366, parts())


def chain() -> str:
    """Links of a certificate, from a specification to a file that runs."""
    links = (
        ("ensure sum == p + q", "what you mean; only you can check it", None),
        (
            "the rules, at every size",
            "one rule text with a let",
            ("function", "windows and laws; or cut points and SAT"),
        ),
        ("kinds of cells", "2 for addition, 5 for multiplication", ("sizes", "a cut-off from the text: 5")),
        (
            "this network, a file of integers",
            "640 bytes to some kilobytes",
            ("network", "every local state, exact integers"),
        ),
        ("C, JavaScript, ONNX, a page", "the same bits on every machine", ("export", "tested, not proved")),
    )

    def parts() -> Iterator[str]:
        y = 14.0
        for name, said, how in links:
            if how is not None:
                word, method = how
                tested = word == "export"
                colour = SOFT if tested else GOOD
                yield line(
                    60, y, 60, y + 40, colour, f' stroke-width="2.5" stroke-dasharray="{"5 4" if tested else ""}"'
                )
                yield f'<path d="M54 {y + 34:g}L60 {y + 44:g}L66 {y + 34:g}Z" fill="{colour}"/>'
                yield text(80, y + 18, word, "start", colour, ' font-weight="bold"')
                yield text(80, y + 34, method, "start", SOFT)
                y += 46
            yield rect(14, y, WIDE - 28, 44, "#eef3f8", f' stroke="{ON}" rx="6"')
            yield text(28, y + 19, name, "start", INK, ' font-weight="bold"')
            yield text(28, y + 35, said, "start", SOFT)
            y += 44
        yield text(14, y + 24, "certify prints the three green links; its verdict is the weakest.")

    said = "Five boxes, one below the other, and the links between them: function, sizes, network, export."
    return svg("The chain of proof", said, 448, parts())


def main(folder: str) -> None:
    for draw in (kernel, rounding, width, chain):
        Path(folder, f"{draw.__name__}.svg").write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
