"""Reads ONNX files and PyTorch modules as stacks of affine layers and ReLUs, each with a runtime that evaluates it.

A network that does anything else is refused, because its outputs would not be certain.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import shorten
from bitwright.common.errors import InputError, counted
from bitwright.networks.onnx_file import onnx_module
from bitwright.networks.stack import DIGITS, LARGEST, AffineLayer, NotProvedError, Stack

_OPSETS, _STANDARD = range(11, 26), ("", "ai.onnx")
_OPERATORS: dict[str, dict[str, tuple[Any, ...]]] = {  # and the values of their attributes that are supported
    "Add": {},
    "Constant": {"value": ()},
    "Flatten": {"axis": (1,)},
    "Gemm": {"alpha": (1.0,), "beta": (1.0,), "transA": (0,), "transB": (0, 1)},
    "Identity": {},
    "MatMul": {},
    "MatMulInteger": {},
    "Relu": {},
}
_NOTHING = ("Identity", "Dropout")  # no effect in evaluation mode
_OTHERWISE = ("forward", "__call__", "_call_impl")  # attributes of an object that override its class's call
_HOOKS = ("_forward_hooks", "_forward_pre_hooks")


@dataclass(frozen=True, eq=False)
class OnnxRuntime:
    """Evaluates a model with onnxruntime."""

    data: bytes
    input: str
    kind: str  # of the input
    alone: bool  # whether it takes one row at a time

    @property
    def name(self) -> str:
        """The runtime with its version."""
        return f"onnxruntime {version('onnxruntime')}"

    @cached_property
    def _session(self) -> Any:
        import onnxruntime

        settings = onnxruntime.SessionOptions()
        settings.log_severity_level = 4
        settings.intra_op_num_threads = settings.inter_op_num_threads = 1
        return onnxruntime.InferenceSession(self.data, settings, providers=["CPUExecutionProvider"])

    def __call__(self, rows: NDArray[Any]) -> NDArray[Any]:
        given = rows.astype(self.kind)
        parts = np.split(given, len(given)) if self.alone else [given]
        return np.concatenate([self._session.run(None, {self.input: part})[0] for part in parts])

    def __reduce__(self) -> tuple[type[OnnxRuntime], tuple[bytes, str, str, bool]]:
        return OnnxRuntime, (self.data, self.input, self.kind, self.alone)  # a session stays in its process


@dataclass(frozen=True, eq=False)
class TorchRuntime:
    """Evaluates a copy of a module with PyTorch."""

    module: Any
    kind: str

    @property
    def name(self) -> str:
        """The runtime with its version."""
        return f"PyTorch {version('torch')}"

    def __call__(self, rows: NDArray[Any]) -> NDArray[Any]:
        import torch

        with torch.inference_mode():
            return np.asarray(self.module(torch.from_numpy(rows.astype(self.kind))).numpy())


Runtime = OnnxRuntime | TorchRuntime


def read_onnx(path: Path) -> tuple[Stack, OnnxRuntime | None]:
    """Reads a model, and its runtime if that is installed; raises InputError for any other file."""
    onnx = onnx_module()
    if not path.is_file():
        raise InputError(f"there is no network file {path}")
    try:
        data = path.read_bytes()
        model = onnx.load_from_string(data)
        onnx.checker.check_model(model, full_check=True)
    except Exception as error:  # from protocol buffers and from onnx
        reason = shorten(" ".join(str(error).split()) or type(error).__name__, 160)
        raise InputError(f"{path} is not a readable ONNX model without external files: {reason}") from None
    rows, name, kind = _input_of(model.graph)
    stack = _stack_of(model, name, kind)
    return stack, None if find_spec("onnxruntime") is None else OnnxRuntime(data, name, kind, rows == 1)


def _input_of(graph: Any) -> tuple[int, str, str]:
    """Returns the number of rows that a model takes at a time, 0 for any number, and its input's name and type."""
    from onnx import helper

    stored = {tensor.name for tensor in graph.initializer}
    inputs = [one for one in graph.input if one.name not in stored]
    dims = inputs[0].type.tensor_type.shape.dim if len(inputs) == 1 else []
    if len(dims) != 2 or dims[0].dim_value > 1:
        raise NotProvedError("its input is not one tensor of shape (batch, columns), for any number of rows or one")
    kind = helper.tensor_dtype_to_np_dtype(inputs[0].type.tensor_type.elem_type)
    return dims[0].dim_value, inputs[0].name, str(kind.name)


def _stack_of(model: Any, at: str, kind: str) -> Stack:
    """Returns the layers of a model; raises NotProvedError if it contains anything else."""
    graph, layers = model.graph, list[AffineLayer]()
    if model.functions or graph.sparse_initializer or len(graph.output) != 1:
        raise NotProvedError("it has functions of its own, sparse weights, or several outputs")
    sets = [one.version for one in model.opset_import if one.domain in _STANDARD]
    if len(sets) != 1 or sets[0] not in _OPSETS:
        raise NotProvedError(f"its operator set is not one of {_OPSETS[0]} to {_OPSETS[-1]}")
    held = {tensor.name: _array(tensor) for tensor in graph.initializer}
    seen = {at, *held}
    for node in graph.node:
        attributes = _attributes(node)
        if len(node.output) != 1 or node.output[0] in seen:
            raise NotProvedError(f"the operator {node.op_type} has several outputs, or reuses the name of a tensor")
        seen.add(node.output[0])
        if node.op_type == "Constant" or (node.op_type == "Identity" and node.input[0] in held):
            constant = attributes.get("value")
            held[node.output[0]] = held[node.input[0]] if constant is None else _array(constant)
            continue
        others = [held[name] for name in node.input if name in held]
        if (
            [*node.input].count(at) != 1
            or len(others) != len(node.input) - 1
            or (node.input[0] != at and node.op_type != "Add")
        ):
            raise NotProvedError(f"the operator {node.op_type} does more than continue a stack with constant weights")
        _append(layers, node.op_type, others, attributes, layers[-1].kind if layers else kind)
        at = node.output[0]
    if at != graph.output[0].name:
        raise NotProvedError("its output is not the end of the stack")
    return Stack(tuple(layers))


def _array(tensor: Any) -> NDArray[Any]:
    """Returns the numbers of a tensor."""
    from onnx import numpy_helper

    if tensor.data_location or tensor.external_data:
        raise NotProvedError("it has weights in other files")
    try:
        return np.asarray(numpy_helper.to_array(tensor))
    except (ValueError, TypeError, KeyError):
        raise NotProvedError(f"the tensor {shorten(tensor.name)} cannot be read") from None


def _attributes(node: Any) -> dict[str, Any]:
    """Returns the attributes of a node; raises NotProvedError for another operator or setting."""
    from onnx import helper

    found = {one.name: helper.get_attribute_value(one) for one in node.attribute}
    known = _OPERATORS.get(node.op_type)
    if known is None or node.domain not in _STANDARD:
        raise NotProvedError(f"the operator {node.op_type} is none of {', '.join(_OPERATORS)}")
    for name, value in found.items():
        if name not in known or (known[name] and value not in known[name]):
            raise NotProvedError(f"the operator {node.op_type} has an attribute {name} that is not supported")
    if node.op_type == "Constant" and not found:
        raise NotProvedError("a Constant has no tensor")
    return found


def _append(layers: list[AffineLayer], operator: str, others: list[Any], attributes: dict[str, Any], kind: str) -> None:
    """Continues a stack of this type by one operator with constant weights."""
    last = layers[-1] if layers else None
    if operator in ("Gemm", "MatMul", "MatMulInteger"):
        weights, *bias = others
        if operator == "MatMulInteger":
            if kind not in ("int8", "uint8") or bias or weights.dtype.name not in ("int8", "uint8"):
                raise NotProvedError("MatMulInteger is not of bytes without zero points")
            kind = "int32"  # two products of inputs of 0 and 1 fit the 16 bits that some processors use
        else:
            _check_type(kind, weights)
        if weights.ndim != 2:
            raise NotProvedError(f"{operator} has weights of {counted(weights.ndim, 'dimension')}")
        layers.append(AffineLayer(weights.T if attributes.get("transB") else weights, kind))
        if bias:
            layers[-1] = _with_bias(layers[-1], *bias)
    elif operator == "Add":
        if last is None or last.relu or last.bias is not None:
            raise NotProvedError("Add adds something else than one bias to sums")
        layers[-1] = _with_bias(last, *others)
    elif operator == "Relu" and last is not None:  # inputs are not negative
        layers[-1] = replace(last, relu=True)


def _with_bias(layer: AffineLayer, bias: NDArray[Any]) -> AffineLayer:
    _check_type(layer.kind, bias)
    if bias.ndim > 2 or bias.shape[:-1] not in ((), (1,)) or bias.shape[-1:] not in ((), (1,), layer.weights.shape[1:]):
        raise NotProvedError(f"a bias has the shape {bias.shape}")
    return replace(layer, bias=np.broadcast_to(bias.reshape(-1), layer.weights.shape[1:]))


def _check_type(kind: str, weights: NDArray[Any]) -> None:
    if weights.dtype.name != kind or (kind not in DIGITS and kind not in LARGEST):
        raise NotProvedError(f"weights of type {weights.dtype} meet numbers of type {kind}")


def read_module(module: Any) -> tuple[Stack, TorchRuntime]:
    """Reads a copy of a module's linear layers and ReLUs; raises InputError for other modules."""
    try:
        return _module_of(module)
    except InputError:
        raise
    except Exception as error:  # from weights and other attributes that its user replaced
        reason = shorten(" ".join(f"{type(error).__name__}: {error}".split()), 160)
        raise NotProvedError(f"it cannot be read or copied ({reason})") from None


def _module_of(module: Any) -> tuple[Stack, TorchRuntime]:
    layers = list[AffineLayer]()
    for layer in _layers(module):
        kind = type(layer).__name__
        if kind == "Linear":
            weights = _numbers(layer.weight)
            if weights.ndim != 2:
                raise NotProvedError(f"Linear has weights of {counted(weights.ndim, 'dimension')}")
            layers.append(AffineLayer(weights.T, weights.dtype.name))
            if layer.bias is not None:
                layers[-1] = _with_bias(layers[-1], _numbers(layer.bias))
        elif kind == "ReLU":
            layers[-1:] = [replace(one, relu=True) for one in layers[-1:]]
        elif kind not in _NOTHING and (kind != "Flatten" or (layer.start_dim, layer.end_dim) != (1, -1)):
            raise NotProvedError(f"the layer {kind} is neither linear nor a ReLU")
    if len({layer.kind for layer in layers}) > 1:
        raise NotProvedError("its layers have weights of several types")
    stack = Stack(tuple(layers))
    return stack, TorchRuntime(deepcopy(module).cpu(), layers[0].kind)


def _layers(module: Any) -> Iterator[Any]:
    """Yields the layers of a stack in order; raises NotProvedError if a call does more than its class."""
    import torch
    from torch.nn.modules import module as hooked

    kind = type(module)
    if getattr(torch.nn, kind.__name__, None) is not kind:
        raise NotProvedError(f"{kind.__name__} is not a layer of torch.nn")
    hooks = [getattr(module, name) for name in _HOOKS] + [getattr(hooked, f"_global{name}") for name in _HOOKS]
    if any(name in vars(module) for name in _OTHERWISE) or any(hooks):
        raise NotProvedError(f"{kind.__name__} has a hook or a custom forward")
    if kind is torch.nn.Dropout and module.training:
        raise NotProvedError("Dropout is in training mode; call eval() first")
    if kind is torch.nn.Sequential:
        for layer in module:
            yield from _layers(layer)
    else:
        yield module


def _numbers(tensor: Any) -> NDArray[Any]:
    """Returns the numbers of a plain weight; raises NotProvedError for special arithmetic."""
    import torch

    dtype = str(tensor.dtype).removeprefix("torch.")
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or dtype not in DIGITS or tensor.is_sparse:
        raise NotProvedError(f"it has weights of type {dtype}, or with special arithmetic")
    if tensor.is_meta:
        raise NotProvedError("it is on the device meta, which stores no weights")
    return np.array(tensor.detach().cpu().numpy())


def is_module(value: object) -> bool:
    """Whether a value is a PyTorch module; does not import PyTorch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.nn.Module)
