"""Training with every setting that the experiments compare: starts, descents, parametrizations, members, precisions.

The product trains with one of each (`bitwright.networks.train`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import log, sqrt
from numbers import Real
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import shorten, whole_number
from bitwright.common.errors import InputError, check_choice
from bitwright.common.frozen import frozen
from bitwright.common.workers.linear_algebra import one_thread
from bitwright.networks import FloatNetwork, History
from bitwright.networks import Recipe as PlainRecipe
from bitwright.networks.descent import CAUTION, Float, NetworkShape, Schedule, check_device, torch_module
from bitwright.networks.network import Descent, Origin
from bitwright.networks.train import ExecutionSet
from bitwright.networks.train import descend as descend_weights
from bitwright.rules import Program
from bitwright.theory.closed_form import spectrum
from bitwright.theory.encoding.training_set import TrainingSet

Start = Literal["zero", "random"]
Parametrization = Literal["ntk", "standard"]
STARTS: tuple[Start, ...] = ("zero", "random")
PARAMETRIZATIONS: tuple[Parametrization, ...] = ("ntk", "standard")
DESCENTS = get_args(Descent)
_FASTEST, _MOST_STEPS = 1e9, 10**12
_FEW = 4


def check_shape(shape: NetworkShape, start: Start) -> None:
    """Raises InputError for an odd width with a zero-output start."""
    if start == "zero" and shape.width % 2:
        raise InputError(f"a zero-output start pairs hidden units, so the width must be even, got {shape.width:,}")


def initial_weights(
    shape: NetworkShape, start: Start, seed: int, member: int = 0, dtype: type[np.floating] = np.float32
) -> tuple[Float, Float]:  # (width, K), (k, width)
    """Standard normal w1 and w2 of one member of an ensemble (Section 3).

    random: as in the paper. zero: hidden units come in pairs, w1 = [u; u], w2 = [v, -v], so that the network starts as
    the zero function and the limit has no variance.
    """
    check_shape(shape, start)
    rng = np.random.default_rng(np.random.SeedSequence(entropy=seed, spawn_key=(member,)))
    draws = shape.width // 2 if start == "zero" else shape.width
    first = rng.standard_normal((draws, shape.inputs), dtype=np.float32).astype(dtype, copy=False)
    last = rng.standard_normal((shape.outputs, draws), dtype=np.float32).astype(dtype, copy=False)
    if start == "random":
        return first, last
    return np.concatenate((first, first)), np.concatenate((last, -last), axis=1)


@dataclass(frozen=True)
class Plan:
    """How to train: full-batch gradient descent on 1/2 sum (F - Y)^2 until every output is within `tolerance`.

    The paper's theorem covers `plain` descent. `momentum` (heavy ball) reaches the same point in far fewer steps, and
    `balanced` steps, the default, in fewer still. The kernel of templates has two eigenvalues: one for the mean of
    an output over all examples, one for deviations from it. A balanced step reduces each part of the error at a
    separate rate, which removes all of it in the limit. `rate` and `most_steps` follow from the spectrum unless given.
    """

    tolerance: float = 1e-3
    descent: Descent = "balanced"
    parametrization: Parametrization = "ntk"
    rate: float | None = None
    most_steps: int | None = None

    def __post_init__(self) -> None:
        check_choice("parametrization", self.parametrization, PARAMETRIZATIONS)
        check_choice("descent", self.descent, DESCENTS)
        if not (isinstance(self.tolerance, Real) and 0 < self.tolerance < 0.5):
            raise InputError(f"the tolerance must be between 0 and 0.5, got {shorten(repr(self.tolerance))}")
        if self.rate is not None and not (isinstance(self.rate, Real) and 0 < self.rate <= _FASTEST):
            raise InputError(f"the rate must be above 0 and at most {_FASTEST:g}, got {shorten(repr(self.rate))}")
        if self.most_steps is not None:
            whole_number(self.most_steps, "the number of steps", 1, _MOST_STEPS)

    def expected_steps(self, examples: int, kernel: tuple[float, float] | None = None) -> int:
        """Estimates the number of steps from the rate at which the slowest error shrinks.

        `kernel` gives the ends of the train kernel's spectrum if the examples are not templates.
        """
        if self.descent == "balanced":
            return max(2, round(log(1 / self.tolerance) / 2))
        heavy = self.descent == "momentum"
        if kernel is not None and heavy:
            return max(1, round(1.2 * log(1 / self.tolerance) * sqrt(kernel[1] / kernel[0])))
        low, high = spectrum(examples) if kernel is None else kernel
        root = sqrt(high / low) if heavy else high / low
        return max(1, round(1.2 * log(1 / self.tolerance) * (root + 1) / 2))

    def first_layer(self, shape: NetworkShape) -> float:
        """The first layer's share of the step size."""
        return 1.0 if self.parametrization == "ntk" else shape.inputs / shape.width

    def schedule(self, shape: NetworkShape, kernel: tuple[float, float] | None = None) -> Schedule:
        """Returns the constants of the descent for a network of this shape, on templates or for this spectrum."""
        first = self.first_layer(shape)
        low, high = kernel or tuple(
            last + first * (both - last)
            for both, last in zip(spectrum(shape.inputs), spectrum(shape.inputs, "last-layer"), strict=True)
        )
        if self.descent == "balanced":
            return self._balanced(low, high, first, shape)
        if self.descent == "momentum" and kernel is not None:
            return self._steady(low, high, first)
        if self.descent == "momentum":
            rate = (2 / (sqrt(high) + sqrt(low))) ** 2
            momentum = ((sqrt(high) - sqrt(low)) / (sqrt(high) + sqrt(low))) ** 2
            needed = sqrt(high / low)
        else:
            rate, momentum, needed = 2 / (high + low), 0.0, high / low
        most = self.most_steps if self.most_steps is not None else int(200 + 60 * needed)
        return Schedule(self.rate if self.rate is not None else CAUTION * rate, most, momentum, first)

    def _balanced(self, low: float, high: float, first: float, shape: NetworkShape) -> Schedule:
        """Returns a step that allows for the spread of eigenvalues at finite width, which grows as units decrease."""
        rate = self.rate if self.rate is not None else 1 / (low * (1 + 2 * shape.inputs / shape.width))
        most = 200 if self.most_steps is None else self.most_steps
        return Schedule(rate, most, first_layer=first, common=1 - low / high)

    def _steady(self, low: float, high: float, first: float) -> Schedule:
        """Nesterov's momentum. With heavy ball the largest eigenvalues oscillate until the smallest have converged; if
        they are far apart, this drives a network of finite width far from its start.
        """
        rate = self.rate if self.rate is not None else CAUTION / high
        root = min(1.0, sqrt(rate * low))
        most = self.most_steps if self.most_steps is not None else int(200 + 60 * sqrt(high / low))
        return Schedule(rate, most, (1 - root) / (1 + root), first, nesterov=True)


@dataclass(frozen=True)
class Recipe(PlainRecipe):
    """Everything that determines a network; the tolerance is that of the plan."""

    member: int = 0
    start: Start = "zero"
    plan: Plan = field(default_factory=Plan)
    precision: str = "float32"  # or float64

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("start", self.start, STARTS)
        check_choice("precision", self.precision, ("float32", "float64"))


class TrainedNetwork(FloatNetwork):
    """A trained network that computes its real outputs."""

    @cached_property
    def _by_example(self) -> Float:  # (K, width)
        return frozen(self.first.T)

    @one_thread()
    def __call__(self, inputs: NDArray[np.floating]) -> Float:  # (batch, K) -> (batch, k)
        """F(x) = w2 relu(w1 x / sqrt(K)) / sqrt(width) for encoded inputs.

        Inputs are zero except at matched examples; for a few inputs it is faster to add only their weights.
        """
        scale = self.first.dtype.type(1 / np.sqrt(self.first.shape[1] * self.first.shape[0]))
        inputs = inputs.astype(self.first.dtype, copy=False)
        if len(inputs) > _FEW:
            before = inputs @ self.first.T
        else:
            before = np.stack([row[row != 0] @ self._by_example[row != 0] for row in inputs])
        return np.asarray((np.maximum(before, 0) @ self.last.T) * scale)


def descend(program: Program, recipe: PlainRecipe) -> tuple[FloatNetwork, History]:
    """Gradient descent by a recipe of this module, for `train_on_pattern`."""
    assert isinstance(recipe, Recipe)
    return train(program, recipe)


def train(program: Program, recipe: Recipe, executions: ExecutionSet | None = None) -> tuple[TrainedNetwork, History]:
    """Trains a network on the templates or on `executions`; raises TrainingError if it misses the tolerance."""
    plan, examples = recipe.plan, TrainingSet(program, recipe.padding)
    shape = NetworkShape(examples.examples, recipe.width, program.bits)
    dtype = np.float64 if recipe.precision == "float64" else np.float32
    first, last = initial_weights(shape, recipe.start, recipe.seed, recipe.member, dtype)
    inputs, kernel = None, None
    if executions is None:
        labels = examples.labels().toarray().T.astype(dtype)
    else:
        labels = np.ascontiguousarray(executions.set.labels().T, dtype=dtype)
        inputs, kernel = executions.set.inputs().astype(dtype), executions.kernel
    schedule = plan.schedule(shape, kernel)
    if recipe.device == "cpu":
        with one_thread():
            history = descend_weights(first, last, labels, schedule, plan.tolerance, inputs)
    else:
        torch, device = torch_module(), check_device(recipe.device)
        one, two, wanted = (torch.from_numpy(layer).to(device) for layer in (first, last, labels))
        known = None if inputs is None else torch.from_numpy(inputs).to(device)
        history = descend_weights(one, two, wanted, schedule, plan.tolerance, known)
        first, last = one.cpu().numpy(), two.cpu().numpy()
    origin = Origin(
        program_id=program.id,
        seed=recipe.seed,
        descent=plan.descent,
        tolerance=float(plan.tolerance),
        error=history.error[-1],
        steps=history.steps,
        trainer=f"{recipe.trainer} on {recipe.device}",
        kernel=recipe.kernel,
        padding=recipe.padding,
        executions=None if executions is None else executions.learnt_from,
    )
    return TrainedNetwork(first, last, origin), history
