"""A network that bitwright did not train, as the decider for the cells of a pattern."""

from __future__ import annotations

import numpy as np

from bitwright.bits import BoolArray
from bitwright.engines.cells.deciders import Decider
from bitwright.engines.foreign import FittedModel
from bitwright.errors import InputError
from bitwright.networks.foreign.model import HeldModel, Reads
from bitwright.program.cells import Kind
from bitwright.program.layout import IntArray
from bitwright.program.local import LocalStates
from bitwright.program.pattern import Pattern
from bitwright.theory.closed_form import FloatArray

_MOST = 1 << 20  # local states, bit by bit, that are compared


class ModelDecider(Decider):
    """One network, asked about a cell's kind and bits, or about the templates that it matches.

    The rules do not tell configurations without a template apart. A network that reads bits might; it is refused, since
    its answers would not be a function of the matches.
    """

    engine = "network"
    networks = 1

    def __init__(self, pattern: Pattern, model: HeldModel, reads: Reads) -> None:
        super().__init__(pattern, pattern.program.templates, None)
        self._fitted = FittedModel.of(model, reads, pattern)
        self.exact, self.width, self.digests = self._fitted.exact, self._fitted.width, [model.digest]
        self._model, self._reads, self.covered = model, reads, model.covered
        for kind in range(len(pattern.kinds)):
            self._check_same(kind)

    def describe(self) -> dict[str, object]:
        return {"model": self._fitted.describe()}

    def __call__(self, matched: BoolArray, n: IntArray) -> tuple[BoolArray, FloatArray]:  # noqa: ARG002
        raise InputError("a network of cells that was made elsewhere is asked about one kind at a time")

    def of_kind(self, kind: int, matched: BoolArray, n: IntArray) -> tuple[BoolArray, FloatArray]:  # noqa: ARG002
        """The same; its own answer counts even if nothing matches."""
        return self._answers(matched if self._reads == "templates" else self._bit_by_bit(kind, matched))

    def sums(self, kind: int, matched: BoolArray, n: IntArray) -> tuple[FloatArray, FloatArray]:  # noqa: ARG002
        """Its outputs, and the threshold."""
        found = self._fitted.decide(matched if self._reads == "templates" else self._bit_by_bit(kind, matched)).outputs
        return found, np.full(found.shape, self._model.threshold)

    def _answers(self, matched: BoolArray) -> tuple[BoolArray, FloatArray]:
        found, threshold = self._fitted.decide(matched), self._model.threshold
        margins = np.abs(found.outputs - threshold) - found.error
        self.exact = self.exact and bool(((margins > 0) | (found.error == 0)).all())
        return found.outputs > threshold, margins

    def _bit_by_bit(self, kind: int, matched: BoolArray) -> BoolArray:  # (states, K) -> (states, K of columns)
        """The matches among templates for every configuration: where nothing matches, the first that has none."""
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
        """Raises InputError where configurations that have no template get different answers."""
        pattern, spread = self._fitted.columns.pattern, self._fitted.columns
        known = self.pattern.kinds[kind]
        if self._reads == "templates" or all(1 << bits <= len(own) + 1 for bits, own in known.blocks):
            return
        local = LocalStates(pattern.kinds[kind])
        if local.count > _MOST:
            raise InputError(f"a cell has {local.count:,} states bit by bit, more than the {_MOST:,} that are compared")
        matched = np.zeros((local.count, spread.program.templates), dtype=bool)
        matched[:, slice(*pattern.first_template[kind : kind + 2])] = local.matched(np.arange(local.count))
        answers = self._answers(matched)[0][:, pattern.port_bits(kind)]
        number = _number_of_choices(known, local)
        _, first, which = np.unique(number, return_index=True, return_inverse=True)
        if not np.array_equal(answers, answers[first][which]):
            raise InputError(
                "this network answers differently where the rules see no difference, in configurations without a "
                "template; certify shows where"
            )


def _number_of_choices(kind: Kind, local: LocalStates) -> IntArray:  # (local states bit by bit,)
    """The number of the local state, as the rules count them, that each configuration of all blocks belongs to."""
    choices, digits = LocalStates(kind), np.arange(local.count)[:, None] // local.value % local.radix
    total, at = np.zeros(local.count, dtype=np.int64), 0
    for place, (bits, configurations) in enumerate(kind.blocks):
        digit = np.zeros(1 << bits, dtype=np.int64)
        digit[list(configurations)] = choices.digit[at : at + len(configurations)]
        total += digit[digits[:, place]] * int(choices.value[place])
        at += len(configurations)
    return total
