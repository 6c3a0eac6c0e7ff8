"""Writes networks as ONNX models for other runtimes.

Trained weights map encoded inputs to outputs, with scales folded in. Integer networks map matched examples, 0 or 1
each, to the next state with integer operators only, so that every runtime computes the same bits; or, if float32 is
exact, to the sums G with the three operators that neural network verifiers support.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from bitwright.common.errors import InputError
from bitwright.common.files.storage import write_atomically
from bitwright.networks.integer import Bounds, IntegerNetwork, check_belongs, columns_of
from bitwright.networks.network import FloatNetwork
from bitwright.rules import Program

OPSET = 17
EXACT = 1 << 24  # integers up to this limit, and sums below it, are exact in float32
_MAX_BYTES = 2**31 - 2**20  # the limit of protocol buffers


def onnx_module() -> Any:
    """Returns the module onnx; raises InputError with install instructions if it is missing."""
    if find_spec("onnx") is None:
        raise InputError("this needs onnx; install it with: pip install 'bitwright[onnx]'")
    import onnx

    return onnx


def save_onnx(network: FloatNetwork, program: Program, path: Path) -> None:
    """Writes MatMul, Relu, MatMul on inputs of shape (batch, K), with the program's id as metadata."""
    shape = network.shape
    first = (network.first.T / np.sqrt(shape.inputs)).astype(np.float32)
    last = (network.last.T / np.sqrt(shape.width)).astype(np.float32)
    _save_layers(first, last, {"program_id": program.id}, path)


def save_sums_onnx(network: IntegerNetwork, program: Program, path: Path) -> None:
    """Writes an integer network as MatMul, Relu, MatMul in float32, from one state's matched examples to its sums G.

    Raises InputError unless that is exact: no hidden value and no part of a sum may reach 2^24.
    """
    check_exact_in_float32(network, program)
    about = {"program_id": program.id, "network_sha256": network.digest}
    _save_layers(network.first.T.astype(np.float32), network.last.T.astype(np.float32), about, path, batch=1)


def check_exact_in_float32(network: IntegerNetwork, program: Program, parts: int = 1) -> None:
    """Raises InputError unless sums and thresholds are exact in float32, in any order of summation.

    `parts` is 2 for thresholds in halves.
    """
    check_belongs(network, program)
    bounds = Bounds.of(network, program)
    largest = max(int(bounds.hidden.max(initial=0)), -bounds.lowest, bounds.sums, parts * bounds.thresholds + 1)
    if largest >= EXACT:
        raise InputError(
            f"sums and thresholds of this network reach {largest:,}, but float32 is exact only below {EXACT:,}; use "
            "a narrower network, or fewer bits for each weight"
        )


def save_integer_onnx(network: IntegerNetwork, program: Program, path: Path) -> None:
    """Writes an integer network with integer operators: `matched` (batch, K) to `next` and `sums` (batch, k).

    `matched` is uint8, 1 for each example that the state matches; `next` is bool; `sums` are int32, or int64 if the
    bounds require it. If nothing matches, all of `next` is false.
    """
    check_belongs(network, program)
    bounds = Bounds.of(network, program)
    small = max(bounds.sums, bounds.thresholds) < 1 << 31
    kind = np.int32 if small else np.int64
    if max(int(bounds.hidden.max(initial=0)), -bounds.lowest) >= 1 << 31:
        raise InputError("the hidden values of this network do not fit the 32 bits of ONNX's integer product")
    onnx_module()
    from onnx import TensorProto, helper

    wide = TensorProto.INT32 if small else TensorProto.INT64
    nodes = layer_nodes(wide)
    tensors = {
        **layer_constants(network.thresholds.astype(kind)),
        "first": network.first.T,
        "last": network.last.T,
        "column": columns_of(network, program).astype(np.int64),
    }
    shape = network.shape
    inputs = [helper.make_tensor_value_info("matched", TensorProto.UINT8, ["batch", shape.inputs])]
    outputs = [
        helper.make_tensor_value_info("next", TensorProto.BOOL, ["batch", shape.outputs]),
        helper.make_tensor_value_info("sums", wide, ["batch", shape.outputs]),
    ]
    about = {"program_id": program.id, "network_sha256": network.digest}
    save_model(nodes, inputs, outputs, tensors, about, path)


def layer_constants(thresholds: Any) -> dict[str, Any]:
    """Returns the constants shared by all uses of `layer_nodes`."""
    return {
        "zero": np.array(0, dtype=thresholds.dtype),
        "one": np.array(1, dtype=np.int64),
        "none": np.array(0, dtype=np.int64),
        "axis": np.array([1], dtype=np.int64),
        "thresholds": thresholds,
    }


def layer_nodes(wide: int, prefix: str = "") -> list[Any]:
    """Returns nodes from `matched` to `sums` and `next` with the tensors `first`, `last`, `column`, all prefixed.

    `wide` is the type of the thresholds and of every sum.
    """
    from onnx import TensorProto, helper

    shared = ("zero", "one", "none", "axis", "thresholds")

    def node(operator: str, inputs: list[str], output: str, **attributes: int) -> Any:
        names = [name if name in shared else prefix + name for name in inputs]
        return helper.make_node(operator, names, [prefix + output], **attributes)

    return [
        node("MatMulInteger", ["matched", "first"], "before"),  # int32
        node("Cast", ["before"], "before_wide", to=wide),
        node("Max", ["before_wide", "zero"], "hidden"),
        node("Cast", ["last"], "last_wide", to=wide),
        node("MatMul", ["hidden", "last_wide"], "sums"),
        node("Cast", ["matched"], "counts", to=TensorProto.INT64),
        node("ReduceSum", ["counts", "axis"], "n", keepdims=0),
        node("Sub", ["n", "one"], "n_less_one"),
        node("Max", ["n_less_one", "none"], "row"),
        node("Gather", ["thresholds", "row"], "of_n", axis=0),
        node("Gather", ["of_n", "column"], "limits", axis=1),
        node("Greater", ["sums", "limits"], "above"),
        node("Greater", ["n", "none"], "some"),
        node("Unsqueeze", ["some", "axis"], "some_column"),
        node("And", ["above", "some_column"], "next"),
    ]


def _save_layers(first: Any, last: Any, about: Mapping[str, str], path: Path, batch: int | str = "batch") -> None:
    """Writes MatMul, Relu, MatMul in float32."""
    onnx_module()
    from onnx import TensorProto, helper

    nodes = [
        helper.make_node("MatMul", ["inputs", "first"], ["before"]),
        helper.make_node("Relu", ["before"], ["hidden"]),
        helper.make_node("MatMul", ["hidden", "last"], ["outputs"]),
    ]
    inputs = [helper.make_tensor_value_info("inputs", TensorProto.FLOAT, [batch, first.shape[0]])]
    outputs = [helper.make_tensor_value_info("outputs", TensorProto.FLOAT, [batch, last.shape[1]])]
    save_model(nodes, inputs, outputs, {"first": first, "last": last}, about, path)


def save_model(
    nodes: Sequence[Any],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    tensors: Mapping[str, Any],
    about: Mapping[str, str],
    path: Path,
) -> None:
    """Writes a model of these operators and tensors."""
    onnx = onnx_module()
    from onnx import helper, numpy_helper

    if sum(tensor.nbytes for tensor in tensors.values()) > _MAX_BYTES:
        raise InputError("this network exceeds the 2 GiB limit of ONNX files; use a narrower one")
    stored = [numpy_helper.from_array(np.ascontiguousarray(tensor), name) for name, tensor in tensors.items()]
    graph = helper.make_graph(nodes, "bitwright", inputs, outputs, stored)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    helper.set_model_props(model, dict(about))
    onnx.checker.check_model(model)
    write_atomically(path, model.SerializeToString())
