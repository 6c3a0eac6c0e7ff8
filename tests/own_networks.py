"""Networks that nobody trained: tables written as two layers, to be certified or, with a fault planted, refuted."""

from pathlib import Path
from typing import Any

import numpy as np

from bitwright import Model

Layers = tuple[np.ndarray, np.ndarray, np.ndarray]  # (width, columns), (width,), (outputs, width)


def layers_of(what: Any, reads: str = "cells") -> Layers:
    """One hidden unit for each state, which is 1 there and 0 elsewhere; what is right follows from it alone."""
    table = Model.table(what, reads)
    return 2 * table.inputs - 1, 1 - table.inputs.sum(axis=1), table.labels.T


def as_module(layers: Layers) -> Any:
    """The layers in PyTorch."""
    import torch

    first, bias, last = layers
    module = torch.nn.Sequential(
        torch.nn.Linear(*first.T.shape), torch.nn.ReLU(), torch.nn.Linear(*last.T.shape, bias=False)
    )
    with torch.no_grad():
        for held, value in zip(module.parameters(), (first, bias, last), strict=True):
            held.copy_(torch.tensor(value))
    return module


def outputs_of(layers: Layers, rows: np.ndarray) -> np.ndarray:
    """What the layers compute."""
    first, bias, last = layers
    return np.asarray(np.maximum(rows @ first.T + bias, 0) @ last.T)


def as_onnx(layers: Layers, path: Path, ending: str = "") -> Path:
    """The layers as an ONNX file, with one more operator at the end."""
    from onnx import helper

    first, bias, last = (np.float32(part) for part in layers)
    nodes = [
        helper.make_node("Gemm", ["rows", "first", "bias"], ["before"], transB=1),
        helper.make_node("Relu", ["before"], ["hidden"]),
        helper.make_node("MatMul", ["hidden", "last"], ["sums" if ending else "out"]),
        *([helper.make_node(ending, ["sums"], ["out"])] if ending else []),
    ]
    columns = first.shape[1], len(last)
    return onnx_of(nodes, {"first": first, "bias": bias, "last": np.ascontiguousarray(last.T)}, path, columns)


def onnx_of(
    nodes: list[Any],
    tensors: dict[str, np.ndarray],
    path: Path,
    columns: tuple[int, int],
    opset: int = 17,
    kind: int = 1,  # of the output: float32
) -> Path:
    """These operators as an ONNX file, from `rows` to `out`."""
    from onnx import TensorProto, helper, numpy_helper

    graph = helper.make_graph(
        nodes,
        "lookup",
        [helper.make_tensor_value_info("rows", TensorProto.FLOAT, ["batch", columns[0]])],
        [helper.make_tensor_value_info("out", kind, ["batch", columns[1]])],
        [numpy_helper.from_array(np.ascontiguousarray(value), name) for name, value in tensors.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    path.write_bytes(model.SerializeToString())
    return path
