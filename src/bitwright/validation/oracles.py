"""Oracles: the expected outputs, computed without any engine under validation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from hashlib import sha256
from operator import index
from typing import Any, ClassVar, Final, Literal, Protocol

import numpy as np

from bitwright.common.bits import BoolArray, any_digits, shorten
from bitwright.common.errors import BitwrightError, InputError
from bitwright.rules import Algorithm
from bitwright.rules.ensure_runs import Runs
from bitwright.rules.ensures import EnsureLine
from bitwright.rules.expressions import Combined, Expression, Named, names_in
from bitwright.runs.sliced import MOST_BITS, Numbers

Values = Mapping[str, Any]


class Silence(Enum):
    """The answer of an oracle that does not know the expected outputs."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Silence.UNKNOWN
Answer = Mapping[str, Any] | Literal[Silence.UNKNOWN] | None


class Oracle(Protocol):
    """Returns the expected outputs of an input."""

    @property
    def name(self) -> str:
        """Its name in reports."""

    @property
    def arrays(self) -> bool:
        """Whether it accepts whole arrays."""

    def __call__(self, values: Values) -> Answer:
        """The outputs by name; None if the run never ends; UNKNOWN if it cannot tell."""


class ValueOracle:
    """An oracle that is a value: its repr contains everything that its answers depend on."""

    @property
    def digest(self) -> str:
        """The sha256 of its repr."""
        return sha256(repr(self).encode()).hexdigest()


@dataclass(frozen=True)
class Arithmetic(ValueOracle):
    """Python's own integers; the expressions also work on arrays."""

    operation: str  # addition, multiplication or permutation
    order: tuple[int, ...] = ()
    arrays = True

    @property
    def name(self) -> str:
        return "Python's integers"

    def __call__(self, values: Values) -> Mapping[str, Any]:
        if self.operation == "addition":
            return {"sum": values["p"] + values["q"]}
        if self.operation == "multiplication":
            return {"product": values["multiplicand"] * values["multiplier"]}
        p = values["p"]
        return {"p": sum((p >> i & 1) << (place - 1) for i, place in enumerate(self.order))}


@dataclass(frozen=True)
class Expected:
    """The expected outputs of some inputs: one array per output word, and the inputs without such an answer."""

    outputs: list[Numbers]
    endless: BoolArray  # (count,) the run never ends
    unknown: BoolArray  # (count,) the oracle cannot tell


def expected(oracle: Oracle, algorithm: Algorithm, values: Mapping[str, Numbers], count: int) -> Expected:
    """Evaluates the oracle on these inputs."""
    names = [word.name for word in algorithm.outputs]
    if oracle.arrays and values:
        nowhere = np.zeros(count, dtype=bool)
        return Expected(_ask_at_once(oracle, names, _fitting(algorithm, values), count), nowhere, nowhere)
    columns = [np.zeros(count, dtype=object) for _ in names]
    endless, unknown = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
    lists = {name: array.tolist() for name, array in values.items()}
    for place in range(count):
        answer = oracle({name: column[place] for name, column in lists.items()})
        if answer is None:
            endless[place] = True
        elif isinstance(answer, Silence):
            unknown[place] = True
        else:
            for name, column in zip(names, columns, strict=True):
                column[place] = whole_number(output_of(answer, name, oracle), oracle, name)
    return Expected(columns, endless, unknown)


def is_wide(algorithm: Algorithm) -> bool:
    """Whether some numbers are longer than a machine word, so that arrays hold Python integers."""
    return any(len(word.bits) > MOST_BITS for word in (*algorithm.inputs, *algorithm.outputs))


def _fitting(algorithm: Algorithm, values: Mapping[str, Numbers]) -> dict[str, Numbers]:
    """The values in read-only arrays of a type that can hold the outputs."""
    found = {name: array.astype(object if is_wide(algorithm) else np.int64) for name, array in values.items()}
    for array in found.values():
        array.flags.writeable = False
    return found


def _ask_at_once(oracle: Oracle, names: list[str], values: Mapping[str, Numbers], count: int) -> list[Numbers]:
    """One answer for whole arrays, spot-checked against answers for single inputs."""
    found = oracle(values)
    columns = [whole_numbers(output_of(found, name, oracle), oracle, name, count) for name in names]
    for place in sorted({0, count // 7, count // 3, count // 2, count - 1}):
        given = {name: int(array[place]) for name, array in values.items()}
        single = oracle(given)
        for name, column in zip(names, columns, strict=True):
            alone = whole_number(output_of(single, name, oracle), oracle, name)
            if int(column[place]) != alone:
                case = " ".join(f"{name}={shorten(value)}" for name, value in given.items())
                raise InputError(
                    f"the oracle {oracle.name} contradicts itself on arrays: for {case} alone it returns "
                    f"{name}={shorten(alone)}, among {count:,} inputs {name}={shorten(int(column[place]))}"
                )
    return columns


def output_of(answer: Answer, name: str, oracle: Oracle) -> Any:
    if not isinstance(answer, Mapping):
        raise BitwrightError(f"the array oracle {oracle.name} must return arrays, got {shown(answer)}")
    if name not in answer:
        raise InputError(f"the oracle {oracle.name} returned no output {name}")
    return answer[name]


def whole_number(value: object, oracle: Oracle, name: str) -> int:
    """An output as an integer; nothing is rounded or parsed from text."""
    try:
        return index(bool(value) if isinstance(value, np.bool_) else value)  # type: ignore[arg-type]
    except Exception:
        raise InputError(f"the oracle {oracle.name} must return integers, got {shown(value)} for {name}") from None


def whole_numbers(value: object, oracle: Oracle, name: str, count: int) -> Numbers:
    """An output as an array of integers, one per input."""
    if not isinstance(value, np.ndarray):
        raise InputError(f"the oracle {oracle.name} must return NumPy arrays, got {shown(value)} for output {name}")
    if value.shape != (count,):
        raise InputError(
            f"the oracle {oracle.name} must return a number for each of {count:,} inputs, "
            f"got an array of shape {value.shape} for output {name}"
        )
    if value.dtype == object:
        return np.array([whole_number(item, oracle, name) for item in value.tolist()], dtype=object)
    if value.dtype.kind not in "iub":
        raise InputError(
            f"the oracle {oracle.name} must return integers, got an array of {value.dtype} for output {name}"
        )
    return value.astype(object if value.dtype == np.uint64 else np.int64)


def shown(value: object) -> str:
    """Any value in a few words."""
    try:
        with any_digits():
            return shorten(repr(value))
    except Exception:
        return f"a {type(value).__name__}"


@dataclass(frozen=True)
class _Definition:
    """`output == value`, or one of its bits, under a condition on the inputs."""

    line: EnsureLine
    condition: Expression | None
    output: Named
    value: Expression


@dataclass(frozen=True)
class Ensured(ValueOracle):
    """Outputs computed from the lines that define them as functions of the inputs."""

    lines: tuple[str, ...]  # the source text, part of the repr
    ensures: tuple[EnsureLine, ...]
    definitions: tuple[_Definition, ...]
    widths: tuple[tuple[str, int, bool], ...]  # name, bits and signedness of each output
    name: ClassVar[str] = "its ensure lines"

    @property
    def arrays(self) -> bool:
        """Whether each line defines one output by one expression for all inputs; arrays then hold Python integers."""
        plain = all(one.condition is None and one.output.index is None for one in self.definitions)
        return plain and len(self.ensures) == len(self.definitions) == len(self.widths)

    def __call__(self, values: Values) -> Answer:
        """The outputs; UNKNOWN if no line defines one of them.

        Raises InputError if lines contradict each other, so that no outputs satisfy all of them.
        """
        if values and all(isinstance(value, np.ndarray) for value in values.values()):
            count = len(next(iter(values.values())))
            runs = Runs(count, values, {})
            columns = {one.output.text: np.asarray(runs.value(one.line, one.value)) for one in self.definitions}
            return {name: np.broadcast_to(column, count) for name, column in columns.items()}
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
        for line in self.ensures:
            if not line.holds(values, known):
                given, found = (", ".join(f"{n}={v}" for n, v in numbers.items()) for numbers in (values, known))
                conflict = f"for {given} the others give {found}, which violates '{line}'"
                raise InputError(f"the ensure lines contradict each other: {conflict}")
        return known


def ensured(algorithm: Algorithm) -> Ensured | None:
    """The oracle defined by the lines of an algorithm; None if they leave an output undefined."""
    outputs = {word.name for word in algorithm.outputs}
    definitions = tuple(found for line in algorithm.ensures for found in _definitions(line, outputs))
    if {found.output.text for found in definitions} != outputs:
        return None
    widths = tuple((word.name, len(word.bits), word.signed) for word in algorithm.outputs)
    return Ensured(tuple(line.line() for line in algorithm.ensures), algorithm.ensures, definitions, widths)


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
