"""Third-party networks: the meaning of their columns, and their decisions in cells or whole states."""

from __future__ import annotations

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
from bitwright.networks.descent import NetworkShape
from bitwright.rules import Program
from bitwright.rules.layout import IntArray
from bitwright.rules.pattern import Pattern, completed_pattern
from bitwright.theory.closed_form import FloatArray

if TYPE_CHECKING:
    from bitwright.networks.external import Model
    from bitwright.networks.stack import BoundedOutputs


@dataclass(frozen=True)
class ModelColumns:
    """The input and output columns of a network that reads the cells of a pattern, or the state of a whole program.

    The states to check are those of `pattern`: the same rules with a template for every configuration, which
    distinguishes states that match the same templates of the rules.
    """

    of: Pattern  # the original rules

    @cached_property
    def pattern(self) -> Pattern:
        return completed_pattern(self.of)

    @property
    def program(self) -> Program:
        return self.pattern.program

    @property
    def reads(self) -> str:
        """`states` or `cells`."""
        return "cells" if self.pattern.whole is None else "states"

    @cached_property
    def real(self) -> BoolArray:  # (templates,)
        """Which templates belong to the rules: n counts their matches."""
        return self.of.program.lookup(self.program.template_block, self.program.template_config) >= 0

    @cached_property
    def encoding(self) -> NDArray[np.float32]:  # (templates, columns)
        """The columns that are 1 if a template matches, for each template."""
        program = self.program
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
        if self.pattern.whole is not None:
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
        if self.pattern.whole is not None:
            return tuple(self.program.layout.names)
        kinds = (f"kind{number}" for number in range(1, 1 + len(self.pattern.kinds)))
        return (*kinds, *(self.program.layout.name_of(bit) for bit in self.bits_read.tolist()))

    @cached_property
    def output_names(self) -> tuple[str, ...]:
        """The names of the output columns."""
        return tuple(self.program.layout.name_of(bit) for bit in self.bits_given.tolist())

    @property
    def sentence(self) -> str:
        """`a cell's kind and bits (8 columns to 5)`."""
        what = {"states": "the bits of a state", "cells": "a cell's kind and bits"}[self.reads]
        return f"{what} ({self.inputs:,} columns to {self.outputs:,})"

    def rows(self, matched: BoolArray) -> NDArray[np.float32]:  # (batch, templates) -> (batch, columns)
        """Returns the network's input if these templates match."""
        return np.asarray(matched.astype(np.float32) @ self.encoding)


@dataclass(frozen=True, eq=False)
class FittedModel:
    """A third-party network with the meaning of its columns."""

    model: Model
    columns: ModelColumns
    weight_bits = None  # unknown

    @property
    def digest(self) -> str:
        """The sha256 of everything that is evaluated."""
        return self.model.digest

    @property
    def tensors_sha256(self) -> dict[str, str]:
        """The sha256 of each tensor's bytes."""
        return self.model.tensors_sha256

    @property
    def width(self) -> int:
        """The width of its largest hidden layer, or 0."""
        return max((layer.weights.shape[1] for layer in self.model.stack.layers[:-1]), default=0)

    @property
    def shape(self) -> NetworkShape:
        """The shape of a two-layer network with as many weights, for cost estimates."""
        inputs, outputs = self.columns.inputs, self.columns.outputs
        weights = sum(array.size for array in self.model.stack.tensors.values())
        return NetworkShape(inputs, max(1, weights // (inputs + outputs)), outputs)

    @property
    def arithmetic(self) -> str:
        """The arithmetic of its outputs, and why they are certain."""
        return self.model.stack.arithmetic

    def about(self) -> dict[str, Any]:
        """The facts about it in a certificate, besides its digest."""
        runtime = self.model.runtime
        return {
            "form": self.model.form,
            "name": Path(self.model.name).name,
            "reads": self.columns.reads,
            "columns": [self.columns.inputs, self.columns.outputs],
            "threshold": self.model.threshold,
            "runtime": None if runtime is None else runtime.name,
        }

    def decide(self, matched: BoolArray) -> BoundedOutputs:  # (batch, k)
        """Returns its outputs if these templates match, one for every bit; 0 for bits without an output."""
        given = self.model.outputs(self.columns.rows(matched))
        return type(given)(*map(self._spread, given))

    def _spread(self, given: FloatArray) -> FloatArray:
        found = np.zeros((len(given), self.columns.program.bits))
        found[:, self.columns.bits_given] = given
        return found


_MOST = 1 << 20  # local states to compare bit by bit


class ModelDecider(Decider):
    """A network evaluated on the bits of a cell, or of a whole state.

    The rules do not distinguish configurations without a template. The network might, and is then rejected, since its
    outputs would not be a function of the matches.
    """

    engine = "network"
    networks = 1

    def __init__(self, fitted: FittedModel) -> None:
        super().__init__(fitted.columns.of, fitted.columns.of.program.templates, None)
        self._fitted, self._threshold = fitted, fitted.model.threshold
        self.exact, self.width, self.digests = True, fitted.width, [fitted.digest]
        for kind in range(len(self.pattern.kinds)):
            self._check_same(kind)

    def describe(self) -> dict[str, object]:
        return {"model": self._fitted.about()}

    def __call__(self, matched: BoolArray, n: IntArray) -> tuple[BoolArray, FloatArray]:  # noqa: ARG002
        raise InputError("a third-party network of cells must be evaluated one kind at a time")

    def of_kind(self, kind: int, matched: BoolArray, n: IntArray) -> tuple[BoolArray, FloatArray]:  # noqa: ARG002
        """Returns bits and margins; the network's output counts even if nothing matches."""
        return self._answers(self._bit_by_bit(kind, matched))

    def sums(self, kind: int, matched: BoolArray, n: IntArray) -> tuple[FloatArray, FloatArray]:  # noqa: ARG002
        """Returns its outputs, and the threshold."""
        found = self._fitted.decide(self._bit_by_bit(kind, matched)).values
        return found, np.full(found.shape, self._threshold)

    def _answers(self, matched: BoolArray) -> tuple[BoolArray, FloatArray]:
        found = self._fitted.decide(matched)
        margins = np.abs(found.values - self._threshold) - found.error
        self.exact = self.exact and bool(((margins > 0) | (found.error == 0)).all())
        return found.values > self._threshold, margins

    def _bit_by_bit(self, kind: int, matched: BoolArray) -> BoolArray:  # (states, K) -> (states, K of columns)
        """Returns the matches among templates for every configuration, the first without a template if none matches."""
        spread = self._fitted.columns
        found = np.zeros((len(matched), spread.program.templates), dtype=bool)
        found[:, spread.real] = matched
        at, new = int(self.pattern.first_template[kind]), int(spread.pattern.first_template[kind])
        for bits, configurations in self.pattern.kinds[kind].blocks:
            if len(configurations) < 1 << bits:
                free = next(config for config in range(1 << bits) if config not in set(configurations))
                found[:, new + free] = ~matched[:, at : at + len(configurations)].any(axis=1)
            at, new = at + len(configurations), new + (1 << bits)
        return found

    def _check_same(self, kind: int) -> None:
        """Raises InputError if outputs differ between configurations without a template."""
        columns, own = self._fitted.columns, self.pattern.kinds[kind]
        if all(1 << bits <= len(configurations) + 1 for bits, configurations in own.blocks):
            return
        local = columns.pattern.local[kind]
        if local.count > _MOST:
            raise InputError(
                f"a cell has {local.count:,} states bit by bit, more than the limit of {_MOST:,} for a comparison"
            )
        matched = columns.pattern.matched(kind, np.arange(local.count))
        answers = self._answers(matched)[0][:, columns.pattern.port_bits(kind)]
        _, first, which = np.unique(matched[:, columns.real], axis=0, return_index=True, return_inverse=True)
        if not np.array_equal(answers, answers[first][which.ravel()]):
            raise InputError(
                f"the outputs of {self._fitted.model.name} differ where the rules make no difference, in "
                f"configurations without a template ({counted(local.count, 'state')} compared); certify shows where"
            )
