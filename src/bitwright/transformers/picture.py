"""A decision as a picture: margins by position and pair of answers, what the boxes were split by, and wrong inputs.

It is 400 wide, so that a phone shows it in full, and takes the colours of the page around it where that has any.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from bitwright.common.errors import counted
from bitwright.transformers.affine import Reals
from bitwright.transformers.boxes import EMPTY
from bitwright.transformers.columns import Ints
from bitwright.transformers.decision import Decision
from bitwright.transformers.layout import mixture_of
from bitwright.transformers.modules import forced_rows, logits
from bitwright.transformers.report import count_inputs, count_wrong_inputs, report_rows, share_of

WIDTH, LINE = 400, 15
INPUTS, NUMBERS = 8192, 50_000_000  # inputs that are evaluated, and logits, at most
MOST = 24  # positions that are drawn
SYMBOLS = 20  # of an answer whose pairs are drawn
PALE, DARK, WRONG = (232, 240, 248), (8, 48, 107), "#d55e00"  # far from a wrong answer, close to one, wrong
UNSURE = "#f3b78c"  # perhaps wrong


@dataclass(frozen=True)
class PositionMargins:
    """The smallest margin met at one position of the answer: (right symbols, other symbols), NaN where none was."""

    name: str
    pairs: Reals

    @property
    def least(self) -> float:
        return float(np.nanmin(self.pairs, initial=np.inf))


def measure_margins(decision: Decision, seed: int = 0) -> tuple[int, list[PositionMargins]]:
    """How many inputs were evaluated, and the margins at each position; the inputs of the decision are among them."""
    task, decoder = decision.task, decision.decoder
    rows = task.prompt_length + len(task.layout.answer)
    count = int(min(INPUTS, max(16, NUMBERS // (rows * decoder.head[-1].weight.shape[1]))))
    inputs = [mixture_of(task).vary(count, np.random.default_rng(seed))]
    inputs += [claim.counterexample.symbols[None] for claim in decision.claims if claim.counterexample is not None]
    inputs += [decision.smallest.symbols[None]] if decision.smallest is not None else []
    every = np.concatenate(inputs)
    values = logits(decoder, forced_rows(task, every))[:, task.prompt_length - 1 :]
    answers, found = task.answers(every), []
    for step, place in enumerate(task.layout.answer):
        tokens = np.array(task.tokens(place.word))
        right = (answers[:, step, None] == tokens).argmax(1)
        found.append(PositionMargins(str(place), _pairs(values[:, step], tokens, right)))
    if stop := list(task.layout.stop):
        others = np.delete(values[:, -1], stop, axis=1).max(1)
        found.append(PositionMargins("stop", (values[:, -1, stop].max(1) - others).min().reshape(1, 1)))
    return len(every), found


def _pairs(values: Reals, tokens: Ints, right: Ints) -> Reals:
    """(right, other) the least difference of two logits; in the last column the other is any token else."""
    size = len(tokens)
    own, rest = values[:, tokens], np.delete(values, tokens, axis=1)
    chosen = own[np.arange(len(own)), right]
    others = np.concatenate([own, rest.max(1, keepdims=True, initial=-np.inf)], 1)
    others[np.arange(len(own)), right] = -np.inf
    pairs = np.full((size, size + 1), np.inf)
    np.minimum.at(pairs, right, chosen[:, None] - others)
    pairs = np.where(np.isfinite(pairs), pairs, np.nan)
    if np.isnan(pairs[:, -1]).all():
        pairs = pairs[:, :-1]
    return pairs if size <= SYMBOLS else np.nanmin(pairs, initial=np.inf).reshape(1, 1)


def count_splits(decision: Decision) -> tuple[Ints, Ints]:
    """(steps, variables) how often the boxes of each step were split by each variable; (steps,) how many boxes."""
    task = decision.task
    steps = len(task.layout.answer) + bool(task.layout.stop)
    splits = np.zeros((steps, (len(task.columns.words) + 1) * task.columns.length + 1), np.int64)
    boxes = np.zeros(steps, np.int64)
    for claim in decision.claims:
        for (step, _, _), tree in claim.trees.items():
            codes = np.frombuffer(tree, "<u2").astype(np.int64)
            splits[step] += np.bincount(codes[codes < EMPTY], minlength=splits.shape[1])
            boxes[step] += len(codes)
    return splits, boxes


# ---- drawing


def decision_svg(decision: Decision) -> str:
    """The picture as SVG."""
    parts: list[str] = []
    y = 0.0
    for draw in (_draw_margins, _draw_splits, _draw_wrong):
        more, y = draw(decision, y)
        parts += more
    title = escape(decision.sentence)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y:.0f}" width="{WIDTH}" height="{y:.0f}" '
        f'style="width:100%;max-width:640px;height:auto" font-family="Helvetica, Arial, sans-serif" font-size="11" '
        f'role="img" aria-label="{title}"><rect width="{WIDTH}" height="{y:.0f}" fill="var(--paper, #fff)"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _text(
    x: float, y: float, text: str, *, soft: bool = False, bold: bool = False, anchor: str = "", size: int = 0
) -> str:
    colour = "var(--soft, #5a6472)" if soft else "var(--text, #1d232b)"
    more = (
        ' font-weight="bold"' * bold + f' text-anchor="{anchor}"' * bool(anchor) + f' font-size="{size}"' * bool(size)
    )
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}"{more}>{escape(text)}</text>'


def _head(y: float, title: str, *lines: str) -> tuple[list[str], float]:
    texts = [_text(8, y + 18, title, bold=True)]
    texts += [_text(8, y + 18 + LINE * (number + 1), line, soft=True) for number, line in enumerate(lines)]
    return texts, y + 26 + LINE * len(lines)


def _shade(share: float) -> str:
    """A colour between pale (1) and dark (0)."""
    red, green, blue = (round(dark + (pale - dark) * share) for dark, pale in zip(DARK, PALE, strict=True))
    return f"rgb({red},{green},{blue})"


def _cell(x: float, y: float, width: float, height: float, colour: str, title: str, crossed: bool = False) -> str:
    box = f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}">'
    cross = (
        f'<path d="M{x:.1f} {y:.1f}l{width:.1f} {height:.1f}m0 {-height:.1f}l{-width:.1f} {height:.1f}" stroke="#fff"/>'
    )
    return f"{box}<title>{escape(title)}</title></rect>{cross * crossed}"


def _draw_margins(decision: Decision, y: float) -> tuple[list[str], float]:
    inputs, positions = measure_margins(decision)
    drawn = sorted(np.argsort([of.least for of in positions], kind="stable")[:MOST].tolist())
    some = "" if len(drawn) == len(positions) else f", {MOST} of {len(positions)}: those with the smallest"
    parts, y = _head(
        y,
        "Margin at each position of the answer" + some,
        f"The smallest met on {inputs:,} inputs, in logits, for each right answer",
        "(row) and each other one (column). Darker is closer to a wrong answer.",
    )
    scale = max(float(np.nanmax(positions[at].pairs, initial=0.0)) for at in drawn) or 1.0
    side, across = 78.0, 4
    for number, at in enumerate(drawn):
        left, top = 8 + (number % across) * 97.0, y + (number // across) * (side + 30) + 14
        of = positions[at]
        parts.append(_text(left, top - 4, f"{of.name}: {of.least:.3g}"))
        rows, columns = of.pairs.shape
        width, height = min(side / columns, 26), min(side / rows, 26)
        if 1 < rows <= 10:  # there is room for one digit
            for digit in range(rows):
                parts.append(
                    _text(left - 1, top + (digit + 0.5) * height + 2.5, f"{digit}", soft=True, anchor="end", size=7)
                )
                below = left + (digit + 0.5) * width
                parts.append(_text(below, top + rows * height + 7, f"{digit}", soft=True, anchor="middle", size=7))
        for row, column in np.argwhere(~np.isnan(of.pairs)).tolist():
            margin = of.pairs[row, column]
            other = column if column < rows else "another token"
            words = f"{row} over {other}: {margin:.3g}" if rows > 1 else f"{margin:.3g}"
            wrong = bool(margin <= 0)
            colour = WRONG if wrong else _shade(float(np.sqrt(min(1.0, margin / scale))))
            parts.append(
                _cell(left + column * width, top + row * height, width - 0.6, height - 0.6, colour, words, wrong)
            )
    y += -(-len(drawn) // across) * (side + 30) + 6
    parts += _legend(y, scale, any(positions[at].least <= 0 for at in drawn))
    return parts, y + 24


def _legend(y: float, scale: float, wrong: bool) -> Iterator[str]:
    yield _text(8, y + 10, "0")
    for step in range(40):
        yield _cell(20 + 3 * step, y, 3.2, 12, _shade(float(np.sqrt(step / 39))), f"{scale * step / 39:.3g}")
    yield _text(146, y + 10, f"{scale:.3g} logits")
    if wrong:
        yield _cell(240, y, 12, 12, WRONG, "wrong", crossed=True)
        yield _text(258, y + 10, "wrong answer")


def _draw_splits(decision: Decision, y: float) -> tuple[list[str], float]:
    splits, boxes = count_splits(decision)
    if not boxes.any():
        return [], y
    task = decision.task
    names = [*map(str, task.layout.answer), *(["stop"] if task.layout.stop else [])]
    parts, y = _head(
        y,
        f"{int(boxes.sum()):,} boxes proved it",
        "What the boxes of each position were split by: the symbols of the input",
        "and the states of the automaton between columns. Darker is more often.",
    )
    label, right = 8 + 6.2 * max(map(len, names)), 44.0
    width, height = min(12.0, (WIDTH - label - right - 14) / splits.shape[1]), min(14.0, 300 / len(names))
    length, most = task.columns.length, np.log1p(splits.max())
    heads = [*task.columns.words, "states"]
    for number, word in enumerate(heads):
        left = label + 6 + (number * length + (number > 0) * 0.5) * width
        parts.append(_text(left, y + 10, word))
        parts.append(f'<path d="M{left:.1f} {y + 14:.1f}h{length * width - 3:.1f}" stroke="var(--soft, #5a6472)"/>')
    y += 18
    for step, name in enumerate(names):
        top = y + step * height
        if height > 9 or step % 5 == 0:
            parts.append(_text(label, top + min(height, 12) - 2, name, anchor="end"))
            parts.append(_text(WIDTH - 8, top + min(height, 12) - 2, f"{boxes[step]:,}", soft=True, anchor="end"))
        for variable in np.flatnonzero(splits[step]).tolist():
            of, column = divmod(variable, length)
            state = f"the state before column {variable - length * len(task.columns.words) + 1}"
            what = f"{heads[of]}[{column + 1}]" if of < len(task.columns.words) else state
            share = 1 - float(np.log1p(splits[step, variable]) / most)
            title = f"{name}: split by {what} {counted(int(splits[step, variable]), 'time')}"
            parts.append(_cell(label + 6 + variable * width, top, width - 0.6, height - 0.8, _shade(share), title))
    return parts, y + len(names) * height + 10


def _draw_wrong(decision: Decision, y: float) -> tuple[list[str], float]:
    examples = [claim.counterexample for claim in decision.claims if claim.counterexample is not None]
    parts: list[str] = []
    for example in examples:
        more, y = _head(y, "A wrong input", *_wrapped(example.inputs))
        parts += more
        right = [*map(str, example.right), *(["stop"] if decision.task.layout.stop else [])]
        written = [*map(str, example.written)]
        width = min(26.0, (WIDTH - 70) / len(right))
        for row, (name, tokens) in enumerate({"right": right, "written": written}.items()):
            top = y + 18 * row
            parts.append(_text(8, top + 12, name, soft=True))
            for at, token in enumerate(tokens):
                wrong = row == 1 and at >= example.step and (at >= len(example.right) or token != right[at])
                left = 62 + at * width
                if wrong:
                    parts.append(
                        f'<rect x="{left:.1f}" y="{top:.1f}" width="{width - 1:.1f}" height="16" fill="none" '
                        f'stroke="{WRONG}" stroke-width="1.5"/>'
                    )
                parts.append(_text(left + (width - 1) / 2, top + 12, token, bold=wrong, anchor="middle"))
        y += 42
    if decision.wrong is not None:
        more, y = _draw_counts(decision, y)
        parts += more
    return parts, y


def _draw_counts(decision: Decision, y: float) -> tuple[list[str], float]:
    """How many inputs are wrong first at each position."""
    wrong, task = decision.wrong, decision.task
    assert wrong is not None
    names = [*map(str, task.layout.answer), *(["stop"] if task.layout.stop else [])]
    parts, y = _head(
        y,
        f"Wrong inputs, of {count_inputs(task.inputs)}",
        *_wrapped(f"{count_wrong_inputs(wrong)}; by the first wrong position:"),
    )
    largest = max((most for _, most in wrong.first), default=0) or 1
    for name, (least, most) in zip(names, wrong.first, strict=True):
        if most:
            both = f"{least:,} to {most:,}, {share_of(least, most, task.inputs)}"
            parts.append(_text(46, y + 11, name, anchor="end"))
            parts.append(_cell(52, y + 1, max(1.0, 200 * least / largest), 11, WRONG, f"{name}: {both}"))
            extra = 200 * (most - least) / largest
            parts.append(_cell(52 + 200 * least / largest, y + 1, extra, 11, UNSURE, f"{name}: {both}"))
            parts.append(_text(258, y + 11, share_of(least, most, task.inputs), soft=True))
            y += LINE
    if any(least < most for least, most in wrong.first):
        for left, colour, label in ((52, WRONG, "at least"), (132, UNSURE, "at most")):
            parts.append(_cell(left, y + 5, 11, 11, colour, label))
            parts.append(_text(left + 16, y + 14, label, soft=True))
        y += LINE + 5
    return parts, y + 8


def _wrapped(text: str, most: int = 66) -> Sequence[str]:
    lines = [""]
    for word in text.split(" "):
        for part in (word[at : at + most] for at in range(0, max(1, len(word)), most)):
            if lines[-1] and len(lines[-1]) + len(part) >= most:
                lines.append("")
            lines[-1] += (" " if lines[-1] else "") + part
    return lines


STYLE = """
:root { --paper: #fff; --text: #1d232b; --soft: #5a6472; color-scheme: light dark; }
body { margin: 0 auto; padding: 12px; max-width: 700px; background: var(--paper); color: var(--text);
  font: 15px/1.45 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 18px; } dt { color: var(--soft); } dd { margin: 0 0 8px; } svg { print-color-adjust: exact; }
@media screen and (prefers-color-scheme: dark) { :root { --paper: #14181d; --text: #e7ebf0; --soft: #9aa6b5; } }
"""


def verdict_colour(decision: Decision) -> str:
    """The colour of a headline."""
    return "#00815d" if decision else "#c8321f"


def decision_page(decision: Decision) -> str:
    """A page with the report and the picture; it loads nothing."""
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>\n" for name, text in report_rows(decision))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(decision.task.columns.statement)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f'<h1 style="color:{verdict_colour(decision)}">{escape(decision.sentence)}</h1>'
        f"\n<dl>\n{rows}</dl>\n{decision_svg(decision)}</body>\n</html>\n"
    )
