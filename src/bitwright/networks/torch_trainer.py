"""Training in PyTorch, on a CPU or a CUDA device, many networks at once; members may be drawn on the device."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.bits import BoolArray, shorten
from bitwright.errors import InputError
from bitwright.networks.descent import History, Plan
from bitwright.networks.start import Float, NetworkShape
from bitwright.networks.train import Recipe
from bitwright.program import Program
from bitwright.theory.encoding.training_set import TrainingSet


def torch_module() -> Any:
    """PyTorch, or an InputError that says how to get it."""
    if find_spec("torch") is None:
        raise InputError("this needs PyTorch; install it with: pip install 'bitwright[train]'")
    import torch

    return torch


def check_device(device: str) -> Any:
    """The device of this name, if it is there."""
    torch = torch_module()
    if not isinstance(device, str) or not re.fullmatch(r"cpu|cuda(:[0-9]{1,4})?", device, re.ASCII):
        raise InputError(f"there is no device '{shorten(str(device))}'; use cpu or cuda")
    chosen = torch.device(device)
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise InputError("this machine has no CUDA device that PyTorch can use; use the device cpu")
    if chosen.type == "cuda" and (chosen.index or 0) >= (count := torch.cuda.device_count()):
        raise InputError(f"there is no device '{device}'; this machine has {count}, from cuda:0 to cuda:{count - 1}")
    return chosen


def fused_kernels(shape: NetworkShape) -> Any:
    """The module of fused kernels if Triton is here and they can train this shape, else None."""
    if find_spec("triton") is None:
        return None
    import triton

    if tuple(int(part) for part in triton.__version__.split(".")[:2]) < (3, 6):
        return None  # earlier ones lack the products in three parts
    from bitwright.networks import fused

    return fused if fused.fits(shape) else None


def descend_one(
    first: Float,
    last: Float,
    labels: Float,
    plan: Plan,
    device: str,
    inputs: Float | None = None,
    kernel: tuple[float, float] | None = None,
) -> tuple[Float, Float, History]:
    """One network, as in the NumPy trainer."""
    torch = torch_module()
    chosen = check_device(device)
    if chosen.type == "cpu":
        torch.set_num_threads(1)
    try:
        trained_first, trained_last, histories = descend_many(
            torch.from_numpy(first)[None].to(chosen),
            torch.from_numpy(last)[None].to(chosen),
            torch.from_numpy(labels).to(chosen),
            plan,
            None if inputs is None else torch.from_numpy(inputs).to(chosen),
            kernel,
        )
    except torch.OutOfMemoryError:
        raise MemoryError from None
    return trained_first[0].cpu().numpy(), trained_last[0].cpu().numpy(), histories[0]


def descend_many(
    first: Any, last: Any, labels: Any, plan: Plan, examples: Any = None, kernel: tuple[float, float] | None = None
) -> tuple[Any, Any, list[History]]:  # (N, width, K), (N, k, width), (k, P), (P, K)
    """Gradient descent for a batch of networks; each stops changing once it is within the tolerance.

    The formulas are those of the NumPy trainer, with a leading axis of networks; without `examples`, those of unit
    vectors. Weights are changed in place.
    """
    torch = torch_module()
    count, width, inputs = first.shape
    schedule = plan.schedule(NetworkShape(inputs, width, last.shape[1]), kernel)
    scale = 1 / np.sqrt(inputs * width)
    rate_last, rate_first = schedule.rate * scale, schedule.rate * schedule.first_layer * scale
    speed_first = torch.zeros_like(first) if schedule.momentum else None
    speed_last = torch.zeros_like(last) if schedule.momentum else None
    histories = [History() for _ in range(count)]
    done = torch.zeros(count, dtype=torch.bool, device=first.device)
    for step in range(schedule.most_steps + 1):
        before = first if examples is None else first @ examples.T  # (N, width, P)
        hidden = before.clamp(min=0)
        error = torch.baddbmm(labels.expand(count, -1, -1), last, hidden, beta=-1, alpha=scale)  # (N, k, P)
        losses, errors = 0.5 * error.square().sum(dim=(1, 2)), error.abs().amax(dim=(1, 2))
        for history, loss, largest, finished in zip(
            histories, losses.tolist(), errors.tolist(), done.tolist(), strict=True
        ):
            if not finished:
                history.note(loss, largest, plan.tolerance)
        done |= errors <= plan.tolerance
        if bool(done.all()):
            return first, last, histories
        if step == schedule.most_steps:
            break
        error[done] = 0  # a network that is done takes no further step
        if schedule.common:
            error.sub_(error.mean(dim=2, keepdim=True), alpha=schedule.common)
        back = torch.bmm(last.transpose(1, 2), error)
        back *= before > 0
        if examples is not None:
            back = back @ examples
        if speed_first is not None and speed_last is not None:
            torch.baddbmm(speed_last, error, hidden.transpose(1, 2), beta=schedule.momentum, out=speed_last)
            speed_first.mul_(schedule.momentum).add_(back)
            going = (~done)[:, None, None]
            if schedule.nesterov:
                newest = torch.bmm(error, hidden.transpose(1, 2))
                last.sub_(rate_last * (newest + schedule.momentum * speed_last) * going)
                first.sub_(rate_first * (back + schedule.momentum * speed_first) * going)
                continue
            last.sub_(rate_last * speed_last * going)
            first.sub_(rate_first * speed_first * going)
        else:
            torch.baddbmm(last, error, hidden.transpose(1, 2), alpha=-rate_last, out=last)
            first.sub_(back, alpha=rate_first)
    raise next(h for h, finished in zip(histories, done.tolist(), strict=True) if not finished).give_up(plan.tolerance)


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
    """Initial weights as in `start.initial_weights`, drawn on the device by a generator of the member's own.

    In NumPy the weights of a wide network take longer to draw than a device takes to train it.
    """
    shape.check(recipe.start)
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
