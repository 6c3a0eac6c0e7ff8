"""Compares bounds over boxes with every input in them, for small tasks and random decoders."""

from dataclasses import replace

import numpy as np
import pytest
from decoders import (
    ROPE,
    TASKS,
    copier,
    copy,
    equal_values,
    every_input,
    groups_of,
    large_scores,
    lost_scores,
    random_decoder,
    states_of,
)
from fuzzed_decoders import shuffled_logits

from bitwright.common.errors import InputError
from bitwright.transformers.affine import FLOAT32, constant
from bitwright.transformers.attention import ERROR, VALUE, WEIGHT, _turned, query_at, tabulate
from bitwright.transformers.counterexamples import extreme_inputs, forced_margins
from bitwright.transformers.decoder import Decoder, Linear, Rope
from bitwright.transformers.layout import ColumnTask
from bitwright.transformers.modules import _head, chained, normed
from bitwright.transformers.modules import _turned as turned
from bitwright.transformers.steps import bound_halves, bound_margins, bound_outputs, root, split, step_of, steps
from bitwright.transformers.sums import shares

OPTIONS = {
    "one head of rank 1": {"rank": 1},
    "two heads of rank 2": {"heads": 2, "rank": 2, "biases": True, "sharp": 3.0},
    "two heads, turned and normed": {"heads": 2, "rope": ROPE, "normed": True, "activation": "silu", "gate": True},
    "layer norm, sharp": {"norm": "layer", "activation": "relu", "rank": 3, "sharp": 10.0},
}


def attention_outputs(decoder: Decoder, task: ColumnTask, inputs: np.ndarray, step: int) -> np.ndarray:
    """Returns (n, r) the sum of the heads at a step."""
    tokens = task.rows(inputs)[:, : task.prompt_length + step]
    x = sum(
        t[np.arange(tokens.shape[1]) * (len(t) > 1), tokens * (t.shape[1] > 1)].astype(float) for t in decoder.tables
    )
    layer = decoder.layers[0]
    h = normed(layer.attention_norm, x)
    return sum(chained(head.output, _head(head, h)) for head in layer.heads)[:, -1]


def random_boxes(rng: np.random.Generator, task: ColumnTask, group: tuple[int, int, int], count: int) -> np.ndarray:
    """Returns the root box of a group, and boxes from random splits of it."""
    boxes = [root(task, group)]
    for _ in range(count - 1):
        box = boxes[0]
        for _ in range(rng.integers(1, 12)):
            free = np.flatnonzero(box[0] < box[1])
            box = split(box[None], rng.choice(free, 1))[rng.integers(2)][0] if len(free) else box
        boxes.append(box)
    return np.stack(boxes)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_bounds_hold_for_every_input_of_a_box(task, options):
    rng = np.random.default_rng(7)
    decoder, inputs = random_decoder(rng, task, **options), every_input(task)
    symbols = np.concatenate([inputs.reshape(len(inputs), -1), states_of(task, inputs)], 1)
    margins, table = forced_margins(decoder, task, inputs), tabulate(decoder, task, 0.0)
    for number, groups in enumerate(steps(task)):
        outputs, of = attention_outputs(decoder, task, inputs, number), groups_of(task, inputs, number)
        assert set(of) <= set(groups)
        step = step_of(table, groups)
        for case, group in enumerate(groups):
            mine = np.array([g == group for g in of])
            boxes = random_boxes(rng, task, group, 8)
            found = bound_outputs(step, boxes, np.full(8, case))
            bounds = bound_margins(step, np.full(8, case), found.center, found.radius + found.rounding)
            halved = bound_halves(step, np.full(8, case), found, 1.0)
            for row, box in enumerate(boxes):
                inside = mine & ((box[0] <= symbols) & (symbols <= box[1])).all(1)
                assert found.possible[row] == inside.any()
                if not inside.any():
                    continue
                low, high = outputs[inside].min(0), outputs[inside].max(0)
                width = found.radius[row] + found.rounding[row]
                assert (found.center[row] - width <= low).all()
                assert (high <= found.center[row] + width).all()
                assert bounds.lower[row] <= halved.lower[row] <= margins[inside, number].min()
                assert margins[inside, number].min() <= bounds.upper[row]
                if len(decoder.layers[0].heads) == 1 and inside.sum() == 1:
                    np.testing.assert_allclose(found.center[row], low, rtol=1e-9, atol=1e-9)
                    assert (width <= 1e-9 * (1 + np.abs(low))).all()


def test_halved_ranges_prove_more_boxes_and_no_wrong_one():
    task, proved, least = copy(2), np.zeros(2, np.int64), np.inf
    inputs = every_input(task)
    symbols = np.concatenate([inputs.reshape(len(inputs), -1), states_of(task, inputs)], 1)
    for sharp in (1.5, 2.0, 2.5):
        rng = np.random.default_rng(9)
        decoder = copier(rng, task, sharp)
        margins, table = forced_margins(decoder, task, inputs), tabulate(decoder, task, 0.0)
        for number, groups in enumerate(steps(task)):
            step, of = step_of(table, groups), groups_of(task, inputs, number)
            for case, group in enumerate(groups):
                boxes, cases = random_boxes(rng, task, group, 8), np.full(8, case)
                outputs = bound_outputs(step, boxes, cases)
                bounds = bound_margins(step, cases, outputs.center, outputs.radius + outputs.rounding)
                halved = bound_halves(step, cases, outputs, 0.0)
                proved += (bounds.lower > 0).sum(), (halved.lower > 0).sum()
                mine = np.array([g == group for g in of])
                for box, lower in zip(boxes, halved.lower, strict=True):
                    inside = mine & ((box[0] <= symbols) & (symbols <= box[1])).all(1)
                    truth = margins[inside, number].min(initial=np.inf)
                    assert lower <= truth
                    least = min(least, truth)
    assert proved[0] < proved[1]
    assert least < 0


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_extreme_inputs_attain_the_least_sum_of_shares(task):
    rng = np.random.default_rng(3)
    decoder, inputs = random_decoder(rng, task, heads=2, rank=2), every_input(task)
    symbols = np.concatenate([inputs.reshape(len(inputs), -1), states_of(task, inputs)], 1)
    answers, flags = task.columns.run(inputs)
    number, table = len(task.layout.answer) - 1, tabulate(decoder, task, 0.0)
    step, of = step_of(table, steps(task)[number]), groups_of(task, inputs, number)
    for query, case in step.by_query(np.arange(len(step.groups))):
        boxes = np.stack([random_boxes(rng, task, step.groups[c], 2)[1] for c in case])
        found = bound_outputs(step, boxes, case)
        case, boxes, found = case[found.possible], boxes[found.possible], found[found.possible]
        share = shares(query.entries, found, rng.normal(size=found.center.shape))
        best = extreme_inputs(table.edges, step.cases, boxes, case, share)
        for row, box in enumerate(boxes):
            inside = (box[0] <= symbols) & (symbols <= box[1])
            mine = np.array([g == step.groups[case[row]] for g in of]) & inside.all(1)
            total = np.zeros(len(inputs))
            for column in range(task.columns.length):
                total += sum(share[row, w, column, inputs[:, w, column]] for w in range(inputs.shape[1]))
                total += share[row, inputs.shape[1], column, answers[:, column]]
            for index, values in enumerate(flags.values()):
                state = symbols[:, -1]  # a flag reads the state
                assert (task.columns.flags[list(flags)[index]][state] == values).all()
                total += share[row, inputs.shape[1] + 1 + index, task.columns.length, state]
            at = int(np.flatnonzero((inputs == best[row]).all((1, 2)))[0])
            assert mine[at]
            assert total[at] <= total[mine].min() + 1e-9


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_float32_in_any_order_stays_inside(options):
    rng = np.random.default_rng(11)
    task = TASKS["highest first"]
    decoder, inputs = random_decoder(rng, task, **options), every_input(task)
    boxes = np.concatenate([inputs.reshape(len(inputs), -1), states_of(task, inputs)], 1).astype(np.int16)
    table, rows, n = tabulate(decoder, task, FLOAT32), task.rows(inputs), np.arange(len(inputs))
    outside = np.zeros(2, np.int64)
    for number in range(len(task.layout.answer)):
        step = step_of(table, groups_of(task, inputs, number))
        found = bound_outputs(step, np.stack([boxes, boxes], 1), n)
        width = found.radius + found.rounding
        bounds = bound_margins(step, n, found.center, width)
        exact = bound_margins(step_of(tabulate(decoder, task, 0.0), step.groups), n, found.center, found.radius)
        for _ in range(5):
            heads, values = shuffled_logits(decoder, rows[:, : task.prompt_length + number], rng)
            moved = np.abs(heads.astype(np.float64) - found.center)
            assert (moved <= width).all()
            values = values.astype(np.float64)
            right = values[n, step.right].copy()
            values[n, step.right] = -np.inf
            margin = right - values.max(1)
            assert (bounds.lower <= margin).all()
            assert (margin <= bounds.upper).all()
            outside += (moved > found.radius).sum(), (margin < exact.lower).sum()
    assert outside.all()  # bounds for real arithmetic are too small


def test_scores_in_float32_are_bounded_where_a_query_cancels():
    """If the terms of a query cancel, its norm magnifies rounding errors, and the bound must cover them."""
    rng, task = np.random.default_rng(5), TASKS["highest first"]
    decoder, inputs = random_decoder(rng, task, heads=1, rank=2, normed=True, sharp=100.0), every_input(task)
    layer, rows, moved = decoder.layers[0], task.rows(inputs)[:, : task.prompt_length + 1], 0.0
    at, token = task.prompt_length, int(rows[0, -1])
    h = normed(layer.attention_norm, (decoder.tables[0][0, token] + decoder.tables[1][at, 0]).astype(np.float64))
    query = layer.heads[0].query[0]
    query = replace(query, bias=(rng.normal(0, 1e-3, 4) - h @ query.weight).astype(np.float32))
    head = replace(layer.heads[0], query=(query,), scale=3.0)
    decoder = replace(decoder, layers=(replace(layer, heads=(head,)),))
    chosen = rows[:, -1] == token
    inputs, rows = inputs[chosen], rows[chosen]
    boxes = np.concatenate([inputs.reshape(len(inputs), -1), states_of(task, inputs)], 1).astype(np.int16)
    step = step_of(tabulate(decoder, task, FLOAT32), groups_of(task, inputs, 1))
    found = bound_outputs(step, np.stack([boxes, boxes], 1), np.arange(len(inputs)))
    for _ in range(20):
        outputs, _ = shuffled_logits(decoder, rows, rng)
        share = np.abs(outputs.astype(np.float64) - found.center) / (found.radius + found.rounding)
        moved = max(moved, float(share.max()))
    assert 0.005 < moved <= 1


def test_weights_that_are_off_by_all_their_errors_are_covered():
    """The mean of values with weights w (1 + e) is largest if e is maximal above some value and minimal below it."""
    rng, task, beyond = np.random.default_rng(3), TASKS["highest first"], 0
    decoder, inputs = large_scores(rng, task), every_input(task)
    table, states, of = tabulate(decoder, task, FLOAT32), states_of(task, inputs), groups_of(task, inputs, 1)
    step = step_of(table, sorted(set(of)))
    found = bound_outputs(step, np.stack([root(task, group) for group in step.groups]), np.arange(len(step.groups)))
    edges, last = table.edges, len(task.columns.edges)
    for symbols, run, group in zip(inputs, states, of, strict=True):
        case, entries = step.groups.index(group), step.queries[group[1]].entries[0]
        path = np.concatenate([symbols.T, run[:-1, None], run[1:, None]], 1)
        taken = [np.flatnonzero((task.columns.edges[:, [1, 2, 0, -1]] == row).all(1))[0] for row in path]
        reads = edges.reads[[*taken, last + run[-1]]]  # (length + 1, rows)
        columns = np.arange(len(reads))[:, None]
        read = entries[np.arange(reads.shape[1]), columns, reads].reshape(-1, entries.shape[-1])
        weight, error, value = (of[read[:, WEIGHT] > 0] for of in (read[:, WEIGHT], read[:, ERROR], read[:, VALUE]))
        value = value / weight
        for sign in (1, -1):
            ends = []
            for least in value:
                off = weight * (1 + error * np.where(sign * value >= sign * least, 1, -1))
                ends.append(sign * (off @ value) / off.sum())
            far = max(ends) - sign * found.center[case, 0]
            assert far <= found.radius[case, 0] + found.rounding[case, 0]
            beyond = max(beyond, far - found.radius[case, 0])
    assert beyond > 1e-3


def test_weights_leave_room_for_the_exp_of_libraries():
    """All scores are exactly 0, but a weight may have an error of 4 units in the last place."""
    task = TASKS["highest first"]
    decoder = random_decoder(np.random.default_rng(8), task)
    (head,) = decoder.layers[0].heads
    head = replace(head, query=(Linear(0 * head.query[0].weight),))
    decoder = replace(decoder, layers=(replace(decoder.layers[0], heads=(head,)),))
    entries = query_at(tabulate(decoder, task, FLOAT32), 1, 0).entries
    assert (entries[..., ERROR][entries[..., WEIGHT] > 0] >= 4 * 2.0**-23).all()


def test_scores_of_which_float32_loses_terms_are_bounded():
    (task, decoder), total = lost_scores(), np.float32(2.0**24)
    for _ in range(64):
        total += np.float32(0.5)
    assert total == 2.0**24  # when summed in this order
    box = np.array([[[1, 0, 0, 0, 0]] * 2], np.int16)
    for unit, reached in ((0.0, False), (FLOAT32, True)):
        step = step_of(tabulate(decoder, task, unit), [(0, -1, 0)])
        found = bound_outputs(step, box, np.zeros(1, np.int64))
        low, high = (float((found.center + way * (found.radius + found.rounding))[0, 0]) for way in (-1, 1))
        assert low <= (np.e - 2) / (np.e + 2) <= high
        assert (low <= -1 / 3) == reached


def test_the_rounding_of_large_scores_is_in_the_weights():
    rng, task, moved, most = np.random.default_rng(8), TASKS["highest first"], 0.0, 0.0
    decoder, inputs = large_scores(rng, task), every_input(task)
    boxes = np.concatenate([inputs.reshape(len(inputs), -1), states_of(task, inputs)], 1).astype(np.int16)
    step, real = (step_of(tabulate(decoder, task, unit), groups_of(task, inputs, 1)) for unit in (FLOAT32, 0.0))
    found, exact = (bound_outputs(of, np.stack([boxes, boxes], 1), np.arange(len(inputs))) for of in (step, real))
    for _ in range(20):
        outputs, _ = shuffled_logits(decoder, task.rows(inputs)[:, : task.prompt_length + 1], rng)
        apart = np.abs(outputs.astype(np.float64) - exact.center)
        moved, most = max(moved, float((apart / (found.radius + found.rounding)).max())), max(most, float(apart.max()))
    assert most > 1e-3  # a thousand times larger than other rounding errors
    assert 0.02 < moved <= 1


def test_sums_of_values_in_float32_are_bounded_where_values_are_exact_and_nearly_equal():
    rng, task, moved = np.random.default_rng(6), TASKS["highest first"], 0.0
    decoder, inputs = equal_values(rng, task), every_input(task)
    boxes = np.concatenate([inputs.reshape(len(inputs), -1), states_of(task, inputs)], 1).astype(np.int16)
    step = step_of(tabulate(decoder, task, FLOAT32), groups_of(task, inputs, 1))
    found = bound_outputs(step, np.stack([boxes, boxes], 1), np.arange(len(inputs)))
    for _ in range(10):
        outputs, _ = shuffled_logits(decoder, task.rows(inputs)[:, : task.prompt_length + 1], rng)
        share = np.abs(outputs.astype(np.float64) - found.center) / (found.radius + found.rounding)
        moved = max(moved, float(share.max()))
    assert 0.02 < moved <= 1


def test_a_decoder_that_is_too_small_is_refused():
    rng = np.random.default_rng(1)
    decoder = random_decoder(rng, TASKS["no fixed token"])
    with pytest.raises(InputError, match="the task needs 7"):
        tabulate(decoder, TASKS["sign last"], 0.0)


def test_weights_that_are_not_finite_are_refused():
    task = TASKS["lowest first"]
    decoder = random_decoder(np.random.default_rng(1), task)
    tables = (np.where(np.arange(6) == 2, np.nan, decoder.tables[0]), decoder.tables[1])
    table = tabulate(Decoder(tables, decoder.layers, decoder.final_norm, decoder.head), task, 0.0)
    with pytest.raises(InputError, match="not finite"):
        step_of(table, steps(task)[0]).queries  # noqa: B018


@pytest.mark.parametrize("interleaved", [True, False])
def test_turns_by_large_angles_in_float32_are_bounded(interleaved):
    """At position 1,000, the rounding error of a rate changes the angle far more than sine and cosine are rounded."""
    rope, x = Rope(7.3, interleaved), np.random.default_rng(1).normal(size=(1001, 6)).astype(np.float32)
    form = constant(x.astype(np.float64), np.zeros((1001, 0)), FLOAT32)
    bound, apart = (
        _turned(rope, form, np.arange(1001)),
        np.abs(turned(rope, x[None])[0].astype(np.float64) - turned(rope, x[None].astype(np.float64))[0]),
    )
    assert (apart <= bound.deviation()).all()
    assert apart[-1].max() > 50 * 2.0**-24 * np.abs(x[-1]).max()
