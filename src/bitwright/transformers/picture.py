"""A picture of a decision: margins by position and pair of answers, variables that split boxes, and wrong inputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
from bitwright.transformers.report import report_rows

INPUTS, NUMBERS = 8192, 50_000_000  # most inputs evaluated, and most logits
MOST = 24  # positions drawn
SYMBOLS = 20  # symbols per answer whose pairs are drawn
PALE, DARK, WRONG = (232, 240, 248), (8, 48, 107), "#d55e00"  # far from a wrong answer, close to one, wrong
CROSS = "&#215;"  # wrong


@dataclass(frozen=True)
class PositionMargins:
    """The smallest margins at one answer position: (right symbols, other symbols), NaN if there were none."""

    name: str
    pairs: Reals

    @property
    def least(self) -> float:
        return float(np.nanmin(self.pairs, initial=np.inf))


def measure_margins(decision: Decision, seed: int = 0) -> tuple[int, list[PositionMargins]]:
    """The number of inputs evaluated, and the margins at each position; includes the inputs of the decision."""
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
    """(right, other) the smallest difference of two logits; the last column is the minimum over all other tokens."""
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
    """(steps, variables) how often each variable split the boxes of each step; (steps,) the number of boxes."""
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

STYLE = """
.decision { overflow-wrap: anywhere; } .decision h4 { margin: 14px 0 2px; } .decision p { margin: 0 0 6px; }
.decision p, .decision dt { opacity: .75; } .decision dd { margin: 0; }
.decision dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 12px; margin: 8px 0; }
.decision .row { display: flex; flex-wrap: wrap; gap: 8px 10px; }
.decision .grid { display: grid; gap: 1px; align-items: center; justify-content: start; text-align: center;
  font-size: 10px; line-height: 1; padding: 2px 0; }
.decision .grid > * { overflow: hidden; print-color-adjust: exact; } .decision .name { font-size: 12px; }
.decision .wrong { outline: 1.5px solid #d55e00; outline-offset: -1.5px; font-weight: bold; }
"""


def decision_html(decision: Decision) -> str:
    """The report and the picture as HTML, with the font and colours of the surrounding page."""
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>\n" for name, text in report_rows(decision))
    colour = "#00815d" if decision else "#c8321f"
    sections = "".join([*_margins(decision), *_splits(decision), *_examples(decision)])
    title = f'<strong style="color:{colour}">{escape(decision.sentence)}</strong>'
    return f'<style>{STYLE}</style>\n<div class="decision">{title}\n<dl>\n{rows}</dl>{sections}\n</div>'


def _section(title: str, text: str, body: str) -> str:
    return f"\n<h4>{escape(title)}</h4>\n<p>{escape(text)}</p>\n{body}"


def _cell(colour: str, title: str, row: int, column: int, text: str = "") -> str:
    """A square of a grid."""
    place = f"grid-area:{row}/{column};height:100%;background:{colour}"
    return f'<i style="{place}" title="{escape(title)}">{text}</i>'


def _label(text: object, row: int, column: int, span: int = 1) -> str:
    return f'<span style="grid-area:{row}/{column}/auto/span {span}">{escape(str(text))}</span>'


def _grid(columns: str, rows: str, cells: Iterable[str]) -> str:
    return f'<div class="grid" style="grid-template-columns:{columns};grid-auto-rows:{rows}">{"".join(cells)}</div>'


def _shade(share: float) -> str:
    """A colour between pale (1) and dark (0)."""
    red, green, blue = (round(dark + (pale - dark) * share) for dark, pale in zip(DARK, PALE, strict=True))
    return f"rgb({red},{green},{blue})"


def _margins(decision: Decision) -> Iterator[str]:
    inputs, positions = measure_margins(decision)
    drawn = sorted(np.argsort([of.least for of in positions], kind="stable")[:MOST].tolist())
    some = "" if len(drawn) == len(positions) else f", {MOST} of {len(positions)}: those with the smallest"
    scale = max(float(np.nanmax(positions[at].pairs, initial=0.0)) for at in drawn) or 1.0
    grids = (
        f'<div><span class="name">{escape(of.name)}: {of.least:.3g}</span>{_pairs_grid(of.pairs, scale)}</div>'
        for of in (positions[at] for at in drawn)
    )
    yield _section(
        "Margin at each position of the answer" + some,
        f"The smallest margin on {inputs:,} inputs, in logits, for each right answer (row) and each wrong one "
        f"(column), from 0 (dark) to {scale:.3g} (pale). A cross marks a wrong answer.",
        f'<div class="row">{"".join(grids)}</div>',
    )


def _pairs_grid(pairs: Reals, scale: float) -> str:
    rows, columns = pairs.shape
    cells = []
    if 1 < rows <= 10:  # cells fit one digit
        for digit in range(rows):
            cells += [_label(digit, digit + 1, 1), _label(digit, rows + 1, digit + 2)]
    for row, column in np.argwhere(~np.isnan(pairs)).tolist():
        margin, other = pairs[row, column], column if column < rows else "another token"
        title = f"{row} over {other}: {margin:.3g}" if rows > 1 else f"{margin:.3g}"
        colour = WRONG if margin <= 0 else _shade(float(np.sqrt(min(1.0, margin / scale))))
        cells.append(_cell(colour, title, row + 1, column + 2, CROSS if margin <= 0 else ""))
    size = min(26, 96 // columns)
    return _grid(f"9px repeat({columns},{size}px)", f"{size}px", cells)


def _splits(decision: Decision) -> Iterator[str]:
    splits, boxes = count_splits(decision)
    if not boxes.any():
        return
    columns, variables, most = decision.task.columns, splits.shape[1], np.log1p(splits.max())
    names = [f"{word}[{column + 1}]" for word in columns.words for column in range(columns.length)]
    names += [f"the state before column {column + 1}" for column in range(columns.length + 1)]
    cells = [_label(of, 1, 2 + at * columns.length, columns.length) for at, of in enumerate((*columns.words, "states"))]
    for row, (position, counts, total) in enumerate(zip(_positions(decision), splits, boxes, strict=True), 2):
        cells += [_label(position, row, 1), _label(f"{total:,}", row, variables + 2)]
        for variable in np.flatnonzero(counts).tolist():
            times = counted(int(counts[variable]), "time")
            colour = _shade(1 - float(np.log1p(counts[variable]) / most))
            title = f"{position}: split by {names[variable]} {times}"
            cells.append(_cell(colour, title, row, variable + 2))
    yield _section(
        f"{int(boxes.sum()):,} boxes proved it",
        "The variables that split the boxes of each position: the symbols of the input, and the automaton's states "
        "between columns. Darker is more often; the last column counts the boxes.",
        _grid(f"max-content repeat({variables},minmax(0,12px)) max-content", "13px", cells),
    )


def _examples(decision: Decision) -> Iterator[str]:
    for example in (claim.counterexample for claim in decision.claims if claim.counterexample is not None):
        right = [*map(str, example.right), *(["stop"] if decision.task.layout.stop else [])]
        cells = [_label("right", 1, 1), _label("written", 2, 1)]
        cells += [_label(token, 1, at) for at, token in enumerate(right, 2)]
        for at, token in enumerate(example.written):
            wrong = at >= example.step and (at >= len(example.right) or str(token) != right[at])
            cells.append(f'<span class="{"wrong" * wrong}" style="grid-area:2/{at + 2};padding:4px">{token}</span>')
        grid = _grid(f"max-content repeat({len(right)},minmax(0,max-content))", "auto", cells)
        yield _section("A wrong input", example.inputs, grid)


def _positions(decision: Decision) -> list[str]:
    layout = decision.task.layout
    return [*map(str, layout.answer), *(["stop"] if layout.stop else [])]


def decision_page(decision: Decision) -> str:
    """A page with the report and the picture; it loads nothing."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n<meta name="color-scheme" content="light dark">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(decision.task.columns.statement)}</title>\n"
        '<body style="margin:0 auto;padding:12px;max-width:700px;font:15px/1.45 system-ui,sans-serif">\n'
        f"{decision_html(decision)}\n</body>\n</html>\n"
    )
