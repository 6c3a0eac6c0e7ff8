"""A trained network as an ONNX model, for other people's run times: encoded inputs to outputs, scales folded in."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from bitwright.errors import InputError
from bitwright.files.storage import write_atomically
from bitwright.networks.network import Network
from bitwright.program import Program

OPSET = 17
_MAX_BYTES = 2**31 - 2**20  # protocol buffers hold no more


def onnx_module() -> Any:
    """The onnx package, or an InputError that says how to get it."""
    if find_spec("onnx") is None:
        raise InputError("this needs onnx; install it with: pip install 'bitwright[onnx]'")
    import onnx

    return onnx


def save_onnx(network: Network, program: Program, path: Path) -> None:
    """Writes MatMul, Relu, MatMul on inputs of shape (batch, K), with the program's id as metadata."""
    onnx = onnx_module()
    from onnx import TensorProto, helper, numpy_helper

    shape = network.shape
    if network.first.nbytes + network.last.nbytes > _MAX_BYTES:
        raise InputError(f"a network of width {shape.width:,} is larger than the 2 GiB an ONNX file may have")
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["inputs", "first"], ["before"]),
            helper.make_node("Relu", ["before"], ["hidden"]),
            helper.make_node("MatMul", ["hidden", "last"], ["outputs"]),
        ],
        "bitwright",
        [helper.make_tensor_value_info("inputs", TensorProto.FLOAT, ["batch", shape.inputs])],
        [helper.make_tensor_value_info("outputs", TensorProto.FLOAT, ["batch", shape.outputs])],
        [
            numpy_helper.from_array((network.first.T / np.sqrt(shape.inputs)).astype(np.float32), "first"),
            numpy_helper.from_array((network.last.T / np.sqrt(shape.width)).astype(np.float32), "last"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    helper.set_model_props(model, {"program_id": program.id})
    onnx.checker.check_model(model)
    write_atomically(path, model.SerializeToString())
