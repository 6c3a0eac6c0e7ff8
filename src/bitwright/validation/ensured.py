"""The `ensure` lines of a program as its oracle: what they say its outputs are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bitwright.program import Algorithm
from bitwright.program.ensures import Combined, EnsureLine, Expression, Named, names_in
from bitwright.validation.oracles import UNKNOWN, Answer, Values


@dataclass(frozen=True)
class _Definition:
    """`output == value`, or one of its bits, where a condition on the inputs holds."""

    line: EnsureLine
    condition: Expression | None
    output: Named
    value: Expression


@dataclass(frozen=True)
class Ensured:
    """Outputs by the lines that give them as a function of the inputs."""

    lines: tuple[str, ...]  # which says what it depends on
    definitions: tuple[_Definition, ...]
    widths: tuple[tuple[str, int, bool], ...]  # of the outputs: name, bits, whether signed

    @property
    def arrays(self) -> bool:
        """Whether every output is one expression for all inputs; arrays then hold Python's integers."""
        return all(one.condition is None and one.output.index is None for one in self.definitions)

    @property
    def name(self) -> str:
        return "its ensure lines"

    def __call__(self, values: Values) -> Answer:
        """The outputs; UNKNOWN where no line says what one of them is."""
        if values and all(isinstance(value, np.ndarray) for value in values.values()):
            exact = {name: value.astype(object) for name, value in values.items()}
            count = len(next(iter(exact.values())))
            columns = {one.output.text: one.line.value(one.value, exact, {}) for one in self.definitions}
            return {name: np.broadcast_to(np.asarray(column, dtype=object), count) for name, column in columns.items()}
        known: dict[str, int] = {}
        bits: dict[tuple[str, int], int] = {}
        for definition in self.definitions:
            line, output = definition.line, definition.output
            for row in line.rows():
                if definition.condition is not None and not line.value(definition.condition, values, {}, row):
                    continue
                value = int(line.value(definition.value, values, {}, row))
                if output.index is None:
                    known[output.text] = value
                else:
                    bits[output.text, line.value(output.index, {}, {}, row)] = value
        for name, width, signed in self.widths:
            if name not in known:
                digits = [bits.get((name, place)) for place in range(1, width + 1)]
                if None in digits:
                    return UNKNOWN
                total = sum(digit << k for k, digit in enumerate(digits) if digit)
                known[name] = total - (1 << width) if signed and total >> (width - 1) else total
        return known


def ensured(algorithm: Algorithm) -> Ensured | None:
    """The oracle that the lines of an algorithm are; None where they leave an output open."""
    outputs = {word.name for word in algorithm.outputs}
    definitions = tuple(found for line in algorithm.ensures for found in _definitions(line, outputs))
    if {found.output.text for found in definitions} != outputs:
        return None
    widths = tuple((word.name, len(word.bits), word.signed) for word in algorithm.outputs)
    return Ensured(tuple(line.line() for line in algorithm.ensures), definitions, widths)


def _definitions(line: EnsureLine, outputs: set[str]) -> Iterator[_Definition]:
    truth: Expression = line.truth
    condition: Expression | None = None
    if isinstance(truth, Combined) and truth.sign == "=>" and not _outputs(truth.left, outputs):
        condition = truth.left
        truth = truth.right
    if isinstance(truth, Combined) and truth.sign == "==":
        for side, other in ((truth.left, truth.right), (truth.right, truth.left)):
            if isinstance(side, Named) and side.text in outputs and not side.entered and not _outputs(other, outputs):
                yield _Definition(line, condition, side, other)
                return


def _outputs(part: Expression, outputs: set[str]) -> bool:
    return any(name.text in outputs and not name.entered for name in names_in(part))
