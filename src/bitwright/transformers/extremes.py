"""Greatest and least sums over the runs of an automaton, and runs that attain them; importing it takes numba."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bitwright.compiling import compiled, entry
from bitwright.transformers.columns import Ints

Reals = NDArray[np.float64]

NEVER = -1e300  # the gain of an edge that may not be taken


def find_extremes(
    before: Ints,
    after: Ints,
    gains: Reals,
    starts: NDArray[np.bool_],
    previous: tuple[int, Ints],
    classes: tuple[int, Ints],
) -> tuple[NDArray[np.bool_], Reals, NDArray[np.int32]]:
    """The extreme sums of the gains of all runs, for each label in one column and each class of edges in another.

    Args:
        before, after: (edges,) the states that an edge joins.
        gains: (columns, edges) what an edge adds when it is taken in a column; `NEVER` where it may not be taken.
        starts: (states,) where runs start.
        previous: a column and (edges,) the label of each edge there.
        classes: a column and (edges,) the class of each edge there; -1 for none that is asked for.

    Returns:
        (labels, classes) whether there is such a run; (labels, classes, 2) the greatest and the least sum; and
        (labels, classes, 2, columns) the edges of runs that attain them.
    """
    labels, kinds = int(previous[1].max()) + 1, int(classes[1].max()) + 1
    there = np.zeros((labels, kinds), np.bool_)
    sums = np.tile([NEVER, -NEVER], (labels, kinds, 1))
    runs = np.zeros((labels, kinds, 2, len(gains)), np.int32)
    _extremes(before, after, gains, starts, *previous, *classes, there, sums, runs)
    return there, sums, runs


@compiled
def _sweep(best, taken, way, columns, source, target, gains, sign, labels, label):  # type: ignore[no-untyped-def]
    """The best sums at one end of every edge from those at the other, through some columns, and the edges taken."""
    for column in columns:
        here, there = (column, column + 1) if way > 0 else (column + 1, column)
        for edge in range(gains.shape[1]):
            if gains[column, edge] == NEVER or best[here, source[edge]] == NEVER:
                continue
            if column == labels[0] and labels[1][edge] != label:
                continue
            total = best[here, source[edge]] + sign * gains[column, edge]
            if total > best[there, target[edge]]:
                best[there, target[edge]], taken[there, target[edge]] = total, edge


@compiled
def _search(before, after, gains, starts, label_column, labels, class_column, classes, there, sums, runs):  # type: ignore[no-untyped-def]
    columns, edges = gains.shape
    states, previous = len(starts), (label_column, labels)
    up, down = np.empty((columns + 1, states)), np.empty((columns + 1, states))  # best sums from the start, to the end
    into, out = np.zeros((columns + 1, states), np.int32), np.zeros((columns + 1, states), np.int32)
    for label in range(there.shape[0]):
        for side in range(2):
            sign = 1.0 - 2.0 * side
            up[:], down[:], down[columns] = NEVER, NEVER, 0.0
            for state in range(states):
                up[0, state] = 0.0 if starts[state] else NEVER
            _sweep(up, into, 1, range(class_column), before, after, gains, sign, previous, label)
            _sweep(down, out, -1, range(columns - 1, class_column, -1), after, before, gains, sign, previous, label)
            for edge in range(edges):
                kind, first, last = classes[edge], up[class_column, before[edge]], down[class_column + 1, after[edge]]
                if gains[class_column, edge] == NEVER or (class_column == label_column and labels[edge] != label):
                    continue
                if kind < 0 or first == NEVER or last == NEVER:
                    continue
                total = first + sign * gains[class_column, edge] + last
                if total > sign * sums[label, kind, side]:
                    sums[label, kind, side], runs[label, kind, side, class_column] = sign * total, edge
                    there[label, kind] = True
            for kind in range(there.shape[1]):
                if there[label, kind]:
                    run = runs[label, kind, side]
                    for column in range(class_column - 1, -1, -1):
                        run[column] = into[column + 1, before[run[column + 1]]]
                    for column in range(class_column + 1, columns):
                        run[column] = out[column, after[run[column - 1]]]


_extremes = entry(_search)
