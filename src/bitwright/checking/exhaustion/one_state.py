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
    matched = PackedRules(program).matched(state[np.newaxis])
    n, expected = int(np.count_nonzero(matched)), Truth(program)(matched)[0]
    engine = network_engine(program, [network])
    batch = engine.begin(state[np.newaxis])
    batch.step()
    given = batch.states()[0]
    sums = thresholds = None
    if isinstance(network, IntegerNetwork):
        from bitwright.engines.integer.sums import ExactSums

        sums = ExactSums(network, program)(matched)[0].tolist()
        thresholds = network.thresholds[max(n, 1) - 1][columns_of(network, program)].tolist()
    name_of = program.layout.name_of
    bits = tuple(
        LookedAt(
            name_of(bit),
            int(given[bit]),
            int(expected[bit]),
            None if sums is None else sums[bit],
            None if thresholds is None else thresholds[bit],
        )
        for bit in range(program.bits)
    )
    on = tuple(name_of(int(bit)) for bit in np.flatnonzero(state))
    return OneState(on, n, bool((given == expected).all()), bits)
