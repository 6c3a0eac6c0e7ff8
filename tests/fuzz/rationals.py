"""ONNX operators written out naively on fractions: in real arithmetic, or rounded in any order as a runtime might."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import trunc
from random import Random
from typing import Any

import numpy as np

Kinded = tuple[str, np.ndarray]  # a type, and an array of fractions
_NORMAL = {"float32": Fraction(2) ** -126, "float64": Fraction(2) ** -1022}


class Reals:
    """Numbers without rounding."""

    def rounded(self, number: Fraction, kind: str) -> Fraction:
        if kind not in _NORMAL:
            limits = np.iinfo(kind if kind != "bool" else "uint8")
            assert limits.min <= number <= limits.max, f"{number} leaves {kind}"
        return number

    def total(self, terms: Sequence[Fraction], kind: str) -> Fraction:
        return self.rounded(sum(terms, Fraction(0)), kind)


class Floats(Reals):
    """Numbers of a type, added up in a random order; some of these machines take subnormal numbers for 0."""

    def __init__(self, rng: Random) -> None:
        self._rng, self._flush = rng, rng.random() < 0.5

    def rounded(self, number: Fraction, kind: str) -> Fraction:
        if kind not in _NORMAL:
            return super().rounded(number, kind)
        found = Fraction(float(getattr(np, kind)(float(number))))
        return Fraction(0) if self._flush and abs(found) < _NORMAL[kind] else found

    def total(self, terms: Sequence[Fraction], kind: str) -> Fraction:
        found = Fraction(0)
        for term in self._rng.sample(terms, len(terms)):
            found = self.rounded(found + term, kind)
        return found


def evaluated(model: Any, row: Sequence[int], by: Reals) -> np.ndarray:
    """The first output of a model for one row of 0 and 1, as fractions."""
    from onnx import helper, numpy_helper

    known = {one.name: kinded(numpy_helper.to_array(one), by) for one in model.graph.initializer}
    of = np.dtype(helper.tensor_dtype_to_np_dtype(model.graph.input[0].type.tensor_type.elem_type))
    known[model.graph.input[0].name] = kinded(np.array([row], dtype=of), by)
    for node in model.graph.node:
        attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
        inputs = [known[name] for name in node.input if name]
        known[node.output[0]] = OPERATORS[node.op_type](inputs, attributes, by)
    return known[model.graph.output[0].name][1]


def kinded(array: np.ndarray, by: Reals) -> Kinded:
    kind = array.dtype.name
    fractions = [by.rounded(Fraction(number.item()), kind) for number in array.ravel()]
    found = np.empty(array.size, dtype=object)
    found[:] = fractions
    return kind, found.reshape(array.shape)


Operator = Callable[[Sequence[Kinded], Mapping[str, Any], Reals], Kinded]


def _each(compute: Callable[..., Fraction | bool], kind: str | None = None) -> Operator:
    """One number from those at the same place."""

    def operator(inputs: Sequence[Kinded], _: Mapping[str, Any], by: Reals) -> Kinded:
        of = kind or inputs[0][0]
        arrays = np.broadcast_arrays(*(array for _, array in inputs))
        found = np.empty(arrays[0].shape, dtype=object)
        for place in np.ndindex(found.shape):
            found[place] = by.rounded(Fraction(compute(*(array[place] for array in arrays))), of)
        return of, found

    return operator


def _products(inputs: Sequence[Kinded], attributes: Mapping[str, Any], by: Reals, of: str | None = None) -> Kinded:
    (kind, first), (_, second), *bias = inputs
    kind, second = of or kind, second.T if attributes.get("transB") else second
    found = np.empty((len(first), second.shape[1]), dtype=object)
    more = np.broadcast_to(bias[0][1], found.shape) if bias else None
    for row, column in np.ndindex(found.shape):
        terms = [by.rounded(a * b, kind) for a, b in zip(first[row], second[:, column], strict=True)]
        found[row, column] = by.total(terms if more is None else [*terms, more[row, column]], kind)
    return kind, found


def _reduced(total: Callable[[Reals, list[Fraction], str], Fraction]) -> Operator:
    def operator(inputs: Sequence[Kinded], attributes: Mapping[str, Any], by: Reals) -> Kinded:
        kind, array = inputs[0]
        (axis,) = attributes["axes"] if len(inputs) == 1 else inputs[1][1].tolist()
        lines = np.moveaxis(array, int(axis), -1)
        found = np.empty(lines.shape[:-1], dtype=object)
        for place in np.ndindex(found.shape):
            found[place] = total(by, list(lines[place]), kind)
        return kind, np.expand_dims(found, int(axis)) if attributes.get("keepdims", 1) else found

    return operator


def _cast(inputs: Sequence[Kinded], attributes: Mapping[str, Any], by: Reals) -> Kinded:
    from onnx import helper

    kind = np.dtype(helper.tensor_dtype_to_np_dtype(attributes["to"])).name
    change = (lambda x: x != 0) if kind == "bool" else trunc if kind not in _NORMAL else (lambda x: x)
    return _each(lambda number: Fraction(change(number)), kind)([inputs[0]], {}, by)


def _moved(move: Callable[[np.ndarray, Mapping[str, Any], list[list[int]]], np.ndarray]) -> Operator:
    """Numbers in other places; other inputs are lists of integers."""

    def operator(inputs: Sequence[Kinded], attributes: Mapping[str, Any], by: Reals) -> Kinded:  # noqa: ARG001
        (kind, array), *others = inputs
        return kind, move(array, attributes, [np.vectorize(int, otypes=[int])(other).tolist() for _, other in others])

    return operator


def _concat(inputs: Sequence[Kinded], attributes: Mapping[str, Any], by: Reals) -> Kinded:  # noqa: ARG001
    return inputs[0][0], np.concatenate([array for _, array in inputs], axis=attributes["axis"])


def _axes(attributes: Mapping[str, Any], others: list[list[int]]) -> tuple[int, ...]:
    return tuple(others[0] if others else attributes["axes"])


def _reshape(array: np.ndarray, _: Mapping[str, Any], others: list[list[int]]) -> np.ndarray:
    return array.reshape([array.shape[at] if size == 0 else size for at, size in enumerate(others[0])])


def _clip(inputs: Sequence[Kinded], attributes: Mapping[str, Any], by: Reals) -> Kinded:
    return _each(lambda number, low, high: min(max(number, low), high))(inputs, attributes, by)


OPERATORS: dict[str, Operator] = {
    "Add": _each(lambda a, b: a + b),
    "And": _each(lambda a, b: a and b),
    "Cast": _cast,
    "Clip": _clip,
    "Concat": _concat,
    "Equal": _each(lambda a, b: a == b, "bool"),
    "Flatten": _moved(lambda array, *_: array.reshape(len(array), -1)),
    "Gather": _moved(lambda array, about, others: np.take(array, others[0], axis=about.get("axis", 0))),
    "Gemm": _products,
    "Greater": _each(lambda a, b: a > b, "bool"),
    "GreaterOrEqual": _each(lambda a, b: a >= b, "bool"),
    "Identity": _each(lambda a: a),
    "Less": _each(lambda a, b: a < b, "bool"),
    "LessOrEqual": _each(lambda a, b: a <= b, "bool"),
    "MatMul": _products,
    "MatMulInteger": lambda inputs, about, by: _products(inputs, about, by, "int32"),
    "Max": _each(max),
    "Min": _each(min),
    "Mul": _each(lambda a, b: a * b),
    "Neg": _each(lambda a: -a),
    "Not": _each(lambda a: not a),
    "Or": _each(lambda a, b: a or b),
    "ReduceMax": _reduced(lambda _, terms, __: max(terms)),
    "ReduceSum": _reduced(lambda by, terms, kind: by.total(terms, kind)),
    "Relu": _each(lambda a: max(a, Fraction(0))),
    "Reshape": _moved(_reshape),
    "Squeeze": _moved(lambda array, about, others: np.squeeze(array, _axes(about, others))),
    "Sub": _each(lambda a, b: a - b),
    "Transpose": _moved(lambda array, about, _: np.transpose(array, about.get("perm"))),
    "Unsqueeze": _moved(lambda array, about, others: np.expand_dims(array, _axes(about, others))),
}
