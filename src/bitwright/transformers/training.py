"""Trains one-layer decoders on column-wise functions until they are proved correct on every input.

All copies, each with its own seed, are trained at once in PyTorch. The residual stream is [token | position]. One head
computes scores from positions, values from tokens, and an output of rank 1; RMS norms precede the MLP and the head.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from bitwright.common.errors import InputError
from bitwright.common.workers.linear_algebra import one_thread
from bitwright.transformers.columns import Ints
from bitwright.transformers.counterexamples import forced_margins
from bitwright.transformers.decision import Decision
from bitwright.transformers.decoder import Decoder, Head, Layer, Linear, Mlp, Norm
from bitwright.transformers.layout import ColumnTask, Mixture, Place
from bitwright.transformers.prover import Progress, decide

Tensors = dict[str, Any]  # PyTorch tensors; the first axis is the copies

AHEAD = 32  # steps whose inputs are drawn at once
TESTED = 4096  # inputs of the mixture for measuring errors
SECONDS = 60.0  # time limit of a proof
ROUNDS, ROUND_STEPS, ROUND_RATE = 8, 400, 3e-3  # further training of unproved decoders
EPS = 1e-5
HOPELESS = 0.5  # training stops for a decoder with a larger share of wrong answers


@dataclass(frozen=True, kw_only=True)
class TrainingRecipe:
    """Training hyperparameters for decoders.

    Args:
        token_width, position_width: widths of the two halves of the residual stream.
        hidden: number of hidden units of the MLP.
        steps: number of Adam steps, each on a batch of inputs.
        rate: learning rate after a warm-up of 100 steps; it then falls along a cosine to 1%.
    """

    token_width: int = 8
    position_width: int = 8
    hidden: int = 16
    steps: int = 2500
    batch: int = 128
    rate: float = 2e-2

    def __post_init__(self) -> None:
        for name in ("token_width", "position_width", "hidden", "steps", "batch"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.position_width % 2:
            raise InputError(f"position_width must be even, got {self.position_width}")
        if not 0 < self.rate < 1:
            raise InputError(f"rate must be between 0 and 1, got {self.rate}")


@dataclass(frozen=True)
class TrainedDecoder:
    """A trained decoder and the decision about it.

    Args:
        rounds: number of rounds after the first training.
        wrong: the share of wrong answers on the mixture, after the first training and after each round.
    """

    seed: int
    decoder: Decoder
    decision: Decision
    rounds: int
    wrong: tuple[float, ...]


def train_until_proved(
    task: ColumnTask,
    recipe: TrainingRecipe,
    *,
    seeds: Sequence[int],
    enough: int | None = None,
    progress: Progress | None = None,
) -> tuple[TrainedDecoder, ...]:
    """Trains one decoder for each seed, with further rounds for decoders that are not proved.

    Equal seeds give equal weights with the same linear-algebra kernel.

    Args:
        enough: training ends after this number of proved decoders; by default, after all of them.
        progress: called with the completed steps and the total, for the first training and for each round.
    """
    if find_spec("torch") is None:
        raise InputError("training needs PyTorch; install it with: pip install 'bitwright[train]'")
    if not seeds or len(set(seeds)) < len(seeds) or min(seeds) < 0:
        raise InputError(f"seeds must be one or more distinct integers of at least 0, got {list(seeds)}")
    mixture, frame = Mixture(task), frame_of(task)
    rngs = {seed: np.random.default_rng([seed, 1]) for seed in seeds}
    results: dict[int, TrainedDecoder] = {}
    with _one_thread():
        sizes = recipe.token_width, recipe.position_width, recipe.hidden
        weights, left = start(task, *sizes, seeds, mixture.opposed()), list(seeds)
        for number in range(ROUNDS + 1):
            steps, rate = (ROUND_STEPS, ROUND_RATE) if number else (recipe.steps, recipe.rate)
            batches = _batches(task, mixture, [rngs[seed] for seed in left], steps, recipe.batch)
            _descend(weights, frame, batches, steps, rate, progress)
            for index, seed in enumerate(left):
                before = results[seed].wrong if seed in results else ()
                results[seed] = _decide(task, decoder_of(weights, frame, index), seed, before)
            going = [
                index
                for index, seed in enumerate(left)
                if not results[seed].decision and results[seed].wrong[-1] <= HOPELESS
            ]
            proved = sum(bool(of.decision) for of in results.values())
            if not going or (enough is not None and proved >= enough):
                break
            weights = {name: of.detach()[going].requires_grad_() for name, of in weights.items()}
            left = [left[index] for index in going]
    return tuple(results[seed] for seed in seeds)


def _decide(task: ColumnTask, decoder: Decoder, seed: int, before: tuple[float, ...]) -> TrainedDecoder:
    """Decides a decoder, and measures its share of wrong answers on the mixture."""
    inputs = Mixture(task).draw(TESTED, np.random.default_rng([seed, 2]))
    wrong = float((forced_margins(decoder, task, inputs) <= 0).any(1).mean())
    decision = decide(decoder, task, seconds=SECONDS, seed=seed)
    return TrainedDecoder(seed, decoder, decision, len(before), (*before, wrong))


def _batches(
    task: ColumnTask, mixture: Mixture, rngs: Sequence[np.random.Generator], steps: int, batch: int
) -> Iterator[Ints]:
    """Yields (copies, batch, tokens) for each step: prompts, right answers, and the first stop token if any."""
    for begin in range(0, steps, AHEAD):
        count, rows = min(AHEAD, steps - begin), []
        for rng in rngs:
            tokens = task.rows(mixture.draw(count * batch, rng))
            stops = np.full((len(tokens), min(1, len(task.layout.stop))), task.layout.stop[:1], np.int64)
            rows.append(np.concatenate([tokens, stops], axis=1))
        yield from np.stack(rows).reshape(len(rows), count, batch, -1).swapaxes(0, 1)


def _descend(
    weights: Tensors,
    frame: Frame,
    batches: Iterator[Ints],
    steps: int,
    rate: float,
    progress: Progress | None,
) -> None:
    """Minimizes the cross entropy with Adam; the gradients of each copy are clipped to length 1."""
    import torch

    adam = torch.optim.Adam([*weights.values()], lr=rate, betas=(0.9, 0.99))
    for step, batch in enumerate(batches):
        falling = 0.01 + 0.495 * (1 + math.cos(math.pi * step / steps))
        adam.param_groups[0]["lr"] = rate * min(1, (step + 1) / 100) * falling
        rows = torch.from_numpy(batch)  # (copies, batch, positions + 1)
        logits = logits_of(weights, frame, rows[..., :-1])
        right = rows[..., frame.first + 1 :]
        losses = torch.nn.functional.cross_entropy(logits.flatten(0, 2), right.flatten(), reduction="none")
        adam.zero_grad(set_to_none=True)
        losses.view(len(batch), -1).mean(1).sum().backward()
        gradients = [of.grad for of in weights.values()]
        square = sum((of.flatten(1) ** 2).sum(1) for of in gradients)
        factor = (1 / torch.sqrt(square)).clamp(max=1.0)
        for of in gradients:
            of.mul_(factor.view(-1, *[1] * (of.dim() - 1)))
        adam.step()
        if progress and ((step + 1) % AHEAD == 0 or step + 1 == steps):
            progress(step + 1, steps)


@contextmanager
def _one_thread() -> Iterator[None]:
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with one_thread():
            yield
    finally:
        torch.set_num_threads(threads)


# ---- the decoder in PyTorch


@dataclass(frozen=True)
class Frame:
    """The columns and words of a task's positions; a position's vector is the sum of one for each of the two.

    Args:
        column, word: (positions,) the last prompt position and the answers belong to the answer, in the column to be
        written next; fixed tokens belong to the column after the preceding word.
        first: the position after which the first answer is written.
        steps: number of tokens to write.
    """

    column: Ints
    word: Ints
    first: int
    steps: int


def frame_of(task: ColumnTask) -> Frame:
    """Returns the frame of a task."""
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
    """Returns initial weights: waves over the symbols and the columns, plus noise.

    Args:
        opposed: for each word, whether the waves over its symbols are reversed.
    """
    import torch

    each = [_start_one(task, token_width, position_width, hidden, seed, opposed) for seed in seeds]
    return {name: torch.stack([one[name] for one in each]).requires_grad_() for name in each[0]}


def _start_one(
    task: ColumnTask, token_width: int, position_width: int, hidden: int, seed: int, opposed: Sequence[bool]
) -> Tensors:
    import torch

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
    value[0] += 1.0  # with the longest wave, values increase with the symbols
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
    """Returns (copies, n, steps, logits) for tokens (copies, n, positions)."""
    import torch

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
    import torch

    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + EPS)


def decoder_of(weights: Tensors, frame: Frame, copy: int) -> Decoder:
    """Returns one copy as a decoder."""
    w = {name: value.detach()[copy].numpy().astype(np.float32) for name, value in weights.items()}
    position = _positions(weights, frame).detach()[copy].numpy().astype(np.float32)
    width, half = w["token"].shape[1], position.shape[1]

    def beside(weight: Any, above: int, below: int) -> Linear:  # zeros for the other half of the residual stream
        return Linear(np.pad(weight, ((above, below), (0, 0))))

    head = Head(
        (beside(w["query"], width, 0),), (beside(w["key"], width, 0),), (beside(w["value"], 0, half),), (), half**-0.5
    )
    norm = Norm("rms", EPS)
    mlp = Mlp("gelu", (Linear(w["up"], w["up_bias"]),), (Linear(w["down"], w["down_bias"]),))
    tables = np.pad(w["token"], ((0, 0), (0, half)))[None], np.pad(position, ((0, 1), (width, 0)))[:, None]
    return Decoder(tables, (Layer((head,), None, (Linear(w["output"]),), norm, mlp),), norm, (Linear(w["head"]),))
