"""ONNX operators written out naively on fractions: in real arithmetic, or rounded in any order as a runtime might."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np

Kinded = tuple[str, np.ndarray]  # a type, and an array of fractions
_NORMAL = {"float32": Fraction(2) ** -126, "float64": Fraction(2) ** -1022}


class Reals:
    """Numbers without rounding."""

    def rounded(self, number: Fraction, kind: str) -> Fraction:
        if kind not in _NORMAL:
            limits = np.iinfo(kind)
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


def _each(compute: Callable[..., Fraction]) -> Operator:
    """One number from those at the same place."""

    def operator(inputs: Sequence[Kinded], _: Mapping[str, Any], by: Reals) -> Kinded:
        arrays = np.broadcast_arrays(*(array for _, array in inputs))
        found = np.empty(arrays[0].shape, dtype=object)
        for place in np.ndindex(found.shape):
            found[place] = by.rounded(compute(*(array[place] for array in arrays)), inputs[0][0])
        return inputs[0][0], found

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


OPERATORS: dict[str, Operator] = {
    "Add": _each(lambda a, b: a + b),
    "Flatten": _each(lambda a: a),
    "Gemm": _products,
    "Identity": _each(lambda a: a),
    "MatMul": _products,
    "MatMulInteger": lambda inputs, about, by: _products(inputs, about, by, "int32"),
    "Relu": _each(lambda a: max(a, Fraction(0))),
}
