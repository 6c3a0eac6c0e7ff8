"""Gradient descent on templates in PyTorch, many networks at once, on a CPU or a CUDA device."""

from __future__ import annotations

from typing import Any

import numpy as np

from bitwright.networks.descent import History, NetworkShape, torch_module
from paper.training import Plan


def descend_many(
    first: Any, last: Any, labels: Any, plan: Plan
) -> tuple[Any, Any, list[History]]:  # (N, width, K), (N, k, width), (k, K)
    """Gradient descent for a batch of networks; each stops changing once it is within the tolerance.

    The formulas are those of `bitwright.networks.train.descend`, with a leading axis of networks. Weights are changed
    in place.
    """
    torch = torch_module()
    count, width, inputs = first.shape
    schedule = plan.schedule(NetworkShape(inputs, width, last.shape[1]))
    scale = 1 / np.sqrt(inputs * width)
    rate_last, rate_first = schedule.rate * scale, schedule.rate * schedule.first_layer * scale
    speed_first = torch.zeros_like(first) if schedule.momentum else None
    speed_last = torch.zeros_like(last) if schedule.momentum else None
    histories = [History() for _ in range(count)]
    done = torch.zeros(count, dtype=torch.bool, device=first.device)
    for step in range(schedule.most_steps + 1):
        hidden = first.clamp(min=0)
        error = torch.baddbmm(labels.expand(count, -1, -1), last, hidden, beta=-1, alpha=scale)  # (N, k, K)
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
        back *= first > 0
        if speed_first is not None and speed_last is not None:
            torch.baddbmm(speed_last, error, hidden.transpose(1, 2), beta=schedule.momentum, out=speed_last)
            speed_first.mul_(schedule.momentum).add_(back)
            going = (~done)[:, None, None]
            last.sub_(rate_last * speed_last * going)
            first.sub_(rate_first * speed_first * going)
        else:
            torch.baddbmm(last, error, hidden.transpose(1, 2), alpha=-rate_last, out=last)
            first.sub_(back, alpha=rate_first)
    raise next(h for h, finished in zip(histories, done.tolist(), strict=True) if not finished).give_up(plan.tolerance)
