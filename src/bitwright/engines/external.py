"""Third-party networks: the meaning of their columns, and their decisions in cells or whole states."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bitwright.common.bits import BoolArray
from bitwright.common.errors import InputError, counted
from bitwright.engines.cells import Decider
from bitwright.engines.protocol import ArrayBatch, Batch, Engine
from bitwright.networks.descent import NetworkShape
from bitwright.rules import Program
from bitwright.rules.cells import Kind
from bitwright.rules.layout import IntArray
from bitwright.rules.local import LocalStates
from bitwright.rules.pattern import Pattern, completed_pattern
from bitwright.theory.closed_form import FloatArray
from bitwright.theory.encoding import PackedRules

if TYPE_CHECKING:
    from bitwright.networks.external.graph import Analysis
    from bitwright.networks.external.model import Answers, HeldModel, Reads


@dataclass(frozen=True)
class ModelColumns:
    """The input and output columns of a network.

    The states to check are the states of `pattern`: the rules themselves or, if the network reads bits, the same rules
    with a template for every configuration, which distinguishes states that match the same templates.
    """

    reads: Reads
    written: Program  # the original rules
    pattern: Pattern

    @classmethod
    def of(cls, reads: Reads, of: Pattern) -> ModelColumns:
        """Returns the columns of a network that reads the cells of a pattern in this way."""
        return cls(reads, of.program, of if reads == "templates" else completed_pattern(of))

    @property
    def program(self) -> Program:
        return self.pattern.program

    @cached_property
    def real(self) -> BoolArray:  # (templates,)
        """Which templates belong to the rules: n counts their matches."""
        return self.written.lookup(self.program.template_block, self.program.template_config) >= 0

    @cached_property
    def encoding(self) -> NDArray[np.float32]:  # (templates, columns)
        """The columns that are 1 if a template matches, for each template."""
        program = self.program
        if self.reads == "templates":
            return np.eye(program.templates, dtype=np.float32)
        read = program.template_config[:, None] >> program.position[None, :] & 1
        found = ((program.template_block[:, None] == program.block_of[None, :]) & (read == 1)).astype(np.float32)
        if self.pattern.whole is not None:
            return np.asarray(found)
        first_block = np.zeros((program.templates, len(self.pattern.kinds)), dtype=np.float32)
        for kind, (begin, end) in enumerate(pairwise(self.pattern.first_template.tolist())):
            of = program.template_block[begin:end]
            first_block[begin:end, kind] = of == of[0]
        return np.concatenate((first_block, found[:, self.bits_read]), axis=1)

    @cached_property
    def bits_read(self) -> IntArray:
        """The bits of cells that are not ports."""
        ports = set(self.bits_given.tolist())
        return np.array([bit for bit in range(self.program.bits) if bit not in ports], dtype=np.int64)

    @cached_property
    def bits_given(self) -> IntArray:
        """The bit of the program for each output."""
        if self.pattern.whole is not None or self.reads == "templates":
            return np.arange(self.program.bits)
        ports = [self.pattern.port_bits(kind) for kind in range(len(self.pattern.kinds))]
        return np.concatenate([np.arange(own.start, own.stop) for own in ports])

    @property
    def inputs(self) -> int:
        """The number of input columns."""
        return int(self.encoding.shape[1])

    @property
    def outputs(self) -> int:
        """The number of output columns."""
        return len(self.bits_given)

    @cached_property
    def input_names(self) -> tuple[str, ...]:
        """The names of the input columns."""
        program, name_of = self.program, self.program.layout.name_of
        if self.reads == "templates":
            return tuple(program.template_text(template) for template in range(program.templates))
        if self.pattern.whole is not None:
            return tuple(program.layout.names)
        kinds = (f"kind{number}" for number in range(1, 1 + len(self.pattern.kinds)))
        return (*kinds, *(name_of(bit) for bit in self.bits_read.tolist()))

    @cached_property
    def output_names(self) -> tuple[str, ...]:
        """The names of the output columns."""
        return tuple(self.program.layout.name_of(bit) for bit in self.bits_given.tolist())

    @property
    def sentence(self) -> str:
        """`a cell's kind and bits (8 columns to 5)`."""
        of = " of its cells" if self.pattern.whole is None else ""
        what = {"states": "the bits of a state", "templates": f"templates{of}", "cells": "a cell's kind and bits"}
        return f"{what[self.reads]} ({self.inputs:,} columns to {self.outputs:,})"

    def rows(self, matched: BoolArray) -> NDArray[np.float32]:  # (batch, templates) -> (batch, columns)
        """Returns the network's input if these templates match."""
        return np.asarray(matched if self.reads == "templates" else matched.astype(np.float32) @ self.encoding)


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A third-party network with the meaning of its columns."""

    model: HeldModel
    columns: ModelColumns
    weight_bits = None  # unknown

    @classmethod
    def of(cls, model: HeldModel, reads: Reads, of: Pattern) -> FittedModel:
        """Returns the network, read in this way."""
        return cls(model, ModelColumns.of(reads, of))

    @property
    def digest(self) -> str:
        """The sha256 of its file, or of its weights."""
        return self.model.digest

    @property
    def tensors_sha256(self) -> dict[str, str]:
        """The sha256 of each tensor's bytes."""
        return self.model.tensors_sha256

    @property
    def width(self) -> int:
        """The width of its largest hidden layer, as far as its matrices show it, otherwise 0."""
        matrices = [array.shape for array in self.model.source.tensors.values() if array.ndim == 2]
        sides = Counter(side for shape in matrices for side in set(shape))
        return max((side for side, count in sides.items() if count > 1), default=0)

    @property
    def shape(self) -> NetworkShape:
        """The shape of a two-layer network with as many weights, for cost estimates."""
        inputs, outputs = self.columns.inputs, self.columns.outputs
        return NetworkShape(inputs, max(1, self.model.parameters // (inputs + outputs)), outputs)

    @property
    def shared(self) -> bool:
        """Whether several threads may evaluate it at once; a plain function may not allow that."""
        return self.model.form != "function"

    @property
    def analysis(self) -> Analysis | None:
        """Why its outputs are certain; None if only a runtime can evaluate it."""
        return self.model.analysis(self.columns.inputs)

    @property
    def exact(self) -> bool:
        """Whether its arithmetic is known, so that its outputs hold for every runtime."""
        return self.analysis is not None

    @property
    def arithmetic(self) -> str:
        """The arithmetic of its outputs, and why they are certain; otherwise the runtime here."""
        return str(self.model.runtime) if self.analysis is None else self.analysis.sentence

    def about(self) -> dict[str, Any]:
        """The facts about it in a certificate, besides its digest."""
        return {
            "form": self.model.form,
            "name": Path(self.model.name).name,
            "reads": self.columns.reads,
            "columns": [self.columns.inputs, self.columns.outputs],
            "threshold": self.model.threshold,
        }

    def describe(self) -> dict[str, Any]:
        """Returns everything its outputs depend on: the network, its interpretation and its runtime."""
        return {"digest": self.digest, "runtime": self.model.runtime, **self.about()}

    def decide(self, matched: BoolArray) -> Answers:
        """Returns its outputs if these templates match, one for every bit; 0 for bits without an output."""
        given = self.model.answers(self.columns.rows(matched))
        return type(given)(*map(self._spread, given))

    def ran(self, matched: BoolArray, alone: bool = True) -> FloatArray | None:
        """Returns the runtime's outputs, one state at a time or together; None if no runtime is installed."""
        if self.model.runtime is None:
            return None
        return self._spread(self.model.run(self.columns.rows(matched), alone))

    def _spread(self, given: FloatArray) -> FloatArray:
        if given.shape[1] != self.columns.outputs:
            raise InputError(
                f"{self.model.name} has {counted(given.shape[1], 'output')} for {self.columns.inputs:,} columns; "
                f"it must have {self.columns.outputs:,}"
            )
        if self.columns.outputs == self.columns.program.bits:
            return given
        found = np.zeros((len(given), self.columns.program.bits))
        found[:, self.columns.bits_given] = given
        return found


class ModelEngine(Engine):
    """Steps states by a network that reads their bits, or the templates that they match."""

    name = "network"
    networks = 1
    chunk = 1 << 12

    def __init__(self, program: Program, model: HeldModel, reads: Reads) -> None:
        self.program, self._model, self._reads = program, model, reads
        self._fitted = FittedModel.of(model, reads, Pattern.of_state(program))
        self._rules = PackedRules(self._fitted.columns.program)
        self.digests = [model.digest]

    def __reduce__(self) -> tuple[type[ModelEngine], tuple[Program, HeldModel, Reads]]:
        return ModelEngine, (self.program, self._model, self._reads)

    def begin(self, states: BoolArray, long: bool = False) -> Batch:  # noqa: ARG002
        return ArrayBatch(self, states)

    def following(self, states: BoolArray) -> tuple[BoolArray, FloatArray]:  # (batch, k), (batch,)
        """Returns the network's next states, and the smallest margin in each."""
        outputs = self._fitted.decide(self._rules.matched(states)).outputs
        over = outputs - self._model.threshold
        return over > 0, np.asarray(np.abs(over).min(axis=1, initial=np.inf))


_MOST = 1 << 20  # local states to compare bit by bit


class ModelDecider(Decider):
    """A network evaluated on a cell's kind and bits, or on the templates that it matches.

    The rules do not distinguish configurations without a template. A network that reads bits might, and is then
    rejected, since its outputs would not be a function of the matches.
    """

    engine = "network"
    networks = 1

    def __init__(self, pattern: Pattern, model: HeldModel, reads: Reads) -> None:
        super().__init__(pattern, pattern.program.templates, None)
        self._fitted = FittedModel.of(model, reads, pattern)
        self.exact, self.width, self.digests = self._fitted.exact, self._fitted.width, [model.digest]
        self._model, self._reads = model, reads
        for kind in range(len(pattern.kinds)):
            self._check_same(kind)

    def __call__(self, matched: BoolArray, n: IntArray) -> tuple[BoolArray, FloatArray]:  # noqa: ARG002
        raise InputError("a third-party network of cells must be evaluated one kind at a time")

    def of_kind(self, kind: int, matched: BoolArray, n: IntArray) -> tuple[BoolArray, FloatArray]:  # noqa: ARG002
        """Returns bits and margins; the network's output counts even if nothing matches."""
        return self._answers(matched if self._reads == "templates" else self._bit_by_bit(kind, matched))

    def sums(self, kind: int, matched: BoolArray, n: IntArray) -> tuple[FloatArray, FloatArray]:  # noqa: ARG002
        """Returns its outputs, and the threshold."""
        found = self._fitted.decide(matched if self._reads == "templates" else self._bit_by_bit(kind, matched)).outputs
        return found, np.full(found.shape, self._model.threshold)

    def _answers(self, matched: BoolArray) -> tuple[BoolArray, FloatArray]:
        found, threshold = self._fitted.decide(matched), self._model.threshold
        margins = np.abs(found.outputs - threshold) - found.error
        self.exact = self.exact and bool(((margins > 0) | (found.error == 0)).all())
        return found.outputs > threshold, margins

    def _bit_by_bit(self, kind: int, matched: BoolArray) -> BoolArray:  # (states, K) -> (states, K of columns)
        """Returns the matches among templates for every configuration, the first without a template if none matches."""
        spread = self._fitted.columns
        found = np.zeros((len(matched), spread.program.templates), dtype=bool)
        at, new = int(self.pattern.first_template[kind]), int(spread.pattern.first_template[kind])
        for bits, configurations in self.pattern.kinds[kind].blocks:
            own = matched[:, at : at + len(configurations)]
            found[:, [new + config for config in configurations]] = own
            if len(configurations) < 1 << bits:
                free = next(config for config in range(1 << bits) if config not in set(configurations))
                found[:, new + free] = ~own.any(axis=1)
            at, new = at + len(configurations), new + (1 << bits)
        return found

    def _check_same(self, kind: int) -> None:
        """Raises InputError if outputs differ between configurations without a template."""
        pattern = self._fitted.columns.pattern
        known = self.pattern.kinds[kind]
        if self._reads == "templates" or all(1 << bits <= len(own) + 1 for bits, own in known.blocks):
            return
        local = pattern.local[kind]
        if local.count > _MOST:
            raise InputError(
                f"a cell has {local.count:,} states bit by bit, more than the limit of {_MOST:,} for a comparison"
            )
        answers = self._answers(pattern.matched(kind, np.arange(local.count)))[0][:, pattern.port_bits(kind)]
        number = _number_of_choices(known, local)
        _, first, which = np.unique(number, return_index=True, return_inverse=True)
        if not np.array_equal(answers, answers[first][which]):
            raise InputError(
                "this network's outputs differ where the rules make no difference, in configurations without a "
                "template; run certify to see where"
            )


def _number_of_choices(kind: Kind, local: LocalStates) -> IntArray:  # (local states bit by bit,)
    """Returns the number of the rules' local state for each configuration of all blocks."""
    choices, digits = LocalStates(kind), np.arange(local.count)[:, None] // local.value % local.radix
    total, at = np.zeros(local.count, dtype=np.int64), 0
    for place, (bits, configurations) in enumerate(kind.blocks):
        digit = np.zeros(1 << bits, dtype=np.int64)
        digit[list(configurations)] = choices.digit[at : at + len(configurations)]
        total += digit[digits[:, place]] * int(choices.value[place])
        at += len(configurations)
    return total
