"""Boxes of inputs: ranges of symbols and of automaton states, how boxes are split, and the trees of splits."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bitwright.transformers.affine import Reals
from bitwright.transformers.columns import Columns, Ints
from bitwright.transformers.decision import Group
from bitwright.transformers.layout import ColumnTask, Place
from bitwright.transformers.sums import Boxes, Cases, Outputs, shares

EMPTY, LEAF = 65534, 65535  # tree nodes without an input, and nodes proved directly
OPEN = -1
STATE_SHARE = 0.3  # weight of splitting a state, relative to the influence of the answer after it


def steps(task: ColumnTask) -> list[list[Group]]:
    """The groups of each step of decoding: the symbol written before, and the right one."""
    layout = task.layout
    places: list[int | Place | None] = [layout.prompt[-1], *layout.answer, *([None] if layout.stop else [])]
    symbols = [place_symbols(task, place) for place in places]
    return [[(t, q, y) for q in symbols[t] for y in symbols[t + 1]] for t in range(len(places) - 1)]


def place_symbols(task: ColumnTask, place: int | Place | None) -> list[int]:
    """The possible symbols of a place; -1 for a fixed token or a stop."""
    columns = task.columns
    if not isinstance(place, Place):
        return [-1]
    if place.word in columns.flags:
        return [int(symbol) for symbol in np.unique(columns.flags[place.word])]
    names, sizes = (*columns.words, columns.answer), (*columns.symbols, columns.answers)
    return list(range(sizes[names.index(place.word)]))


def root(task: ColumnTask, group: Group) -> Boxes:
    """(2, variables) all inputs of a group: symbols of each word by column, then states between columns."""
    columns, (step, symbol, _) = task.columns, group
    low = np.zeros((len(columns.words) + 1) * columns.length + 1, np.int16)
    high = low.copy()
    for word, size in enumerate(columns.symbols):
        at = slice(word * columns.length, (word + 1) * columns.length)
        high[at] = np.where(task.positions[word] >= 0, size - 1, 0)
    high[len(columns.words) * columns.length :] = columns.states - 1
    slot = task.layout.prompt[-1]
    if step == 0 and isinstance(slot, Place):
        variable = columns.words.index(slot.word) * columns.length + slot.column
        low[variable], high[variable] = symbol, symbol
    return np.stack([low, high])


def group_of(task: ColumnTask, symbols: Ints, step: int) -> Group:
    """The group of an input (words, length) at a step of decoding."""
    answers, flags = task.columns.run(symbols[None])

    def symbol(place: int | Place) -> int:
        if not isinstance(place, Place):
            return -1
        if place.word in flags:
            return int(flags[place.word][0])
        if place.word in task.columns.words:
            return int(symbols[task.columns.words.index(place.word), place.column])
        return int(answers[0, place.column])

    places = (task.layout.prompt[-1], *task.layout.answer, -1)
    return step, symbol(places[step]), symbol(places[step + 1])


def split(boxes: Boxes, variables: Ints) -> tuple[Boxes, Boxes]:
    """Halves each box in one variable."""
    rows = np.arange(len(boxes))
    middle = (boxes[rows, 0, variables] + boxes[rows, 1, variables]) // 2
    first, second = boxes.copy(), boxes.copy()
    first[rows, 1, variables] = middle
    second[rows, 0, variables] = middle + 1
    return first, second


def most_influence(
    entries: Reals, columns: Columns, cases: Cases, boxes: Boxes, case: Ints, outputs: Outputs, slopes: Reals
) -> Ints:
    """(n,) the variable of each box that moves slopes . output most, OPEN if the box is a single input."""
    words, length, rows = len(columns.words), columns.length, np.arange(len(boxes))
    share = shares(entries, outputs, slopes)
    width = (boxes[:, 1] - boxes[:, 0]).astype(np.float64)  # (n, variables)
    answer = np.where(cases.wanted[case, :-1] < 0, np.ptp(share[:, words, :length], axis=2), 0.0)  # (n, length)
    low, high = (boxes[:, end, : words * length].reshape(-1, words, length, 1) for end in (0, 1))
    symbol = np.arange(share.shape[3])
    inside = (low <= symbol) & (symbol <= high)
    part = share[:, :words, :length]
    reach = np.where(inside, part, -np.inf).max(3) - np.where(inside, part, np.inf).min(3)
    reach += answer[:, None] * width[:, : words * length].reshape(-1, words, length) / max(1, columns.answers - 1)
    score = np.zeros_like(width)
    score[:, : words * length] = reach.reshape(len(boxes), -1)
    fixed = (low == high).all((1, 3))  # (n, length) the column has no symbol left to split
    score[:, words * length : -1] = np.where(fixed, STATE_SHARE * answer, 0.0)
    flags = share[:, words + 1 : words + 1 + len(columns.flags), length, : columns.states]
    score[:, -1] = np.ptp(flags, axis=2).sum(1)
    score = np.where(width > 0, score + 1e-300 * width, -1.0)  # ties go to the widest
    best = score.argmax(1)
    return np.where(score[rows, best] < 0, OPEN, best)


@dataclass
class Trees:
    """The nodes of growing split trees: the code of each, and its first child (the second follows it)."""

    codes: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    children: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    count: int = 0

    def grow(self, nodes: int) -> Ints:
        """Adds that many nodes and returns their numbers."""
        while len(self.codes) < self.count + nodes:
            self.codes = np.concatenate([self.codes, np.full(max(1024, len(self.codes)), OPEN)])
            self.children = np.concatenate([self.children, np.full(max(1024, len(self.children)), OPEN)])
        self.count += nodes
        return np.arange(self.count - nodes, self.count)

    def preorder(self, node: int) -> bytes:
        """The codes of a subtree in preorder, as little-endian 16-bit numbers."""
        found, waiting = [], [node]
        while waiting:
            at = waiting.pop()
            found.append(self.codes[at])
            if (child := self.children[at]) >= 0:
                waiting += [child + 1, child]
        return np.array(found, "<u2").tobytes()


def describe(task: ColumnTask, group: Group) -> str:
    """A group as text: `z[3], written before: 4, right: 7`."""
    step, symbol, right = group
    layout = task.layout
    name = str(layout.answer[step]) if step < len(layout.answer) else "stop"
    before = f" after {symbol}" if symbol >= 0 else ""
    return f"{name}{before}" + (f", right: {right}" if right >= 0 else "")
