"""Small tasks and decoders for tests: every input can be tried, and some decoders are right on all of them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bitwright.transformers.columns import Columns, from_step
from bitwright.transformers.decoder import Chain, Decoder, Head, Layer, Linear, Mlp, Norm, Rope
from bitwright.transformers.layout import ColumnTask, Place, PromptLayout


def addition(length: int, base: int) -> Columns:
    """The sum of two numbers, in as many columns as it has digits."""
    return from_step("z == a + b", {"a": base, "b": base}, lambda c, d: divmod(sum(d) + c, base), length=length + 1)


def compared(length: int, base: int) -> Columns:
    """a - b modulo a power of the base, and whether it is negative; a state is the borrow."""

    def step(borrow: int, symbols: tuple[int, ...]) -> tuple[int, int]:
        after, digit = divmod(symbols[0] - symbols[1] - borrow, base)
        return -after, digit

    words = {"a": base, "b": base}
    return from_step("z == a - b", words, step, length=length, flags={"sign": lambda borrow: borrow})


def digits(numbers: Sequence[int], base: int, length: int) -> np.ndarray:
    """(n, length) digits of numbers, lowest first."""
    return np.array([[number // base**column % base for column in range(length)] for number in numbers], np.int64)


def parity(length: int) -> Columns:
    """The parities of the first symbols of a word, and a flag that says whether all are set."""
    return from_step(
        "z == parity(a)",
        {"a": 2},
        lambda state, bit: ((state[0] ^ bit[0], state[1] & bit[0]), state[0] ^ bit[0]),
        length=length,
        start=(0, 1),
        flags={"all": lambda state: state[1]},
    )


def prompt(length: int, plus: int) -> tuple[int | Place, ...]:
    """a, lowest digit first, a fixed token, b, and another fixed token."""
    a, b = ([Place(word, column) for column in range(length)] for word in "ab")
    return (*a, plus, *b, plus + 1)


def answer(columns: range) -> tuple[Place, ...]:
    return tuple(Place("z", column) for column in columns)


TASKS = {
    "lowest first": ColumnTask(addition(2, 3), PromptLayout(prompt(2, 3), answer(range(3)))),
    "highest first": ColumnTask(addition(2, 3), PromptLayout(prompt(2, 3), answer(range(2, -1, -1)), stop=(3, 5))),
    "sign first": ColumnTask(
        compared(2, 3), PromptLayout(prompt(2, 3), (Place("sign"), *answer(range(2))), {"sign": (5, 6)})
    ),
    "sign last": ColumnTask(
        compared(2, 3), PromptLayout(prompt(2, 3), (*answer(range(2)), Place("sign")), {"sign": (6, 5)}, (4,))
    ),
    "no fixed token": ColumnTask(
        parity(5),
        PromptLayout(tuple(Place("a", c) for c in range(5)), (*answer(range(5)), Place("all")), {"z": (2, 3)}),
    ),
}


def every_input(task: ColumnTask) -> np.ndarray:
    return np.concatenate(list(task.every_input()))


def states_of(task: ColumnTask, inputs: np.ndarray) -> np.ndarray:
    """(n, length + 1) the states that the run of each input goes through."""
    columns, found = task.columns, []
    for symbols in inputs:
        run = [0]
        for column in range(columns.length):
            taken = (columns.edges[:, 1:-2] == symbols[:, column]).all(1) & (columns.edges[:, 0] == run[-1])
            run.append(int(columns.edges[taken][0, -1]))
        found.append(run)
    return np.array(found)


def groups_of(task: ColumnTask, inputs: np.ndarray, step: int) -> list[tuple[int, int, int]]:
    """The group of each input at a step."""
    places = [task.layout.prompt[-1], *task.layout.answer, 0]
    answers, flags = task.columns.run(inputs)

    def symbols(place):
        if isinstance(place, int):
            return np.full(len(inputs), -1)
        if place.word in task.columns.words:
            return inputs[:, task.columns.words.index(place.word), place.column]
        return flags[place.word] if place.column < 0 else answers[:, place.column]

    return [(step, int(q), int(y)) for q, y in zip(symbols(places[step]), symbols(places[step + 1]), strict=True)]


def random_decoder(rng: np.random.Generator, task: ColumnTask, **options: Any) -> Decoder:
    """A decoder of one layer with random weights.

    Args:
        options: heads, rank, norm, rope, normed (queries and keys), activation, gate, biases, sharp (scale of scores).
    """
    with_ = {"heads": 1, "rank": 0, "norm": "rms", "rope": None, "normed": False, "activation": "gelu", "gate": False}
    with_ |= {"biases": False, "sharp": 1.0, "hidden": 24} | options
    tokens, length, width, inner = task.vocabulary + 1, task.prompt_length + len(task.layout.answer), 6, 4

    def draw(*shape: int, scale: float = 1.0) -> np.ndarray:
        return (rng.normal(size=shape) * scale / np.sqrt(shape[-2] if len(shape) > 1 else 1)).astype(np.float32)

    def linear(rows: int, columns: int, scale: float = 1.0) -> Chain:
        return (Linear(draw(rows, columns, scale=scale), draw(columns, scale=0.3) if with_["biases"] else None),)

    def norm(size: int) -> Norm:
        return Norm(with_["norm"], 1e-5, (1 + draw(size, scale=0.2)).astype(np.float32))

    rank, inner_norm = with_["rank"] or width, norm(inner) if with_["normed"] else None
    heads = tuple(
        Head(
            *(linear(width, inner, scale) for scale in (with_["sharp"], 1.0, 1.0)),
            linear(inner, rank),
            inner**-0.5,
            inner_norm,
            inner_norm,
            with_["rope"],
        )
        for _ in range(with_["heads"])
    )
    mlp = Mlp(
        with_["activation"],
        linear(width, with_["hidden"], 2.0),
        linear(with_["hidden"], width),
        linear(width, with_["hidden"]) if with_["gate"] else None,
    )
    layer = Layer(heads, norm(width), linear(rank, width, 2.0) if with_["rank"] else (), norm(width), mlp)
    tables = draw(1, tokens, width, scale=2.0), draw(length, 1, width)
    return Decoder(tables, (layer,), norm(width), linear(width, tokens))


def copy(length: int) -> ColumnTask:
    """Two words of three symbols, copied backwards one after the other; then the last symbol of b as a flag; a stop."""
    columns = from_step(
        "z == b",
        {"a": 3, "b": 3},
        lambda _, symbols: (symbols[1], symbols[1]),
        length=length,
        flags={"last": lambda state: state},
    )
    words = (*(Place("a", c) for c in range(length)), 3, *(Place("b", c) for c in range(length)))
    return ColumnTask(columns, PromptLayout(words, (*answer(range(length - 1, -1, -1)), Place("last")), stop=(3, 4)))


def copier(rng: np.random.Generator, task: ColumnTask, sharp: float, **options: Any) -> Decoder:
    """A decoder that attends to what it copies, the sharper the surer, in the midst of random weights.

    The residual stream is the position, the token, what attention copies, and four random coordinates.
    """
    places, slots = task.layout.answer, list(task.layout.prompt)
    length = len(slots) + len(places)
    tokens, width = task.vocabulary, length + 2 * task.vocabulary + 4
    last = task.columns.length - 1
    sources = [slots.index(Place("b", last if place.column < 0 else place.column)) for place in places]
    base = random_decoder(rng, task, **options)
    at, token, copied = (slice(b, b + n) for b, n in ((0, length), (length, tokens), (length + tokens, tokens)))
    position, embedding = np.zeros((length, 1, width)), np.zeros((1, tokens, width))
    position[:, 0, at], embedding[0, :, token] = np.eye(length), np.eye(tokens)
    position[..., -4:], embedding[..., -4:] = rng.normal(size=(length, 1, 4)), rng.normal(size=(1, tokens, 4))
    query, value = rng.normal(0, 0.05, (width, length)), np.zeros((width, tokens))
    for step, source in enumerate([*sources, slots.index(3)]):
        query[len(slots) - 1 + step, source] += sharp
    key, value[token] = np.eye(width, length), np.eye(tokens)
    heads = tuple(
        Head(
            *((Linear(weight.astype(np.float32)),) for weight in (query, key, value)),
            (Linear((np.eye(tokens, width, copied.start) * share).astype(np.float32)),),
            1.0,
        )
        for share in ((1.0,), (0.4, 0.6))[options.get("heads", 1) - 1]
    )
    hidden = 5
    mlp = Mlp(
        base.layers[0].mlp.activation,
        (Linear(rng.normal(0, 0.3, (width, hidden)).astype(np.float32)),),
        (Linear(rng.normal(0, 0.02, (hidden, width)).astype(np.float32)),),
    )
    head = np.zeros((width, tokens))
    head[copied] = np.eye(tokens) * 10
    norm = Norm(base.final_norm.kind, 1e-5)
    tables = position.astype(np.float32), embedding.astype(np.float32)
    return Decoder(tables, (Layer(heads, None, (), norm, mlp),), norm, (Linear(head.astype(np.float32)),))


def bit_copier(sharp: float, length: int = 4) -> tuple[ColumnTask, Decoder]:
    """Bits copied backwards by attention that depends on positions alone, and outputs one number."""
    columns = from_step("z == a", {"a": 2}, lambda _, bit: (0, bit[0]), length=length)
    task = ColumnTask(
        columns, PromptLayout(tuple(Place("a", c) for c in range(length)), answer(range(length - 1, -1, -1)))
    )
    positions, width = 2 * length, 2 * length + 2
    position, token = np.zeros((positions, 1, width)), np.zeros((1, 2, width))
    position[:, 0, :positions] = np.eye(positions)
    token[0, :, -2] = -1, 1
    query = np.zeros((width, positions))
    for step in range(length):
        query[length - 1 + step, length - 1 - step] = sharp
    value, out = np.zeros((width, 1)), np.zeros((1, width))
    value[-2], out[0, -1] = 1, 1
    head = np.zeros((width, 2))
    head[-1] = -1, 1
    linear = lambda weight: (Linear(weight.astype(np.float32)),)  # noqa: E731
    heads = (Head(linear(query), linear(np.eye(width, positions)), linear(value), linear(out[:, -1:]), 1.0),)
    layer = Layer(heads, None, linear(out))
    return task, Decoder((position.astype(np.float32), token.astype(np.float32)), (layer,), None, linear(head))


ROPE = Rope(10.0)


def large_scores(rng: np.random.Generator, task: ColumnTask) -> Decoder:
    """Queries, keys and values are exact, and scores near 10^5 differ by little: only their own rounding counts."""
    decoder = random_decoder(rng, task, rank=2)
    value = Linear(np.array([[0, 0]] * 5 + [[1, -2]], np.float32))
    head = replace(decoder.layers[0].heads[0], query=(), key=(), value=(value,), output=())
    shape = task.prompt_length + len(task.layout.answer), *decoder.shape[1:]
    table = (256 + rng.normal(size=shape) / 256).astype(np.float32)
    table[..., 5] = rng.integers(-8, 9, shape[:2]) / 8
    return replace(decoder, tables=(table,), layers=(replace(decoder.layers[0], heads=(head,), attention_norm=None),))


def equal_values(rng: np.random.Generator, task: ColumnTask) -> Decoder:
    """Exact values that are nearly equal: neither they nor the weights leave room for the rounding of their mean."""
    decoder = random_decoder(rng, task)
    shape = task.prompt_length + len(task.layout.answer), *decoder.shape[1:]
    head = replace(decoder.layers[0].heads[0], value=(), output=())
    layer = replace(decoder.layers[0], heads=(head,), attention_norm=None)
    return replace(decoder, tables=((1 + 1e-4 * rng.normal(size=shape)).astype(np.float32),), layers=(layer,))


def lost_scores() -> tuple[ColumnTask, Decoder]:
    """Copies of bits by scores of 2^24 and 2^24 + 32, from 32 times 1/2 twice: float32 may lose every 1/2.

    With a prompt (1, 0, fixed) attention outputs e / (e + 2) - 2 / (e + 2) = 0.152, or -1/3 where it does.
    """
    columns = from_step("z == 0", {"a": 2}, lambda *_: (0, 0), length=2)
    task = ColumnTask(columns, PromptLayout((Place("a", 0), Place("a", 1), 2), answer(range(1))))
    table = np.zeros((1, 3, 66), np.float32)
    table[0, :, 0], table[0, 1, 1:65], table[0, :, 65] = 2.0**12, 0.5, (-1, 1, -1)
    query = Linear(np.zeros((66, 66), np.float32), np.array([2.0**12, *[1] * 64, 0], np.float32))
    value, nothing = np.zeros((66, 1), np.float32), Linear(np.zeros((1, 66), np.float32))
    value[65] = 1
    layer = Layer((Head((query,), (), (Linear(value),), (), 2.0**-5),), None, (nothing,))
    return task, Decoder((table,), (layer,), None, (Linear(np.zeros((66, 3), np.float32)),))
