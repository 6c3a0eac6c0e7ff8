"""The decoder for training, in PyTorch: several copies at once, each with its own seed; importing it requires torch.

One layer. The residual stream is [token | position]; one head, with scores from positions, values from tokens and an
output of rank 1; RMS norms before the MLP and before the head.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from bitwright.transformers.columns import Ints
from bitwright.transformers.decoder import Decoder, Head, Layer, Linear, Mlp, Norm
from bitwright.transformers.layout import ColumnTask, Place

EPS = 1e-5
Tensors = dict[str, Any]  # of torch, each with a first axis for the copies


@dataclass(frozen=True)
class Frame:
    """The structure of a task's positions: the vector of each is the sum of one for its column and one for its word.

    Args:
        column, word: (positions,) the last prompt position and the answers count as places of the answer, in the
        column to be written next; fixed tokens belong to the column after the preceding word.
        first: the position after which the first answer is written.
        steps: number of tokens to write.
    """

    column: Ints
    word: Ints
    first: int
    steps: int


def frame_of(task: ColumnTask) -> Frame:
    """The frame of a task."""
    words, length, layout = task.columns.words, task.columns.length, task.layout
    lengths = (task.positions >= 0).sum(1).tolist()
    places: list[tuple[int, int]] = []
    for slot in layout.prompt[:-1]:
        if isinstance(slot, Place):
            places.append((slot.column, words.index(slot.word)))
        else:
            word = places[-1][1] if places else 0
            places.append((min(lengths[word], length), word))
    ends = [length] if layout.stop else []
    writes = [*(place.column if place.column >= 0 else length for place in layout.answer), *ends]
    places += [(column, len(words)) for column in writes]
    column, word = np.array(places, np.int64).T
    return Frame(column, word, task.prompt_length - 1, len(writes))


def start(
    task: ColumnTask, token_width: int, position_width: int, hidden: int, seeds: Sequence[int], opposed: Sequence[bool]
) -> Tensors:
    """Initial weights: waves over the symbols and over the columns, plus noise.

    Args:
        opposed: the words whose symbols start in the opposite order.
    """
    each = [_start_one(task, token_width, position_width, hidden, seed, opposed) for seed in seeds]
    return {name: torch.stack([one[name] for one in each]).requires_grad_() for name in each[0]}


def _start_one(
    task: ColumnTask, token_width: int, position_width: int, hidden: int, seed: int, opposed: Sequence[bool]
) -> Tensors:
    generator = torch.Generator().manual_seed(seed)

    def noise(*shape: int, size: float) -> Any:
        return torch.randn(*shape, generator=generator) * size

    columns, width = task.columns, token_width + position_width
    wave, most = torch.arange(1.0, token_width + 1), max(columns.symbols)
    tokens, shift = noise(task.vocabulary, token_width, size=0.1), noise(most, token_width, size=0.1)
    for name, count, back in reversed([*zip(columns.words, columns.symbols, opposed, strict=True)]):
        symbols = (torch.arange(float(count)) + 0.5) / count
        begin = (math.pi * wave * symbols[:, None]).cos() * 1.4 / wave**0.5 + shift[:count]
        tokens[list(task.tokens(name))[:count]] = begin.flip(0) if back else begin
    value = noise(token_width, 1, size=0.3 * token_width**-0.5)
    value[0] += 1.0  # the longest wave: values rise with the symbols
    turn = math.pi * (2 * torch.arange(position_width // 2) + 1) / columns.length
    turn = turn * torch.arange(columns.length + 1.0)[:, None]
    return {
        "token": tokens,
        "column": torch.cat([turn.cos(), turn.sin()], 1) * 1.4 + noise(columns.length + 1, position_width, size=0.05),
        "word": noise(len(columns.words) + 1, position_width, size=0.3),
        "query": torch.eye(position_width) + noise(position_width, position_width, size=0.1),
        "key": torch.eye(position_width) + noise(position_width, position_width, size=0.1),
        "value": value,
        "output": noise(1, width, size=1.0),
        "up": noise(width, hidden, size=width**-0.5),
        "up_bias": noise(hidden, size=0.5),
        "down": noise(hidden, width, size=hidden**-0.5),
        "down_bias": torch.zeros(width),
        "head": noise(width, task.vocabulary, size=width**-0.5),
    }


def logits_of(weights: Tensors, frame: Frame, rows: Any) -> Any:
    """(copies, n, steps, logits) of rows (copies, n, positions) of tokens."""
    copies, n, _ = rows.shape
    positions = _positions(weights, frame)  # (copies, positions, width)
    queries = positions[:, frame.first :]
    scores = (queries @ weights["query"]) @ (positions @ weights["key"]).transpose(1, 2) * positions.shape[-1] ** -0.5
    later = torch.arange(len(frame.column))[None] > torch.arange(frame.first, len(frame.column))[:, None]
    attention = scores.masked_fill(later, -torch.inf).softmax(-1)  # (copies, steps, positions)
    copy = torch.arange(copies)[:, None, None]
    mixed = (weights["token"] @ weights["value"])[..., 0][copy, rows] @ attention.transpose(1, 2)
    read = weights["token"][copy, rows[:, :, frame.first :]]
    x = (
        torch.cat([read, queries[:, None].expand(copies, n, -1, -1)], -1)
        + mixed[..., None] * weights["output"][:, None]
    )
    x = x.reshape(copies, n * frame.steps, -1)
    up = torch.baddbmm(weights["up_bias"][:, None], _normed(x), weights["up"])
    x = x + torch.baddbmm(weights["down_bias"][:, None], torch.nn.functional.gelu(up), weights["down"])
    return (_normed(x) @ weights["head"]).reshape(copies, n, frame.steps, -1)


def _positions(weights: Tensors, frame: Frame) -> Any:
    return weights["column"][:, frame.column] + weights["word"][:, frame.word]


def _normed(x: Any) -> Any:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + EPS)


def decoder_of(weights: Tensors, frame: Frame, copy: int) -> Decoder:
    """One copy as a value."""
    w = {name: of.detach()[copy].numpy().astype(np.float32) for name, of in weights.items()}
    position = _positions(weights, frame).detach()[copy].numpy().astype(np.float32)
    width, half = w["token"].shape[1], position.shape[1]

    def beside(weight: Any, above: int, below: int) -> Linear:  # rows of zeros for the other half of the stream
        return Linear(np.pad(weight, ((above, below), (0, 0))))

    head = Head(
        (beside(w["query"], width, 0),), (beside(w["key"], width, 0),), (beside(w["value"], 0, half),), (), half**-0.5
    )
    norm = Norm("rms", EPS)
    mlp = Mlp("gelu", (Linear(w["up"], w["up_bias"]),), (Linear(w["down"], w["down_bias"]),))
    tables = np.pad(w["token"], ((0, 0), (0, half)))[None], np.pad(position, ((0, 1), (width, 0)))[:, None]
    return Decoder(tables, (Layer((head,), None, (Linear(w["output"]),), norm, mlp),), norm, (Linear(w["head"]),))
