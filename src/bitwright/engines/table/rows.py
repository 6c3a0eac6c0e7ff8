"""Rows of cells: 64 neighbours of a kind in a word, for programs in which most cells move. Importing it takes numba.

A plane is one bit of all cells of a kind. What a cell keeps and what it sets elsewhere are functions of its own bits,
worked out as word operations (a decision diagram of the table); wires that reach equally far are one shift.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitwright.bits import BoolArray
from bitwright.compiling import compiled, entry
from bitwright.engines.table.packed import SET, PackedCells
from bitwright.program.layout import IntArray

_GROUPS, _NODES = 512, 1024  # the most shifts, and operations, of a program that is worth it
_VISIT, _OPERATION = 5.0, 0.4  # nanoseconds for a cell, and for a word
_ONE, _ZERO = np.uint64(1), np.uint64(0)


class CellRows(NamedTuple):
    """What the loop reads. Planes and masks lie one behind the other, those of a kind have as many words."""

    words: IntArray  # (kinds,)
    last_words: NDArray[np.uint64]  # (kinds,) the lanes that hold a cell in the last word
    planes: IntArray  # (kinds + 1,) the first plane of each kind
    at: IntArray  # (planes + 1,) where each plane begins
    node_start: IntArray  # (kinds + 1,)
    nodes: IntArray  # (nodes, 3) a plane of the kind; the nodes, or -2 for 0 and -1 for 1, if it is off and on
    move_start: IntArray  # (kinds + 1,)
    moves: IntArray  # (moves, 6) a node; target plane; words and bits to shift by; the first and the last word
    masks: NDArray[np.uint64]  # of all moves, from first to last word
    mask_at: IntArray  # (moves,)


class RowPlan:
    """A program as rows of cells; `rows` is None where it has too many shifts or operations."""

    def __init__(self, cells: PackedCells) -> None:
        self._cells = cells
        kinds, units = len(cells.refined), cells.units
        order = np.argsort(cells.of, kind="stable")
        starts = np.searchsorted(cells.of[order], np.arange(kinds + 1))
        self.index = np.empty(units, dtype=np.int64)  # of each cell in its kind
        self.index[order] = np.arange(units) - starts[cells.of[order]]
        self._counts = np.diff(starts)
        bits = np.log2(np.diff(cells.start)).astype(np.int64)
        words = (self._counts + 63) // 64
        self._planes = np.concatenate(([0], np.cumsum(bits)))
        self._at = np.concatenate(([0], np.cumsum(np.repeat(words, bits))))
        self.rows = self._made(words)

    def _made(self, words: IntArray) -> CellRows | None:
        shifts = self._shifts()
        if shifts is None:
            return None
        groups, group_of, source = shifts
        node_start, nodes, outputs = self._diagrams()
        if nodes is None:
            return None
        moves: list[list[list[int]]] = [[] for _ in words]
        masks: list[list[NDArray[np.uint64]]] = [[] for _ in words]

        def move(kind: int, node: int, plane: int, shift: int, cells: IntArray) -> None:
            if node == -2 or not len(cells):
                return
            mask = np.zeros(int(words[kind]), dtype=np.uint64)
            np.bitwise_or.at(mask, cells >> 6, _ONE << (cells & 63).astype(np.uint64))
            used = np.flatnonzero(mask)
            first, last = int(used[0]), int(used[-1]) + 1
            moves[kind].append([node, plane, shift >> 6, shift & 63, first, last])
            masks[kind].append(mask[first:last])

        for kind, (own, ports) in enumerate(outputs):
            for place, node in enumerate(own):
                move(kind, node, int(self._planes[kind]) + place, 0, np.arange(int(self._counts[kind])))
            for group in np.flatnonzero(groups[:, 0] == kind).tolist():
                _, port, target, place, shift = groups[group].tolist()
                if port in ports:
                    move(kind, ports[port], int(self._planes[target]) + place, shift, source[group_of == group])
        left = (self._counts % 64).astype(np.uint64)
        flat = [one for own in moves for one in own]
        parts = [one for own in masks for one in own]
        return CellRows(
            words,
            np.where(left == 0, ~_ZERO, (_ONE << left) - _ONE),
            self._planes,
            self._at,
            node_start,
            nodes,
            np.concatenate(([0], np.cumsum([len(own) for own in moves], dtype=np.int64))),
            np.array(flat, dtype=np.int64).reshape(-1, 6),
            np.concatenate([np.zeros(0, dtype=np.uint64), *parts]),
            np.cumsum([0, *map(len, parts)])[:-1],
        )

    def _shifts(self) -> tuple[IntArray, IntArray, IntArray] | None:
        """Wires to other cells by kind, port, target's kind, place and distance; the group and the index of each."""
        cells, found = self._cells, self._cells.found
        target = cells.unit[found.wire_bit]
        outside = np.flatnonzero(target != found.wire_cell)
        source, target = found.wire_cell[outside], target[outside]
        columns = (
            cells.of[source],
            found.wire_port[outside],
            cells.of[target],
            cells.place[found.wire_bit[outside]],
            self.index[target] - self.index[source],
        )
        table = np.stack([np.asarray(column, dtype=np.int64) for column in columns], axis=1)
        sizes = table.max(axis=0, initial=0) - table.min(axis=0, initial=0) + 1
        key = np.zeros(len(table), dtype=np.int64)
        for column, size, low in zip(table.T, sizes, table.min(axis=0, initial=0), strict=True):
            key = key * size + column - low
        _, first, group = np.unique(key, return_index=True, return_inverse=True)
        return None if len(first) > _GROUPS else (table[first], group, self.index[source])

    def _diagrams(self) -> tuple[IntArray, IntArray | None, list[tuple[list[int], dict[int, int]]]]:
        """The operations of each kind: decision diagrams of what it keeps, bit by bit, and of its ports."""
        cells, start, outputs = self._cells, [0], []
        nodes: list[tuple[int, int, int]] = []
        for kind in range(len(cells.refined)):
            entries = cells.tables.entries[cells.start[kind] : cells.start[kind + 1]]
            known: dict[bytes, int] = {}
            first = len(nodes)

            def node_of(values: BoolArray, known: dict[bytes, int] = known, first: int = first) -> int:
                if values.all() or not values.any():
                    return -1 if values[0] else -2
                key = values.tobytes()
                if key not in known:
                    half = len(values) // 2
                    low, high = values[:half], values[half:]
                    if np.array_equal(low, high):
                        known[key] = node_of(low)
                    else:
                        found = (half.bit_length() - 1, node_of(low), node_of(high))
                        known[key] = len(nodes) - first
                        nodes.append(found)
                return known[key]

            width = int(self._planes[kind + 1] - self._planes[kind])
            own = [node_of(entries >> np.uint64(place) & _ONE > 0) for place in range(width)]
            fired = (entries >> np.uint64(SET)).astype(np.int64)
            sets = cells.sets[kind]
            ports = {
                int(port): node_of(np.isin(fired, [number + 1 for number, on in enumerate(sets) if port in on]))
                for port in np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *sets]))
            }
            outputs.append((own, ports))
            start.append(len(nodes))
            if len(nodes) > _NODES:
                return np.array(start), None, outputs
        return np.array(start), np.array(nodes, dtype=np.int64).reshape(-1, 3), outputs

    def pays(self, visits: float) -> bool:
        """Whether a step takes less time by rows than that many visits of cells."""
        rows = self.rows
        if rows is None:
            return False
        work = (np.diff(rows.node_start) * rows.words).sum() + 2 * (rows.moves[:, 5] - rows.moves[:, 4]).sum()
        return bool(_OPERATION * (work + self._at[-1]) < _VISIT * visits)

    def load(self, words: NDArray[np.uint32]) -> NDArray[np.uint64]:
        """The planes of a state."""
        cells, planes = self._cells, np.zeros(int(self._at[-1]), dtype=np.uint64)
        for kind in range(len(cells.refined)):
            members = np.flatnonzero(cells.of == kind)
            for place in range(int(self._planes[kind + 1] - self._planes[kind])):
                first, last = self._at[self._planes[kind] + place : self._planes[kind] + place + 2]
                octets = np.packbits(words[members] >> place & 1, bitorder="little")
                planes[first:last].view(np.uint8)[: len(octets)] = octets
        return planes

    def store(self, planes: NDArray[np.uint64], words: NDArray[np.uint32]) -> None:
        """A state of planes, cell by cell."""
        cells = self._cells
        words[:] = 0
        for kind, count in enumerate(self._counts.tolist()):
            members = np.flatnonzero(cells.of == kind)
            for place in range(int(self._planes[kind + 1] - self._planes[kind])):
                first, last = self._at[self._planes[kind] + place : self._planes[kind] + place + 2]
                bits = np.unpackbits(planes[first:last].view(np.uint8), bitorder="little", count=count)
                words[members] |= bits.astype(np.uint32) << place

    def watched(self, places: NDArray[np.int64]) -> IntArray:  # (bits, 2) unit and mask -> (bits, 2) word and place
        """Where bits are among the planes."""
        unit, index = places[:, 0], self.index[places[:, 0]]
        plane = self._planes[self._cells.of[unit]] + np.log2(np.maximum(places[:, 1], 1)).astype(np.int64)
        return np.stack((self._at[plane] + (index >> 6), index & 63), axis=1).reshape(-1, 2)

    def wanted(self, entries: IntArray) -> IntArray:  # (entries,) -> (entries, 3)
        """Entries as kind, value, and place in the table."""
        kind = np.searchsorted(self._cells.start, entries, side="right") - 1
        return np.stack((kind, entries - self._cells.start[kind], entries), axis=1).reshape(-1, 3)


@compiled
def run_rows(most: int, stops: Any, counted: Any, wanted: Any, now: Any, seen: Any, rows: Any) -> Any:
    """Makes up to `most` steps, as `advance`; gives how many, how often the counted bits were on, and whether the last
    step changed nothing. Of the `wanted` entries, in ascending order of margin, it notes the first that occurs."""
    words, planes, at, last_words = rows.words, rows.planes, rows.at, rows.last_words
    operations = longest = 0  # of a kind
    for kind in range(len(words)):
        operations = max(operations, rows.node_start[kind + 1] - rows.node_start[kind])
        longest = max(longest, words[kind])
    after, room = np.zeros(len(now), np.uint64), np.zeros((operations + 1, longest), np.uint64)  # and a row of ones
    made = found = 0
    same = stopped = False
    want = len(wanted)
    while made < most and not stopped:
        after[:] = _ZERO
        for one in range(want):
            kind, value = wanted[one, 0], wanted[one, 1]
            occurs = _ZERO
            for w in range(words[kind]):
                lanes = last_words[kind] if w + 1 == words[kind] else ~_ZERO
                for place in range(planes[kind + 1] - planes[kind]):
                    plane = now[at[planes[kind] + place] + w]
                    lanes &= plane if value >> place & 1 else ~plane
                occurs |= lanes
            if occurs != _ZERO:
                seen[wanted[one, 2]] = 1
                want = one
                break
        for kind in range(len(words)):
            width, first = words[kind], planes[kind]
            begin = rows.node_start[kind]
            for number in range(rows.node_start[kind + 1] - begin):
                plane = at[first + rows.nodes[begin + number, 0]]
                low, high = rows.nodes[begin + number, 1], rows.nodes[begin + number, 2]
                if low == -2 and high == -1:
                    for w in range(width):
                        room[number, w] = now[plane + w]
                elif low == -2:
                    for w in range(width):
                        room[number, w] = now[plane + w] & room[high, w]
                elif high == -2:
                    for w in range(width):
                        room[number, w] = ~now[plane + w] & (room[low, w] if low >= 0 else ~_ZERO)
                elif low == -1:
                    for w in range(width):
                        room[number, w] = ~now[plane + w] | room[high, w]
                elif high == -1:
                    for w in range(width):
                        room[number, w] = now[plane + w] | room[low, w]
                else:
                    for w in range(width):
                        room[number, w] = room[low, w] ^ (now[plane + w] & (room[low, w] ^ room[high, w]))
            for number in range(rows.move_start[kind], rows.move_start[kind + 1]):
                node, plane = rows.moves[number, 0], rows.moves[number, 1]
                far, shift = rows.moves[number, 2], np.uint64(rows.moves[number, 3])
                start, end = rows.moves[number, 4], rows.moves[number, 5]
                mask = rows.mask_at[number] - start
                to, here, end_here = at[plane] + far, at[plane], at[plane + 1]
                if node < 0:
                    for w in range(start, end):
                        room[len(room) - 1, w] = ~_ZERO
                    node = len(room) - 1
                for w in range(max(start, here - to), min(end, end_here - to)):
                    after[to + w] |= (room[node, w] & rows.masks[mask + w]) << shift
                if shift != _ZERO:
                    back = np.uint64(64) - shift
                    for w in range(max(start, here - to - 1), min(end, end_here - to - 1)):
                        after[to + w + 1] |= (room[node, w] & rows.masks[mask + w]) >> back
        made += 1
        differ = _ZERO
        for w in range(len(now)):
            differ |= now[w] ^ after[w]
            now[w] = after[w]
        same = differ == _ZERO
        stopped = same
        for one in range(len(stops)):
            stopped = stopped or (now[stops[one, 0]] >> np.uint64(stops[one, 1])) & _ONE != _ZERO
        for one in range(len(counted)):
            found += (now[counted[one, 0]] >> np.uint64(counted[one, 1])) & _ONE != _ZERO
    return made, found, same


run_rows_from_python = entry(run_rows)
