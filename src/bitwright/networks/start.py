"""Initial weights: they depend on a network's own seed alone, not on batch, worker or order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bitwright.errors import InputError
from bitwright.theory.closed_form import Kind

Float = NDArray[np.floating]
Start = Literal["zero", "random"]
Parametrization = Literal["ntk", "standard"]
STARTS: tuple[Start, ...] = ("zero", "random")
PARAMETRIZATIONS: tuple[Parametrization, ...] = ("ntk", "standard")
MAX_WIDTH = 1 << 22
MAX_SEED, MAX_MEMBER = 2**63, 10**9


def limit_kind(parametrization: Parametrization) -> Kind:
    """The limit that a parametrization leads to."""
    return "last-layer" if parametrization == "standard" else "ntk"


@dataclass(frozen=True)
class NetworkShape:
    """The shape of a network: K inputs, `width` hidden units, k outputs."""

    inputs: int
    width: int
    outputs: int

    def check(self, start: Start) -> None:
        if not isinstance(self.width, int):
            raise InputError(f"the width is an integer, got {self.width!r}")
        if not 1 <= self.width <= MAX_WIDTH:
            raise InputError(f"the width must lie between 1 and {MAX_WIDTH:,}, got {self.width:,}")
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
