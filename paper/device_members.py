"""Members of ensembles, drawn, trained and evaluated on a CUDA device, in batches that fit its memory."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray
from bitwright.common.errors import InputError
from bitwright.networks.descent import History, NetworkShape, check_device, torch_module
from bitwright.rules import Program
from bitwright.theory.encoding.training_set import TrainingSet
from paper.descent import descend_many
from paper.training import Plan, Recipe, check_shape


def fused_kernels(shape: NetworkShape) -> Any:
    """The module of fused kernels if Triton is here and they can train this shape, else None."""
    if find_spec("triton") is None:
        return None
    import triton

    if tuple(int(part) for part in triton.__version__.split(".")[:2]) < (3, 6):
        return None  # earlier ones lack the products in three parts
    from paper import fused

    return fused if fused.fits(shape) else None


def outputs_on_device(
    program: Program, recipe: Recipe, members: Sequence[int], states: BoolArray
) -> NDArray[np.float32]:  # (members, states, k)
    """Trains these members and returns their outputs at the states, in batches that fit the memory."""
    torch = torch_module()
    device = check_device(recipe.device)
    if recipe.precision != "float32":
        raise InputError(f"ensembles on a device are trained in float32, not in {recipe.precision}")
    examples = TrainingSet(program, recipe.padding)
    shape = NetworkShape(examples.examples, recipe.width, program.bits)
    labels = torch.tensor(examples.labels().toarray().T, dtype=torch.float32, device=device)
    encoded = torch.tensor(examples.encode(states), dtype=torch.float32, device=device)
    outputs = np.empty((len(members), len(states), program.bits), dtype=np.float32)
    batch, at = _batch(torch, shape, recipe.plan, len(states), len(members)), 0
    while at < len(members):
        try:
            first, last, _ = train_members(shape, recipe, members[at : at + batch], labels)
            outputs[at : at + batch] = _evaluate(torch, first, last, encoded).cpu().numpy()
            at += batch
        except torch.cuda.OutOfMemoryError:
            if batch == 1:
                free = torch.cuda.mem_get_info(device)[0] / 2**30
                raise InputError(
                    f"a network of width {recipe.width:,} and {shape.inputs:,} examples does not fit the "
                    f"{free:.1f} GiB free on {recipe.device}; use a smaller width"
                ) from None
            batch = max(1, batch // 2)
            torch.cuda.empty_cache()
    return outputs


def train_members(
    shape: NetworkShape, recipe: Recipe, members: Sequence[int], labels: Any
) -> tuple[Any, Any, list[History]]:  # (N, width, K), (N, k, width)
    """Trains a batch of members on the device of `labels`, by fused kernels if possible."""
    fused = fused_kernels(shape)
    if fused is not None:
        trained: tuple[Any, Any, list[History]] = fused.train_drawn(
            shape, recipe.start, recipe.seed, members, labels, recipe.plan
        )
        return trained
    torch = torch_module()
    drawn = [draw(torch, labels.device, shape, recipe, member) for member in members]
    first, last = (torch.stack(layer) for layer in zip(*drawn, strict=True))
    del drawn
    return descend_many(first, last, labels, recipe.plan)


def draw(
    torch: Any, device: Any, shape: NetworkShape, recipe: Recipe, member: int
) -> tuple[Any, Any]:  # (width, K), (k, width)
    """Initial weights as in `paper.training.initial_weights`, drawn on the device by a generator of the member's own.

    In NumPy the weights of a wide network take longer to draw than a device takes to train it.
    """
    check_shape(shape, recipe.start)
    sequence = np.random.SeedSequence(recipe.seed, spawn_key=(member,))
    generator = torch.Generator(device).manual_seed(int(sequence.generate_state(1, np.uint64)[0] >> np.uint64(1)))
    draws = shape.width // 2 if recipe.start == "zero" else shape.width
    first = torch.randn((draws, shape.inputs), generator=generator, device=device)
    last = torch.randn((shape.outputs, draws), generator=generator, device=device)
    if recipe.start == "random":
        return first, last
    return torch.cat((first, first)), torch.cat((last, -last), dim=1)


def _batch(torch: Any, shape: NetworkShape, plan: Plan, states: int, most: int) -> int:
    """How many networks are likely to fit: weights, gradients, speeds, and the hidden layer at the states."""
    copies = 6 if plan.descent == "momentum" else 4
    each = 4 * shape.width * (copies * 2 * max(shape.inputs, shape.outputs, 16) + min(states, _ROWS))
    free = torch.cuda.mem_get_info()[0]
    return int(max(1, min(most, 0.8 * free // each)))


_ROWS = 4_096  # states looked at together


def _evaluate(torch: Any, first: Any, last: Any, encoded: Any) -> Any:  # (N, states, k)
    """F(x) network by network, so that no sum depends on the batch."""
    scale = 1 / np.sqrt(first.shape[1] * first.shape[2])
    with torch.inference_mode():
        return torch.stack(
            [
                torch.cat([(rows @ w1.T).relu_() @ w2.T for rows in encoded.split(_ROWS)]) * scale
                for w1, w2 in zip(first, last, strict=True)
            ]
        )
