"""Exact ranges of sums over the columns of a task, with dynamic programming over the states of its automaton.

For a query with a fixed token, an attention head outputs N / D, where D is the sum of the weights of all positions
and N the sum of the weighted values. Both are sums over columns, so dynamic programming computes the minimum and the
maximum of every linear functional of them over all inputs of a box.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bitwright.common.compiling import compiled
from bitwright.transformers.affine import Reals, RowArrays
from bitwright.transformers.columns import Columns, Ints

Boxes = NDArray[np.int16]  # (n, 2, variables): inclusive lower and upper ends


@dataclass(frozen=True)
class Edges:
    """The edges of an automaton, and the symbol that each edge reads from every row of a table of sums.

    The rows are the words, the answer, the flags, and enough rows for the fixed tokens. An extra column after the last
    has an edge from each state to itself, where flags read the state.
    """

    before: Ints  # (edges,) state
    after: Ints  # (edges,) state
    reads: Ints  # (edges, rows)
    last: int  # the first edge of the extra column
    words: int
    states: int

    @property
    def flags(self) -> int:
        """The row of the first flag."""
        return self.words + 1

    @property
    def automaton(self) -> tuple[Ints, Ints, Ints, int, int, int]:
        """The arguments of the compiled loops."""
        return self.before, self.after, self.reads, self.last, self.words, self.states


def edges_of(columns: Columns, constants: int) -> Edges:
    """Returns the edges of an automaton, with rows for `constants` fixed tokens."""
    words, states, inner = len(columns.words), columns.states, len(columns.edges)
    rows = words + 1 + len(columns.flags) + -(-constants // (columns.length + 1))
    reads = np.zeros((inner + states, rows), np.int64)
    reads[:inner, : words + 1] = np.maximum(columns.edges[:, 1:-1], 0)
    reads[inner:, words + 1 : words + 1 + len(columns.flags)] = np.arange(states)[:, None]
    before, after = (np.concatenate([columns.edges[:, end], np.arange(states)]) for end in (0, -1))
    return Edges(before, after, reads, inner, words, states)


@dataclass(frozen=True)
class Cases:
    """The answers and last states of the inputs of each case.

    Args:
        wanted: (cases, length + 1) the answer in each column, -1 for any answer.
        ends: (cases, states) whether a last state is allowed.
    """

    wanted: Ints
    ends: NDArray[np.bool_]


@dataclass(frozen=True)
class Outputs(RowArrays):
    """Enclosures of the attention output over boxes: center + [-radius, radius], widened by `rounding`."""

    possible: NDArray[np.bool_]  # (n,) whether the box contains an input
    center: Reals  # (n, r)
    radius: Reals  # (n, r)
    rounding: Reals  # (n, r)
    near: Reals  # (n, heads, r) the output of each head for the average input of the box
    weight: Reals  # (n, heads) the sum of the weights for the average input


def bound(entries: Reals, noise: Reals, edges: Edges, cases: Cases, boxes: Boxes, case: Ints) -> Outputs:
    """Encloses the attention output over each box in its case; entries and noise belong to one query."""
    n, heads, r = len(boxes), len(entries), noise.shape[2]
    results = np.zeros((3, n, r)), np.zeros((n, heads, r)), np.ones((n, heads)), np.zeros(n, np.bool_)
    _bound(boxes, case, (cases.wanted, cases.ends), edges.automaton, entries, noise, results)
    (center, radius, rounding), near, weight, possible = results
    return Outputs(possible, center, radius, rounding, near, weight)


@compiled
def _bound(boxes, case, cases, automaton, entries, noise, results):  # type: ignore[no-untyped-def]
    found, nears, weights, possible = results
    wanted, ends = cases
    before, after, reads, last, _, states = automaton
    heads, rows, columns, most, size = entries.shape
    r = (size - 2) // 2
    K = r + heads  # functionals: the values of all heads together, then the weights of each head
    lists, listed = np.empty((columns, max(last, states)), np.int64), np.empty(columns, np.int64)
    counts, alive = np.empty((columns, rows, most)), np.empty((columns + 1, states), np.bool_)
    sums, error = np.empty((3, heads, r)), np.empty(heads)  # for each head: upper end, lower end and rounding
    share, base, active = np.empty((rows, most, K)), np.empty(K), np.empty(rows, np.int64)
    high, low, high2, low2 = np.empty((states, K)), np.empty((states, K)), np.empty((states, K)), np.empty((states, K))
    for box in range(len(boxes)):
        limits = boxes[box], wanted[case[box]], ends[case[box]]
        _reach(limits, automaton, lists, listed, counts, alive)
        possible[box] = alive[columns].any()
        if not possible[box]:
            continue
        near, D = nears[box], weights[box]
        _average(entries, counts, near, D)
        sums[:], error[:], high[:], low[:] = 0.0, 0.0, 0.0, 0.0
        for column in range(columns):
            some = 0
            base[:] = 0.0
            for row in range(rows):
                if _share(entries, column, row, counts[column, row], near, D, share[row], sums, error) > 1:
                    active[some] = row
                    some += 1
                else:
                    base += share[row, counts[column, row].argmax()]
            high2[:], low2[:] = -np.inf, np.inf
            for place in range(listed[column]):
                edge = lists[column, place]
                source, target = before[edge], after[edge]
                for k in range(K):
                    x = base[k]
                    for index in range(some):
                        x += share[active[index], reads[edge, active[index]], k]
                    high2[target, k] = max(high2[target, k], high[source, k] + x)
                    low2[target, k] = min(low2[target, k], low[source, k] + x)
            high, high2, low, low2 = high2, high, low2, low
        for k in range(K):
            x, y = -np.inf, np.inf
            for state in range(states):
                if alive[columns, state]:
                    x, y = max(x, high[state, k]), min(y, low[state, k])
            high[0, k], low[0, k] = x, y
        _finish(high[0], low[0], near, D, sums, error, noise, found[:, box])


@compiled
def _reach(limits, automaton, lists, listed, counts, alive):  # type: ignore[no-untyped-def]
    """Lists the reachable edges of each column, and counts the symbols that they read."""
    box, wanted, ends = limits
    before, after, reads, last, words, _ = automaton
    columns, rows = counts.shape[:2]
    low, high, length = box[0], box[1], columns - 1
    alive[:] = False
    counts[:] = 0.0
    alive[0, 0] = low[words * length] == 0
    for column in range(columns):
        listed[column] = 0
        for edge in range(0 if column < length else last, last if column < length else len(before)):
            target = after[edge]
            if not alive[column, before[edge]]:
                continue
            inside = True
            if column < length:
                state = words * length + column + 1
                inside = low[state] <= target <= high[state]
                inside = inside and (wanted[column] < 0 or reads[edge, words] == wanted[column])
                for word in range(words):
                    at = word * length + column
                    inside = inside and low[at] <= reads[edge, word] <= high[at]
            if inside and (column < length or ends[target]):
                lists[column, listed[column]] = edge
                listed[column] += 1
                alive[column + 1, target] = True
                for row in range(rows):
                    counts[column, row, reads[edge, row]] += 1.0


@compiled
def _average(entries, counts, near, D):  # type: ignore[no-untyped-def]
    """Computes the output and the sum of weights of each head for the mean of the entries."""
    heads, rows, columns, most, _ = entries.shape
    near[:], D[:] = 0.0, 0.0
    for column in range(columns):
        for row in range(rows):
            total = counts[column, row].sum()
            for symbol in range(most):
                if counts[column, row, symbol] > 0:
                    for head in range(heads):
                        part = counts[column, row, symbol] / total
                        D[head] += part * entries[head, row, column, symbol, 0]
                        for k in range(near.shape[1]):
                            near[head, k] += part * entries[head, row, column, symbol, 2 + k]
    for head in range(heads):
        D[head] = max(D[head], 1e-300)
        near[head] /= D[head]


@compiled
def _share(entries, column, row, counts, near, D, share, sums, error):  # type: ignore[no-untyped-def]
    """Computes each symbol's share of every functional, adds to the sums of single heads, and counts the symbols."""
    heads, r = near.shape
    symbols = 0
    share[:] = 0.0
    for symbol in range(len(counts)):
        symbols += counts[symbol] > 0
    for head in range(heads):
        doubt = 0.0
        for symbol in range(len(counts)):
            if counts[symbol] > 0:
                entry = entries[head, row, column, symbol]
                share[symbol, r + head] = entry[0]
                doubt = max(doubt, entry[0] * entry[1])
        error[head] += doubt
        for k in range(r):
            most, least, doubt = -np.inf, np.inf, 0.0
            for symbol in range(len(counts)):
                if counts[symbol] > 0:
                    entry = entries[head, row, column, symbol]
                    value = entry[2 + k] - near[head, k] * entry[0]
                    share[symbol, k] += value / D[head]
                    most, least = max(most, value), min(least, value)
                    doubt = max(doubt, entry[1] * abs(value) + entry[2 + r + k])
            sums[0, head, k] += most
            sums[1, head, k] += least
            sums[2, head, k] += doubt
    return symbols


@compiled
def _finish(high, low, near, D, sums, error, noise, found):  # type: ignore[no-untyped-def]
    """Computes an enclosure of the output from the endpoints of the functionals.

    With T = N - `near` * D, the output of a head is `near` + T / D, and T / D = T / D' + T (1 / D - 1 / D').
    """
    heads, r = near.shape
    for k in range(r):
        center, x, y, apart_x, apart_y, rounding = 0.0, high[k], low[k], 0.0, 0.0, 0.0
        for head in range(heads):
            least = low[r + head] - noise[1, head, 0]
            if least <= 0:  # an average is unbounded if all its weights may vanish
                rounding, least = np.inf, 1e-300
            most = high[r + head] + noise[1, head, 0]
            slack = noise[0, head, k] + abs(near[head, k]) * noise[1, head, k]
            center += near[head, k]
            a, b = sums[0, head, k] + slack, sums[1, head, k] - slack
            if heads == 1:
                a, b = min(a, high[k] * D[0] + slack), max(b, low[k] * D[0] - slack)
            change = max(abs(1 / least - 1 / D[head]), abs(1 / most - 1 / D[head])) * (1 + 2.0**-40)
            x += change * max(abs(a), abs(b)) + slack / D[head]
            y -= change * max(abs(a), abs(b)) + slack / D[head]
            up, down = (a / least if a > 0 else a / most), (b / most if b > 0 else b / least)
            apart_x += up
            apart_y += down
            # with weights w (1 + e), the output changes by sum(w e (v - output)) / sum(w (1 + e))
            doubt = error[head] / least
            if doubt < 0.5:
                rounding += (sums[2, head, k] / least + doubt * max(abs(up), abs(down))) / (1 - doubt)
            else:
                rounding = np.inf
        x, y = min(x, apart_x), max(y, apart_y)
        found[0, k] = center + (x + y) / 2
        found[1, k] = ((x - y) / 2 + (abs(center) + abs(x) + abs(y)) * 2.0**-46) * (1 + 2.0**-40) + 1e-280
        found[2, k] = rounding * (1 + 2.0**-40)


def shares(entries: Reals, outputs: Outputs, slopes: Reals) -> Reals:
    """Returns (n, rows, length + 1, symbols): each symbol's first-order contribution to slopes . output in a box."""
    r = slopes.shape[1]
    values = np.einsum("hbcsk,nk,nh->nbcs", entries[..., 2 : 2 + r], slopes, 1 / outputs.weight, optimize=True)
    pull = np.einsum("nhk,nk,nh->nh", outputs.near, slopes, 1 / outputs.weight)
    share: Reals = values - np.einsum("hbcs,nh->nbcs", entries[..., 0], pull, optimize=True)
    return share
