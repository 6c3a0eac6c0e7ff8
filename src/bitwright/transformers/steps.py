"""Proofs of decoding steps by branch and bound: boxes of inputs are split until the right token wins in each of them.

A box is a range for each symbol and each automaton state. A group is the inputs with the same symbols before and at a
step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from bitwright.transformers.affine import AffineForm, Reals, RowArrays, chained, finished, margins
from bitwright.transformers.attention import AttentionTable, Query, query_at, query_rows
from bitwright.transformers.columns import Columns, Ints
from bitwright.transformers.counterexamples import extreme_inputs
from bitwright.transformers.decision import Group
from bitwright.transformers.layout import ColumnTask, Place
from bitwright.transformers.sums import Boxes, Cases, Outputs, bound, shares

EMPTY, LEAF = 65534, 65535  # codes of tree nodes without inputs, and of proved nodes
OPEN = -1
STATE_SHARE = 0.3  # score of splitting a state, relative to the influence of the answer after it
BATCH = 4096  # most boxes in a batch
MEMORY = 20_000_000  # most numbers in an array, approximately
HALVINGS, WISHES = 6, 4  # most halvings of a range of attention outputs; of these, halvings to exceed the wish


def steps(task: ColumnTask) -> list[list[Group]]:
    """Returns the groups of each decoding step, by the symbol before it and the right symbol."""
    layout = task.layout
    places: list[int | Place | None] = [layout.prompt[-1], *layout.answer, *([None] if layout.stop else [])]
    symbols = [place_symbols(task, place) for place in places]
    return [[(t, q, y) for q in symbols[t] for y in symbols[t + 1]] for t in range(len(places) - 1)]


def place_symbols(task: ColumnTask, place: int | Place | None) -> list[int]:
    """Returns the possible symbols of a place; -1 for a fixed token or a stop token."""
    columns = task.columns
    if not isinstance(place, Place):
        return [-1]
    if place.word in columns.flags:
        return [int(symbol) for symbol in np.unique(columns.flags[place.word])]
    names, sizes = (*columns.words, columns.answer), (*columns.symbols, columns.answers)
    return list(range(sizes[names.index(place.word)]))


def root(task: ColumnTask, group: Group) -> Boxes:
    """Returns (2, variables) the box of all inputs of a group: the symbols of each word, then the states."""
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
    """Returns the group of an input (words, length) at a decoding step."""
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
    """Splits each box in half along one variable."""
    rows = np.arange(len(boxes))
    middle = (boxes[rows, 0, variables] + boxes[rows, 1, variables]) // 2
    first, second = boxes.copy(), boxes.copy()
    first[rows, 1, variables] = middle
    second[rows, 0, variables] = middle + 1
    return first, second


def most_influence(
    entries: Reals, columns: Columns, cases: Cases, boxes: Boxes, case: Ints, outputs: Outputs, slopes: Reals
) -> Ints:
    """Returns (n,) the variable of each box with the most influence on slopes . output; OPEN for a single input."""
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
    fixed = (low == high).all((1, 3))  # (n, length) whether a column has only one symbol per word
    score[:, words * length : -1] = np.where(fixed, STATE_SHARE * answer, 0.0)
    flags = share[:, words + 1 : words + 1 + len(columns.flags), length, : columns.states]
    score[:, -1] = np.ptp(flags, axis=2).sum(1)
    score = np.where(width > 0, score + 1e-300 * width, -1.0)  # the widest range wins ties
    best = score.argmax(1)
    return np.where(score[rows, best] < 0, OPEN, best)


@dataclass
class Trees:
    """Growing split trees: the code of each node and its first child; the second child follows the first."""

    codes: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    children: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    count: int = 0

    def grow(self, nodes: int) -> Ints:
        """Adds nodes and returns their numbers."""
        while len(self.codes) < self.count + nodes:
            self.codes = np.concatenate([self.codes, np.full(max(1024, len(self.codes)), OPEN)])
            self.children = np.concatenate([self.children, np.full(max(1024, len(self.children)), OPEN)])
        self.count += nodes
        return np.arange(self.count - nodes, self.count)

    def preorder(self, node: int) -> bytes:
        """Returns the codes of a subtree in preorder, as little-endian 16-bit numbers."""
        codes, waiting = [], [node]
        while waiting:
            at = waiting.pop()
            codes.append(self.codes[at])
            if (child := self.children[at]) >= 0:
                waiting += [child + 1, child]
        return np.array(codes, "<u2").tobytes()


@dataclass(frozen=True)
class Step:
    """The groups of one decoding step, and the data for their bounds; a case is the number of a group."""

    table: AttentionTable
    groups: list[Group]
    symbols: Ints  # (cases,) the symbols before the step
    right: Ints  # (cases,) the right tokens; after the answer, the first stop token
    also: tuple[int, ...]  # other accepted tokens
    residual: AffineForm  # (cases,) the residual stream before attention
    cases: Cases

    @cached_property
    def queries(self) -> dict[int, Query]:
        """The query for each symbol before the step."""
        number = self.groups[0][0]
        return {int(symbol): query_at(self.table, number, int(symbol)) for symbol in np.unique(self.symbols)}

    @property
    def batch(self) -> int:
        """The number of boxes in a batch, limited by the memory for logits and shares."""
        symbols = int(next(iter(self.queries.values())).entries[0, ..., 0].size)
        return int(min(BATCH, max(1, MEMORY // max(symbols, self.table.decoder.head[-1].weight.shape[1]))))

    @cached_property
    def pieces(self) -> int:
        """The number of ranges in a batch, limited by the memory for slopes."""
        decoder = self.table.decoder
        mlp = decoder.layers[0].mlp
        chains = (decoder.head, *(() if mlp is None else (mlp.up, mlp.down)))
        widest = max(decoder.shape[2], *(linear.weight.shape[1] for chain in chains for linear in chain))
        return int(max(1, MEMORY // ((self.table.rank + 1) * widest)))

    def by_query(self, case: Ints) -> Iterator[tuple[Query, Ints]]:
        """Yields each query and the numbers of the boxes whose case it serves."""
        for symbol, query in self.queries.items():
            rows = np.flatnonzero(self.symbols[case] == symbol)
            if len(rows):
                yield query, rows


def step_of(table: AttentionTable, groups: list[Group]) -> Step:
    """Prepares the bounds for some groups of one step."""
    task, (number, _, _) = table.task, groups[0]
    symbols = np.array([symbol for _, symbol, _ in groups])
    residual, cases = table.residual[query_rows(table, number, symbols)], _cases(task, groups)
    if number == len(task.layout.answer):
        first, *also = task.layout.stop
        return Step(table, groups, symbols, np.full(len(groups), first), tuple(also), residual, cases)
    tokens = np.array(task.tokens(task.layout.answer[number].word))
    return Step(table, groups, symbols, tokens[[y for _, _, y in groups]], (), residual, cases)


def _cases(task: ColumnTask, groups: list[Group]) -> Cases:
    columns, answer, step = task.columns, task.layout.answer, groups[0][0]
    wanted = np.full((len(groups), columns.length + 1), -1, np.int64)
    ends = np.ones((len(groups), columns.states), np.bool_)
    for part, index in ((1, step - 1), (2, step)):
        if not 0 <= index < len(answer):
            continue
        place, symbols = answer[index], np.array([group[part] for group in groups])
        if place.column < 0:
            ends &= columns.flags[place.word] == symbols[:, None]
        else:
            wanted[:, place.column] = symbols
    return Cases(wanted, ends)


def bound_outputs(step: Step, boxes: Boxes, case: Ints) -> Outputs:
    """Encloses the attention output over each box in its case."""
    parts, order, edges = [], [], step.table.edges
    for query, rows in step.by_query(case):
        step.table.tick()
        parts.append(bound(query.entries, query.noise, edges, step.cases, boxes[rows], case[rows]))
        order.append(rows)
    return Outputs.joined(parts)[np.argsort(np.concatenate(order))]


def bound_input(table: AttentionTable, symbols: Ints, number: int) -> StepMargins:
    """Bounds the margin of one input (words, length) at a decoding step, with all rounding errors."""
    group = group_of(table.task, symbols, number)
    step, box, case = step_of(table, [group]), root(table.task, group)[None], np.zeros(1, np.int64)
    box[:, :, : symbols.size] = symbols.ravel()
    outputs = bound_outputs(step, box, case)
    return bound_margins(step, case, outputs.center, outputs.radius + outputs.rounding)


@dataclass(frozen=True)
class StepMargins(RowArrays):
    """Bounds on the right token's margin over boxes."""

    lower: Reals  # (n,)
    upper: Reals  # (n,)
    center: Reals  # (n,) the margin at the center of the outputs
    slopes: Reals  # (n, r) the derivative of the margin by the attention output


def bound_margins(step: Step, case: Ints, center: Reals, radius: Reals) -> StepMargins:
    """Bounds the margins for attention outputs in center + [-radius, radius]."""
    parts = []
    with np.errstate(over="ignore", invalid="ignore"):  # infinite enclosures prove nothing
        for begin in range(0, max(1, len(case)), step.pieces):
            step.table.tick()
            part = slice(begin, begin + step.pieces)
            parts.append(_bound_margins(step, case[part], center[part], radius[part]))
    return StepMargins.joined(parts)


def _bound_margins(step: Step, case: Ints, center: Reals, radius: Reals) -> StepMargins:
    n, r = center.shape
    result = StepMargins(np.empty(n), np.empty(n), np.empty(n), np.empty((n, r)))
    x = _tail(step, case, center, radius)
    for right in np.unique(step.right[case]):
        rows = np.flatnonzero(step.right[case] == right)
        values = [
            _least(margins(step.table.decoder, x[rows], int(best), {right, *step.also} - {best}), r)
            for best in (right, *step.also)
        ]
        best = np.argmax([value.lower for value in values], 0)
        for name in ("lower", "center", "slopes"):
            each = np.stack([getattr(value, name) for value in values])
            getattr(result, name)[rows] = each[best, np.arange(len(rows))]
        result.upper[rows] = np.max([value.upper for value in values], 0)
    return result


def _tail(step: Step, case: Ints, center: Reals, radius: Reals) -> AffineForm:
    n, r = center.shape
    unit, layer = step.table.unit, step.table.decoder.layers[0]
    output = AffineForm(center, np.broadcast_to(np.eye(r), (n, r, r)), np.zeros((n, r)), radius, unit)
    residual = replace(step.residual[case], slopes=np.zeros((n, r, step.residual.center.shape[1])), box=radius)
    return finished(step.table.decoder, residual + chained(layer.output, output))


def _least(margin: AffineForm, r: int) -> StepMargins:
    n, others = margin.center.shape
    if not others:  # every token is right
        endless = np.full(n, np.inf)
        return StepMargins(endless, endless, endless, np.zeros((n, r)))
    lower = margin.lower()
    worst = lower.argmin(1)
    slopes = np.take_along_axis(margin.slopes, worst[:, None, None], 2)[:, :r, 0]
    slopes = np.where(np.isfinite(slopes), slopes, 0.0)
    return StepMargins(lower.min(1), margin.upper().min(1), margin.center.min(1), slopes)


def bound_halves(step: Step, case: Ints, outputs: Outputs, wish: float) -> StepMargins:
    """Bounds the margins over boxes, and halves ranges of outputs to raise lower bounds above `wish`, or at least 0."""
    center, radius = outputs.center, outputs.radius + outputs.rounding
    margins = bound_margins(step, case, center, radius)
    hopeful, lower, least = (margins.lower <= wish) & (margins.center > 0), margins.lower, np.full(len(center), np.inf)
    owner, center, radius = np.flatnonzero(hopeful), center[hopeful], radius[hopeful]
    for halving in range(HALVINGS):
        owner, center, radius = np.repeat(owner, 2), *_halves(center, radius)
        part = bound_margins(step, case[owner], center, radius)
        proved = part.lower > (wish if halving < WISHES else 0.0)
        np.minimum.at(least, owner[proved], part.lower[proved])
        hopeful[owner[~(part.center > 0)]] = False
        again = ~proved & hopeful[owner]
        owner, center, radius = owner[again], center[again], radius[again]
    hopeful[owner] = False
    return replace(margins, lower=np.where(hopeful, np.maximum(least, lower), lower))


def _halves(center: Reals, radius: Reals) -> tuple[Reals, Reals]:
    """Splits each range in half along its widest coordinate."""
    rows, widest = np.arange(len(center)), radius.argmax(1)
    half = radius.copy()
    half[rows, widest] = half[rows, widest] * (0.5 + 2.0**-40) + 2.0**-50 * np.abs(center[rows, widest])
    shift = np.where(np.arange(radius.shape[1]) == widest[:, None], half, 0.0)
    return np.stack([center - shift, center + shift], 1).reshape(-1, center.shape[1]), np.repeat(half, 2, 0)


CANDIDATES = 24  # boxes per batch that yield a possible counterexample


@dataclass
class StepProof:
    """The state of the proof of one step."""

    trees: Trees = field(default_factory=Trees)
    bounded: int = 0  # the number of boxes bounded
    least: float = np.inf  # a lower bound on the margins of all proved boxes
    stuck: list[int] = field(default_factory=list)  # cases with unproved single inputs
    waiting: int = 0  # unvisited boxes
    finished: bool = False


@dataclass(frozen=True)
class Front(RowArrays):
    """Unproved boxes with their cases and tree nodes."""

    boxes: Boxes
    case: Ints
    nodes: Ints


def prove_step(step: Step, halt: Callable[[StepProof, Ints], bool], wish: float = 0.0) -> StepProof:
    """Splits boxes until all margins are positive, or until `halt`, called with the proof and candidates, is true.

    Halved ranges first try to prove margins above `wish`.
    """
    proof, cases = StepProof(), np.arange(len(step.groups))
    front = Front(
        np.stack([root(step.table.task, group) for group in step.groups]), cases, proof.trees.grow(len(cases))
    )
    while len(front):
        front, now = front[: -step.batch], front[-step.batch :]
        now, outputs, margins = _prove_boxes(step, now, proof, wish)
        variables = choose_variables(step, now, outputs, margins.slopes)
        worst = np.argsort(np.where(variables < 0, -np.inf, margins.center), kind="stable")[:CANDIDATES]
        proof.stuck += now.case[variables < 0].tolist()
        now, variables, tried = now[variables >= 0], variables[variables >= 0], now[worst]
        if halt(proof, _candidates(step, tried, outputs[worst], margins.slopes[worst])):
            proof.waiting = len(front) + len(now)
            return proof
        front = Front.joined([front, _split(now, variables, proof.trees)])
    proof.finished = True
    return proof


def _prove_boxes(step: Step, front: Front, proof: StepProof, wish: float) -> tuple[Front, Outputs, StepMargins]:
    """Bounds boxes, and returns the unproved ones with their outputs and margins."""
    outputs = bound_outputs(step, front.boxes, front.case)
    possible = outputs.possible
    proof.bounded += len(front)
    proof.trees.codes[front.nodes[~possible]] = EMPTY
    front, outputs = front[possible], outputs[possible]
    margins = bound_halves(step, front.case, outputs, wish)
    proved = margins.lower > 0
    proof.trees.codes[front.nodes[proved]] = LEAF
    proof.least = min(proof.least, margins.lower[proved].min(initial=np.inf))
    return front[~proved], outputs[~proved], margins[~proved]


def choose_variables(step: Step, front: Front, outputs: Outputs, slopes: Reals) -> Ints:
    """Returns the variable along which to split each box, -1 for single inputs."""
    variables, columns = np.full(len(front), -1), step.table.task.columns
    for query, rows in step.by_query(front.case):
        part = front[rows]
        variables[rows] = most_influence(
            query.entries, columns, step.cases, part.boxes, part.case, outputs[rows], slopes[rows]
        )
    width = front.boxes[:, 1] - front.boxes[:, 0]
    for state in _own_states(step):
        variables = np.where(width[:, state] > 0, state, variables)
    return variables


def _own_states(step: Step) -> list[int]:
    """Returns the variables of the states before and after the column that a step writes."""
    task, number = step.table.task, step.groups[0][0]
    states = len(task.columns.words) * task.columns.length
    column = task.layout.answer[number].column if number < len(task.layout.answer) else -1
    return [states + column, states + column + 1] if column >= 0 else [states + task.columns.length]


def _split(front: Front, variables: Ints, trees: Trees) -> Front:
    """Splits each box, and returns the halves of the same box next to each other."""
    children = trees.grow(2 * len(front))
    trees.codes[front.nodes], trees.children[front.nodes] = variables, children[::2]
    halves = np.stack(split(front.boxes, variables), 1).reshape(-1, *front.boxes.shape[1:])
    return Front(halves, np.repeat(front.case, 2), children)


def _candidates(step: Step, front: Front, outputs: Outputs, slopes: Reals) -> Ints:
    """Returns (n, words, length) the input of each box with the smallest first-order margin."""
    columns, parts = step.table.task.columns, []
    for query, rows in step.by_query(front.case):
        part, share = front[rows], shares(query.entries, outputs[rows], slopes[rows])
        parts.append(extreme_inputs(step.table.edges, step.cases, part.boxes, part.case, share))
    return np.concatenate(parts) if parts else np.zeros((0, len(columns.words), columns.length), np.int64)
