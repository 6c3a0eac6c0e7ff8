"""Training in NumPy: the embedded default, and the oracle of the PyTorch trainer."""

from __future__ import annotations

import numpy as np

from bitwright.learning.descent import History, Plan
from bitwright.learning.start import Float, Shape


def descend(
    first: Float,  # w1 (width, K)
    last: Float,  # w2 (k, width)
    labels: Float,  # Y' (k, K)
    plan: Plan,
    inputs: Float | None = None,  # X (K, K), orthonormal rows; None for unit vectors
) -> tuple[Float, Float, History]:
    """Full-batch gradient descent from these weights; gives the trained ones and the history.

    With unit vectors for inputs the hidden layer at the examples is relu(w1)/sqrt(K), and no product with X is needed.
    With s = 1/sqrt(K width):  E = s w2 relu(w1) - Y,  dw2 = s E relu(w1)',  dw1 = s (w2' E) [w1 > 0].
    """
    shape = Shape(first.shape[1], first.shape[0], last.shape[0])
    schedule = plan.schedule(shape)
    dtype = first.dtype.type
    scale = dtype(1 / np.sqrt(shape.inputs * shape.width))
    rate_last = dtype(schedule.rate) * scale
    rate_first = dtype(schedule.rate * schedule.first_layer) * scale
    first, last = first.copy(), last.copy()
    speed_first, speed_last = np.zeros_like(first), np.zeros_like(last)
    keep = dtype(schedule.keep)
    history = History()
    for step in range(schedule.most_steps + 1):
        before = first if inputs is None else first @ inputs.T
        hidden = np.maximum(before, 0)
        error = (last @ hidden) * scale - labels  # (k, K)
        loss = 0.5 * float(np.vdot(error, error))
        if history.note(loss, float(np.abs(error).max()), plan.tolerance):
            return first, last, history
        if step == schedule.most_steps:
            break
        back = last.T @ error  # (width, K), before the step
        back *= before > 0
        if inputs is not None:
            back = back @ inputs
        if schedule.keep:
            speed_last *= keep
            speed_last += error @ hidden.T
            last -= rate_last * speed_last
            speed_first *= keep
            speed_first += back
            first -= rate_first * speed_first
        else:
            last -= rate_last * (error @ hidden.T)
            back *= rate_first
            first -= back
    raise history.give_up(plan.tolerance)
