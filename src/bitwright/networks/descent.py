"""Initial weights, and plans for gradient descent: step sizes from the kernel's spectrum, and when to stop.

The weights depend only on a network's seed, not on batch, worker or order.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import log, sqrt
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import shorten, whole_number
from bitwright.common.errors import BitwrightError, InputError, check_choice
from bitwright.theory.closed_form import Kind, spectrum

Float = NDArray[np.floating]
Start = Literal["zero", "random"]
Parametrization = Literal["ntk", "standard"]
STARTS: tuple[Start, ...] = ("zero", "random")
PARAMETRIZATIONS: tuple[Parametrization, ...] = ("ntk", "standard")
MAX_WIDTH = 1 << 22
MAX_SEED, MAX_MEMBER = 2**63, 10**9


def limit_kind(parametrization: Parametrization) -> Kind:
    """Returns the limit of a parametrization."""
    return "last-layer" if parametrization == "standard" else "ntk"


@dataclass(frozen=True)
class NetworkShape:
    """The shape of a network: K inputs, `width` hidden units, k outputs."""

    inputs: int
    width: int
    outputs: int

    def check(self, start: Start) -> None:
        if not isinstance(self.width, int):
            raise InputError(f"the width must be an integer, got {self.width!r}")
        if not 1 <= self.width <= MAX_WIDTH:
            raise InputError(f"the width must be between 1 and {MAX_WIDTH:,}, got {self.width:,}")
        if start == "zero" and self.width % 2:
            raise InputError(f"a zero-output start pairs hidden units, so the width must be even, got {self.width:,}")


def initial_weights(
    shape: NetworkShape, start: Start, seed: int, member: int = 0, dtype: type[np.floating] = np.float32
) -> tuple[Float, Float]:  # (width, K), (k, width)
    """Standard normal w1 and w2 of one member of an ensemble (Section 3).

    random: as in the paper. zero: hidden units come in pairs, w1 = [u; u], w2 = [v, -v], so that the network starts as
    the zero function and the limit has no variance.
    """
    shape.check(start)
    rng = np.random.default_rng(np.random.SeedSequence(entropy=seed, spawn_key=(member,)))
    draws = shape.width // 2 if start == "zero" else shape.width
    first = rng.standard_normal((draws, shape.inputs), dtype=np.float32).astype(dtype, copy=False)
    last = rng.standard_normal((shape.outputs, draws), dtype=np.float32).astype(dtype, copy=False)
    if start == "random":
        return first, last
    return np.concatenate((first, first)), np.concatenate((last, -last), axis=1)


Descent = Literal["balanced", "momentum", "plain"]
DESCENTS = get_args(Descent)
Progress = Callable[[int, float], None]  # steps made, largest error
_CAUTION = 0.93  # fraction of the best step: at finite width the spectrum is slightly wider than in the limit
_FASTEST, _MOST_STEPS = 1e9, 10**12


class TrainingError(BitwrightError):
    """Raised if training does not reach its tolerance, so there is no network.

    >>> from bitwright import addition, train
    >>> try:
    ...     train(addition(2), tile="all", integer=False, width=64, most_steps=3)
    ... except TrainingError as error:
    ...     print(str(error)[:27])
    training stalled at an erro
    """


@dataclass(frozen=True)
class Plan:
    """How to train: full-batch gradient descent on 1/2 sum (F - Y)^2 until every output is within `tolerance`.

    The theorem covers `plain` descent. `momentum` (heavy ball) reaches the same point in far fewer steps, and
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
        return Schedule(self.rate if self.rate is not None else _CAUTION * rate, momentum, first, most)

    def _balanced(self, low: float, high: float, first: float, shape: NetworkShape) -> Schedule:
        """Returns a step that allows for the spread of eigenvalues at finite width, which grows as units decrease."""
        rate = self.rate if self.rate is not None else 1 / (low * (1 + 2 * shape.inputs / shape.width))
        return Schedule(rate, 0.0, first, 200 if self.most_steps is None else self.most_steps, common=1 - low / high)

    def _steady(self, low: float, high: float, first: float) -> Schedule:
        """Nesterov's momentum. With heavy ball the largest eigenvalues oscillate until the smallest have converged; if
        they are far apart, this drives a network of finite width far from its start.
        """
        rate = self.rate if self.rate is not None else _CAUTION / high
        root = min(1.0, sqrt(rate * low))
        most = self.most_steps if self.most_steps is not None else int(200 + 60 * sqrt(high / low))
        return Schedule(rate, (1 - root) / (1 + root), first, most, nesterov=True)


@dataclass(frozen=True)
class Schedule:
    """Step size, momentum and its kind, the first layer's share of the step size, and the maximum number of steps.

    Each step first subtracts `common` times their mean over all examples from an output's errors.
    """

    rate: float
    momentum: float
    first_layer: float
    most_steps: int
    nesterov: bool = False
    common: float = 0.0


@dataclass
class History:
    """The loss and the largest error before each step and at the end."""

    loss: list[float] = field(default_factory=list)
    error: list[float] = field(default_factory=list)

    @property
    def steps(self) -> int:
        return len(self.error) - 1

    def note(self, loss: float, error: float, tolerance: float) -> bool:
        """Adds an entry and returns whether the tolerance is reached; raises TrainingError if the descent diverged."""
        self.loss.append(loss)
        self.error.append(error)
        if not loss < 1e6 * (self.loss[0] + 1):  # also true for NaN
            raise TrainingError(f"training diverged after {self.steps} steps (loss {loss:.3g}); use a wider network")
        return error <= tolerance

    def give_up(self, tolerance: float) -> TrainingError:
        return TrainingError(
            f"training stalled at an error of {self.error[-1]:.3g} after {self.steps} steps, above the tolerance "
            f"{tolerance:g}; use a wider network or a larger tolerance"
        )


def torch_module() -> Any:
    """Returns the module torch; raises InputError with install instructions if it is missing."""
    if find_spec("torch") is None:
        raise InputError("this needs PyTorch; install it with: pip install 'bitwright[train]'")
    import torch

    return torch


def check_device(device: str) -> Any:
    """Returns the device with this name; raises InputError if it does not exist."""
    torch = torch_module()
    if not isinstance(device, str) or not re.fullmatch(r"cpu|cuda(:[0-9]{1,4})?", device, re.ASCII):
        raise InputError(f"there is no device '{shorten(str(device))}'; use cpu or cuda")
    chosen = torch.device(device)
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise InputError("this machine has no CUDA device that PyTorch can use; use the device cpu")
    if chosen.type == "cuda" and (chosen.index or 0) >= (count := torch.cuda.device_count()):
        raise InputError(f"there is no device '{device}'; this machine has {count}, from cuda:0 to cuda:{count - 1}")
    return chosen
