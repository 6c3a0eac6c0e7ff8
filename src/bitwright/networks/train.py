"""Trains a network on a program or its executions."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np

from bitwright.common.bits import BoolArray, shorten, whole_number
from bitwright.common.errors import InputError, check_choice, option
from bitwright.common.workers.linear_algebra import kernel_name, one_thread
from bitwright.networks.descent import (
    MAX_MEMBER,
    MAX_SEED,
    MAX_WIDTH,
    STARTS,
    Float,
    History,
    NetworkShape,
    Plan,
    Progress,
    Start,
    check_device,
    initial_weights,
    torch_module,
)
from bitwright.networks.network import FloatNetwork, LearntFrom, Origin
from bitwright.rules import Program
from bitwright.theory.encoding.training_set import StateSet, TrainingSet
from bitwright.theory.predictor import MAX_EXAMPLES, kernel_ends

MOST_STEPS = 100_000  # of gradient descent; longer training is refused


@dataclass(frozen=True, eq=False)
class ExecutionSet:
    """States with their successors, and their source."""

    set: StateSet
    learnt_from: LearntFrom
    _ends: dict[float, tuple[float, float]] = field(default_factory=dict, repr=False)

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

    def spectrum(self, plan: Plan, shape: NetworkShape) -> tuple[float, float]:
        """Returns the ends of the training kernel's spectrum; raises InputError if training would take too long."""
        first = plan.first_layer(shape)
        if first not in self._ends:
            self._ends[first] = kernel_ends(self.set.inputs(), first)
        low, high = self._ends[first]
        steps = plan.expected_steps(self.set.examples, (low, high))
        if steps > MOST_STEPS and plan.most_steps is None:
            plainly = "train with momentum, or " if plan.descent == "plain" else ""
            raise InputError(
                f"the kernel of these {self.set.examples:,} examples has condition number {high / low:,.0f}, so "
                f"training would take about {steps:,} steps, more than {MOST_STEPS:,}; {plainly}use fewer states "
                "or a larger tolerance"
            )
        return low, high


def descend(
    first: Any,  # w1 (width, K)
    last: Any,  # w2 (k, width)
    labels: Any,  # Y' (k, examples)
    plan: Plan,
    inputs: Any = None,  # X (examples, K); None for unit vectors
    progress: Progress | None = None,
    kernel: tuple[float, float] | None = None,  # the ends of its spectrum if inputs are not orthonormal
) -> History:
    """Runs full-batch gradient descent on these weights, in place: NumPy arrays, or PyTorch tensors on one device."""
    schedule = plan.schedule(NetworkShape(first.shape[1], first.shape[0], last.shape[0]), kernel)
    rates, speeds = (schedule.rate * schedule.first_layer, schedule.rate), [0.0, 0.0]
    history = History()
    for step in range(schedule.most_steps + 1):
        before, hidden, error = forward(first, last, labels, inputs)
        flat = error.reshape(-1)
        loss, largest = 0.5 * float(flat @ flat), float(abs(error).max())
        if history.note(loss, largest, plan.tolerance):
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
    raise history.give_up(plan.tolerance)


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


TRAINERS = ("numpy", "torch")
PRECISIONS = ("float32", "float64")
_MAX_PADDING = 10**10


@dataclass(frozen=True)
class Recipe:
    """Everything that determines a network: with the same `kernel`, the same recipe gives the same weights.

    `train` takes a recipe or individual settings by name; `plan` contains the settings of the descent.

    >>> from bitwright import addition, train
    >>> recipe = Recipe(width=128, seed=7)
    >>> train(addition(4), recipe=recipe).digest == train(addition(4), width=128, seed=7).digest
    True
    """

    width: int
    seed: int = 0
    member: int = 0
    start: Start = "zero"
    plan: Plan = field(default_factory=Plan)
    padding: int = 0
    trainer: str = "numpy"
    device: str = "cpu"
    precision: str = "float32"  # or float64

    @property
    def library(self) -> tuple[str, str]:
        """The library and device for linear algebra."""
        return self.trainer, self.device

    @property
    def kernel(self) -> str:
        """The name of the linear algebra kernel on this machine."""
        if self.trainer == "torch":
            check_device(self.device)
        return kernel_name(self.library)

    def __post_init__(self) -> None:
        for name, least, most in (
            ("width", 1, MAX_WIDTH),
            ("seed", 0, MAX_SEED),
            ("member", 0, MAX_MEMBER),
            ("padding", 0, _MAX_PADDING),
        ):
            object.__setattr__(self, name, whole_number(getattr(self, name), f"the {name}", least, most))
        check_choice("start", self.start, STARTS)
        check_choice("trainer", self.trainer, TRAINERS)
        check_choice("precision", self.precision, PRECISIONS)
        if self.trainer == "numpy" and self.device != "cpu":
            device = shorten(str(self.device))
            raise InputError(
                f"the numpy trainer runs on the cpu, got {option('device')} {device}; use {option('trainer')} torch"
            )


def train(
    program: Program, recipe: Recipe, progress: Progress | None = None, executions: ExecutionSet | None = None
) -> tuple[FloatNetwork, History]:
    """Trains a network on the templates or on `executions`; raises TrainingError if it misses the tolerance."""
    if executions is not None and (recipe.padding or executions.set.program.id != program.id):
        raise InputError("executions must belong to the program itself, without padding")
    if executions is not None and recipe.plan.descent == "balanced":
        raise InputError("balanced steps are for training on templates, whose kernel has two eigenvalues; use momentum")
    examples = TrainingSet(program, recipe.padding)
    shape = NetworkShape(examples.examples, recipe.width, program.bits)
    try:
        first, last, history = _descend(shape, recipe, examples, executions, progress)
    except MemoryError:
        need = (
            4 * shape.width * (shape.inputs + shape.outputs) * (4 if recipe.plan.descent == "momentum" else 3) / 2**30
        )
        raise InputError(
            f"training at width {shape.width:,} with {shape.inputs:,} examples needs about {need:.1f} GiB of memory, "
            f"more than is available; use a smaller width"
        ) from None
    origin = Origin(
        program_id=program.id,
        seed=recipe.seed,
        member=recipe.member,
        start=recipe.start,
        parametrization=recipe.plan.parametrization,
        descent=recipe.plan.descent,
        tolerance=float(recipe.plan.tolerance),
        error=history.error[-1],
        steps=history.steps,
        trainer=f"{recipe.trainer} on {recipe.device}",
        kernel=recipe.kernel,
        padding=recipe.padding,
        executions=None if executions is None else executions.learnt_from,
    )
    return FloatNetwork(first, last, origin), history


def _descend(
    shape: NetworkShape,
    recipe: Recipe,
    templates: TrainingSet,
    executions: ExecutionSet | None,
    progress: Progress | None,
) -> tuple[Float, Float, History]:
    dtype = np.float64 if recipe.precision == "float64" else np.float32
    first, last = initial_weights(shape, recipe.start, recipe.seed, recipe.member, dtype)
    inputs: Float | None = None
    kernel: tuple[float, float] | None = None
    if executions is None:
        labels = templates.labels().toarray().T.astype(dtype)
    else:
        labels = np.ascontiguousarray(executions.set.labels().T, dtype=dtype)
        inputs, kernel = executions.set.inputs().astype(dtype), executions.spectrum(recipe.plan, shape)
    if recipe.trainer == "numpy":
        with one_thread():
            return first, last, descend(first, last, labels, recipe.plan, inputs, progress, kernel)
    torch, device = torch_module(), check_device(recipe.device)
    if device.type == "cpu":
        torch.set_num_threads(1)
    try:
        one, two, wanted = (torch.from_numpy(layer).to(device) for layer in (first, last, labels))
        examples = None if inputs is None else torch.from_numpy(inputs).to(device)
        history = descend(one, two, wanted, recipe.plan, examples, progress, kernel)
    except torch.OutOfMemoryError:
        raise MemoryError from None
    return one.cpu().numpy(), two.cpu().numpy(), history
