"""Training in PyTorch, on a CPU or a CUDA device, many networks at once."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Any

import numpy as np

from bitwright.bits import shorten
from bitwright.errors import InputError
from bitwright.networks.descent import Float, History, NetworkShape, Plan


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
