"""Third-party networks: a stack of layers from an ONNX file or a PyTorch module, with its interpretation."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray, shorten
from bitwright.common.errors import InputError, check_choice, counted
from bitwright.networks.network import tensor_sha256
from bitwright.networks.stack import BoundedOutputs, NotProvedError, Stack
from bitwright.networks.stack_readers import Runtime, is_module, read_module, read_onnx

Reads = Literal["states", "cells"]
READS = ("states", "cells")


@dataclass(frozen=True, eq=False)
class Model:
    """A third-party network: an ONNX file or a PyTorch module that is a stack of affine layers and ReLUs.

    It takes rows of zeros and ones, one per state, and returns a row of outputs for each; a bit is on if its output is
    above the `threshold`. `reads` defines the columns: the bits of a whole state ("states"), or the kind and the bits
    of one cell ("cells"). By default, this is inferred from the number of columns.

    >>> import torch
    >>> from bitwright import certify, permutation
    >>> layer = torch.nn.Linear(2, 2, bias=False)
    >>> _ = layer.weight.data.copy_(torch.tensor([[0.0, 1.0], [1.0, 0.0]]))
    >>> certify(permutation([2, 1]), Model(layer, reads="states")).verdict
    'certified'

    `Model.table` returns the states to train such a network on.
    """

    network: Any  # str | PathLike[str] | torch.nn.Module
    reads: Reads | None = None
    threshold: float = 0.5
    name: str = field(init=False)  # of its file or class
    form: str = field(init=False)
    stack: Stack = field(init=False)
    runtime: Runtime | None = field(init=False)  # evaluates it as well; None if it is not installed

    def __post_init__(self) -> None:
        if self.reads is not None:
            check_choice("way to read a network", self.reads, READS)
        if isinstance(self.threshold, bool) or not isinstance(self.threshold, int | float | np.number):
            raise InputError(f"the threshold must be a number, got {shorten(repr(self.threshold))}")
        if not abs(self.threshold) < 2**1023:  # which NaN is not either
            raise InputError("the threshold must be finite and below 2^1023")
        of_file = isinstance(self.network, str | PathLike)
        if not of_file and not is_module(self.network):
            raise InputError(f"a network must be an ONNX file or a PyTorch module, got {type(self.network).__name__}")
        name = fspath(self.network) if of_file else type(self.network).__name__
        try:
            stack, runtime = read_onnx(Path(name)) if of_file else read_module(self.network)
        except NotProvedError as error:
            raise InputError(f"{name}: {error}; export it as a stack of affine layers and ReLU") from None
        facts = {"threshold": float(self.threshold), "name": name, "form": "ONNX" if of_file else "PyTorch"}
        for key, value in (facts | {"stack": stack, "runtime": runtime}).items():
            object.__setattr__(self, key, value)

    def __repr__(self) -> str:
        return f"<Model: {self.form} {self.name}>"

    @property
    def digest(self) -> str:
        """The sha256 of everything that is evaluated."""
        return self.stack.digest

    @cached_property
    def tensors_sha256(self) -> dict[str, str]:
        """The sha256 of each tensor's bytes."""
        return {name: tensor_sha256(array) for name, array in self.stack.tensors.items()}

    def outputs(self, rows: NDArray[Any]) -> BoundedOutputs:  # (batch, columns) of 0 and 1
        """Returns its outputs; raises InputError if its runtime computes different ones."""
        found = self.stack(rows)
        if self.runtime is not None:
            try:
                ran = np.asarray(self.runtime(rows), dtype=np.float64)
            except Exception as error:
                reason = shorten(" ".join(str(error).split()) or type(error).__name__, 160)
                raise InputError(f"{self.runtime.name} cannot run {self.name}: {reason}") from None
            if ran.shape != found.values.shape or not (np.abs(ran - found.values) <= found.error).all():
                raise InputError(f"{self.runtime.name} computes other outputs than the layers of {self.name} define")
        return found

    @staticmethod
    def table(what: Any, reads: Reads = "cells", *, sizes: Any = None) -> StateTable:
        """Returns every state of a program in the format of your network, with the right outputs, as training data.

        Args:
            what: a program or a list of programs.
            reads: "cells" (kind and bits of a cell, to its ports) or "states" (a whole state to the next).
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

    Rows and columns are the ones that `certify` checks. For cells, `asked` is False at ports of kinds other than the
    row's, because they are never read; `labels` are 0 there.
    """

    inputs: NDArray[np.float32]  # (states, columns) of 0 and 1
    labels: NDArray[np.float32]  # (states, outputs) of 0 and 1
    asked: BoolArray  # (states, outputs)
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]

    def __repr__(self) -> str:
        columns = f"{counted(self.inputs.shape[1], 'column')} to {self.labels.shape[1]:,}"
        return f"<StateTable: {counted(len(self.inputs), 'state')}, {columns}>"


def is_model(value: object) -> bool:
    """Whether a value is a third-party network."""
    return isinstance(value, Model) or is_module(value)


def as_model(value: Any) -> Model:
    """Returns the given network, with the default interpretation unless it has one."""
    return value if isinstance(value, Model) else Model(value)
