"""The operators of feed-forward networks, on tensors that hold for every runtime; named as ONNX names them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.networks.foreign.tensors import DIGITS, RANGES, Array, NotReadError, Tensor, common, errors, summed

Inputs = Sequence[Tensor | None]
Attributes = Mapping[str, Any]
Operator = Callable[[Inputs, Attributes], Tensor]


def _given(inputs: Inputs, least: int = 1) -> list[Tensor]:
    found = [one for one in inputs if one is not None]
    if len(found) < least:
        raise NotReadError(f"an operator needs {least} inputs, got {len(found)}")
    return found


def _matmul_integer(inputs: Inputs, _: Attributes) -> Tensor:
    if any(point is not None and (not point.constant or point.values.any()) for point in inputs[2:]):
        raise NotReadError("MatMulInteger with zero points other than 0")
    first, second = _given(inputs[:2], 2)
    return _product(first, second, "int32")


def _product(first: Tensor, second: Tensor, kind: str) -> Tensor:
    """A matrix product, (batch, m) with constant (m, columns)."""
    if first.values.ndim != 2 or second.values.ndim != 2 or not second.constant:
        raise NotReadError("a product that is not of rows with constant weights")
    weights = np.abs(second.values)
    grid = None if first.grid is None or second.grid is None else first.grid + second.grid
    lost = None if first.error is None else first.error @ weights
    factor = first.largest + second.largest
    now = np.abs(first.values) @ weights
    return summed(first.values @ second.values, first.size @ weights, now, lost, kind, grid, len(weights), factor)


def _gemm(inputs: Inputs, attributes: Attributes) -> Tensor:
    first, second = _given(inputs[:2], 2)
    if attributes.get("alpha", 1.0) != 1 or attributes.get("beta", 1.0) != 1 or attributes.get("transA", 0):
        raise NotReadError("Gemm with alpha, beta or transA")
    if attributes.get("transB", 0):
        second = replace(second, values=second.values.T, size=second.size.T)
    found = _product(first, second, first.kind)
    return found if len(inputs) < 3 or inputs[2] is None else _sum(found, inputs[2], 1)


def _difference(first: Tensor, second: Tensor) -> Tensor:
    if first.kind in RANGES and RANGES[first.kind][0] == 0:
        raise NotReadError(f"a difference of numbers of type {first.kind}")
    return _sum(first, second, -1)


def _sum(first: Tensor, second: Tensor, sign: int) -> Tensor:
    both = errors(first, second)
    found = summed(
        first.values + sign * second.values,
        first.size + second.size,
        np.abs(first.values) + np.abs(second.values),
        None if both is None else both[0] + both[1],
        first.kind,
        common(first, second),
        1,
        first.largest + second.largest,
    )
    return _constant_if(found, first, second)


def _times(first: Tensor, second: Tensor) -> Tensor:
    both = errors(first, second)
    sizes = np.abs(first.values), np.abs(second.values)
    lost = None if both is None else sizes[0] * both[1] + sizes[1] * both[0] + both[0] * both[1]
    grid = None if first.grid is None or second.grid is None else first.grid + second.grid
    found = summed(
        first.values * second.values,
        first.size * second.size,
        sizes[0] * sizes[1],
        lost,
        first.kind,
        grid,
        1,
        first.largest + second.largest,
    )
    return _constant_if(found, first, second)


def _last_axis(inputs: Inputs, attributes: Attributes) -> tuple[Tensor, bool]:
    """What is reduced over its last axis, and whether that axis stays."""
    tensor = _given(inputs)[0]
    axes, last = _axes(inputs, attributes), tensor.values.ndim - 1
    if axes is None or last == 0 or [axis % (last + 1) for axis in axes] != [last]:
        raise NotReadError("a reduction over other axes than the last")
    return tensor, bool(attributes.get("keepdims", 1))


def _reduce_sum(inputs: Inputs, attributes: Attributes) -> Tensor:
    tensor, keep = _last_axis(inputs, attributes)

    def total(array: Array) -> Array:
        return np.asarray(array.sum(axis=-1, keepdims=keep))

    lost, terms = None if tensor.error is None else total(tensor.error), tensor.values.shape[-1]
    now = total(np.abs(tensor.values))
    return summed(total(tensor.values), total(tensor.size), now, lost, tensor.kind, tensor.grid, terms, tensor.largest)


def _reduce_max(inputs: Inputs, attributes: Attributes) -> Tensor:
    tensor, keep = _last_axis(inputs, attributes)
    return _each(tensor, lambda array: np.asarray(array.max(axis=-1, keepdims=keep)))


def _extreme(choose: Callable[[Array, Array], Array]) -> Operator:
    """The larger or the smaller of numbers."""

    def operator(inputs: Inputs, _: Attributes) -> Tensor:
        first, *others = _given(inputs)
        for other in others:
            both = errors(first, other)
            first = Tensor(
                choose(first.values, other.values),
                first.kind,
                np.maximum(first.size, other.size),
                common(first, other),
                None if both is None else np.maximum(*both),
                first.constant and other.constant,
            )
        return first

    return operator


def _clip(inputs: Inputs, attributes: Attributes) -> Tensor:
    if "min" in attributes or "max" in attributes:
        raise NotReadError("Clip of an operator set before 11")
    limits = [*inputs[1:], None, None]
    found = _given(inputs[:1])[0]
    found = _extreme(np.maximum)([found, limits[0]], {})
    return _extreme(np.minimum)([found, limits[1]], {})


def _comparison(compare: Callable[[Array, Array], NDArray[np.bool_]]) -> Operator:
    """1 or 0, with an error of 1 where it is not certain."""

    def operator(inputs: Inputs, _: Attributes) -> Tensor:
        first, second = _given(inputs, 2)
        both = errors(first, second)
        uncertain = None if both is None else np.abs(first.values - second.values) <= both[0] + both[1]
        return Tensor(
            compare(first.values, second.values).astype(np.float64),
            "bool",
            np.ones(np.broadcast_shapes(first.size.shape, second.size.shape)),
            0,
            None if uncertain is None else uncertain.astype(np.float64),
        )

    return operator


def _cast(inputs: Inputs, attributes: Attributes) -> Tensor:
    tensor, kind = _given(inputs)[0], attributes["to"]
    if kind in DIGITS:
        zero = np.zeros((1,) * tensor.values.ndim)
        nothing = Tensor(zero, kind, zero, 0, None, tensor.constant)
        return _sum(replace(tensor, kind=kind), nothing, 1)  # rounded where it has more digits than the type
    if kind not in RANGES:
        raise NotReadError(f"a cast to {kind}, whose arithmetic is not known")
    if tensor.kind in DIGITS and tensor.error is not None:
        raise NotReadError("a cast of rounded numbers to integers")
    if kind == "bool":
        ones = np.ones_like(tensor.size)
        return replace(tensor, values=(tensor.values != 0).astype(np.float64), kind=kind, size=ones, grid=0)
    low, high = RANGES[kind]
    if tensor.largest > high or (low == 0 and tensor.values.min(initial=0) < 0):
        raise NotReadError(f"a cast of numbers that may be outside the range of {kind}")
    return replace(tensor, values=np.trunc(tensor.values), kind=kind, grid=0)


def _gather(inputs: Inputs, attributes: Attributes) -> Tensor:
    tensor, at = _given(inputs, 2)
    axis = attributes.get("axis", 0)
    if at.error is not None:
        raise NotReadError("Gather by rounded numbers")
    index = at.values.astype(np.int64)
    if tensor.constant and axis == 0 and tensor.error is None:
        values = np.take(tensor.values, index, axis=0)
        size = tensor.size.max(axis=0, keepdims=True) if not at.constant else np.take(tensor.size, index, axis=0)
        return replace(tensor, values=values, size=size, constant=at.constant)
    if not at.constant or axis % tensor.values.ndim == 0:
        raise NotReadError("Gather by numbers that depend on the input, from others that do")
    return _each(tensor, lambda array: np.take(array, index, axis=axis))


def _concat(inputs: Inputs, attributes: Attributes) -> Tensor:
    found, axis = _given(inputs), attributes["axis"]
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


def _flatten(inputs: Inputs, attributes: Attributes) -> Tensor:
    if attributes.get("axis", 1) != 1:
        raise NotReadError("Flatten from another axis than 1")
    return _each(_given(inputs)[0], lambda array: array.reshape(len(array), -1))


def _reshape(inputs: Inputs, _: Attributes) -> Tensor:
    tensor, shape = _given(inputs, 2)
    target = _integers(shape)
    if not tensor.constant and (target[0] not in (0, -1) or -1 in target[1:] or 0 in target[1:]):
        raise NotReadError("Reshape of a batch to a size that is not open")
    # with -1 the rows of a state may become several, such as its cells, and the other way round
    return _each(tensor, lambda array: array.reshape([len(array) if target[0] == 0 else target[0], *target[1:]]))


def _axes(inputs: Inputs, attributes: Attributes) -> list[int] | None:
    """The axes of an operator: its second input, or an attribute."""
    return attributes.get("axes") if len(inputs) < 2 or inputs[1] is None else _integers(inputs[1])


def _other_shape(name: str, move: Callable[[Array, tuple[int, ...]], Array]) -> Operator:
    """Squeeze and Unsqueeze, of other axes than the batch."""

    def operator(inputs: Inputs, attributes: Attributes) -> Tensor:
        axes = _axes(inputs, attributes)
        if axes is None or 0 in axes:
            raise NotReadError(f"{name} of the batch")
        return _each(_given(inputs)[0], lambda array: move(array, tuple(axes)))

    return operator


def _one(change: Callable[[Tensor], Tensor]) -> Operator:
    """An operator on one tensor, without attributes."""
    return lambda inputs, _: change(_given(inputs)[0])


def _two(combine: Callable[[Tensor, Tensor], Tensor]) -> Operator:
    """An operator on two tensors, without attributes."""
    return lambda inputs, _: combine(*_given(inputs, 2))


def _transpose(inputs: Inputs, attributes: Attributes) -> Tensor:
    tensor = _given(inputs)[0]
    if not tensor.constant:
        raise NotReadError("Transpose of what depends on the input")
    return _each(tensor, lambda array: np.transpose(array, attributes.get("perm")))


def _each(tensor: Tensor, move: Callable[[Array], Array]) -> Tensor:
    """Numbers moved about."""
    error = None if tensor.error is None else move(tensor.error)
    return replace(tensor, values=move(tensor.values), size=move(tensor.size), error=error)


def _integers(tensor: Tensor) -> list[int]:
    if not tensor.constant:
        raise NotReadError("a shape or an axis that depends on the input")
    return [int(number) for number in tensor.values.ravel()]


def _constant_if(found: Tensor, *inputs: Tensor) -> Tensor:
    """A result of constants is one too."""
    return replace(found, constant=all(one.constant for one in inputs))


OPERATORS: dict[str, Operator] = {
    "Add": _two(lambda first, second: _sum(first, second, 1)),
    "And": _extreme(np.minimum),
    "Cast": _cast,
    "Clip": _clip,
    "Concat": _concat,
    "Equal": _comparison(np.equal),
    "Flatten": _flatten,
    "Gather": _gather,
    "Gemm": _gemm,
    "Greater": _comparison(np.greater),
    "GreaterOrEqual": _comparison(np.greater_equal),
    "Identity": _one(lambda tensor: tensor),
    "Less": _comparison(np.less),
    "LessOrEqual": _comparison(np.less_equal),
    "MatMul": _two(lambda first, second: _product(first, second, first.kind)),
    "MatMulInteger": _matmul_integer,
    "Max": _extreme(np.maximum),
    "Min": _extreme(np.minimum),
    "Mul": _two(_times),
    "Neg": _one(lambda tensor: replace(tensor, values=-tensor.values)),
    "Not": _one(lambda tensor: replace(tensor, values=1 - tensor.values, size=np.ones_like(tensor.size))),
    "Or": _extreme(np.maximum),
    "ReduceMax": _reduce_max,
    "ReduceSum": _reduce_sum,
    "Relu": _one(lambda tensor: replace(tensor, values=np.maximum(tensor.values, 0))),
    "Reshape": _reshape,
    "Squeeze": _other_shape("Squeeze", np.squeeze),
    "Sub": _two(_difference),
    "Transpose": _transpose,
    "Unsqueeze": _other_shape("Unsqueeze", np.expand_dims),
}
