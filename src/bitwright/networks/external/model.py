"""Third-party networks: an ONNX file, a PyTorch module or a function, with its interpretation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib import import_module
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray, shorten
from bitwright.common.errors import InputError, check_choice, counted
from bitwright.networks.external.graph import Analysis, OperatorGraph
from bitwright.networks.external.onnx_reader import CannotRunError, OnnxModel
from bitwright.networks.external.tensors import NotReadError, by_rows
from bitwright.networks.external.torch_reader import TorchModel, is_module
from bitwright.networks.network import FloatNetwork, tensor_sha256

Reads = Literal["states", "templates", "cells"]
READS = ("states", "templates", "cells")
Given = str | PathLike[str] | Callable[..., Any]


class Answers(NamedTuple):
    """Outputs, with bounds on the deviation of any runtime, or 0 for outputs computed by a runtime."""

    outputs: NDArray[np.float64]  # (batch, columns)
    error: NDArray[np.float64]


class PlainFunction:
    """A function of an array of rows."""

    covered = False  # the digest covers only its name

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.name = str(getattr(function, "__qualname__", type(function).__qualname__))
        self.digest = sha256(f"{getattr(function, '__module__', '')}:{self.name}".encode()).hexdigest()
        self.tensors: dict[str, NDArray[Any]] = {}

    @property
    def graph(self) -> OperatorGraph:
        raise NotReadError(f"{self.name} is a function, whose arithmetic is not known")

    @property
    def runtime(self) -> str:
        """The runtime that evaluates it."""
        return f"Python and NumPy {np.__version__}"

    def run(self, inputs: NDArray[Any], alone: bool) -> NDArray[Any]:
        """Returns the function's outputs for these inputs, one at a time or together."""
        return by_rows(lambda rows: np.asarray(self.function(rows)), inputs.astype(np.float32), alone, self.name)


@dataclass(frozen=True, eq=False)
class Model:
    """A third-party network: an ONNX file, a PyTorch module, or a function of an array of rows.

    It takes rows of 0 and 1, one for each state, and returns a row of outputs for each; a bit is on if its output is
    above the `threshold`. `reads` defines the columns: the bits of a whole state ("states"), one column for each
    template that may match ("templates"), or the kind and the bits of one cell ("cells"). By default the number of
    columns decides.

    >>> from bitwright import certify, permutation
    >>> swap = Model(lambda rows: rows[:, ::-1], reads="states")
    >>> print(certify(permutation([2, 1]), swap).sentence)
    tested: this network was right in all 4 states, with every choice of every bit

    `Model.table` returns the states to train such a network on.
    """

    network: Given
    reads: Reads | None = None
    threshold: float = 0.5

    def __post_init__(self) -> None:
        if self.reads is not None:
            check_choice("way to read a network", self.reads, READS)
        if isinstance(self.threshold, bool) or not isinstance(self.threshold, int | float | np.number):
            raise InputError(f"the threshold must be a number, got {shorten(repr(self.threshold))}")
        if not isfinite(self.threshold):
            raise InputError(f"the threshold must be finite, got {self.threshold}")
        object.__setattr__(self, "threshold", float(self.threshold))
        object.__setattr__(self, "_held", HeldModel(source_of(self.network), self.reads, self.threshold))

    def __repr__(self) -> str:
        held = as_model(self)
        return f"<Model: {held.form} {held.name}>"

    @staticmethod
    def table(what: Any, reads: Reads = "cells", *, sizes: Any = None) -> StateTable:
        """Returns every state of a program in the format of your network, with the right outputs, as training data.

        Args:
            what: a program or a list of programs.
            reads: "cells" (kind and bits of a cell, to its ports), "states" (a whole state to the next) or
                "templates" (matching templates to the next state).
            sizes: for cells, as in `certify`.

        >>> from bitwright import addition
        >>> table = Model.table(addition(4))
        >>> table
        <StateTable: 16 states, 8 columns to 5>
        >>> table.input_names[:5]
        ('kind1', 'kind2', 'kind1_block1[1]', 'kind1_block1[2]', 'kind1_block2[1]')
        """
        found: StateTable = import_module("bitwright.verbs.models").state_table(what, reads, sizes)
        return found


@dataclass(frozen=True, eq=False)
class StateTable:
    """Every state in the input format of a network, with the right outputs.

    Rows and columns are the ones that `certify` checks. For cells, `asked` is False at ports of other kinds than the
    row's, which are never read; `labels` are 0 there.
    """

    inputs: NDArray[np.float32]  # (states, columns) of 0 and 1
    labels: NDArray[np.float32]  # (states, outputs) of 0 and 1
    asked: BoolArray  # (states, outputs)
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]

    def __repr__(self) -> str:
        columns = f"{counted(self.inputs.shape[1], 'column')} to {self.labels.shape[1]:,}"
        return f"<StateTable: {counted(len(self.inputs), 'state')}, {columns}>"


@dataclass(frozen=True, eq=False)
class HeldModel:
    """The network itself, read from its file, and how to evaluate it."""

    source: OnnxModel | TorchModel | PlainFunction
    reads: Reads | None = None
    threshold: float = 0.5

    @property
    def form(self) -> str:
        """Its form: ONNX, PyTorch or a function."""
        return {OnnxModel: "ONNX", TorchModel: "PyTorch", PlainFunction: "function"}[type(self.source)]

    @property
    def name(self) -> str:
        """The name of its file, class or function."""
        return self.source.name

    @property
    def digest(self) -> str:
        """The sha256 of everything that is evaluated, if `covered`; for a function, only of its name."""
        return self.source.digest

    @cached_property
    def tensors_sha256(self) -> dict[str, str]:
        """The sha256 of each tensor's bytes."""
        return {name: tensor_sha256(array) for name, array in self.source.tensors.items()}

    @property
    def parameters(self) -> int:
        """The number of its weights, as far as known."""
        return sum(array.size for array in self.source.tensors.values())

    @property
    def covered(self) -> bool:
        """Whether the digest covers everything that is evaluated, so that a later run can recognize the network."""
        return self.source.covered

    @property
    def runtime(self) -> str | None:
        """The runtime on this machine; None if it is not installed."""
        return self.source.runtime

    @cached_property
    def analysed(self) -> dict[int, Analysis | None]:
        return {}

    def analysis(self, columns: int) -> Analysis | None:
        """Returns why its outputs are certain; None if only a runtime can evaluate it."""
        if columns not in self.analysed:
            try:
                self.analysed[columns] = self.source.graph.analysis(columns)
            except NotReadError:
                self.analysed[columns] = None
        return self.analysed[columns]

    def answers(self, inputs: NDArray[Any]) -> Answers:  # (batch, columns) of 0 and 1
        """Returns its outputs: certain ones if possible, otherwise from the runtime on this machine, row by row."""
        if self.analysis(inputs.shape[1]) is not None:
            found = self.source.graph(inputs)
            return Answers(found.values, found.error)
        return Answers(given := self.run(inputs), np.zeros_like(given))

    def run(self, inputs: NDArray[Any], alone: bool = True) -> NDArray[np.float64]:
        """Returns the outputs of the runtime on this machine, for one row at a time or all together."""
        values = self.source.run(inputs, alone).astype(np.float64)
        if not np.isfinite(values).all():
            raise InputError(f"{self.name} has outputs that are NaN or infinite")
        return values

    def columns_out(self, columns: int) -> int | str:
        """Returns the number of outputs for inputs with this many columns, or why such inputs are invalid."""
        known = None if isinstance(self.source, PlainFunction) else self.source.columns
        if known is not None and known != columns:
            return f"it takes {counted(known, 'column')}"
        try:
            return int(self.answers(np.zeros((1, columns))).outputs.shape[1])
        except CannotRunError:
            raise
        except InputError as error:
            return str(error)


def is_model(value: object) -> bool:
    """Whether a value is a third-party network."""
    if isinstance(value, Model | HeldModel) or is_module(value):
        return True
    ours = isinstance(value, FloatNetwork | type) or type(value).__module__.startswith("bitwright.")
    return callable(value) and not ours


def as_model(value: Any) -> HeldModel:
    """Returns the given network, with the default interpretation unless it has one."""
    if isinstance(value, HeldModel):
        return value
    held: HeldModel = (value if isinstance(value, Model) else Model(value))._held  # type: ignore[attr-defined]
    return held


def source_of(network: Any) -> OnnxModel | TorchModel | PlainFunction:
    """Returns the reader of the given network."""
    if isinstance(network, str | PathLike):
        return OnnxModel.read(Path(network))
    if is_module(network):
        return TorchModel(network)
    if not callable(network):
        raise InputError(
            f"a network must be an ONNX file, a PyTorch module or a function, got {type(network).__name__}"
        )
    return PlainFunction(network)
