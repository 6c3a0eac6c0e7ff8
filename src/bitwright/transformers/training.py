"""Training of one-layer decoders on column-wise functions, until they are proved correct on every input."""

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
from bitwright.transformers.decision import Arithmetic, Decision
from bitwright.transformers.decoder import Decoder
from bitwright.transformers.layout import ColumnTask, mixture_of
from bitwright.transformers.prover import Progress, decide

AHEAD = 32  # steps drawn at once
TESTED = 4096  # inputs of the mixture on which training measures errors
SECONDS = 60.0  # time limit for a proof of a decoder that is right on all of these


@dataclass(frozen=True, kw_only=True)
class TrainingRecipe:
    """Training hyperparameters for decoders.

    Args:
        token_width, position_width: widths of the two halves of the residual stream.
        hidden: units of the MLP.
        steps: of Adam, each with a batch of inputs; the rate rises for 100 steps, then falls along a cosine to 1%.
        rounds: how often training continues for an unproved decoder.
        hopeless: training stops for a decoder that fails on a larger share of the mixture.
    """

    token_width: int = 8
    position_width: int = 8
    hidden: int = 16
    steps: int = 2500
    batch: int = 128
    rate: float = 2e-2
    rounds: int = 8
    round_steps: int = 400
    round_rate: float = 3e-3
    hopeless: float = 0.5

    def __post_init__(self) -> None:
        for name in ("token_width", "position_width", "hidden", "steps", "batch"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.position_width % 2:
            raise InputError(f"position_width must be even, got {self.position_width}")
        for name in ("rounds", "round_steps"):
            if getattr(self, name) < 0:
                raise InputError(f"{name} must be at least 0, got {getattr(self, name)}")
        for name in ("rate", "round_rate"):
            if not 0 < getattr(self, name) < 1:
                raise InputError(f"{name} must be between 0 and 1, got {getattr(self, name)}")


@dataclass(frozen=True)
class TrainedDecoder:
    """A trained decoder, and its proof results.

    Args:
        rounds: how many rounds followed the first training.
        wrong: the share of the mixture that is answered incorrectly, after the first training and each round.
    """

    seed: int
    decoder: Decoder
    decision: Decision
    rounds: int
    wrong: tuple[float, ...]


def train(
    task: ColumnTask, recipe: TrainingRecipe, *, seeds: Sequence[int], progress: Progress | None = None
) -> tuple[Decoder, ...]:
    """Trains one decoder per seed; equal seeds give equal bytes on the same linear-algebra kernel."""
    copies = _Copies(task, recipe, seeds)
    with _one_thread():
        copies.descend(recipe.steps, recipe.rate, progress)
        return tuple(copies.decoder(index) for index in range(len(seeds)))


def train_until_proved(
    task: ColumnTask,
    recipe: TrainingRecipe,
    *,
    seeds: Sequence[int],
    arithmetic: Arithmetic = "float32",
    enough: int | None = None,
    progress: Progress | None = None,
) -> tuple[TrainedDecoder, ...]:
    """Trains one decoder per seed, and continues for further rounds with those that are not proved.

    Args:
        arithmetic: the arithmetic to prove, as in `decide`.
        enough: number of proved decoders that ends the training; None for all.
        progress: called with the steps done and all steps, of the first training and of each round.
    """
    copies = _Copies(task, recipe, seeds)
    results: dict[int, TrainedDecoder] = {}
    with _one_thread():
        copies.descend(recipe.steps, recipe.rate, progress)
        for number in range(recipe.rounds + 1):
            for index, seed in enumerate(copies.seeds):
                before = results[seed].wrong if seed in results else ()
                results[seed] = _decide(task, copies.decoder(index), arithmetic, seed, before)
            latest = [results[seed] for seed in copies.seeds]
            going = [n for n, of in enumerate(latest) if not of.decision and of.wrong[-1] <= recipe.hopeless]
            proved = sum(bool(of.decision) for of in results.values())
            if not going or number == recipe.rounds or (enough is not None and proved >= enough):
                break
            copies = copies.chosen(going)
            copies.descend(recipe.round_steps, recipe.round_rate, progress)
    return tuple(results[seed] for seed in seeds)


def _decide(
    task: ColumnTask, decoder: Decoder, arithmetic: Arithmetic, seed: int, before: tuple[float, ...]
) -> TrainedDecoder:
    """The proof results of a decoder, and the share of the mixture that it answers incorrectly."""
    inputs = mixture_of(task).vary(TESTED, np.random.default_rng([seed, 2]))
    wrong = float((forced_margins(decoder, task, inputs) <= 0).any(1).mean())
    decision = decide(decoder, task, arithmetic=arithmetic, seconds=SECONDS, seed=seed)
    return TrainedDecoder(seed, decoder, decision, len(before), (*before, wrong))


class _Copies:
    """Copies of a network that are trained together."""

    def __init__(self, task: ColumnTask, recipe: TrainingRecipe, seeds: Sequence[int]) -> None:
        if find_spec("torch") is None:
            raise InputError("training needs PyTorch; install it with: pip install 'bitwright[train]'")
        from bitwright.transformers import model

        if not seeds or len(set(seeds)) < len(seeds) or min(seeds) < 0:
            raise InputError(f"seeds must be one or more distinct integers of at least 0, got {list(seeds)}")
        self.task, self.recipe, self.seeds = task, recipe, tuple(seeds)
        self.frame, self.mixture = model.frame_of(task), mixture_of(task)
        self.rngs = {seed: np.random.default_rng([seed, 1]) for seed in seeds}
        with _one_thread():
            sizes = recipe.token_width, recipe.position_width, recipe.hidden
            self.weights = model.start(task, *sizes, seeds, self.mixture.opposed())

    def decoder(self, index: int) -> Decoder:
        from bitwright.transformers import model

        return model.decoder_of(self.weights, self.frame, index)

    def chosen(self, which: Sequence[int]) -> _Copies:
        """Selects some of the copies."""
        copies = object.__new__(_Copies)
        copies.__dict__.update(self.__dict__, seeds=tuple(self.seeds[index] for index in which))
        copies.weights = {name: of.detach()[list(which)].requires_grad_() for name, of in self.weights.items()}
        return copies

    def descend(self, steps: int, rate: float, progress: Progress | None) -> None:
        """Adam on the cross entropy; gradients of each copy are clipped to length 1."""
        import torch

        from bitwright.transformers import model

        weights, parameters = self.weights, list(self.weights.values())
        adam = torch.optim.Adam(parameters, lr=rate, betas=(0.9, 0.99))
        for step in range(steps):
            if step % AHEAD == 0:
                batches = self._rows(min(AHEAD, steps - step))
            adam.param_groups[0]["lr"] = (
                rate * min(1, (step + 1) / 100) * (0.01 + 0.495 * (1 + math.cos(math.pi * step / steps)))
            )
            rows = torch.from_numpy(batches[:, step % AHEAD])  # (copies, batch, positions + 1)
            logits = model.logits_of(weights, self.frame, rows[..., :-1])
            right = rows[..., self.frame.first + 1 :]
            losses = torch.nn.functional.cross_entropy(logits.flatten(0, 2), right.flatten(), reduction="none")
            adam.zero_grad(set_to_none=True)
            losses.view(len(self.seeds), -1).mean(1).sum().backward()
            _clip([of.grad for of in parameters])
            adam.step()
            if progress and ((step + 1) % AHEAD == 0 or step + 1 == steps):
                progress(step + 1, steps)

    def _rows(self, count: int) -> Ints:
        """(copies, count, batch, tokens) prompts, right answers, and a stop token if one must follow."""
        rows, task = [], self.task
        for seed in self.seeds:
            tokens = task.rows(self.mixture.draw(count * self.recipe.batch, self.rngs[seed]))
            stops = np.full((len(tokens), min(1, len(task.layout.stop))), task.layout.stop[:1], np.int64)
            rows.append(np.concatenate([tokens, stops], axis=1))
        return np.stack(rows).reshape(len(rows), count, self.recipe.batch, -1)


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


def _clip(gradients: list[Any]) -> None:
    import torch

    square = sum((of.flatten(1) ** 2).sum(1) for of in gradients)
    factor = (1 / torch.sqrt(square)).clamp(max=1.0)
    for of in gradients:
        of.mul_(factor.view(-1, *[1] * (of.dim() - 1)))
