"""Random tasks, decoders that are nearly right or nearly wrong on them, and an evaluation of our own in PyTorch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from decoders import compared
from torch.nn import functional as F  # noqa: N812

from bitwright.transformers.columns import Columns, from_step
from bitwright.transformers.decoder import Chain, Decoder, Head, Layer, Linear, Mlp, Norm, Rope
from bitwright.transformers.layout import ColumnTask, Place, PromptLayout

ACTIVATIONS = {
    "relu": torch.relu,
    "silu": F.silu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
}


class Evaluation:
    """A decoder in PyTorch; with a seed, every sum is in random order, term by term.

    After a call `heads` is what the heads of the last layer add up to at every position.
    """

    heads: torch.Tensor

    def __init__(self, decoder: Decoder, dtype: torch.dtype, seed: int | None = None) -> None:
        self.decoder, self.dtype = decoder, dtype
        self.order = None if seed is None else torch.Generator().manual_seed(seed)

    def tensor(self, array: Any) -> torch.Tensor:
        return torch.as_tensor(np.array(array)).to(self.dtype)

    def total(self, parts: list[torch.Tensor]) -> torch.Tensor:
        order = range(len(parts)) if self.order is None else torch.randperm(len(parts), generator=self.order).tolist()
        parts = [parts[i] for i in order]
        found = parts[0]
        for part in parts[1:]:
            found = found + part
        return found

    def product(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if self.order is None:
            return x @ y
        return self.total([x[..., i, None] * y[..., i, None, :] for i in range(x.shape[-1])])

    def chain(self, chain: Chain, x: torch.Tensor) -> torch.Tensor:
        for linear in chain:
            x = self.product(x, self.tensor(linear.weight))
            x = x if linear.bias is None else x + self.tensor(linear.bias)
        return x

    def mean(self, x: torch.Tensor) -> torch.Tensor:
        return self.total(list(x[..., None].unbind(-2))) / x.shape[-1]

    def norm(self, norm: Norm | None, x: torch.Tensor) -> torch.Tensor:
        if norm is None:
            return x
        x = x - self.mean(x) if norm.kind == "layer" else x
        square = self.mean(x * x) + self.tensor(norm.eps)
        halves = self.order is not None and torch.randint(2, (), generator=self.order)
        x = x * torch.rsqrt(square) if halves else x / square.sqrt()
        x = x if norm.weight is None else x * self.tensor(norm.weight)
        return x if norm.bias is None else x + self.tensor(norm.bias)

    def turn(self, rope: Rope | None, x: torch.Tensor) -> torch.Tensor:
        if rope is None:
            return x
        length, width = x.shape[-2:]
        rates = 1 / self.tensor(rope.base) ** (torch.arange(0, width, 2, dtype=self.dtype) / width)
        angles = torch.arange(length, dtype=self.dtype)[:, None] * rates
        u, v = (x[..., ::2], x[..., 1::2]) if rope.interleaved else x.chunk(2, -1)
        parts = u * angles.cos() - v * angles.sin(), u * angles.sin() + v * angles.cos()
        return torch.stack(parts, -1).flatten(-2) if rope.interleaved else torch.cat(parts, -1)

    def __call__(self, rows: np.ndarray) -> torch.Tensor:
        at, tables = torch.as_tensor(rows), [self.tensor(table) for table in self.decoder.tables]
        places = torch.arange(rows.shape[1]).expand(rows.shape)
        x = self.total([t[places * (t.shape[0] > 1), at * (t.shape[1] > 1)] for t in tables])
        for layer in self.decoder.layers:
            h, heads = self.norm(layer.attention_norm, x), []
            for head in layer.heads:
                q = self.turn(head.rope, self.norm(head.query_norm, self.chain(head.query, h)))
                k = self.turn(head.rope, self.norm(head.key_norm, self.chain(head.key, h)))
                scores = self.product(q, k.transpose(-1, -2)) * self.tensor(head.scale)
                scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -torch.inf)
                weights = (scores - scores.amax(-1, keepdim=True)).exp()
                share = weights / self.total(list(weights[..., None].unbind(-2)))
                heads.append(self.chain(head.output, self.product(share, self.chain(head.value, h))))
            if heads:
                self.heads = self.total(heads)
                x = x + self.chain(layer.output, self.heads)
            if (mlp := layer.mlp) is not None:
                h = self.norm(layer.mlp_norm, x)
                up = self.chain(mlp.up, h)
                bent = ACTIVATIONS[mlp.activation](up if mlp.gate is None else self.chain(mlp.gate, h))
                x = x + self.chain(mlp.down, bent if mlp.gate is None else bent * up)
        return self.chain(self.decoder.head, self.norm(self.decoder.final_norm, x))


def shuffled_logits(decoder: Decoder, tokens: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The sum of the heads and the logits at the last token in float32, every sum in a random order."""
    evaluation = Evaluation(decoder, torch.float32, int(rng.integers(1 << 30)))
    logits = evaluation(tokens)
    return evaluation.heads[:, -1].numpy(), logits[:, -1].numpy()


def margins_of(evaluation: Evaluation, task: ColumnTask, inputs: np.ndarray) -> np.ndarray:
    """(n, steps) margins of the right token, NaN where a logit is."""
    rows, first, answers = task.rows(inputs), task.prompt_length, len(task.layout.answer)
    values = evaluation(rows if task.layout.stop else rows[:, :-1])[:, first - 1 :].double().numpy()
    right = np.zeros(values.shape, np.bool_)
    np.put_along_axis(right[:, :answers], rows[:, first:, None], True, 2)
    right[:, answers:, list(task.layout.stop)] = True
    with np.errstate(invalid="ignore"):
        found = np.where(right, values, -np.inf).max(2) - np.where(right, -np.inf, values).max(2)
    return np.where(np.isnan(values).any(2), np.nan, found)


# ---- random tasks


def random_columns(rng: np.random.Generator) -> Columns:
    """A random automaton, or a difference with its sign."""
    length = int(rng.integers(1, 4))
    if rng.random() < 0.2:
        return compared(min(length, 2), 2)
    words = {name: int(rng.integers(1, 4)) for name in "ab"[: rng.integers(1, 3)]}
    sizes, states, answers = list(words.values()), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    table = rng.integers(0, states, (states, *sizes)), rng.integers(0, answers, (states, *sizes))
    return from_step(
        "z",
        words,
        lambda state, read: (int(table[0][(state, *read)]), int(table[1][(state, *read)])),
        length=length,
        flags={"f": lambda state: state % 2} if rng.random() < 0.5 else {},
    )


def random_task(rng: np.random.Generator) -> ColumnTask:
    """Places in any order, some of them missing; tokens that are shared by words, answers and stops."""
    columns = random_columns(rng)
    places = [Place(word, column) for word in columns.words for column in range(columns.length)]
    slots: list[Any] = [place for place in places if rng.random() < 0.9] or places[:1]
    slots += [int(token) for token in rng.integers(0, 5, rng.integers(0, 3))]
    answers = [Place(columns.answer, column) for column in range(columns.length)]
    answers = [place for place in answers if rng.random() < 0.8] or answers[:1]
    answers += [Place(name) for name in columns.flags]
    for some in (slots, answers):
        rng.shuffle(some)
    tokens = {}
    for name in (*columns.words, *columns.outputs):
        if rng.random() < 0.5:
            tokens[name] = tuple(int(token) for token in rng.permutation(5)[:4])
    stop = tuple(int(token) for token in rng.integers(0, 6, rng.integers(0, 3)))
    return ColumnTask(columns, PromptLayout(tuple(slots), tuple(answers), tokens, stop))


# ---- random decoders


def random_network(rng: np.random.Generator, task: ColumnTask) -> Decoder:
    """Any architecture of one layer; its head gives the residual stream."""
    width, inner, hidden = 12, 4, 24
    tokens, length = task.vocabulary + int(rng.integers(0, 3)), task.prompt_length + len(task.layout.answer) + 1

    def draw(*shape: int, size: float = 1.0) -> np.ndarray:
        return (rng.normal(size=shape) * size / np.sqrt(shape[-2] if len(shape) > 1 else 1)).astype(np.float32)

    biases, kind, positional = rng.random() < 0.5, rng.choice(["rms", "layer", ""]), rng.random() < 0.3

    def linear(rows: int, columns: int, size: float = 1.0) -> Chain:
        return (Linear(draw(rows, columns, size=size), draw(columns, size=0.3) if biases else None),)

    def norm(size: int) -> Norm | None:
        weight, bias = 1 + draw(size, size=0.2), draw(size, size=0.2) if biases else None
        return Norm(kind, float(rng.choice([0.0, 1e-12, 1e-5])), weight, bias) if kind else None

    def look(size: float) -> Chain:
        (found,) = linear(width, inner, size)
        weight = found.weight * (np.arange(width) < 6)[:, None] if positional else found.weight
        return (replace(found, weight=weight.astype(np.float32)),)

    heads, sharp = int(rng.integers(1, 3)), float(rng.choice([0.0, 1.0, 3.0, 30.0]))
    rank = 1 if positional or rng.random() < 0.3 else int(rng.integers(2, 4))
    turn = None if positional else rng.choice([None, Rope(10.0), Rope(1e-3, True), Rope(1e6)])
    inner_norm = norm(inner) if rng.random() < 0.3 else None
    each = tuple(
        Head(look(sharp), look(1.0), linear(width, inner), linear(inner, rank), 0.5, inner_norm, inner_norm, turn)
        for _ in range(heads)
    )
    mlp = None
    if rng.random() < 0.8:
        gate = linear(width, hidden) if rng.random() < 0.3 else None
        mlp = Mlp(str(rng.choice([*ACTIVATIONS])), linear(width, hidden, 2.0), linear(hidden, width), gate)  # type: ignore[arg-type]
    of_tokens, of_positions = draw(1, tokens, width, size=2.0), draw(length, 1, width, size=2.0)
    if positional:
        of_tokens[..., :6] = 0
    tables = (of_tokens, of_positions) if rng.random() < 0.8 else (of_tokens + of_positions,)
    if rng.random() < 0.2:
        tables = (*tables, draw(1, 1, width))
    layer = Layer(each, None if positional else norm(width), linear(rank, width, 2.0), norm(width), mlp)
    return Decoder(tables, (layer,), norm(width), (Linear(np.eye(width, dtype=np.float32)),))


def nearly(rng: np.random.Generator, network: Decoder, task: ColumnTask, inputs: np.ndarray) -> Decoder:
    """The network with a head that is fitted to the task, and then spoiled until the smallest margin is about 0."""
    rows, steps = task.rows(inputs), len(task.layout.answer) + bool(task.layout.stop)
    features = Evaluation(network, torch.float64)(rows)[:, task.prompt_length - 1 :][:, :steps].numpy()
    wanted = np.zeros((*features.shape[:2], network.shape[1]))
    right = rows[:, task.prompt_length :]
    np.put_along_axis(wanted[:, : right.shape[1]], right[..., None], 1, 2)
    wanted[:, right.shape[1] :, list(task.layout.stop)] = 1
    flat = np.concatenate([features.reshape(-1, features.shape[2]), np.ones((features.shape[0] * steps, 1))], 1)
    if not np.isfinite(flat).all():
        flat = np.nan_to_num(flat, posinf=0, neginf=0)
    best = np.linalg.lstsq(flat, wanted.reshape(len(flat), -1), rcond=1e-6)[0] * 10
    noise = rng.normal(size=best.shape)

    def headed(share: float) -> Decoder:
        weight = (best + share * noise).astype(np.float32)
        return replace(network, head=(Linear(weight[:-1], weight[-1]),))

    low, high = 0.0, 1.0
    for _ in range(18):
        middle = (low + high) / 2
        good = margins_of(Evaluation(headed(middle), torch.float64), task, inputs).min() > 0
        low, high = (middle, high) if good else (low, middle)
    return headed(low * float(rng.choice([0.0, 0.5, 0.9, 0.999, 1.0, 1.001, 1.1])))
