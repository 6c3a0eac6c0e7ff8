"""Laws: weighted sums over a word, such as p + q + 2c - in.p - in.q, whose signs are part of an invariant.

A law gives every track, and every input track, an integer weight; a bit at position j counts weight * 2^j. The laws
used are sums that the rules conserve, found as the null space of the changes made by each configuration that occurs in
runs, and the terms that an `ensure` line compares.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import gcd

from flint import fmpz_mat

from bitwright.proofs.function.chain import LAST, ChainProgram

MAX_WEIGHT = 64
LawState = int  # 2 * carry + (1 if any digit of the sum so far is nonzero)
Verdict = int  # the sign of the sum: -1, 0 or 1


@dataclass(frozen=True)
class Law:
    """Weights of the tracks and of the inputs, a constant, and a multiple of 2^positions.

    If `power` is None, the law is about the sum modulo 2^positions, whose sign is 0 or 1.
    """

    tracks: tuple[int, ...]
    inputs: tuple[int, ...]
    constant: int = 0
    power: int | None = 0

    @property
    def begin(self) -> LawState:
        """The state before the first position."""
        return 2 * self.constant

    def verdict(self, state: LawState) -> Verdict:
        """Returns the sign of the sum that ends in this state."""
        if self.power is None:
            return state & 1
        carry = (state >> 1) + self.power
        return -1 if carry < 0 else int(carry > 0 or bool(state & 1))

    def weigh(self, bits: int) -> int:
        """Returns the weight of the bits of a letter."""
        return sum(weight for track, weight in enumerate(self.tracks) if bits >> track & 1)

    def weigh_input(self, chosen: int) -> int:
        """Returns the weight of the input at a position."""
        return sum(weight for track, weight in enumerate(self.inputs) if chosen >> track & 1)


def read_digit(state: LawState, weight: int) -> LawState:
    """Returns the state of a law after one more position with this total weight."""
    total = (state >> 1) + weight
    return (total >> 1) << 1 | (state & 1) | (total & 1)


def conserved(chain: ChainProgram, seen: Iterable[tuple[int, int]], modular: bool = False) -> list[Law]:
    """Returns at most two independent laws with small weights that all these letters (class, bits) conserve.

    With `modular`, returns laws modulo 2^positions if there are no others.
    """
    seen = set(seen)
    laws = _conserved(chain, seen)
    if modular and not laws:
        inner = {letter for letter in seen if letter[0] != LAST}
        laws = [replace(law, power=None) for law in _conserved(chain, inner)]
    return list(dict.fromkeys(laws))[:2]


def _conserved(chain: ChainProgram, seen: Iterable[tuple[int, int]]) -> list[Law]:
    width = len(chain.tracks)
    rows: set[tuple[int, ...]] = set()
    for kind, bits in seen:
        masks = {rule.mask for rule in chain.classes[kind].rules}
        inside = 0
        for mask in masks:
            inside |= mask
            rows.add(_lost(chain, kind, mask, bits & mask))
        for track in range(width):  # bits of blocks without rules vanish
            if bits & ~inside & (1 << track):
                rows.add(tuple(2 * (track == other) for other in range(width)))
    rows.discard((0,) * width)
    if not rows:
        return []
    basis, count = fmpz_mat([list(row) for row in sorted(rows)]).nullspace()
    laws = [_law(chain, [int(basis[track, column]) for track in range(width)]) for column in range(count)]
    return [law for law in laws if any(law.inputs) and max(map(abs, law.tracks)) <= MAX_WEIGHT]


def _lost(chain: ChainProgram, kind: int, mask: int, value: int) -> tuple[int, ...]:
    """Returns by how much more each track's weight counts before a step than after it, doubled, for a block value."""
    counts = [2 * (value >> track & 1) for track in range(len(chain.tracks))]
    for rule in chain.classes[kind].rules:
        if (rule.mask, rule.value) == (mask, value):
            for track in range(len(counts)):
                counts[track] -= (rule.to_left >> track & 1) + 2 * (rule.here >> track & 1)
                counts[track] -= 4 * (rule.to_right >> track & 1)
    return tuple(counts)


def _law(chain: ChainProgram, weights: Sequence[int]) -> Law:
    common = gcd(*weights) or 1
    lead = next(weight for weight in weights if weight)
    scaled = [weight // common * (1 if lead > 0 else -1) for weight in weights]
    free = 0
    for found in chain.classes.values():
        free |= found.free
    return Law(tuple(scaled), tuple(-weight if free >> track & 1 else 0 for track, weight in enumerate(scaled)))
