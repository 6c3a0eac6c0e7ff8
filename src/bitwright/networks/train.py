"""Trains a network on a program or its executions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from numbers import Real
from typing import Any

import numpy as np

from bitwright.common.bits import BoolArray, shorten, whole_number
from bitwright.common.errors import InputError
from bitwright.common.workers.linear_algebra import kernel_name, one_thread
from bitwright.networks.descent import (
    MAX_SEED,
    MAX_WIDTH,
    Float,
    History,
    NetworkShape,
    Progress,
    Schedule,
    balanced_schedule,
    check_device,
    expected_steps,
    initial_weights,
    nesterov_schedule,
    torch_module,
)
from bitwright.networks.network import FloatNetwork, LearntFrom, Origin
from bitwright.rules import Program
from bitwright.theory.encoding.training_set import StateSet, TrainingSet
from bitwright.theory.kernels import MAX_EXAMPLES, kernel_ends

MOST_STEPS = 100_000  # of gradient descent; longer training is refused


@dataclass(frozen=True, eq=False)
class ExecutionSet:
    """States with their successors, and their source."""

    set: StateSet
    learnt_from: LearntFrom

    def __post_init__(self) -> None:
        if self.set.examples > MAX_EXAMPLES:
            raise InputError(
                f"{self.set.examples:,} distinct states exceed the limit of {MAX_EXAMPLES:,} for a dense kernel; "
                "use fewer"
            )

    @property
    def sample(self) -> tuple[BoolArray, BoolArray]:  # (states, K), (states, k)
        """The matches of the states and the bits to check, for quantization."""
        return self.set.matched, np.ones(self.set.following.shape, dtype=bool)

    @cached_property
    def kernel(self) -> tuple[float, float]:
        """The extremes of the training kernel's spectrum."""
        return kernel_ends(self.set.inputs())

    def steps(self, tolerance: float) -> int:
        """Estimates the number of steps of training; raises InputError if it would take too long."""
        (low, high), steps = self.kernel, expected_steps(tolerance, self.kernel)
        if steps > MOST_STEPS:
            raise InputError(
                f"the kernel of these {self.set.examples:,} examples has condition number {high / low:,.0f}, so "
                f"training would take about {steps:,} steps, more than {MOST_STEPS:,}; use fewer states or a larger "
                "tolerance"
            )
        return steps


def descend(
    first: Any,  # w1 (width, K)
    last: Any,  # w2 (k, width)
    labels: Any,  # Y' (k, examples)
    schedule: Schedule,
    tolerance: float,
    inputs: Any = None,  # X (examples, K); None for unit vectors
    progress: Progress | None = None,
) -> History:
    """Runs full-batch gradient descent on these weights, in place, until every output is within `tolerance`.

    The weights are NumPy arrays, or PyTorch tensors on one device.
    """
    rates, speeds = (schedule.rate * schedule.first_layer, schedule.rate), [0.0, 0.0]
    history = History()
    for step in range(schedule.most_steps + 1):
        before, hidden, error = forward(first, last, labels, inputs)
        flat = error.reshape(-1)
        loss, largest = 0.5 * float(flat @ flat), float(abs(error).max())
        if history.note(loss, largest, tolerance):
            return history
        if progress:
            progress(step, largest)
        if step == schedule.most_steps:
            break
        if schedule.common:
            error -= schedule.common * error.mean(axis=1, keepdims=True)
        backs = backward(last, before, hidden, error, inputs)
        for number, (layer, rate, back) in enumerate(zip((first, last), rates, backs, strict=True)):
            if schedule.momentum:
                speeds[number] *= schedule.momentum
                speeds[number] += back
                back = back + schedule.momentum * speeds[number] if schedule.nesterov else speeds[number]
            layer -= rate * back
    raise history.give_up(tolerance)


def forward(first: Any, last: Any, labels: Any, inputs: Any) -> tuple[Any, Any, Any]:
    """Returns w1 x for every example, its relu, and the error E = s w2 relu(w1 x) - Y with s = 1/sqrt(K width).

    For unit vectors w1 x is w1 itself, so no product with X is needed.
    """
    before = first if inputs is None else first @ inputs.T
    hidden = before.clip(min=0)
    error = last @ hidden
    error *= _scale(last, hidden, inputs)
    error -= labels
    return before, hidden, error


def backward(last: Any, before: Any, hidden: Any, error: Any, inputs: Any) -> tuple[Any, Any]:
    """Returns the gradients of 1/2 sum E^2: for w1 s (w2' E)[w1 x > 0] x', for w2 s E relu(w1 x)'."""
    scaled = error * _scale(last, hidden, inputs)
    back = last.T @ scaled
    back *= before > 0
    return back if inputs is None else back @ inputs, scaled @ hidden.T


def _scale(last: Any, hidden: Any, inputs: Any) -> float:
    return 1 / sqrt(last.shape[1] * (hidden if inputs is None else inputs).shape[1])


_MAX_PADDING = 10**10


@dataclass(frozen=True)
class Recipe:
    """Everything that determines a network: with the same `kernel`, the same recipe gives the same weights."""

    width: int
    seed: int = 0
    padding: int = 0
    tolerance: float = 1e-3
    device: str = "cpu"

    @property
    def trainer(self) -> str:
        """The library for linear algebra: PyTorch on a GPU."""
        return "numpy" if self.device == "cpu" else "torch"

    @property
    def kernel(self) -> str:
        """The name of the linear algebra kernel on this machine."""
        return kernel_name((self.trainer, self.device))

    def __post_init__(self) -> None:
        for name, least, most in (("width", 1, MAX_WIDTH), ("seed", 0, MAX_SEED), ("padding", 0, _MAX_PADDING)):
            object.__setattr__(self, name, whole_number(getattr(self, name), f"the {name}", least, most))
        if not (isinstance(self.tolerance, Real) and 0 < self.tolerance < 0.5):
            raise InputError(f"the tolerance must be between 0 and 0.5, got {shorten(repr(self.tolerance))}")


def train(
    program: Program, recipe: Recipe, progress: Progress | None = None, executions: ExecutionSet | None = None
) -> tuple[FloatNetwork, History]:
    """Trains a network on the templates or on `executions`; raises TrainingError if it misses the tolerance."""
    if executions is not None and (recipe.padding or executions.set.program.id != program.id):
        raise InputError("executions must belong to the program itself, without padding")
    if recipe.device != "cpu":
        check_device(recipe.device)
    examples = TrainingSet(program, recipe.padding)
    shape = NetworkShape(examples.examples, recipe.width, program.bits)
    try:
        first, last = initial_weights(shape, recipe.seed)
        if executions is None:
            labels, inputs = examples.labels().toarray().T.astype(np.float32), None
            schedule = balanced_schedule(shape)
        else:
            executions.steps(recipe.tolerance)  # refuses training that would take too long
            labels = np.ascontiguousarray(executions.set.labels().T, dtype=np.float32)
            inputs, schedule = executions.set.inputs().astype(np.float32), nesterov_schedule(*executions.kernel)
        if recipe.device == "cpu":
            with one_thread():
                history = descend(first, last, labels, schedule, recipe.tolerance, inputs, progress)
        else:
            first, last, history = _descend_on_device(first, last, labels, schedule, recipe, inputs, progress)
    except MemoryError:
        need = 4 * shape.width * (shape.inputs + shape.outputs) * (3 if executions is None else 4) / 2**30
        raise InputError(
            f"training at width {shape.width:,} with {shape.inputs:,} examples needs about {need:.1f} GiB of memory, "
            f"more than is available; use a smaller width"
        ) from None
    origin = Origin(
        program_id=program.id,
        seed=recipe.seed,
        descent="balanced" if executions is None else "momentum",
        tolerance=float(recipe.tolerance),
        error=history.error[-1],
        steps=history.steps,
        trainer=f"{recipe.trainer} on {recipe.device}",
        kernel=recipe.kernel,
        padding=recipe.padding,
        executions=None if executions is None else executions.learnt_from,
    )
    return FloatNetwork(first, last, origin), history


def _descend_on_device(
    first: Float,
    last: Float,
    labels: Float,
    schedule: Schedule,
    recipe: Recipe,
    inputs: Float | None,
    progress: Progress | None,
) -> tuple[Float, Float, History]:
    """Runs gradient descent in PyTorch."""
    torch, device = torch_module(), check_device(recipe.device)
    try:
        one, two, wanted = (torch.from_numpy(layer).to(device) for layer in (first, last, labels))
        examples = None if inputs is None else torch.from_numpy(inputs).to(device)
        history = descend(one, two, wanted, schedule, recipe.tolerance, examples, progress)
    except torch.OutOfMemoryError:
        raise MemoryError from None
    return one.cpu().numpy(), two.cpu().numpy(), history
