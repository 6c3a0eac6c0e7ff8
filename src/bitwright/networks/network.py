"""The network of Section 3: F(x) = w2 relu(w1 x / sqrt(K)) / sqrt(width), two layers and no bias."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.common.errors import InputError
from bitwright.common.frozen import frozen
from bitwright.common.workers.linear_algebra import one_thread
from bitwright.networks.descent import Descent, Float, NetworkShape, Parametrization, Start, limit_kind
from bitwright.theory.encoding.training_set import Labels
from bitwright.theory.rounding import Scale

_FEW = 4


@dataclass(frozen=True)
class LearntFrom:
    """The executions that a network was trained on in place of templates."""

    source: str  # runs, states or file
    labels: Labels
    states: int  # examined
    examples: int  # distinct states with matches; for cells, distinct local states
    runs: int | None  # number of runs, if `source` is runs
    sample_seed: int | None  # seed of the sample; None for a file
    sha256: str  # of the examples and their successors


SOURCES = ("runs", "states", "file")


@dataclass(frozen=True)
class Origin:
    """Where a network comes from: enough to train it again."""

    program_id: str
    seed: int
    member: int
    start: Start
    parametrization: Parametrization
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
        return limit_kind(self.parametrization) if self.executions is None else self.executions.labels

    def document(self) -> dict[str, Any]:
        """The origin as JSON for a file, with two flags for the descent and without None values."""
        found = {("momentum" if name == "descent" else name): value for name, value in asdict(self).items()}
        found["momentum"] = self.descent == "momentum"
        found = {name: value for name, value in found.items() if value is not None}
        return found | ({"balanced": True} if self.descent == "balanced" else {})


@dataclass(frozen=True, eq=False)
class TwoLayers:
    """The weights of a network as immutable copies, so that values derived from them stay valid.

    Raises InputError for weights that are not matrices, have other types, or do not fit together.
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
        """The number of inputs (K; without padding for integers), hidden units and outputs (k)."""
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
    """Read-only trained weights, with their origin.

    >>> from bitwright import addition, train
    >>> from bitwright.theory.encoding.training_set import TrainingSet
    >>> algorithm = addition(2)
    >>> network = train(algorithm, tile="all", integer=False, width=512).weights
    >>> network.origin.error <= network.origin.tolerance
    True
    >>> state = algorithm.state({"p": 3, "q": 1})
    >>> network(TrainingSet(algorithm.program).encode(state[np.newaxis])).shape  # real outputs, to be rounded
    (1, 6)
    """

    first: Float = field(repr=False)  # w1 (width, K)
    last: Float = field(repr=False)  # w2 (k, width)
    origin: Origin
    weight_bits = None  # not integers

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

    @property
    def arithmetic(self) -> str:
        """The arithmetic of its outputs."""
        return f"{self.first.dtype}, every order of summation"

    @cached_property
    def _by_example(self) -> Float:  # (K, width)
        return frozen(self.first.T)

    def to_torch(self) -> Any:
        """Returns the same function as a plain `torch.nn.Sequential` without bias, with scales folded into the weights.

        >>> from bitwright import addition, train
        >>> network = train(addition(2), width=64, integer=False).weights
        >>> [name for name, _ in network.to_torch().named_parameters()]
        ['0.weight', '2.weight']
        """
        from bitwright.networks.descent import torch_module

        torch = torch_module()
        layers = torch.nn.Sequential(
            torch.nn.Linear(self.shape.inputs, self.shape.width, bias=False),
            torch.nn.ReLU(),
            torch.nn.Linear(self.shape.width, self.shape.outputs, bias=False),
        )
        with torch.no_grad():
            layers[0].weight.copy_(torch.from_numpy(self.first / np.sqrt(self.shape.inputs)))
            layers[2].weight.copy_(torch.from_numpy(self.last / np.sqrt(self.shape.width)))
        return layers

    @one_thread()
    def __call__(self, inputs: NDArray[np.floating]) -> Float:  # (batch, K) -> (batch, k)
        """Returns the outputs for encoded inputs.

        Inputs are zero except at matched examples; for a few inputs it is faster to add only their weights.
        """
        scale = self.first.dtype.type(1 / np.sqrt(self.first.shape[1] * self.first.shape[0]))
        inputs = inputs.astype(self.first.dtype, copy=False)
        if len(inputs) > _FEW:
            before = inputs @ self.first.T
        else:
            before = np.stack([row[row != 0] @ self._by_example[row != 0] for row in inputs])
        return np.asarray((np.maximum(before, 0) @ self.last.T) * scale)


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
