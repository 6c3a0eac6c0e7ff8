"""Initial weights, and the schedule of gradient descent: step sizes from the kernel's spectrum, and when to stop."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import shorten
from bitwright.common.errors import BitwrightError, InputError
from bitwright.theory.closed_form import spectrum

Float = NDArray[np.floating]
Progress = Callable[[int, float], None]  # steps made, largest error
MAX_WIDTH = 1 << 22
MAX_SEED = 2**63
CAUTION = 0.93  # fraction of the best step: at finite width the spectrum is slightly wider than in the limit


@dataclass(frozen=True)
class NetworkShape:
    """The shape of a network: K inputs, `width` hidden units, k outputs."""

    inputs: int
    width: int
    outputs: int


def initial_weights(shape: NetworkShape, seed: int) -> tuple[Float, Float]:  # (width, K), (k, width)
    """Standard normal w1 and w2 that begin as the zero function, so that the limit has no variance (Section 3).

    Hidden units come in pairs, w1 = [u; u], w2 = [v, -v].
    """
    if shape.width % 2:
        raise InputError(f"a zero-output start pairs hidden units, so the width must be even, got {shape.width:,}")
    rng = np.random.default_rng(np.random.SeedSequence(entropy=seed, spawn_key=(0,)))
    first = rng.standard_normal((shape.width // 2, shape.inputs), dtype=np.float32)
    last = rng.standard_normal((shape.outputs, shape.width // 2), dtype=np.float32)
    return np.concatenate((first, first)), np.concatenate((last, -last), axis=1)


class TrainingError(BitwrightError):
    """Raised if training does not reach its tolerance, so there is no network.

    >>> from bitwright import TrainingError, addition, train
    >>> try:
    ...     train(addition(2), tile="all", width=2)
    ... except TrainingError as error:
    ...     print("use a wider network" in str(error))
    True
    """


@dataclass(frozen=True)
class Schedule:
    """The constants of full-batch gradient descent on 1/2 sum (F - Y)^2.

    Each step first subtracts from an output's errors `common` times their mean over all examples.
    """

    rate: float
    most_steps: int
    momentum: float = 0.0
    first_layer: float = 1.0  # the first layer's share of the step size
    nesterov: bool = False
    common: float = 0.0


def balanced_schedule(shape: NetworkShape) -> Schedule:
    """Returns steps for templates, whose kernel has two eigenvalues: of the mean of an output over all examples, and of
    deviations from it. Each part of the error has a separate rate, which removes all of it in the limit.

    The rate allows for the spread of eigenvalues at finite width, which grows as units decrease.
    """
    low, high = spectrum(shape.inputs)
    return Schedule(1 / (low * (1 + 2 * shape.inputs / shape.width)), 200, common=1 - low / high)


def nesterov_schedule(low: float, high: float) -> Schedule:
    """Returns steps with Nesterov's momentum for a kernel whose spectrum has these extremes.

    With heavy ball the largest eigenvalues oscillate until the smallest have converged; if they are far apart, this
    drives a network of finite width far from its start.
    """
    rate = CAUTION / high
    root = min(1.0, sqrt(rate * low))
    return Schedule(rate, int(200 + 60 * sqrt(high / low)), (1 - root) / (1 + root), nesterov=True)


def expected_steps(tolerance: float, kernel: tuple[float, float] | None = None) -> int:
    """Estimates the number of steps on templates, or on examples whose kernel's spectrum has these extremes."""
    if kernel is None:
        return max(2, round(log(1 / tolerance) / 2))
    return max(1, round(1.2 * log(1 / tolerance) * sqrt(kernel[1] / kernel[0])))


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
