"""Writes an ONNX model with integer operators that maps `state` to `next` with a network of cells."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from bitwright.exports.model import Core, Exported, WiresOut
from bitwright.networks.onnx_file import onnx_module, save_model
from bitwright.rules.layout import IntArray


def save_step_onnx(found: Exported, path: Path) -> None:
    """Writes a model that maps bool states (batch, k) to their successors by evaluating the network in every cell."""
    onnx_module()
    from onnx import TensorProto, helper

    assert found.wires is not None
    core, wires, program = found.core, found.wires, found.wires.algorithm.program
    wide = TensorProto.INT32 if core.bits == 32 else TensorProto.INT64
    node = helper.make_node
    tensors: dict[str, Any] = {
        **_layer_constants(core.thresholds.astype(np.int32 if core.bits == 32 else np.int64)),
        "off": np.array(0, dtype=np.int32),
        "first_bit": np.array([0], dtype=np.int64),
    }
    nodes = [
        node("Cast", ["state"], ["bits"], to=TensorProto.INT32),
        node("Gather", ["bits", "first_bit"], ["any_bit"], axis=1),
        node("Mul", ["any_bit", "off"], ["nothing"]),  # an always-off column
    ]
    said = []
    for number, (of, cells) in enumerate(_groups(core, wires)):
        name = f"group{number}_".__add__
        tensors |= {name(key): value for key, value in _tensors(core, of, cells).items()}
        nodes += [
            node("Gather", ["bits", name("bit")], [name("own")], axis=1),
            node("Reshape", [name("own"), name("rows")], [name("cells")]),
            node("MatMul", [name("cells"), name("places")], [name("configurations")]),
            node("Gather", [name("configurations"), name("block")], [name("looked_at")], axis=1),
            node("Equal", [name("looked_at"), name("wanted")], [name("is_matched")]),
            node("Cast", [name("is_matched")], [name("matched")], to=TensorProto.UINT8),
            *_layer_nodes(wide, name("")),
            node("Cast", [name("next")], [name("ports")], to=TensorProto.INT32),
            node("Reshape", [name("ports"), name("line")], [name("said")]),
        ]
        said.append(name("said"))
    tensors |= _wiring(wires, program.bits)
    nodes += [
        node("Concat", [*said, "nothing"], ["all_said"], axis=1),
        node("Gather", ["all_said", "wires"], ["wired"], axis=1),
        node("Reshape", ["wired", "writers"], ["by_bit"]),
        node("ReduceMax", ["by_bit"], ["set"], axes=[2], keepdims=0),
        node("Greater", ["set", "off"], ["next"]),
    ]
    value = helper.make_tensor_value_info
    inputs = [value("state", TensorProto.BOOL, ["batch", program.bits])]
    outputs = [value("next", TensorProto.BOOL, ["batch", program.bits])]
    about = {"program_id": program.id, "network_sha256": found.network.digest}
    save_model(nodes, inputs, outputs, tensors, about, path)


def _groups(core: Core, wires: WiresOut) -> Iterator[tuple[int, IntArray]]:
    """Yields consecutive cells of one kind with the bits that they read: (cells, bits)."""
    begins = [0, *(np.flatnonzero(np.diff(wires.cell_kind)) + 1).tolist(), len(wires.cell_kind)]
    at = 0
    for begin, end in zip(begins, begins[1:], strict=False):  # noqa: RUF007
        kind = int(wires.cell_kind[begin])
        width = int(core.block_bits[core.kind_block[kind] : core.kind_block[kind + 1]].sum())
        count = (end - begin) * width
        yield kind, wires.cell_bit[at : at + count].reshape(end - begin, width)
        at += count


def _tensors(core: Core, kind: int, cells: IntArray) -> dict[str, Any]:
    """Returns the tables of a kind for these cells."""
    blocks = np.arange(core.kind_block[kind], core.kind_block[kind + 1])
    examples = slice(core.block_example[blocks[0]], core.block_example[blocks[-1] + 1])
    ports = slice(core.kind_port[kind], core.kind_port[kind + 1])
    places = np.zeros((cells.shape[1], len(blocks)), dtype=np.int32)
    row = 0
    for at, bits in enumerate(core.block_bits[blocks].tolist()):
        places[row : row + bits, at] = 1 << np.arange(bits)
        row += bits
    return {
        "bit": cells.ravel(),
        "rows": np.array([-1, cells.shape[1]], dtype=np.int64),
        "places": places,
        "block": np.repeat(np.arange(len(blocks)), np.diff(core.block_example)[blocks]),
        "wanted": core.configuration[examples].astype(np.int32),
        "first": core.first[:, examples].T,
        "last": core.last[:, ports],
        "column": core.column[ports].astype(np.int64),
        "line": np.array([-1, len(cells) * (ports.stop - ports.start)], dtype=np.int64),
    }


def _layer_constants(thresholds: Any) -> dict[str, Any]:
    """Returns the constants shared by all uses of `_layer_nodes`."""
    return {
        "zero": np.array(0, dtype=thresholds.dtype),
        "one": np.array(1, dtype=np.int64),
        "none": np.array(0, dtype=np.int64),
        "axis": np.array([1], dtype=np.int64),
        "thresholds": thresholds,
    }


def _layer_nodes(wide: int, prefix: str) -> list[Any]:
    """Returns the nodes that compute `sums` and `next` from `matched`, using the tensors `first`, `last` and `column`.

    All names are prefixed. `wide` is the type of the thresholds and sums.
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


def _wiring(wires: WiresOut, bits: int) -> dict[str, Any]:
    """Returns the ports that set each bit, padded with the always-off column."""
    ports = len(wires.wire_start) - 1
    port = np.repeat(np.arange(ports), np.diff(wires.wire_start))
    order = np.argsort(wires.wire_bit, kind="stable")
    counts = np.bincount(wires.wire_bit, minlength=bits)
    most = max(1, int(counts.max(initial=0)))
    table = np.full((bits, most), ports, dtype=np.int64)
    within = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    table[wires.wire_bit[order], within] = port[order]
    return {"wires": table.ravel(), "writers": np.array([-1, bits, most], dtype=np.int64)}
