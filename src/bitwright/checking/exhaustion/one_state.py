"""One state through a network: every bit, its sum and its threshold, beside what the rules give."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bitwright.bits import BoolArray
from bitwright.checking.exhaustion.judges import Truth
from bitwright.encoding.packed import PackedRules
from bitwright.engines.make import network_engine
from bitwright.errors import InputError, suggestion
from bitwright.networks import AnyNetwork, IntegerNetwork
from bitwright.networks.integer import columns_of
from bitwright.program import Program
from bitwright.program.pattern import Pattern, pattern_of_program


@dataclass(frozen=True)
class LookedAt:
    """A bit of the next state."""

    bit: str
    given: int  # by the network
    expected: int  # by the rules
    sum: int | None  # of whole numbers
    threshold: int | None


@dataclass(frozen=True)
class OneState:
    """A state, and its next."""

    on: tuple[str, ...]
    n: int
    right: bool
    bits: tuple[LookedAt, ...]


def state_with(program: Program, text: str) -> BoolArray:  # (k,)
    """The state with these bits on, given by name with spaces between; `none` for no bit."""
    numbers = {name: number for number, name in enumerate(program.layout.names)}
    state = np.zeros(program.bits, dtype=bool)
    for name in text.split() if text.strip() != "none" else ():
        if name not in numbers:
            raise InputError(f"there is no bit '{name}' in this program{suggestion(name, list(numbers))}")
        state[numbers[name]] = True
    return state


def look_at_state(program: Program, network: AnyNetwork, state: BoolArray) -> OneState:
    """What a network makes of a state."""
    matched = _own_matches(program, state)
    n, expected = int(np.count_nonzero(matched)), Truth(program)(matched)[0]
    sums = thresholds = None
    if not isinstance(network, IntegerNetwork):
        batch = network_engine(program, [network]).begin(state[np.newaxis])
        batch.step()
        given = batch.states()[0]
    else:
        from bitwright.engines.integer.sums import ExactSums

        sums = ExactSums(network, program)(matched)[0].tolist()
        thresholds = network.thresholds[max(n, 1) - 1][columns_of(network, program)].tolist()
        given = np.array([n > 0 and total > threshold for total, threshold in zip(sums, thresholds, strict=True)])
    name_of = program.layout.name_of
    shown = _own_ports(program, state)
    bits = tuple(
        LookedAt(
            name_of(bit),
            int(given[bit]),
            int(expected[bit]),
            None if sums is None else sums[bit],
            None if thresholds is None else thresholds[bit],
        )
        for bit in shown
    )
    on = tuple(name_of(int(bit)) for bit in np.flatnonzero(state))
    return OneState(on, n, bool((given == expected)[shown].all()), bits)


def _own_matches(program: Program, state: BoolArray) -> BoolArray:  # (1, K)
    """What a state matches; of a pattern's, only in the cells that have a bit on, which are then looked at alone."""
    matched = PackedRules(program).matched(state[np.newaxis])
    pattern = pattern_of_program(program)
    if pattern is not None:
        kinds = _kinds_on(pattern, state)
        own = np.repeat(np.isin(np.arange(len(pattern.kinds)), kinds), np.diff(pattern.first_template))
        matched &= own
    return matched


def _own_ports(program: Program, state: BoolArray) -> list[int]:
    """The bits to look at: all of them; of a pattern the ports of the cell that has a bit on."""
    pattern = pattern_of_program(program)
    if pattern is None:
        return list(range(program.bits))
    return [bit for kind in _kinds_on(pattern, state) for bit in range(program.bits)[pattern.port_bits(kind)]]


def _kinds_on(pattern: Pattern, state: BoolArray) -> list[int]:
    found = [
        kind for kind in range(len(pattern.kinds))
        if state[pattern.port_bits(kind - 1).stop if kind else 0 : pattern.port_bits(kind).stop].any()
    ]  # fmt: skip
    if len(found) > 1:
        raise InputError("a cell is looked at alone; give bits of one kind only")
    return found
