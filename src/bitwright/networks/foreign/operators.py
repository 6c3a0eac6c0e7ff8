"""The operators whose results are certain, as the standard of ONNX names them: one table, at the end.

A row of the table says from which operator set on an operator means what is computed here, and which values its
attributes may have. Its function computes the values, bounds them in real and in floating-point arithmetic
(`tensors.py`), and raises NotReadError unless it keeps the rows of different states apart. An operator, an attribute or
a shape that is not here may be run, and tested, but proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.networks.foreign.tensors import (
    DIGITS,
    LARGEST,
    Array,
    NotReadError,
    Tensor,
    Terms,
    common,
    errors,
    product,
    summed,
    together,
)

LATEST = 25  # the last operator set that was looked at
Inputs = Sequence[Tensor | None]
Attributes = Mapping[str, Any]


@dataclass(frozen=True)
class Operator:
    """One row of the table."""

    bound: Callable[[Inputs, Attributes], Tensor]
    first: int  # operator set
    attributes: Mapping[str, Collection[Any] | None] = field(default_factory=dict)  # values; None: the function looks
    alike: bool = True  # whether all inputs have one type
    optional: bool = False  # whether an input may be left out


def _apart(*tensors: Tensor) -> None:
    """Raises NotReadError unless rows meet rows of the same state alone when these are broadcast."""
    varying = [one.size.shape for one in tensors if not one.constant]
    for one in tensors:
        shape = one.size.shape
        if not one.constant and (len(shape), shape[0]) != (len(varying[0]), varying[0][0]):
            raise NotReadError("rows of the batch that meet other rows")
        if one.constant and varying and (len(shape), *shape[:1]) >= (len(varying[0]), 2):
            raise NotReadError("a constant for each row of the batch")


def _given(inputs: Inputs, count: int) -> list[Tensor]:
    found = [one for one in inputs if one is not None]
    if len(found) != count:
        raise NotReadError(f"{len(found)} inputs in place of {count}")
    return found


def _one(change: Callable[[Tensor], Tensor]) -> Callable[[Inputs, Attributes], Tensor]:
    return lambda inputs, _: change(*_given(inputs, 1))


def _two(combine: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Inputs, Attributes], Tensor]:
    return lambda inputs, _: combine(*_given(inputs, 2))


# Sums and products


def _sum(first: Tensor, second: Tensor, sign: int = 1) -> Tensor:
    _apart(first, second)
    one, other = first.sum(), second.sum()
    return summed(
        first.values + sign * second.values,
        first.size + second.size,
        Terms(one.count + other.count, one.mass + other.mass, together(one.lost, other.lost)),
        first.kind,
        common(first, second),
        first.largest + second.largest,
    )


def _difference(first: Tensor, second: Tensor) -> Tensor:
    if first.unsigned:
        raise NotReadError(f"a difference of numbers of type {first.kind}")
    return _sum(first, second, -1)


def _times(first: Tensor, second: Tensor) -> Tensor:
    _apart(first, second)
    both, sizes = errors(first, second), (np.abs(first.values), np.abs(second.values))
    one, other = first.sum(), second.sum()
    return summed(
        first.values * second.values,
        first.size * second.size,
        Terms(
            one.count + other.count,
            one.mass * other.mass,
            None if both is None else sizes[0] * both[1] + sizes[1] * both[0] + both[0] * both[1],
        ),
        first.kind,
        product(first, second),
        first.largest + second.largest,
    )


def _products(first: Tensor, second: Tensor, kind: str, bias: Tensor | None = None) -> Tensor:
    """A matrix product, (batch, m) with constant (m, columns), and a bias that may be its first or its last term."""
    if first.constant or first.values.ndim != 2 or second.values.ndim != 2 or not second.constant:
        raise NotReadError("a product that is not of rows with constant weights")
    weights = np.abs(second.values)
    lost = None if first.error is None else first.error @ weights
    if second.error is not None:
        lost = together(lost, (np.abs(first.values) + (0 if first.error is None else first.error)) @ second.error)
    values, size, grid = first.values @ second.values, first.size @ weights, product(first, second)
    terms, factor = Terms(len(weights), np.abs(first.values) @ weights, lost), first.largest + second.largest
    if bias is not None:
        more, shape = bias.sum(), values.shape
        values, size, grid = values + bias.values, size + bias.size, None if grid is None else _finer(grid, bias)
        terms = Terms(terms.count + more.count, terms.mass + more.mass, together(terms.lost, more.lost))
        if bias.values.ndim > 2 or values.shape != shape:
            raise NotReadError("a bias that is larger than what it is added to")
        _apart(first, bias)
    return summed(values, size, terms, kind, grid, factor)


def _finer(grid: int, bias: Tensor) -> int | None:
    return None if bias.grid is None else max(grid, bias.grid)


def _gemm(inputs: Inputs, attributes: Attributes) -> Tensor:
    first, second, *bias = _given(inputs, len(inputs))
    second = second.moved(np.transpose) if attributes.get("transB", 0) else second
    return _products(first, second, first.kind, *bias)


def _matmul_integer(inputs: Inputs, _: Attributes) -> Tensor:
    if any(not point.constant or point.values.any() for point in inputs[2:] if point is not None):
        raise NotReadError("zero points other than 0")
    first, second = _given(inputs[:2], 2)
    if 2 * first.largest * second.largest >= 1 << 15:
        raise NotReadError("products of bytes two of which may not fit the 16 bits that some processors add them in")
    return _products(first, second, "int32")


def _reduced(inputs: Inputs, attributes: Attributes) -> tuple[Tensor, Callable[[Any], Callable[[Array], Array]]]:
    """What is reduced over its last axis, and how to apply a method that does it."""
    tensor = _given(inputs[:1], 1)[0]
    axes, last = _axes(inputs, attributes), tensor.values.ndim - 1
    if last == 0 or [axis % (last + 1) for axis in axes] != [last]:
        raise NotReadError("a reduction over other axes than the last")
    keep = bool(attributes.get("keepdims", 1))
    return tensor, lambda method: lambda array: np.asarray(method(array, axis=-1, keepdims=keep))


def _reduce_sum(inputs: Inputs, attributes: Attributes) -> Tensor:
    tensor, over = _reduced(inputs, attributes)
    total, own, count = over(np.sum), tensor.sum(), tensor.values.shape[-1]
    terms = Terms(own.count * count, total(own.mass), None if own.lost is None else total(own.lost))
    return summed(total(tensor.values), total(tensor.size), terms, tensor.kind, tensor.grid, tensor.largest)


# Choices


def _reduce_max(inputs: Inputs, attributes: Attributes) -> Tensor:
    tensor, over = _reduced(inputs, attributes)
    return replace(tensor, terms=None).moved(over(np.max))


def _extreme(choose: Callable[[Array, Array], Array]) -> Callable[[Inputs, Attributes], Tensor]:
    """The larger or the smaller of numbers."""

    def bound(inputs: Inputs, _: Attributes) -> Tensor:
        first, *others = _given(inputs, len(inputs))
        first = replace(first, terms=None)
        for other in others:
            _apart(first, other)
            both, size = errors(first, other), np.maximum(first.size, other.size)
            error = None if both is None else np.maximum(*both)
            constant = first.constant and other.constant
            values = choose(first.values, other.values)
            first = Tensor(values, first.kind, size, common(first, other), error, constant)
        return first

    return bound


def _clip(inputs: Inputs, _: Attributes) -> Tensor:
    found = _given(inputs[:1], 1)[0]
    low, high = (*inputs[1:], None, None)[:2]
    if any(limit is not None and (not limit.constant or limit.values.ndim) for limit in (low, high)):
        raise NotReadError("limits that are no constant numbers")
    if low is not None and high is not None and low.values > high.values:
        raise NotReadError("limits of which the lower one is larger")
    found = found if low is None else _extreme(np.maximum)([found, low], {})
    return found if high is None else _extreme(np.minimum)([found, high], {})


def _comparison(compare: Callable[[Array, Array], NDArray[np.bool_]]) -> Callable[[Inputs, Attributes], Tensor]:
    """1 or 0, with an error of 1 where it is not certain."""

    def combine(first: Tensor, second: Tensor) -> Tensor:
        _apart(first, second)
        both = errors(first, second)
        uncertain = None if both is None else np.abs(first.values - second.values) <= both[0] + both[1]
        return Tensor(
            compare(first.values, second.values).astype(np.float64),
            "bool",
            np.ones(np.broadcast_shapes(first.size.shape, second.size.shape)),
            0,
            None if uncertain is None else uncertain.astype(np.float64),
        )

    return _two(combine)


def _negative(tensor: Tensor) -> Tensor:
    if tensor.kind in LARGEST and (tensor.unsigned or tensor.largest > LARGEST[tensor.kind]):
        raise NotReadError(f"a negative that may leave the range of {tensor.kind}")
    return replace(tensor, values=-tensor.values)


def _inverse(tensor: Tensor) -> Tensor:
    return replace(tensor, values=1 - tensor.values, size=np.ones_like(tensor.size))


def _positive(tensor: Tensor) -> Tensor:
    return replace(tensor, values=np.maximum(tensor.values, 0), terms=None)


def _cast(inputs: Inputs, attributes: Attributes) -> Tensor:
    tensor, kind = _given(inputs, 1)[0], attributes["to"]
    if kind in DIGITS:  # rounded where it has more digits than the type
        terms = Terms(1, np.abs(tensor.values), tensor.error)
        return summed(tensor.values, tensor.size, terms, kind, tensor.grid, tensor.largest)
    if kind not in LARGEST:
        raise NotReadError(f"a cast to {kind}, whose arithmetic is not known")
    if tensor.kind in DIGITS and tensor.error is not None:
        raise NotReadError("a cast of rounded numbers to integers")
    found = replace(tensor, kind=kind, grid=0, terms=None)
    if kind == "bool":
        return replace(found, values=(tensor.values != 0).astype(np.float64), size=np.ones_like(tensor.size))
    if tensor.largest > LARGEST[kind] or (found.unsigned and not tensor.unsigned):
        raise NotReadError(f"a cast of numbers that may be outside the range of {kind}")
    return replace(found, values=np.trunc(tensor.values))


# Numbers in other places


def _gather(inputs: Inputs, attributes: Attributes) -> Tensor:
    tensor, at = _given(inputs, 2)
    axis = attributes.get("axis", 0)
    if at.error is not None:
        raise NotReadError("Gather by rounded numbers")
    index = at.values.astype(np.int64)
    if at.constant and (tensor.constant or axis % tensor.values.ndim):
        return tensor.moved(lambda array: np.take(array, index, axis=axis))
    if at.constant or not tensor.constant or axis or tensor.error is not None:
        raise NotReadError("Gather by numbers that depend on the input, from others that do")
    most = tensor.size.max(axis=0)
    size = np.broadcast_to(most, (*at.size.shape, *most.shape))
    return Tensor(np.take(tensor.values, index, axis=0), tensor.kind, size, tensor.grid)


def _concat(inputs: Inputs, attributes: Attributes) -> Tensor:
    found, axis = _given(inputs, len(inputs)), attributes["axis"]
    _apart(*found)
    if axis not in (1, -1) or any(one.values.ndim != 2 or one.constant for one in found):
        raise NotReadError("Concat of other things than columns")
    both = errors(*found)
    return Tensor(
        np.concatenate([one.values for one in found], axis=1),
        found[0].kind,
        np.concatenate([one.size for one in found], axis=1),
        common(*found),
        None if both is None else np.concatenate(both, axis=1),
    )


def _reshape(inputs: Inputs, _: Attributes) -> Tensor:
    """Rows that become others: those of one state several, such as its cells, or the other way round."""
    tensor, target = _given(inputs, 2)
    rows, *shape = _integers(target)
    if tensor.constant or rows not in (0, -1) or min([1, *shape]) < 1:
        raise NotReadError("Reshape to a size that is not that of the rows of one state")
    width = int(np.prod(shape))
    if tensor.size.size % width or (rows == 0 and tensor.size[0].size != width):
        raise NotReadError("Reshape that joins the rows of several states")
    return tensor.moved(lambda array: array.reshape(-1, *shape))


def _flat(tensor: Tensor) -> Tensor:
    if tensor.constant:
        raise NotReadError("Flatten of constants")
    return tensor.moved(lambda array: array.reshape(len(array), -1))


def _other_shape(move: Callable[[Array, tuple[int, ...]], Array], more: int) -> Callable[[Inputs, Attributes], Tensor]:
    """Squeeze and Unsqueeze, of other axes than the rows."""

    def bound(inputs: Inputs, attributes: Attributes) -> Tensor:
        tensor, axes = _given(inputs[:1], 1)[0], _axes(inputs, attributes)
        rank = tensor.values.ndim + more * len(axes)
        if not tensor.constant and any(axis % rank == 0 for axis in axes):
            raise NotReadError("rows of the batch that are no rows any more")
        return tensor.moved(lambda array: move(array, tuple(axes)))

    return bound


def _transpose(inputs: Inputs, attributes: Attributes) -> Tensor:
    tensor = _given(inputs, 1)[0]
    if not tensor.constant:
        raise NotReadError("Transpose of what depends on the input")
    return tensor.moved(lambda array: np.transpose(array, attributes.get("perm")))


def _axes(inputs: Inputs, attributes: Attributes) -> list[int]:
    """The axes of an operator: its second input, or an attribute."""
    axes = attributes.get("axes") if len(inputs) < 2 or inputs[1] is None else _integers(inputs[1])
    if not axes:
        raise NotReadError("axes that are left out")
    return list(axes)


def _integers(tensor: Tensor) -> list[int]:
    if not tensor.constant or tensor.values.ndim != 1:
        raise NotReadError("a shape or axes that are no constant list")
    return [int(number) for number in tensor.values]


_AXES = {"axes": None, "keepdims": (0, 1), "noop_with_empty_axes": (0,)}
_GEMM = {"alpha": (1.0,), "beta": (1.0,), "transA": (0,), "transB": (0, 1)}
_CAST = {"to": None, "saturate": (1,), "round_mode": (b"up",)}  # the other two are of numbers of 8 bits

OPERATORS: dict[str, Operator] = {
    "Add": Operator(_two(_sum), 7),
    "And": Operator(_extreme(np.minimum), 7),
    "Cast": Operator(_cast, 9, _CAST),
    "Clip": Operator(_clip, 11, optional=True),
    "Concat": Operator(_concat, 11, {"axis": None}),
    "Equal": Operator(_comparison(np.equal), 7),
    "Flatten": Operator(_one(_flat), 9, {"axis": (1,)}),
    "Gather": Operator(_gather, 11, {"axis": None}, alike=False),
    "Gemm": Operator(_gemm, 7, _GEMM),
    "Greater": Operator(_comparison(np.greater), 7),
    "GreaterOrEqual": Operator(_comparison(np.greater_equal), 12),
    "Identity": Operator(_one(lambda tensor: tensor), 1),
    "Less": Operator(_comparison(np.less), 7),
    "LessOrEqual": Operator(_comparison(np.less_equal), 12),
    "MatMul": Operator(_two(lambda first, second: _products(first, second, first.kind)), 7),
    "MatMulInteger": Operator(_matmul_integer, 10, alike=False),
    "Max": Operator(_extreme(np.maximum), 8),
    "Min": Operator(_extreme(np.minimum), 8),
    "Mul": Operator(_two(_times), 7),
    "Neg": Operator(_one(_negative), 7),
    "Not": Operator(_one(_inverse), 1),
    "Or": Operator(_extreme(np.maximum), 7),
    "ReduceMax": Operator(_reduce_max, 11, _AXES, alike=False),
    "ReduceSum": Operator(_reduce_sum, 11, _AXES, alike=False),
    "Relu": Operator(_one(_positive), 7),
    "Reshape": Operator(_reshape, 7, {"allowzero": (0,)}, alike=False),
    "Squeeze": Operator(_other_shape(np.squeeze, 0), 11, {"axes": None}, alike=False),
    "Sub": Operator(_two(_difference), 7),
    "Transpose": Operator(_transpose, 7, {"perm": None}),
    "Unsqueeze": Operator(_other_shape(np.expand_dims, 1), 11, {"axes": None}, alike=False),
}
