"""ONNX models: random graphs, of which what is proved must hold of exact fractions, of any rounding, and of onnxruntime
with each row alone or all together; and good models with edits, which end in a verdict or in one line.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
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

from bitwright import Model, addition, certify
from bitwright.networks.external import HeldModel, as_model
from bitwright.networks.external.model import Answers
from bitwright.networks.external.operators import OPERATORS
from bitwright.networks.external.tensors import NotReadError

_FLOATS, _INTEGERS = ("float32", "float64"), ("int8", "uint8", "int32", "int64")
_COMPARISONS = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")
_TYPE = {kind: int(helper.np_dtype_to_tensor_dtype(np.dtype(kind))) for kind in (*_FLOATS, *_INTEGERS, "bool")}


@dataclass(frozen=True)
class Made:
    """A tensor of a random graph."""

    name: str
    kind: str
    shape: tuple[int, ...]  # of one state, with its rows first


@dataclass
class Making:
    """A random graph, as far as it is made."""

    rng: Random
    opset: int
    nodes: list[Any] = field(default_factory=list)
    tensors: dict[str, np.ndarray] = field(default_factory=dict)
    made: list[Made] = field(default_factory=list)

    def constant(self, array: np.ndarray) -> str:
        name = f"c{len(self.tensors)}"
        self.tensors[name] = array
        return name

    def node(self, operator: str, inputs: list[str], kind: str, shape: tuple[int, ...], **attributes: Any) -> None:
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        self.made.append(Made(name, kind, shape))

    def numbers(self, kind: str, shape: tuple[int, ...]) -> np.ndarray:
        """Weights of a type: small or large integers, on a grid, anything, or next to nothing."""
        rng, size = self.rng, int(np.prod(shape))
        if kind == "bool" or kind in _INTEGERS:
            limits = (0, 1) if kind == "bool" else (np.iinfo(kind).min, np.iinfo(kind).max)
            most = rng.choice((3, 3, 100, limits[1]))
            values = [max(limits[0], min(limits[1], rng.randint(-most - 1, most))) for _ in range(size)]
            if rng.random() < 0.2:
                values = [rng.choice((*limits, 0, 1)) for _ in range(size)]
            return np.array(values, dtype=kind).reshape(shape)
        scale = 2.0 ** rng.choice((0, 0, 0, -5, -20, -60, -64, -100, -126, -140, 24, 60))
        whole, most = rng.random() < 0.6, rng.choice((4, 4, 5_000))
        values = [scale * (rng.randint(-most, most) if whole else rng.gauss(0, 1)) for _ in range(size)]
        return np.array(values).reshape(shape).astype(kind)


def random_graph(rng: Random) -> bytes:
    """A model of two to eight operators, mostly such as the table has."""
    kind, columns = rng.choice(("float32", "float32", "float32", "float64", "uint8", "int8")), rng.randint(2, 4)
    making = Making(rng, rng.randint(11, 22), made=[Made("rows", kind, (1, columns))])
    for _ in range(rng.randint(1, 7)):
        rng.choice(_STEPS)(making, making.made[-1] if rng.random() < 0.8 else rng.choice(making.made))
    last = making.made[-1]
    if len(last.shape) != 2:
        making.node("Flatten", [last.name], last.kind, (last.shape[0], int(np.prod(last.shape[1:]))), axis=1)
    last = making.made[-1]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        making.nodes,
        "random",
        [value("rows", _TYPE[kind], ["batch", columns])],
        [value(last.name, _TYPE[last.kind], ["rows", "columns"])],
        [numpy_helper.from_array(array, name) for name, array in making.tensors.items()],
    )
    sets = [helper.make_opsetid("", making.opset)]
    return helper.make_model(graph, opset_imports=sets, ir_version=8).SerializeToString()


def _layer(making: Making, at: Made) -> None:
    """A product with weights, with or without a bias, and perhaps a Relu."""
    rng, kind, width = making.rng, at.kind, making.rng.randint(1, 4)
    if len(at.shape) != 2 or kind not in (*_FLOATS, "int32", "uint8", "int8"):
        return
    weights = making.numbers(kind if kind in (*_FLOATS, "int32") else "int8", (at.shape[1], width))
    if kind in ("uint8", "int8"):
        making.node("MatMulInteger", [at.name, making.constant(weights)], "int32", (at.shape[0], width))
    elif rng.random() < 0.5:
        bias = [making.constant(making.numbers(kind, rng.choice(((width,), (1, width), ())))) for _ in range(1)]
        how = rng.random() < 0.5
        given = making.constant(np.ascontiguousarray(weights.T) if how else weights)
        bias = bias if rng.random() < 0.7 else []
        making.node("Gemm", [at.name, given, *bias], kind, (at.shape[0], width), transB=int(how))
    else:
        making.node("MatMul", [at.name, making.constant(weights)], kind, (at.shape[0], width))
    if rng.random() < 0.5 and kind in _FLOATS:
        making.node("Relu", [making.made[-1].name], kind, making.made[-1].shape)


def _pair(making: Making, at: Made) -> None:
    """A sum, a product, a choice or a comparison, with a constant or another tensor."""
    rng = making.rng
    operators = ("Add", "Sub", "Mul", "Max", "Min", *_COMPARISONS)
    operator = rng.choice(("And", "Or") if at.kind == "bool" else operators)
    others = [one for one in making.made if one.kind == at.kind and len(one.shape) == len(at.shape)]
    if rng.random() < 0.3:
        second = rng.choice(others)
        if any(1 not in pair and pair[0] != pair[1] for pair in zip(at.shape, second.shape, strict=True)):
            return
        other, at = second.name, replace(at, shape=tuple(map(max, at.shape, second.shape)))
    else:
        some = ((), (1,), at.shape[-1:], (1, *at.shape[1:]), (2, *at.shape[1:]), (1, *at.shape), (*at.shape[1:], 1))
        shape = rng.choice((*some[:4] * 3, *some))
        if len(np.broadcast_shapes((1,) * len(at.shape), shape)) > len(at.shape) and rng.random() < 0.5:
            return
        other = making.constant(making.numbers(at.kind, shape))
    inputs = [at.name, other] if rng.random() < 0.7 else [other, at.name]
    making.node(operator, inputs, "bool" if operator in _COMPARISONS else at.kind, at.shape)


def _single(making: Making, at: Made) -> None:
    rng = making.rng
    if at.kind == "bool":
        making.node("Not", [at.name], at.kind, at.shape)
    elif rng.random() < 0.3:
        limits = sorted(making.numbers(at.kind, (2,)).tolist())
        given = [making.constant(np.array(limit, dtype=at.kind)) for limit in limits]
        making.node("Clip", [at.name, *given], at.kind, at.shape)
    else:
        making.node(rng.choice(("Relu", "Neg", "Neg", "Identity")), [at.name], at.kind, at.shape)


def _vanishing(making: Making, at: Made) -> None:
    """Products by very small numbers, and what is left of them."""
    if at.kind in _FLOATS:
        name, tiny = at.name, 2.0 ** -making.rng.choice((40, 60, 63, 64))
        for _ in range(making.rng.randint(1, 3) if at.kind == "float32" else 16):
            factor = making.constant(np.array([tiny], dtype=at.kind))
            making.node("Mul", [name, factor], at.kind, at.shape)
            name = making.made[-1].name
        none = making.constant(np.array([0], dtype=at.kind))
        making.node(making.rng.choice(_COMPARISONS), [name, none], "bool", at.shape)


def _least(making: Making, at: Made) -> None:
    """The end of an integer type, and its negative."""
    if at.kind in ("int8", "int32", "int64"):
        least = np.array([np.iinfo(at.kind).min + making.rng.randint(0, 1)], dtype=at.kind)
        making.node("Min", [at.name, making.constant(least)], at.kind, at.shape)
        making.node("Neg", [making.made[-1].name], at.kind, at.shape)


def _type(making: Making, at: Made) -> None:
    kind = making.rng.choice((*_FLOATS, *_INTEGERS, "bool"))
    making.node("Cast", [at.name], kind, at.shape, to=_TYPE[kind])


def _total(making: Making, at: Made) -> None:
    rng, operator = making.rng, making.rng.choice(("ReduceSum", "ReduceMax"))
    axis = rng.choice((-1, len(at.shape) - 1, 0)) if rng.random() < 0.3 else -1
    kept, place = rng.randint(0, 1), axis % len(at.shape)
    shape = (*at.shape[:place], *(1,) * kept, *at.shape[place + 1 :])
    if shape:
        own = making.opset >= (13 if operator == "ReduceSum" else 18)
        inputs = [at.name, making.constant(np.array([axis]))] if own else [at.name]
        making.node(operator, inputs, at.kind, shape, keepdims=kept, **({} if own else {"axes": [axis]}))


def _shape(making: Making, at: Made) -> None:
    """A Reshape to rows of this width, whether or not that joins states; axes of one more or less."""
    rng, size = making.rng, int(np.prod(at.shape))
    pick = rng.random()
    if pick < 0.4:
        width = rng.choice((at.shape[-1], size, 1, 2, 3))
        target = rng.choice(([-1, width], [-1, width], [-1], [-1, 1, width], [1, -1], [0, -1]))
        rows = at.shape[0] if target[0] == 0 else -(-size // int(np.prod([abs(one) for one in target[1:]])))
        shape = (rows, *(size // rows if one == -1 else one for one in target[1:]))
        making.node("Reshape", [at.name, making.constant(np.array(target))], at.kind, shape)
    elif pick < 0.7:
        axis = rng.randint(-len(at.shape) - 1, len(at.shape))
        place = axis % (len(at.shape) + 1)
        _axes_node(making, "Unsqueeze", at, axis, (*at.shape[:place], 1, *at.shape[place:]))
    elif 1 in at.shape[1:]:
        place = at.shape.index(1, 1)
        axis = rng.choice((place, place - len(at.shape)))
        _axes_node(making, "Squeeze", at, axis, (*at.shape[:place], *at.shape[place + 1 :]))


def _axes_node(making: Making, operator: str, at: Made, axis: int, shape: tuple[int, ...]) -> None:
    if making.opset >= 13:
        making.node(operator, [at.name, making.constant(np.array([axis]))], at.kind, shape)
    else:
        making.node(operator, [at.name], at.kind, shape, axes=[axis])


def _columns(making: Making, at: Made) -> None:
    """Some of the columns, or the columns of two tensors; or, where rows are not kept apart, of the batch."""
    rng = making.rng
    others = [one for one in making.made if one.kind == at.kind and len(one.shape) == len(at.shape) == 2]
    if others and rng.random() < 0.4:
        other = rng.choice(others)
        axis, shape = rng.choice((1, -1, 1, -1, 0)), list(at.shape)
        shape[axis] += other.shape[axis]
        making.node("Concat", [at.name, other.name], at.kind, tuple(shape), axis=axis)
    elif rng.random() < 0.2 and len(at.shape) == 2:
        making.node("Transpose", [at.name], at.kind, at.shape[::-1])
    elif len(at.shape) > 1:
        axis, index = rng.choice((1, -1, 1, 0)), np.array([rng.randrange(-1, 1) for _ in range(rng.randint(1, 3))])
        shape = list(at.shape)
        shape[axis] = len(index)
        making.node("Gather", [at.name, making.constant(index)], at.kind, tuple(shape), axis=axis)


_STEPS: tuple[Callable[[Making, Made], None], ...] = (
    *(_layer, _layer, _pair, _pair, _single, _type, _total, _shape, _columns, _vanishing, _least),
)


def take_graph(data: bytes) -> None:
    """Raises NotReadError where nothing is proved; else what is proved must hold."""
    (path := folder() / "random.onnx").write_bytes(data)
    model, held = onnx.load_from_string(data), as_model(path)
    columns = model.graph.input[0].type.tensor_type.shape.dim[1].dim_value
    if held.analysis(columns) is None:
        raise NotReadError("nothing is known of this graph")
    rows = np.array(list(product((0, 1), repeat=columns)))
    found, rng = run_alike(held, rows), Random(data)
    for at, row in enumerate(rows.tolist()):
        for by in (Reals(), Floats(rng)):
            away = abs(evaluated(model, row, by)[0] - kinded(found.outputs[at], Reals())[1])
            assert (away <= kinded(found.error[at], Reals())[1]).all(), (at, type(by).__name__)


def run_alike(held: HeldModel, rows: np.ndarray) -> Answers:
    """What is proved of these rows, all of them, and given by the runtime, whatever other rows there are."""
    try:
        found = held.answers(rows)
    except NotReadError as error:
        raise AssertionError(str(error)) from error
    for alone in (True, False):
        assert (np.abs(held.run(rows, alone=alone) - found.outputs) <= found.error).all(), f"alone: {alone}"
    return found


# Good models with edits.

_PROGRAM = replace(addition(2), ensures=())
_ATTRIBUTES = ("axis", "axes", "allowzero", "alpha", "broadcast", "keepdims", "perm", "to", "transA", "value")


def edited_model(rng: Random) -> bytes:
    """A model that is right, or a random graph, with edits of its messages or of its bytes."""
    good = saved(lambda path: as_onnx(layers_of(_PROGRAM.program), path), "layers.onnx")
    data = good if rng.random() < 0.6 else random_graph(rng)
    if rng.random() < 0.15:
        return edit_bytes(rng, data)
    model = onnx.load_from_string(data)
    node = rng.choice(model.graph.node or [onnx.NodeProto()])
    match rng.randrange(6):
        case 0:
            node.op_type = rng.choice((*OPERATORS, "Constant", "Dropout", "Where", "Loop", "Shape", "", "\n"))
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
    held = as_model(path)
    if (columns := held.source.columns) and columns <= 8 and held.analysis(columns) is not None:  # type: ignore[union-attr]
        run_alike(held, np.array(list(product((0, 1), repeat=columns))))
    certify(_PROGRAM, Model(path))


READERS = (
    Reader("random ONNX graphs", random_graph, take_graph),
    Reader("ONNX files", edited_model, in_file("edited.onnx", take_edited)),
)
