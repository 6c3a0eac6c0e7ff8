"""A network as a list of operators: its output on every runtime, with the justification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitwright.networks.external.operators import LATEST, OPERATORS, Operator
from bitwright.networks.external.tensors import DIGITS, NotReadError, Tensor, constant


@dataclass(frozen=True)
class Node:
    """One operator."""

    operator: str
    inputs: tuple[str, ...]  # "" for an omitted input
    output: str
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Analysis:
    """Properties of every number in a network, for all inputs of 0 and 1."""

    exact: bool  # whether every runtime computes the same numbers
    kinds: tuple[str, ...]  # the floating-point types that occur; empty for integers only
    grid: int  # the finest grid of exact numbers
    units: float  # the largest sum of absolute values, in units of the grid

    @property
    def sentence(self) -> str:
        """The arithmetic, and why its results are certain."""
        if not self.kinds:
            return "integers"
        kind = " and ".join(self.kinds)
        if not self.exact:
            return f"{kind}, every order of summation"
        unit = "integers" if not self.grid else f"multiples of 2^-{self.grid} or coarser"
        fit = 2 ** min(DIGITS[one] for one in self.kinds)
        return (
            f"{kind}, exact in every order of summation: all numbers are {unit}, and absolute values add up to "
            f"{self.units:,.0f} such units at most, of which {fit:,} fit"
        )


@dataclass(frozen=True, eq=False)
class OperatorGraph:
    """Operators in evaluation order, from one input to one output."""

    nodes: tuple[Node, ...]
    constants: Mapping[str, NDArray[Any]]
    input: str
    kind: str  # the type of the input
    output: str
    opset: int = LATEST  # the operator set that gives operators their meaning

    @cached_property
    def _constants(self) -> dict[str, Tensor]:
        return {name: constant(array) for name, array in self.constants.items()}

    @cached_property
    def digest(self) -> str:
        """The sha256 of everything that is evaluated."""
        found = sha256(repr((self.nodes, self.input, self.kind, self.output, self.opset)).encode())
        for name, array in self.constants.items():
            found.update(f"\n{name} {array.dtype} {array.shape}\n".encode() + array.tobytes())
        return found.hexdigest()

    def __call__(self, inputs: NDArray[Any]) -> Tensor:  # (batch, columns) of 0 and 1
        """Returns the output for these inputs; raises NotReadError for an unknown operator."""
        return self._evaluate(inputs)[self.output]

    def analysis(self, columns: int) -> Analysis:
        """Returns its properties for all inputs with this many columns; raises NotReadError if they are unknown."""
        found = self._evaluate(np.zeros((1, columns)))
        output = found[self.output]
        if output.constant or output.size.ndim != 2 or len(output.size) != 1:
            raise NotReadError("an output that is not one row for each state")
        tensors = [tensor for name, tensor in found.items() if not tensor.constant and name != self.input]
        floats = [tensor for tensor in tensors if tensor.kind in DIGITS]
        return Analysis(
            exact=not any(tensor.error.any() for tensor in found.values()),
            kinds=tuple(sorted({tensor.kind for tensor in floats})),
            grid=int(max((tensor.grid for tensor in floats if isfinite(tensor.grid)), default=0)),
            units=max((tensor.largest * 2.0**tensor.grid for tensor in floats if isfinite(tensor.grid)), default=0.0),
        )

    def _evaluate(self, inputs: NDArray[Any]) -> dict[str, Tensor]:
        rows = np.asarray(inputs, dtype=np.float64)
        known = dict(self._constants)
        known[self.input] = Tensor(rows, self.kind, np.ones((1, rows.shape[1])), 0, np.zeros_like(rows))
        for node in self.nodes:
            known[node.output] = self._computed(node, known)
        if self.output not in known:
            raise NotReadError(f"nothing computes the output '{self.output}'")
        return known

    def _computed(self, node: Node, known: Mapping[str, Tensor]) -> Tensor:
        """Returns the output of one operator; raises NotReadError unless the table covers this use."""
        operator = OPERATORS.get(node.operator)
        if operator is None or not operator.first <= self.opset <= LATEST:
            raise NotReadError(f"the operator {node.operator} is not among those whose results are certain")
        if other := [name for name, value in node.attributes.items() if not _understood(operator, name, value)]:
            raise NotReadError(f"the operator {node.operator} has an attribute {other[0]} that is not understood")
        if "" in node.inputs and not operator.optional:
            raise NotReadError(f"the operator {node.operator} has an input that is left out")
        if missing := [name for name in node.inputs if name and name not in known]:
            raise NotReadError(f"the operator {node.operator} reads '{missing[0]}', which nothing computes")
        inputs = [known[name] if name else None for name in node.inputs]
        given = [one for one in inputs if one is not None]
        if operator.alike and len({one.kind for one in given}) != 1:
            raise NotReadError(f"the operator {node.operator} has inputs of several types")
        try:
            found = operator.bound(*inputs, **node.attributes)
        except NotReadError:
            raise
        except (ArithmeticError, ValueError, LookupError, TypeError) as error:  # shapes
            raise NotReadError(f"the operator {node.operator} does not fit its inputs: {error}") from None
        return replace(found, constant=all(one.constant for one in given))


def _understood(operator: Operator, name: str, value: object) -> bool:
    allowed = operator.attributes.get(name, ())
    return allowed is None or value in allowed
