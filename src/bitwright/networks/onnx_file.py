"""Writes integer networks as ONNX models with the three operators that neural network verifiers support.

If float32 is exact, they map matched examples, 0 or 1 each, to the sums G.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from bitwright.common.errors import InputError
from bitwright.common.files.storage import write_atomically
from bitwright.networks.integer import Bounds, IntegerNetwork, check_belongs
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


def save_sums_onnx(network: IntegerNetwork, program: Program, path: Path) -> None:
    """Writes an integer network as MatMul, Relu, MatMul in float32, from one state's matched examples to its sums G.

    Raises InputError unless that is exact: no hidden value and no part of a sum may reach 2^24.
    """
    check_exact_in_float32(network, program)
    onnx_module()
    from onnx import TensorProto, helper

    shape, value = network.shape, helper.make_tensor_value_info
    nodes = [
        helper.make_node("MatMul", ["inputs", "first"], ["before"]),
        helper.make_node("Relu", ["before"], ["hidden"]),
        helper.make_node("MatMul", ["hidden", "last"], ["outputs"]),
    ]
    inputs = [value("inputs", TensorProto.FLOAT, [1, shape.inputs])]
    outputs = [value("outputs", TensorProto.FLOAT, [1, shape.outputs])]
    tensors = {"first": network.first.T.astype(np.float32), "last": network.last.T.astype(np.float32)}
    save_model(nodes, inputs, outputs, tensors, {"program_id": program.id, "network_sha256": network.digest}, path)


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
