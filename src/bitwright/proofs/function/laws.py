"""Laws: weighted sums over a word whose sign is watched, such as p + q + 2c - in.p - in.q.

A law gives every track, and every input track, an integer weight; a bit at position j counts weight * 2^j. Found are
those that the rules conserve, by the null space of what each configuration of a block loses and writes in runs; and the
terms that an `ensure` compares.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import gcd

from flint import fmpz_mat

from bitwright.proofs.function.chain import LAST, ChainProgram

MAX_WEIGHT = 64
LawState = int  # 2 * carry + (whether a digit of the sum so far is not 0)
Verdict = int  # -1, 0 or 1: the sign of the sum


@dataclass(frozen=True)
class Law:
    """Weights of the tracks in a word, and as inputs set them; a constant, and a multiple of 2^positions.

    With `power` None only the sum modulo 2^positions is watched, whose sign is 0 or 1.
    """

    tracks: tuple[int, ...]
    inputs: tuple[int, ...]
    constant: int = 0
    power: int | None = 0

    @property
    def begin(self) -> LawState:
        return 2 * self.constant

    def verdict(self, state: LawState) -> Verdict:
        """The sign of the sum that ends in this state."""
        if self.power is None:
            return state & 1
        carry = (state >> 1) + self.power
        return -1 if carry < 0 else int(carry > 0 or bool(state & 1))

    def weigh(self, bits: int) -> int:
        return sum(weight for track, weight in enumerate(self.tracks) if bits >> track & 1)

    def weigh_input(self, chosen: int) -> int:
        return sum(weight for track, weight in enumerate(self.inputs) if chosen >> track & 1)


def read_digit(state: LawState, weight: int) -> LawState:
    """The state of a law after one more position, of this weight in all."""
    total = (state >> 1) + weight
    return (total >> 1) << 1 | (state & 1) | (total & 1)


def conserved(chain: ChainProgram, seen: Iterable[tuple[int, int]], modular: bool = False) -> list[Law]:
    """The laws that all these letters (class, bits) conserve, a basis of them with small weights.

    With `modular`, those modulo 2^positions where there is no other.
    """
    seen = set(seen)
    found = _conserved(chain, seen)
    if modular and not found:
        found = [replace(law, power=None) for law in _conserved(chain, {one for one in seen if one[0] != LAST})]
    return list(dict.fromkeys(found))[:2]


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
    found = [_law(chain, [int(basis[track, column]) for track in range(width)]) for column in range(count)]
    return [law for law in found if any(law.inputs) and max(map(abs, law.tracks)) <= MAX_WEIGHT]


def _lost(chain: ChainProgram, kind: int, mask: int, value: int) -> tuple[int, ...]:
    """Twice what each track's weight is counted more before a step than after it, in a block of this value."""
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
