"""ONNX models: random stacks of layers, of which what is proved must hold of exact fractions, of any rounding, and of
onnxruntime; and good models with edits, which end in a verdict or in one line.
"""

from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import onnx
from fuzz.mutations import edit_bytes, edit_tree
from fuzz.rationals import Floats, Reals, evaluated, kinded
from fuzz.reader import Reader
from fuzz.stored import folder, in_file, saved
from google.protobuf.json_format import MessageToDict, ParseDict
from onnx import helper, numpy_helper
from own_networks import as_onnx, layers_of

from bitwright import InputError, Model, addition, certify

_FLOATS = ("float32", "float64")
_OPERATORS = ("Add", "Constant", "Dropout", "Flatten", "Gemm", "Identity", "Loop", "MatMul", "Relu", "Where", "", "\n")


def random_numbers(rng: Random, kind: str, shape: tuple[int, ...]) -> np.ndarray:
    """Weights of a type: small or large integers, on a grid, anything, or next to nothing."""
    size = int(np.prod(shape))
    if kind not in _FLOATS:
        limits = np.iinfo(kind)
        most = rng.choice((3, 3, 100, limits.max))
        values: list[Any] = [max(limits.min, rng.randint(-most - 1, most)) for _ in range(size)]
        return np.array(values, dtype=kind).reshape(shape)
    scale = 2.0 ** rng.choice((0, 0, 0, -5, -20, -60, -64, -100, -126, -140, 24, 60))
    whole, most = rng.random() < 0.6, rng.choice((4, 4, 5_000))
    values = [scale * (rng.randint(-most, most) if whole else rng.gauss(0, 1)) for _ in range(size)]
    return np.array(values).reshape(shape).astype(kind)


def random_stack(rng: Random) -> bytes:
    """A model of one to three layers."""
    first = rng.choice(("float32", "float32", "float64", "uint8", "int8", "int32"))
    kind, columns, at, nodes, tensors = first, rng.randint(2, 4), "rows", list[Any](), dict[str, np.ndarray]()
    width = columns

    def node(operator: str, *others: np.ndarray, **attributes: int) -> None:
        nonlocal at
        names = [f"c{len(tensors) + number}" for number in range(len(others))]
        tensors.update(zip(names, others, strict=True))
        inputs = [*names, at] if operator == "Add" and rng.random() < 0.3 else [at, *names]
        nodes.append(helper.make_node(operator, inputs, [at := f"t{len(nodes)}"], **attributes))

    for _ in range(rng.randint(1, 3)):
        before, width = width, rng.randint(1, 4)
        if kind in ("uint8", "int8"):
            node("MatMulInteger", random_numbers(rng, "int8" if kind == "int8" else "uint8", (before, width)))
            kind = "int32"
        elif rng.random() < 0.5:
            turned = rng.random() < 0.5
            weights = random_numbers(rng, kind, (width, before) if turned else (before, width))
            biases = [random_numbers(rng, kind, rng.choice(((width,), (1, width), ())))] * (rng.random() < 0.7)
            node("Gemm", weights, *biases, transB=int(turned))
        else:
            node("MatMul", random_numbers(rng, kind, (before, width)))
        if rng.random() < 0.4:
            node("Add", random_numbers(rng, kind, rng.choice(((width,), (1, width), (), (2, width)))))
        if rng.random() < 0.6:
            node(rng.choice(("Relu", "Relu", "Relu", "Identity", "Flatten")))
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "random",
        [value("rows", helper.np_dtype_to_tensor_dtype(np.dtype(first)), ["batch", columns])],
        [value(at, helper.np_dtype_to_tensor_dtype(np.dtype(kind)), ["batch", width])],
        [numpy_helper.from_array(array, name) for name, array in tensors.items()],
    )
    sets = [helper.make_opsetid("", rng.randint(11, 22))]
    return bytes(helper.make_model(graph, opset_imports=sets, ir_version=8).SerializeToString())


def take_stack(data: bytes) -> None:
    """A refusal; else what is proved must hold."""
    (path := folder() / "random.onnx").write_bytes(data)
    held, model, rng = Model(path), onnx.load_from_string(data), Random(data)
    rows = np.array(list(product((0, 1), repeat=held.stack.inputs)))
    found = holds(held, rows)
    for at, row in enumerate(rows.tolist()):
        for by in (Reals(), Floats(rng)):
            away = abs(evaluated(model, row, by)[0] - kinded(found.values[at], Reals())[1])
            assert (away <= kinded(found.error[at], Reals())[1]).all(), (at, type(by).__name__)


def holds(held: Model, rows: np.ndarray) -> Any:
    """What is proved of these rows, and given by the runtime."""
    try:
        return held.outputs(rows)
    except InputError as error:
        if "cannot run" in str(error):  # integers in Gemm, say
            raise
        raise AssertionError(str(error)) from error


# Good models with edits.

_PROGRAM = replace(addition(2), ensures=())
_ATTRIBUTES = ("axis", "axes", "allowzero", "alpha", "broadcast", "keepdims", "perm", "to", "transA", "value")


def edited_model(rng: Random) -> bytes:
    """A model that is right, or a random stack, with edits of its messages or of its bytes."""
    good = saved(lambda path: as_onnx(layers_of(_PROGRAM.program), path), "layers.onnx")
    data = good if rng.random() < 0.6 else random_stack(rng)
    if rng.random() < 0.15:
        return edit_bytes(rng, data)
    model = onnx.load_from_string(data)
    node = rng.choice(model.graph.node or [onnx.NodeProto()])
    match rng.randrange(6):
        case 0:
            node.op_type = rng.choice(_OPERATORS)
        case 1:
            node.attribute.append(helper.make_attribute(rng.choice(_ATTRIBUTES), rng.choice((0, 1, -1, 1 << 40, [0]))))
        case 2 if node.input:
            node.input[0] = rng.choice(
                ("", "rows", "out", "none", *(name for one in model.graph.node for name in one.output))
            )
        case 3 if model.graph.initializer:
            model.graph.initializer[0].raw_data = edit_bytes(rng, model.graph.initializer[0].raw_data)
        case 4:
            opset = helper.make_opsetid(rng.choice(("", "ai.onnx", "x")), rng.choice((0, 5, 7, 12, 17, 23, 99)))
            model.opset_import.append(opset)
    for _ in range(rng.randint(0, 3)):
        with suppress(Exception):  # where the edited tree is no message
            model = ParseDict(edit_tree(rng, MessageToDict(model)), onnx.ModelProto(), ignore_unknown_fields=True)
    return bytes(model.SerializeToString())


def take_edited(path: Path) -> None:
    """A verdict or a line; and what is proved is what the runtime gives."""
    held = Model(path)
    if held.stack.inputs <= 8:
        holds(held, np.array(list(product((0, 1), repeat=held.stack.inputs))))
    certify(_PROGRAM, held)


READERS = (
    Reader("random ONNX stacks", random_stack, take_stack),
    Reader("ONNX files", edited_model, in_file("edited.onnx", take_edited)),
)
