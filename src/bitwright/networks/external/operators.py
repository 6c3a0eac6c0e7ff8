"""The ONNX operators whose results are certain, in the table at the end.

A row of the table gives the first operator set in which an operator has this meaning, and the supported values of its
attributes. Its function computes the values, bounds them in real and floating-point arithmetic (`tensors.py`), and
raises NotReadError unless it keeps the rows of different states apart. Models with other operators, attributes or
shapes can be run and tested but not proved.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.networks.external.tensors import DIGITS, LARGEST, Addends, Array, NotReadError, Tensor, summed

LATEST = 25  # the latest supported operator set


@dataclass(frozen=True)
class Operator:
    """One row of the table."""

    bound: Callable[..., Tensor]  # takes the inputs, and the attributes by name
    first: int  # operator set
    attributes: Mapping[str, Collection[Any] | None] = field(
        default_factory=dict
    )  # values; None if the function checks them
    alike: bool = True  # whether all inputs have one type
    optional: bool = False  # whether an input may be left out


def _apart(*tensors: Tensor) -> None:
    """Raises NotReadError unless broadcasting combines only rows of the same state."""
    varying = [one.size.shape for one in tensors if not one.constant]
    for one in tensors:
        shape = one.size.shape
        if not one.constant and (len(shape), shape[0]) != (len(varying[0]), varying[0][0]):
            raise NotReadError("rows of the batch that meet other rows")
        if one.constant and varying and (len(shape), *shape[:1]) >= (len(varying[0]), 2):
            raise NotReadError("a constant for each row of the batch")


# Sums and products


def _sum(first: Tensor, second: Tensor, sign: int = 1) -> Tensor:
    _apart(first, second)
    return summed(
        first.values + sign * second.values,
        first.size + second.size,
        first.terms + second.terms,
        first.kind,
        max(first.grid, second.grid),
        first.largest + second.largest,
    )


def _difference(first: Tensor, second: Tensor) -> Tensor:
    if first.unsigned:
        raise NotReadError(f"a difference of numbers of type {first.kind}")
    return _sum(first, second, -1)


def _times(first: Tensor, second: Tensor, by: Callable[[Array, Array], Array] = np.multiply, many: int = 0) -> Tensor:
    """Returns products, or sums of this many products."""
    sizes = np.abs(first.values), np.abs(second.values)
    lost = by(sizes[0] + first.error, second.error) + by(first.error, sizes[1])
    count = many or first.terms.count + second.terms.count
    mass = by(sizes[0], sizes[1]) if many else first.terms.mass * second.terms.mass
    return summed(
        by(first.values, second.values),
        by(first.size, second.size),
        Addends(count, mass, lost),
        first.kind,
        first.grid + second.grid,
        first.largest + second.largest,
    )


def _multiplied(first: Tensor, second: Tensor) -> Tensor:
    _apart(first, second)
    if first.kind == "float64":
        raise NotReadError("a float64 factor, which onnxruntime may fuse into a float32 matrix product")
    return _times(first, second)


def _product(first: Tensor, second: Tensor) -> Tensor:
    """A matrix product, (batch, m) with constant (m, columns)."""
    if first.constant or first.values.ndim != 2 or second.values.ndim != 2 or not second.constant:
        raise NotReadError("a product other than of rows with constant weights")
    return _times(first, second, np.matmul, len(second.values))


def _gemm(first: Tensor, second: Tensor, bias: Tensor | None = None, *, transB: int = 0, **_: float) -> Tensor:
    found = _product(first, second.moved(np.transpose) if transB else second)
    if bias is not None and np.broadcast_shapes(bias.size.shape, found.size.shape) != found.size.shape:
        raise NotReadError("a bias of a larger shape than the sum it is added to")
    return found if bias is None else _sum(found, bias)


def _product_of_bytes(first: Tensor, second: Tensor, *points: Tensor) -> Tensor:
    if len(points) > 2 or any(not point.constant or point.values.any() for point in points):
        raise NotReadError("zero points other than 0")
    if 2 * first.largest * second.largest >= 1 << 15:
        raise NotReadError("byte products, the sum of two of which may overflow the 16 bits that some processors use")
    return _product(replace(first, kind="int32"), second)


def _reduced(tensor: Tensor, axes: Sequence[int], keepdims: int) -> Callable[[Any], Callable[[Array], Array]]:
    """Restricts an array method to the last axis."""
    last = tensor.values.ndim - 1
    if last == 0 or [axis % (last + 1) for axis in axes] != [last]:
        raise NotReadError("a reduction over axes other than the last")
    return lambda method: lambda array: np.asarray(method(array, axis=-1, keepdims=bool(keepdims)))


def _total(tensor: Tensor, along: Tensor | None = None, *, axes: Any = (), keepdims: int = 1, **_: int) -> Tensor:
    total = _reduced(tensor, axes if along is None else _integers(along), keepdims)(np.sum)
    terms = Addends(tensor.terms.count * tensor.values.shape[-1], total(tensor.terms.mass), total(tensor.terms.lost))
    return summed(total(tensor.values), total(tensor.size), terms, tensor.kind, tensor.grid, tensor.largest)


# Choices


def _largest(tensor: Tensor, along: Tensor | None = None, *, axes: Any = (), keepdims: int = 1, **_: int) -> Tensor:
    over = _reduced(tensor, axes if along is None else _integers(along), keepdims)
    return replace(tensor, known=None).moved(over(np.max))


def _extreme(choose: Callable[[Array, Array], Array]) -> Callable[..., Tensor]:
    """Returns the operator for the larger or smaller of numbers."""

    def bound(first: Tensor, *others: Tensor) -> Tensor:
        first = replace(first, known=None)
        for other in others:
            _apart(first, other)
            size, error = np.maximum(first.size, other.size), np.maximum(first.error, other.error)
            alone, grid = first.constant and other.constant, max(first.grid, other.grid)
            first = Tensor(choose(first.values, other.values), first.kind, size, grid, error, alone)
        return first

    return bound


def _clip(tensor: Tensor, low: Tensor | None = None, high: Tensor | None = None) -> Tensor:
    limits = [limit for limit in (low, high) if limit is not None]
    if any(not limit.constant or limit.values.ndim for limit in limits):
        raise NotReadError("limits that are not constant numbers")
    if [*map(_number, limits)] != sorted(map(_number, limits)):
        raise NotReadError("a lower limit above the upper limit")
    found = tensor if low is None else _extreme(np.maximum)(tensor, low)
    return found if high is None else _extreme(np.minimum)(found, high)


def _number(tensor: Tensor) -> float:
    return float(tensor.values)


def _comparison(compare: Callable[[Array, Array], NDArray[np.bool_]]) -> Callable[..., Tensor]:
    """Returns the operator with result 1 or 0, and an error of 1 if it is uncertain."""

    def bound(first: Tensor, second: Tensor) -> Tensor:
        _apart(first, second)
        error = first.error + second.error
        open_ = (np.abs(first.values - second.values) <= error) & (error > 0)
        size = np.ones(np.broadcast_shapes(first.size.shape, second.size.shape))
        values = compare(first.values, second.values).astype(np.float64)
        return Tensor(values, "bool", size, 0, open_.astype(np.float64))

    return bound


def _negative(tensor: Tensor) -> Tensor:
    if tensor.unsigned or tensor.largest > LARGEST.get(tensor.kind, np.inf):
        raise NotReadError(f"a negative that may leave the range of {tensor.kind}")
    return replace(tensor, values=-tensor.values)


def _inverse(tensor: Tensor) -> Tensor:
    return replace(tensor, values=1 - tensor.values, size=np.ones_like(tensor.size))


def _positive(tensor: Tensor) -> Tensor:
    return replace(tensor, values=np.maximum(tensor.values, 0), known=None)


def _cast(tensor: Tensor, *, to: str, **_: object) -> Tensor:
    if to in DIGITS:  # rounded if it has more digits than the type
        terms = Addends(1, np.abs(tensor.values), tensor.error)
        return summed(tensor.values, tensor.size, terms, to, tensor.grid, tensor.largest)
    if to not in LARGEST or (tensor.kind in DIGITS and tensor.error.any()):
        raise NotReadError(f"a cast to {to} whose result is not certain")
    found = replace(tensor, kind=to, grid=0, known=None)
    if to == "bool":
        return replace(found, values=1.0 * (tensor.values != 0), size=np.ones_like(tensor.size))
    if tensor.largest > LARGEST[to] or (found.unsigned and not tensor.unsigned):
        raise NotReadError(f"a cast of numbers that may be outside the range of {to}")
    return replace(found, values=np.trunc(tensor.values))


# Numbers in other places


def _gather(tensor: Tensor, at: Tensor, *, axis: int = 0) -> Tensor:
    index = at.values.astype(np.int64)
    if at.constant and (tensor.constant or axis % tensor.values.ndim):
        return tensor.moved(lambda array: np.take(array, index, axis=axis))
    if at.constant or at.error.any() or not tensor.constant or axis:
        raise NotReadError("Gather by numbers that depend on the input, from others that do")
    most = tensor.size.max(axis=0)
    size = np.broadcast_to(most, (*at.size.shape, *most.shape))
    return replace(tensor.moved(lambda array: np.take(array, index, axis=0)), size=size)


def _concat(*tensors: Tensor, axis: int) -> Tensor:
    _apart(*tensors)
    if axis not in (1, -1) or any(one.values.ndim != 2 or one.constant for one in tensors):
        raise NotReadError("Concat along an axis other than columns")
    parts: Any = {name: np.hstack([getattr(one, name) for one in tensors]) for name in ("values", "size", "error")}
    return replace(tensors[0], **parts, grid=max(one.grid for one in tensors), known=None)


def _reshape(tensor: Tensor, target: Tensor, **_: int) -> Tensor:
    """Splits the row of each state into several, such as its cells, or joins them."""
    rows, *shape = _integers(target)
    if tensor.constant or rows not in (0, -1) or min([1, *shape]) < 1:
        raise NotReadError("Reshape to a size that does not match the rows of one state")
    if rows == 0 and tensor.size[0].size != np.prod(shape):
        raise NotReadError("Reshape to a different number of rows than declared")
    return tensor.moved(lambda array: array.reshape(-1, *shape))


def _flat(tensor: Tensor, **_: int) -> Tensor:
    if tensor.constant:
        raise NotReadError("Flatten of constants")
    return tensor.moved(lambda array: array.reshape(len(array), -1))


def _other_shape(move: Callable[[Array, tuple[int, ...]], Array], more: int) -> Callable[..., Tensor]:
    """Returns Squeeze or Unsqueeze for axes other than the rows."""

    def bound(tensor: Tensor, along: Tensor | None = None, *, axes: Sequence[int] = ()) -> Tensor:
        axes = tuple(axes if along is None else _integers(along))
        if not axes or (
            not tensor.constant and any(axis % (tensor.values.ndim + more * len(axes)) == 0 for axis in axes)
        ):
            raise NotReadError("a batch axis that is moved")
        return tensor.moved(lambda array: move(array, axes))

    return bound


def _transpose(tensor: Tensor, *, perm: Sequence[int] | None = None) -> Tensor:
    if not tensor.constant:
        raise NotReadError("Transpose of a tensor that depends on the input")
    return tensor.moved(lambda array: np.transpose(array, perm))


def _integers(tensor: Tensor) -> list[int]:
    if not tensor.constant or tensor.values.ndim != 1:
        raise NotReadError("a shape or axes that are not a constant list")
    return [int(number) for number in tensor.values]


_AXES = {"axes": None, "keepdims": (0, 1), "noop_with_empty_axes": (0,)}
_GEMM = {"alpha": (1.0,), "beta": (1.0,), "transA": (0,), "transB": (0, 1)}
_CAST = {"to": None, "saturate": (1,), "round_mode": (b"up",)}  # the other two concern 8-bit numbers

OPERATORS: dict[str, Operator] = {
    "Add": Operator(_sum, 7),
    "And": Operator(_extreme(np.minimum), 7),
    "Cast": Operator(_cast, 9, _CAST),
    "Clip": Operator(_clip, 11, optional=True),
    "Concat": Operator(_concat, 11, {"axis": None}),
    "Equal": Operator(_comparison(np.equal), 7),
    "Flatten": Operator(_flat, 9, {"axis": (1,)}),
    "Gather": Operator(_gather, 11, {"axis": None}, alike=False),
    "Gemm": Operator(_gemm, 7, _GEMM),
    "Greater": Operator(_comparison(np.greater), 7),
    "GreaterOrEqual": Operator(_comparison(np.greater_equal), 12),
    "Identity": Operator(lambda tensor: tensor, 1),
    "Less": Operator(_comparison(np.less), 7),
    "LessOrEqual": Operator(_comparison(np.less_equal), 12),
    "MatMul": Operator(_product, 7),
    "MatMulInteger": Operator(_product_of_bytes, 10, alike=False),
    "Max": Operator(_extreme(np.maximum), 8),
    "Min": Operator(_extreme(np.minimum), 8),
    "Mul": Operator(_multiplied, 7),
    "Neg": Operator(_negative, 7),
    "Not": Operator(_inverse, 1),
    "Or": Operator(_extreme(np.maximum), 7),
    "ReduceMax": Operator(_largest, 11, _AXES, alike=False),
    "ReduceSum": Operator(_total, 11, _AXES, alike=False),
    "Relu": Operator(_positive, 7),
    "Reshape": Operator(_reshape, 7, {"allowzero": (0,)}, alike=False),
    "Squeeze": Operator(_other_shape(np.squeeze, 0), 11, {"axes": None}, alike=False),
    "Sub": Operator(_difference, 7),
    "Transpose": Operator(_transpose, 7, {"perm": None}),
    "Unsqueeze": Operator(_other_shape(np.expand_dims, 1), 11, {"axes": None}, alike=False),
}
