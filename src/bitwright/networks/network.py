"""The network of Section 3: F(x) = w2 relu(w1 x / sqrt(K)) / sqrt(width), two layers and no bias."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from hashlib import sha256
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bitwright.common.errors import InputError
from bitwright.common.frozen import frozen
from bitwright.networks.descent import Float, NetworkShape
from bitwright.theory.encoding.training_set import Labels
from bitwright.theory.rounding import Scale


@dataclass(frozen=True)
class LearntFrom:
    """The executions that a network was trained on instead of templates."""

    source: str  # runs, states or file
    labels: Labels
    states: int  # examined
    examples: int  # distinct states with matches; for cells, distinct local states
    runs: int | None  # number of runs, if `source` is runs
    sample_seed: int | None  # seed of the sample; None for a file
    sha256: str  # of the examples and their successors


SOURCES = ("runs", "states", "file")
Descent = Literal["balanced", "momentum", "plain"]
FIXED = {"member": 0, "start": "zero", "parametrization": "ntk"}  # the same in every network file


@dataclass(frozen=True)
class Origin:
    """Where a network comes from, in enough detail to train it again."""

    program_id: str
    seed: int
    descent: Descent
    tolerance: float
    error: float  # largest error on a training example
    steps: int
    trainer: str
    padding: int = 0
    executions: LearntFrom | None = None  # None if trained on the templates
    kernel: str | None = None  # the linear algebra that trained it; None in files of earlier versions

    @property
    def scale(self) -> Scale:
        """The scale of outputs."""
        return "ntk" if self.executions is None else self.executions.labels

    def document(self) -> dict[str, Any]:
        """The origin as JSON for a file, with two flags for the descent and without None values."""
        found = {name: value for name, value in asdict(self).items() if value is not None and name != "descent"}
        found |= FIXED | {"momentum": self.descent == "momentum"}
        return found | ({"balanced": True} if self.descent == "balanced" else {})


@dataclass(frozen=True, eq=False)
class TwoLayers:
    """The weights of a network as immutable copies, so that values derived from them stay valid.

    Raises InputError if the weights are not matrices, have an unsupported type, or do not fit together.
    """

    first: NDArray[Any] = field(repr=False)  # (width, K)
    last: NDArray[Any] = field(repr=False)  # (k, width)

    def freeze(self, **types: tuple[type[np.generic], ...]) -> None:
        """Makes these tensors read-only, and checks their types and shapes."""
        for name, allowed in types.items():
            object.__setattr__(self, name, read_only(getattr(self, name), name, allowed))
        if self.first.shape[0] != self.last.shape[1] or self.first.dtype != self.last.dtype:
            raise InputError(
                f"the layers of a network must have the same width and type, got {self.first.dtype} {self.first.shape} "
                f"and {self.last.dtype} {self.last.shape}"
            )
        if not len(self.first):
            raise InputError("a network must have at least 1 hidden unit, got layers of width 0")

    def __reduce__(self) -> tuple[type[Any], tuple[Any, ...]]:
        """Makes copies, including those in other processes, read-only."""
        return type(self), tuple(getattr(self, one.name) for one in fields(self))

    @property
    def shape(self) -> NetworkShape:
        """The numbers of inputs (K; integer networks do not count padding), hidden units, and outputs (k)."""
        return NetworkShape(self.first.shape[1], self.first.shape[0], self.last.shape[0])

    @property
    def width(self) -> int:
        """The number of hidden units."""
        return int(self.first.shape[0])

    @property
    def tensors_sha256(self) -> dict[str, str]:
        """The sha256 of each tensor's bytes as stored in a file: row by row, lowest byte first."""
        return dict(self._hashes)

    @cached_property
    def _hashes(self) -> tuple[tuple[str, str], ...]:
        tensors = [one.name for one in fields(self) if isinstance(getattr(self, one.name), np.ndarray)]
        return tuple((name, tensor_sha256(getattr(self, name))) for name in tensors)


@dataclass(frozen=True, eq=False)
class FloatNetwork(TwoLayers):
    """The result of gradient descent, before quantization."""

    first: Float = field(repr=False)  # w1 (width, K)
    last: Float = field(repr=False)  # w2 (k, width)
    origin: Origin

    def __post_init__(self) -> None:
        self.freeze(first=(np.float32, np.float64), last=(np.float32, np.float64))
        if not (np.isfinite(self.first).all() and np.isfinite(self.last).all()):
            raise InputError("a network has weights that are NaN or infinite")

    @cached_property
    def digest(self) -> str:
        """The sha256 of everything that determines the network: every weight, and its origin."""
        about = {**self.origin.document(), "type": str(self.first.dtype), "shape": asdict(self.shape)}
        found = sha256(json.dumps(about, sort_keys=True).encode() + b"\n")
        for weights in (self.first, self.last):
            found.update(weights.astype(weights.dtype.newbyteorder("<"), copy=False).data)
        return found.hexdigest()


def tensor_sha256(array: NDArray[Any]) -> str:
    """Returns the sha256 of an array's bytes, row by row, lowest byte first."""
    return sha256(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()).hexdigest()


def read_only(array: Any, name: str, types: tuple[type[np.generic], ...]) -> Any:
    """Returns an immutable copy of a matrix of one of these types."""
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype not in types:
        kind = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        wanted = " or ".join(np.dtype(one).name for one in types)
        raise InputError(f"{name} must be a matrix of {wanted}, got {kind}")
    return frozen(array)
