"""Exact ranges against every input of small tasks: the ends, the verdicts, and what is left alone."""

from dataclasses import replace

import numpy as np
import pytest

from bitwright.transformers.affine import FLOAT32
from bitwright.transformers.decoder import Decoder, Head, Layer, Linear, Mlp, Norm, Rope
from bitwright.transformers.evaluate import logits
from bitwright.transformers.ranges import applies, find_ranges, prove_ranges, tabulate_ranges
from bitwright.transformers.task_text import read_task

TEXTS = [
    "numbers a b: 2 digits base 3\nensure z == a + b\nprompt a[1..2] 0 b[1..2] 0 0\nanswer z[1..3]",
    "numbers a b: 2 digits base 3\nensure z == a + b\nprompt a[2..1] b[1..2] 3\nanswer z[3..1]",  # highest first
    "numbers a b: 2 digits base 3\nensure z == abs(a - b)\nensure n == (a < b)\nprompt a[1..2] b[1..2] 3\n"
    "answer n z[1..2]\ntokens n = 4 5\nstop 6 7",  # the sign is guessed
    "numbers a b c: 2 digits base 2\nensure z == max(a, b, c)\nprompt a[1..2] b[2..1] c[1..2] 0\nanswer z[2..1]",
    "words s: 4 symbols -1..1\nensure z[i] == 1 + (sum(s[1..i]) > 0) - (sum(s[1..i]) < 0) for i in 1..4\n"
    "prompt s[4..1]\nanswer z[1..4]",  # the first answer is written after a symbol of its own column
    "numbers a: 3 digits base 4\nensure z == 3*a\nprompt 4 a[1..3] 5\nanswer z[1..4]\nstop 6",
]
TASKS = [read_task(text + "\n") for text in TEXTS]


def random_decoder(task, seed: int, scale: float = 1.0, heads: int = 1) -> Decoder:
    """Tokens in coordinates 0 to 2, positions in 3 to 5, everything drawn."""
    rng = np.random.default_rng(seed)
    single = lambda *shape: (scale * rng.normal(size=shape)).astype(np.float32)  # noqa: E731
    tokens, positions = task.vocabulary, task.prompt_length + len(task.layout.answer) + 1
    from_positions = lambda: (Linear(np.pad(single(3, 2), ((3, 0), (0, 0)))), Linear(single(2, 2), single(2)))  # noqa: E731
    each = tuple(
        Head(
            from_positions(),
            from_positions(),
            (Linear(single(6, 3), single(3)),),
            (Linear(single(3, 1), single(1)),),
            0.7,
        )
        for _ in range(heads)
    )
    mlp = Mlp("gelu", (Linear(single(6, 5), single(5)),), (Linear(single(5, 6), single(6)),))
    layer = Layer(each, None, (Linear(single(1, 6), single(6)),), Norm("rms", 1e-5), mlp)
    tables = (
        np.pad(single(1, tokens, 3), ((0, 0), (0, 0), (0, 3))),
        np.pad(single(positions, 1, 3), ((0, 0), (0, 0), (3, 0))),
    )
    return Decoder(tables, (layer,), Norm("rms", 1e-5, single(6)), (Linear(single(6, tokens)),))


def outputs(decoder: Decoder, rows: np.ndarray, dtype: type = np.float64) -> np.ndarray:
    """(n, positions) the attention output, from the definition."""
    tokens, positions = (table.astype(dtype) for table in decoder.tables)
    x = tokens[0, rows] + positions[: rows.shape[1], 0]
    total = np.zeros(rows.shape, dtype)
    for head in decoder.layers[0].heads:
        q, k, v = ((through(chain, x)) for chain in (head.query, head.key, head.value))
        scores = np.einsum("nid,njd->nij", q, k) * dtype(head.scale)
        scores = np.where(np.tri(rows.shape[1], dtype=np.bool_), scores, dtype(-np.inf))
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        total += through(head.output, np.einsum("nij,njd->nid", weights / weights.sum(-1, keepdims=True), v))[..., 0]
    return total


def through(chain, x):
    for linear in chain:
        x = x @ linear.weight.astype(x.dtype) + (0 if linear.bias is None else linear.bias.astype(x.dtype))
    return x


def every_case(task) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All inputs; and, for each step, the tokens read last and the right ones, (n, steps)."""
    inputs = np.concatenate(list(task.every_input()))
    rows = task.rows(inputs)
    steps = len(task.layout.answer) + bool(task.layout.stop)
    last = rows[:, task.prompt_length - 1 :][:, :steps]
    right = np.full(last.shape, -1)
    right[:, : len(task.layout.answer)] = rows[:, task.prompt_length :]
    return inputs, last, right


def read_last(task, ranges) -> np.ndarray:
    """(n,) the token that is read last in each case."""
    slots = [(*task.layout.prompt, *task.layout.answer)[task.prompt_length - 1 + step] for step in ranges.step]
    symbols = zip(slots, ranges.previous, strict=True)
    return np.array([slot if isinstance(slot, int) else task.tokens(slot.word)[symbol] for slot, symbol in symbols])


def right_tokens(task, ranges) -> np.ndarray:
    """(n,) the right token in each case; -1 for a stop token."""
    answer = task.layout.answer
    right = zip(ranges.step, ranges.edges[:, 1], strict=True)
    return np.array([-1 if step == len(answer) else task.tokens(answer[step].word)[symbol] for step, symbol in right])


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("number", range(len(TASKS)))
def test_ranges_end_at_the_extremes_of_all_inputs(number, heads):
    task = TASKS[number]
    decoder = random_decoder(task, number, heads=heads)
    assert applies(decoder, task)
    ranges = find_ranges(tabulate_ranges(decoder, task, 0.0))
    inputs, last, right = every_case(task)
    values = outputs(decoder, task.rows(inputs))[:, task.prompt_length - 1 :]
    seen = set()
    for step in range(last.shape[1]):
        for pair in np.unique(np.stack([last[:, step], right[:, step]], 1), axis=0).tolist():
            group = values[(last[:, step] == pair[0]) & (right[:, step] == pair[1]), step]
            mine = (
                (ranges.step == step) & (read_last(task, ranges) == pair[0]) & (right_tokens(task, ranges) == pair[1])
            )
            assert ranges.low[mine].min() <= group.min() <= ranges.low[mine].min() + 1e-9
            assert ranges.high[mine].max() >= group.max() >= ranges.high[mine].max() - 1e-9
            seen.add((step, *pair))
    assert seen == set(
        zip(*(of.tolist() for of in (ranges.step, read_last(task, ranges), right_tokens(task, ranges))), strict=True)
    )


@pytest.mark.parametrize("number", range(len(TASKS)))
def test_inputs_of_ranges_attain_their_ends(number):
    task = TASKS[number]
    decoder = random_decoder(task, 10 + number)
    ranges = find_ranges(tabulate_ranges(decoder, task, 0.0))
    for side, ends in enumerate((ranges.high, ranges.low)):
        rows = task.rows(ranges.inputs[:, side])
        at = task.prompt_length - 1 + ranges.step
        assert np.abs(outputs(decoder, rows)[np.arange(len(rows)), at] - ends).max() < 1e-9
        assert (rows[np.arange(len(rows)), at] == read_last(task, ranges)).all()


def bare(decoder: Decoder) -> Decoder:
    """The same with heads that output their values."""
    layer = decoder.layers[0]
    heads = tuple(replace(head, value=(*head.value, *head.output), output=()) for head in layer.heads)
    return replace(decoder, layers=(replace(layer, heads=heads),))


@pytest.mark.parametrize("scale", [0.3, 1.0, 3.0])
def test_ranges_of_float32_enclose_what_float32_gives(scale):
    moved = 0
    for number, task in enumerate(TASKS):
        for decoder in (random_decoder(task, 20 + number, scale, heads=2), bare(random_decoder(task, number, scale))):
            ranges, exact = (
                find_ranges(tabulate_ranges(decoder, task, FLOAT32)),
                find_ranges(tabulate_ranges(decoder, task, 0.0)),
            )
            inputs, last, _ = every_case(task)
            values = outputs(decoder, task.rows(inputs), np.float32)[:, task.prompt_length - 1 :]
            assert values.dtype == np.float32
            for step in range(last.shape[1]):
                for token in np.unique(last[:, step]):
                    these = values[last[:, step] == token, step]
                    cases = (ranges.step == step) & (read_last(task, ranges) == token)
                    assert ranges.low[cases].min() <= these.min()
                    assert these.max() <= ranges.high[cases].max()
                    moved += these.min() < exact.low[cases].min() or these.max() > exact.high[cases].max()
    assert moved > 10  # what rounding moved out of the exact ranges


def test_ranges_of_float32_cover_scores_that_are_large_and_nearly_equal():
    """Scores near 1,000 that differ by about 1: their rounding moves the output by more than that of the sum."""
    task, moved = TASKS[0], 0.0
    for seed in range(8):
        decoder = bare(random_decoder(task, seed))
        positions = decoder.tables[1][:1] + np.float32(1e-3) * decoder.tables[1]
        head, layer = decoder.layers[0].heads[0], decoder.layers[0]
        layer = replace(layer, heads=(replace(head, scale=300.0),))
        decoder = replace(decoder, tables=(decoder.tables[0], positions), layers=(layer,))
        ranges, (inputs, last, _) = find_ranges(tabulate_ranges(decoder, task, FLOAT32)), every_case(task)
        values, exact = (outputs(decoder, task.rows(inputs), kind)[:, 6:] for kind in (np.float32, np.float64))
        moved = max(moved, np.abs(values - exact).max())
        for step in range(last.shape[1]):
            mine = ranges.step == step
            assert ranges.low[mine].min() <= values[:, step].min()
            assert values[:, step].max() <= ranges.high[mine].max()
    assert moved > 1e-5


def test_verdicts_against_every_input():
    """Of drawn decoders; with a head that prefers stop tokens, some of the claims are true."""
    verdicts = []
    for number, task in enumerate(TASKS):
        inputs, _, right_tokens = every_case(task)
        rows = task.rows(inputs)
        for seed in range(4):
            decoder = random_decoder(task, 100 + seed, 0.5)
            stop = bool(task.layout.stop) and seed % 2 == 0
            if stop:  # the stop tokens win everywhere, or nearly
                bias = np.where(np.isin(np.arange(task.vocabulary), task.layout.stop), 1.0 + seed, 0.0)
                decoder = replace(decoder, head=(replace(decoder.head[0], bias=bias.astype(np.float32)),))
            claim = prove_ranges(decoder, task, FLOAT32, stop=stop)
            values = logits(decoder, rows)[:, task.prompt_length - 1 :]
            if stop:
                allowed = np.isin(np.arange(task.vocabulary), task.layout.stop)
                margin = (values[:, -1][:, allowed].max(1) - values[:, -1][:, ~allowed].max(1)).min()
            else:
                steps = np.arange(len(task.layout.answer))
                values, right = values[:, : len(steps)], right_tokens[:, : len(steps)]
                best = np.take_along_axis(values, right[..., None], 2)[..., 0]
                np.put_along_axis(values, right[..., None], -np.inf, 2)
                margin = (best - values.max(2)).min()
            verdicts.append((stop, claim.verdict))
            if claim.verdict == "proved":
                assert 0 < claim.margin <= margin
                assert claim.inputs == len(inputs)
            if claim.verdict == "refuted":
                assert margin < 1e-5
            if margin < 0 and not stop:
                assert claim.verdict == "refuted", (number, seed)
    assert {(True, "proved"), (False, "refuted")} <= set(verdicts)


def test_only_attention_by_position_of_rank_one_is_taken():
    task = TASKS[0]
    decoder = random_decoder(task, 0)
    head, layer = decoder.layers[0].heads[0], decoder.layers[0]

    def with_head(**change):
        return replace(decoder, layers=(replace(layer, heads=(replace(head, **change),)),))

    by_token = head.key[0].weight.copy()
    by_token[0, 0] = 1e-30
    wide = (Linear(np.ones((3, 2), np.float32)),)
    assert applies(decoder, task)
    assert not applies(with_head(key=(Linear(by_token), *head.key[1:])), task)
    assert not applies(with_head(query=(Linear(by_token), *head.query[1:])), task)
    assert not applies(with_head(rope=Rope(10_000.0)), task)
    assert not applies(replace(decoder, layers=(replace(layer, attention_norm=Norm("rms", 1e-5)),)), task)
    assert not applies(replace(decoder, layers=(layer, layer)), task)
    ranked = replace(layer, heads=(replace(head, output=wide),), output=(Linear(np.ones((2, 6), np.float32)),))
    assert not applies(replace(decoder, layers=(ranked,)), task)
    assert not applies(replace(decoder, tables=(decoder.tables[0], decoder.tables[1][:6])), task)
    silent = task.columns.edges.copy()
    silent[0, -2] = -1  # no answer, where one is asked for
    assert not applies(decoder, replace(task, columns=replace(task.columns, edges=silent)))


def test_more_classes_are_taken_apart():
    """A range of a class that reaches beyond its edges is no reason to give up."""
    task = TASKS[0]
    decoder = random_decoder(task, 3)
    ranges = find_ranges(tabulate_ranges(decoder, task, 0.0))
    some = ranges[np.arange(len(ranges)) % 3 == 0]
    apart = find_ranges(tabulate_ranges(decoder, task, 0.0), apart=some)
    keys = lambda of: np.column_stack([of.step, of.previous, of.edges]).tolist()  # noqa: E731
    assert len(apart) > len(some)
    for key, low, high in zip(keys(some), some.low, some.high, strict=True):
        mine = [number for number, other in enumerate(keys(apart)) if other == key]
        assert np.isclose(apart.low[mine].min(), low, atol=1e-9)
        assert np.isclose(apart.high[mine].max(), high, atol=1e-9)
    assert {tuple(key) for key in keys(apart)} == {tuple(key) for key in keys(some)}
