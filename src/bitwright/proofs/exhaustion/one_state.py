"""Evaluates a network in one state: every bit with its sum and threshold, compared with the rules.

The evaluation starts from the bits of the state and adds template by template. This independent path checks the wrong
states found by a search.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bitwright.common.bits import BoolArray
from bitwright.common.errors import InputError, suggestion
from bitwright.engines.cells import encoded
from bitwright.engines.external import FittedModel
from bitwright.networks import AnyNetwork, IntegerNetwork
from bitwright.networks.integer import columns_of
from bitwright.rules import Program
from bitwright.rules.layout import IntArray
from bitwright.rules.pattern import Pattern, pattern_of_program
from bitwright.theory.rounding import round_outputs


@dataclass(frozen=True)
class LookedAt:
    """A bit of the next state."""

    bit: str
    given: int  # by the network
    expected: int  # by the rules
    sum: int | None  # for integer networks
    threshold: int | None

    @property
    def right(self) -> bool:
        return self.given == self.expected

    @property
    def distance(self) -> int:
        """The distance of the sum from an error; at least 1 if the bit is right."""
        assert self.sum is not None
        assert self.threshold is not None
        return self.sum - self.threshold if self.expected else self.threshold + 1 - self.sum


@dataclass(frozen=True)
class OneState:
    """A state and its successor."""

    on: tuple[str, ...]
    n: int
    right: bool
    bits: tuple[LookedAt, ...]

    def __bool__(self) -> bool:
        return self.right


def state_with(program: Program, text: str) -> tuple[BoolArray, int]:  # (k,)
    """Returns the state with these bits on, named in a space-separated list, and the kind of its cell in a pattern.

    `none` means no bits; in a pattern of several kinds, `kind2` means a cell of that kind without bits.
    """
    pattern, numbers = pattern_of_program(program), {name: number for number, name in enumerate(program.layout.names)}
    kinds = {f"kind{number}": number - 1 for number in range(1, 1 + len(pattern.kinds))} if pattern else {}
    state = np.zeros(program.bits, dtype=bool)
    of = set()
    for name in text.split() if text.strip() != "none" else ():
        kind = name.partition("_")[0]
        if name in numbers:
            state[numbers[name]] = True
        elif name != kind or kind not in kinds:
            raise InputError(f"there is no bit '{name}' in this program{suggestion(name, list(numbers))}")
        of |= {kinds[kind]} if kinds else set()
    if pattern is None:
        return state, 0
    if len(of) > 1:
        raise InputError("cells are evaluated one at a time; give bits of only one kind")
    if not of and len(pattern.kinds) > 1:
        raise InputError(
            f"the bits do not determine which of the {len(pattern.kinds):,} kinds is meant; name it, such as kind1"
        )
    return state, min(of, default=0)


def look_at_state(
    pattern: Pattern,
    network: AnyNetwork | FittedModel,
    state: BoolArray,
    kind: int = 0,
    oracle: FittedModel | None = None,
) -> OneState:
    """Returns a network's outputs in a state with the right ones; for several cells, only the cell of this kind.

    A third-party network is evaluated on a single row, by its runtime if available.
    """
    program = pattern.program
    templates, own = matched_alone(pattern, state, kind)
    n, expected = len(templates), written_by(program, templates)
    sums = thresholds = None
    if isinstance(network, FittedModel):
        matched = as_row(templates, program.templates)
        n, ran = int(network.columns.real[templates].sum()), network.ran(matched)
        given = (network.decide(matched).outputs if ran is None else ran)[0] > network.model.threshold
        if oracle is not None:
            expected = oracle.decide(matched).outputs[0] > oracle.model.threshold
    else:
        given, sums, thresholds = _decided(program, network, templates)
    name_of = program.layout.name_of
    bits = tuple(
        LookedAt(
            name_of(bit),
            int(given[bit]),
            int(expected[bit]),
            None if sums is None else int(sums[bit]),
            None if thresholds is None else int(thresholds[bit]),
        )
        for bit in range(program.bits)[own]
    )
    on = tuple(name_of(int(bit)) for bit in np.flatnonzero(state))
    return OneState(on, n, all(bit.right for bit in bits), bits)


def matched_alone(pattern: Pattern, state: BoolArray, kind: int) -> tuple[IntArray, slice]:
    """Returns the templates that a state matches, and the bits to check, both only for the cell of this kind.

    Matches of other cells with all bits off are ignored.
    """
    templates, own = pattern.program.match(state), pattern.templates_of(kind)
    return templates[(templates >= own.start) & (templates < own.stop)], pattern.port_bits(kind)


def written_by(program: Program, templates: IntArray) -> BoolArray:  # (k,)
    """Returns the bits that these templates write."""
    found = np.zeros(program.bits, dtype=bool)
    for template in templates.tolist():
        found[program.writes(template)] = True
    return found


def as_row(templates: IntArray, count: int) -> BoolArray:  # (1, K)
    """Returns these templates among `count` as one row of matches."""
    matched = np.zeros((1, count), dtype=bool)
    matched[0, templates] = True
    return matched


def _decided(
    program: Program, network: AnyNetwork, templates: IntArray
) -> tuple[BoolArray, IntArray | None, IntArray | None]:  # (k,) each
    """Returns the network's output for every bit if these templates match; for integers, also G and T."""
    n = len(templates)
    if isinstance(network, IntegerNetwork):
        hidden = np.maximum(network.first[:, templates].sum(axis=1, dtype=np.int64), 0)
        sums = network.last.astype(np.int64) @ hidden
        thresholds = network.thresholds[max(n, 1) - 1][columns_of(network, program)]
        return (sums > thresholds) & (n > 0), sums, thresholds
    matches = np.array([n])
    inputs = encoded(as_row(templates, program.templates), matches, network.shape.inputs).astype(network.first.dtype)
    outputs = network(inputs).astype(np.float64)
    given = round_outputs(outputs, matches, program.writers, network.shape.inputs, "calibrated", network.origin.scale)[
        0
    ]
    return given[0], None, None
