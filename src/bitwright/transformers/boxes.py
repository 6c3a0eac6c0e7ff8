"""Boxes of inputs: ranges of symbols and of states of the automaton, how they are split, and the trees of splits."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bitwright.compiling import compiled
from bitwright.transformers.affine import Reals
from bitwright.transformers.attention import Boxes, Cases, Outputs, Query
from bitwright.transformers.columns import Ints
from bitwright.transformers.decision import Group
from bitwright.transformers.layout import ColumnTask, Place

EMPTY, LEAF = 65534, 65535  # nodes of a tree without an input, and those that are proved directly
OPEN = -1
STATE_SHARE = 0.3  # of the influence of an answer: what splitting the state in front of it is worth


def steps(task: ColumnTask) -> list[list[Group]]:
    """The groups of each step of decoding: what was written before, and what is right."""
    layout = task.layout
    places: list[int | Place | None] = [layout.prompt[-1], *layout.answer, *([None] if layout.stop else [])]
    symbols = [place_symbols(task, place) for place in places]
    return [[(t, q, y) for q in symbols[t] for y in symbols[t + 1]] for t in range(len(places) - 1)]


def place_symbols(task: ColumnTask, place: int | Place | None) -> list[int]:
    """The symbols that a place can have; -1 for a fixed token or a stop."""
    columns = task.columns
    if not isinstance(place, Place):
        return [-1]
    if place.word in columns.flags:
        return [int(symbol) for symbol in np.unique(columns.flags[place.word])]
    return list(range(columns.answers if place.word == columns.answer else columns.symbols[columns.words.index(place.word)]))


def root(task: ColumnTask, group: Group) -> Boxes:
    """(2, variables) all inputs of a group: symbols of each word, column by column, then states between columns."""
    columns, (step, symbol, _) = task.columns, group
    low = np.zeros((len(columns.words) + 1) * columns.length + 1, np.int16)
    high = low.copy()
    for word, size in enumerate(columns.symbols):
        at = slice(word * columns.length, (word + 1) * columns.length)
        high[at] = np.where(task.positions[word] >= 0, size - 1, 0)
    high[len(columns.words) * columns.length :] = columns.states - 1
    slot = task.layout.prompt[-1]
    if step == 0 and isinstance(slot, Place):
        low[variable := columns.words.index(slot.word) * columns.length + slot.column] = symbol
        high[variable] = symbol
    return np.stack([low, high])


def split(boxes: Boxes, variables: Ints) -> tuple[Boxes, Boxes]:
    """The halves of each box in one variable."""
    rows = np.arange(len(boxes))
    middle = (boxes[rows, 0, variables] + boxes[rows, 1, variables]) // 2
    first, second = boxes.copy(), boxes.copy()
    first[rows, 1, variables] = middle
    second[rows, 0, variables] = middle + 1
    return first, second


def most_influence(
    query: Query, cases: Cases, boxes: Boxes, case: Ints, outputs: Outputs, slopes: Reals
) -> Ints:
    """(n,) the variable of each box that moves slopes . output most, OPEN where the box is one input."""
    found = np.empty(len(boxes), np.int64)
    _most_influence(boxes, case, cases.wanted, query.symbols, query.flags, outputs.near, outputs.weight, slopes, found)
    return found


@compiled
def _most_influence(  # type: ignore[no-untyped-def]
    boxes, case, wanted, symbols, flags, near, weight, slopes, found
):
    heads, rows, length, most, size = symbols.shape
    words, r = rows - 1, (size - 2) // 2
    change = np.empty(most)
    for box in range(len(boxes)):
        low, high = boxes[box, 0], boxes[box, 1]
        best, variable = -1.0, -1
        for column in range(length):
            answer, fixed = 0.0, True
            for row in range(words, -1, -1):  # the answer first
                at = row * length + column
                a, b = (low[at], high[at]) if row < words else (0, most - 1)
                if a == b or (row == words and wanted[case[box], column] >= 0):
                    continue
                for symbol in range(a, b + 1):
                    change[symbol] = 0.0
                    for head in range(heads):
                        entry = symbols[head, row, column, symbol]
                        for k in range(r):
                            value = entry[2 + k] - near[box, head, k] * entry[0]
                            change[symbol] += slopes[box, k] * value / weight[box, head]
                reach = change[a : b + 1].max() - change[a : b + 1].min()
                if row == words:
                    answer = reach
                    continue
                fixed = False
                score = reach + answer * (b - a) / max(1, most - 1)
                if score > best:
                    best, variable = score, at
            at = words * length + column
            if fixed and low[at] < high[at] and column > 0 and STATE_SHARE * answer > best:
                best, variable = STATE_SHARE * answer, at
        last = words * length + length
        reach = 0.0
        for flag in range(flags.shape[1]):
            if low[last] < high[last]:
                total = np.zeros(high[last] - low[last] + 1)
                for state in range(low[last], high[last] + 1):
                    for head in range(heads):
                        entry = flags[head, flag, state]
                        for k in range(r):
                            value = entry[2 + k] - near[box, head, k] * entry[0]
                            total[state - low[last]] += slopes[box, k] * value / weight[box, head]
                reach += total.max() - total.min()
        if reach > best:
            best, variable = reach, last
        if not best > 0:  # whatever is left, the states too
            for at in range(low.shape[0]):
                if low[at] < high[at]:
                    variable = at
                    break
        found[box] = variable


@dataclass
class Trees:
    """The nodes of the trees of splits, as they grow: the code of each, and its first child (the second is next)."""

    codes: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    children: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    count: int = 0

    def grow(self, nodes: int) -> Ints:
        """The numbers of so many new nodes."""
        while len(self.codes) < self.count + nodes:
            self.codes = np.concatenate([self.codes, np.full(max(1024, len(self.codes)), OPEN)])
            self.children = np.concatenate([self.children, np.full(max(1024, len(self.children)), OPEN)])
        self.count += nodes
        return np.arange(self.count - nodes, self.count)

    def preorder(self, node: int) -> bytes:
        """The codes below a node, first children first, as little-endian 16-bit numbers."""
        return _preorder(self.codes, self.children, node).astype("<u2").tobytes()


@compiled
def _preorder(codes, children, node):  # type: ignore[no-untyped-def]
    found, waiting = [codes[node]], [node]
    found.clear()
    while len(waiting):
        at = waiting.pop()
        found.append(codes[at])
        if children[at] >= 0:
            waiting.append(children[at] + 1)
            waiting.append(children[at])
    return np.array(found)


def describe(task: ColumnTask, group: Group) -> str:
    """A group in words: `z[3], written before: 4, right: 7`."""
    step, symbol, right = group
    layout = task.layout
    name = str(layout.answer[step]) if step < len(layout.answer) else "stop"
    before = f" after {symbol}" if symbol >= 0 else ""
    return f"{name}{before}" + (f", right: {right}" if right >= 0 else "")


