"""Reads PyTorch modules: stacks of linear layers become lists of operators, others can only be run."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError
from bitwright.networks.external.graph import Node, OperatorGraph
from bitwright.networks.external.tensors import DIGITS, NotReadError, by_rows

_NOTHING = ("Identity", "Dropout")  # no effect in evaluation mode
_OTHERWISE = ("forward", "__call__", "_call_impl")  # attributes of an object that override its class's call
_HOOKS = ("_forward_hooks", "_forward_pre_hooks")


class TorchModel:
    """A copy of a module's current state in evaluation mode."""

    def __init__(self, module: Any) -> None:
        self.name = type(module).__name__
        for part in module.modules():
            if part.training and _depends_on_mode(part):
                raise InputError(
                    f"{self.name} is in training mode, where {type(part).__name__} gives different results; "
                    "call its eval() first"
                )
        if any(tensor.is_meta for _, tensor in _tensors(module)):
            raise InputError(f"{self.name} is on the device meta, which stores no weights; pass a module with weights")
        try:
            self.module = deepcopy(module).eval()
            _ = self.tensors
        except Exception as error:
            reason = shorten(" ".join(f"{type(error).__name__}: {error}".split()), 160)
            raise InputError(f"{self.name} cannot be copied: {reason}") from None

    @cached_property
    def covered(self) -> bool:
        """Whether the digest covers everything that is evaluated; a custom forward may read anything."""
        try:
            return bool(self.graph)
        except NotReadError:
            return False

    @cached_property
    def digest(self) -> str:
        """The sha256 of everything that is evaluated, if known, otherwise of its layers, weights and buffers."""
        if self.covered:
            return self.graph.digest
        found = sha256(f"{type(self.module).__module__} {self.module}".encode())
        for name, array in self.tensors.items():
            found.update(f"\n{name} {array.dtype} {array.shape}\n".encode() + array.tobytes())
        return found.hexdigest()

    @cached_property
    def tensors(self) -> dict[str, NDArray[Any]]:
        """Its weights and buffers by name, including those that a state_dict omits."""
        return {name: _array(tensor) for name, tensor in _tensors(self.module)}

    @property
    def kind(self) -> str:
        """The type of its weights and therefore of its input."""
        kinds = [array.dtype.name for array in self.tensors.values() if array.dtype.kind == "f"]
        return kinds[0] if kinds else "float32"

    @property
    def columns(self) -> int | None:
        """The number of columns of its first linear layer, if it begins with one."""
        try:
            return next((layer.in_features for layer in _layers(self.module) if hasattr(layer, "in_features")), None)
        except NotReadError:
            return None

    @cached_property
    def graph(self) -> OperatorGraph:
        """A sequence of linear layers and ReLUs; raises NotReadError for other modules."""
        nodes: list[Node] = []
        constants: dict[str, NDArray[Any]] = {}
        at = "input"
        for number, layer in enumerate(_layers(self.module)):
            kind, output = type(layer).__name__, f"layer{number}"
            if kind in _NOTHING:
                continue
            if kind == "Linear":
                held = {name: getattr(layer, name) for name in ("weight", "bias")}
                weights = {name: _plain(tensor) for name, tensor in held.items() if tensor is not None}
                constants |= {f"{output}.{name}": array for name, array in weights.items()}
                nodes.append(Node("Gemm", (at, *(f"{output}.{name}" for name in weights)), output, {"transB": 1}))
            elif kind == "ReLU":
                nodes.append(Node("Relu", (at,), output))
            elif kind == "Flatten" and (layer.start_dim, layer.end_dim) == (1, -1):
                nodes.append(Node("Flatten", (at,), output))
            else:
                raise NotReadError(f"the layer {kind} is not among those whose results are certain")
            at = output
        return OperatorGraph(tuple(nodes), constants, "input", self.kind, at)

    def run(self, inputs: NDArray[Any], alone: bool) -> NDArray[Any]:
        """Returns PyTorch's outputs for these inputs, one at a time or together."""
        import torch

        held = _tensors(self.module)
        kind = next((tensor.dtype for _, tensor in held if tensor.is_floating_point()), torch.float32)

        def call(rows: NDArray[Any]) -> NDArray[Any]:
            found = self.module(torch.from_numpy(rows).to(kind))
            if not isinstance(found, torch.Tensor):
                raise InputError(
                    f"{self.name} returns {type(found).__name__}; a network to certify must return one tensor"
                )
            return _array(found)

        with torch.inference_mode():
            return by_rows(call, inputs.astype(np.float64), alone, self.name)

    def __getstate__(self) -> dict[str, Any]:
        return {"module": self.module, "name": self.name}

    @property
    def runtime(self) -> str:
        """The runtime with its version."""
        import torch

        return f"PyTorch {torch.__version__}"


def _depends_on_mode(module: Any) -> bool:
    """Whether a PyTorch layer behaves differently in training: it drops values, or uses batch statistics."""
    from torch.nn.modules import batchnorm, dropout

    drops = isinstance(module, dropout._DropoutNd) and module.p > 0
    return drops or (isinstance(module, batchnorm._NormBase) and module.track_running_stats)


def _layers(module: Any) -> Iterator[Any]:
    """Yields the layers of a stack in order; raises NotReadError if a call does more than its class."""
    import torch
    from torch.nn.modules import module as hooked

    kind = type(module)
    if getattr(torch.nn, kind.__name__, None) is not kind:
        raise NotReadError(f"{kind.__name__} is not a layer of torch.nn")
    hooks = [getattr(module, name) for name in _HOOKS] + [getattr(hooked, f"_global{name}") for name in _HOOKS]
    if any(name in vars(module) for name in _OTHERWISE) or any(hooks) or module.training:
        raise NotReadError(f"{kind.__name__} has a hook or a custom forward")
    if kind is torch.nn.Sequential:
        for layer in module:
            yield from _layers(layer)
    else:
        yield module


def _plain(tensor: Any) -> NDArray[Any]:
    """Returns the numbers of a plain weight; raises NotReadError for special arithmetic."""
    import torch

    dtype = str(tensor.dtype).removeprefix("torch.")
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or dtype not in DIGITS or tensor.is_sparse:
        raise NotReadError(f"weights of type {dtype}, or with special arithmetic")
    return _array(tensor)


def _tensors(module: Any) -> list[tuple[str, Any]]:
    return [*module.named_parameters(), *module.named_buffers()]


def _array(tensor: Any) -> NDArray[Any]:
    """Returns the numbers of a tensor, whose type may be missing in NumPy."""
    held = tensor.detach().cpu()
    try:
        return np.asarray(held.numpy())
    except TypeError:
        return np.asarray(held.float().numpy())


def is_module(value: object) -> bool:
    """Whether a value is a PyTorch module; does not import PyTorch."""
    import sys

    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Module)
