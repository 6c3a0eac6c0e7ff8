"""Training in NumPy: the embedded default, and the oracle of the PyTorch trainer."""

from __future__ import annotations

import numpy as np

from bitwright.networks.descent import History, Plan, Progress
from bitwright.networks.start import Float, NetworkShape


def descend(
    first: Float,  # w1 (width, K)
    last: Float,  # w2 (k, width)
    labels: Float,  # Y' (k, examples)
    plan: Plan,
    inputs: Float | None = None,  # X (examples, K); None for unit vectors
    progress: Progress | None = None,
    kernel: tuple[float, float] | None = None,  # the ends of its spectrum where inputs are not orthonormal
) -> tuple[Float, Float, History]:
    """Full-batch gradient descent from these weights; gives the trained ones and the history."""
    schedule = plan.schedule(NetworkShape(first.shape[1], first.shape[0], last.shape[0]), kernel)
    dtype = first.dtype.type
    rate_last, rate_first = dtype(schedule.rate), dtype(schedule.rate * schedule.first_layer)
    momentum = dtype(schedule.momentum)
    first, last = first.copy(), last.copy()
    speed_first, speed_last = np.zeros_like(first), np.zeros_like(last)
    history = History()
    for step in range(schedule.most_steps + 1):
        before, hidden, error = forward(first, last, labels, inputs)
        loss = 0.5 * float(np.vdot(error, error))
        if history.note(loss, float(np.abs(error).max()), plan.tolerance):
            return first, last, history
        if progress:
            progress(step, float(np.abs(error).max()))
        if step == schedule.most_steps:
            break
        if schedule.common:
            error -= dtype(schedule.common) * error.mean(axis=1, keepdims=True)
        back_first, back_last = backward(last, before, hidden, error, inputs)
        if schedule.momentum:
            speed_first *= momentum
            speed_last *= momentum
            speed_first += back_first
            speed_last += back_last
            if schedule.nesterov:
                back_first += momentum * speed_first
                back_last += momentum * speed_last
            else:
                back_first, back_last = speed_first, speed_last
        first -= rate_first * back_first
        last -= rate_last * back_last
    raise history.give_up(plan.tolerance)


def forward(first: Float, last: Float, labels: Float, inputs: Float | None) -> tuple[Float, Float, Float]:
    """w1 x for every example, its relu, and the error E = s w2 relu(w1 x) - Y with s = 1/sqrt(K width).

    With unit vectors for inputs w1 x is w1 itself, and no product with X is needed.
    """
    before = first if inputs is None else first @ inputs.T
    hidden = np.maximum(before, 0)
    error = last @ hidden
    error *= _scale(last, hidden, inputs)
    error -= labels
    return before, hidden, error


def backward(last: Float, before: Float, hidden: Float, error: Float, inputs: Float | None) -> tuple[Float, Float]:
    """The gradients of 1/2 sum E^2: for w1 s (w2' E)[w1 x > 0] x', for w2 s E relu(w1 x)'."""
    scaled = error * _scale(last, hidden, inputs)
    back = last.T @ scaled
    back *= before > 0
    return back if inputs is None else back @ inputs, scaled @ hidden.T


def _scale(last: Float, hidden: Float, inputs: Float | None) -> np.floating:
    K = hidden.shape[1] if inputs is None else inputs.shape[1]
    return hidden.dtype.type(1 / np.sqrt(last.shape[1] * K))
