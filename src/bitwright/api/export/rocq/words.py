"""Inputs and outputs of a chain program as functions of the size: arrays from their first bit on, and single bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bitwright.api.export.rocq.fitting import AffineIndex, NotAffineError, affine_in
from bitwright.api.export.rocq.listed import Bit

ZERO = AffineIndex(0, 0, 0)


@dataclass(frozen=True)
class Part:
    """All bits of an array up to `length`, lowest first; without a length bit `index`, which counts 2^`exponent`."""

    array: str
    length: AffineIndex | None = None
    index: AffineIndex | None = None
    exponent: AffineIndex = ZERO

    def text(self, s: str) -> str:
        if self.length is not None:
            return f'Words.word {s} "{self.array}" ({self.length.text()})'
        bit = f"Z.b2z ({self.bit(s)})"
        if self.exponent == ZERO:
            return bit
        if not self.exponent.size:
            return f"{2**self.exponent.constant} * {bit}"
        return f"2 ^ Z.of_nat ({self.exponent.text()}) * {bit}"

    def bit(self, s: str) -> str:
        return f'{s} (flag "{self.array}")' if self.index is None else f'{s} (at_ "{self.array}" ({self.index.text()}))'


def parts_of(words: Mapping[int, Sequence[Bit]]) -> tuple[Part, ...]:
    """The parts of a word, given by its bits at some sizes."""
    cut = {l: _cut(bits) for l, bits in words.items()}
    shapes = {tuple((array, whole) for array, whole, _, _ in parts) for parts in cut.values()}
    if len(shapes) > 1:
        raise NotAffineError("a word has other parts at other sizes")
    found = []
    for place, (array, whole) in enumerate(shapes.pop()):
        own = {l: parts[place] for l, parts in cut.items()}
        if whole:
            found.append(Part(array, affine_in({l: len(index) for l, (_, _, index, _) in own.items()})))
            continue
        indices = {l: index[0] for l, (_, _, index, _) in own.items()}
        at = None if any(not index for index in indices.values()) else affine_in({l: i[0] for l, i in indices.items()})
        found.append(Part(array, None, at, affine_in({l: exponent for l, (_, _, _, exponent) in own.items()})))
    return tuple(found)


def _cut(bits: Sequence[Bit]) -> list[tuple[str, bool, list[tuple[int, ...]], int]]:
    """Array, whether it is a whole array, its indices, and the exponent of the first bit."""
    found: list[tuple[str, bool, list[tuple[int, ...]], int]] = []
    run = 0
    while run < len(bits) and bits[run] == (bits[0][0], (run + 1,)):
        run += 1
    if run > 2:  # whole arrays stand at the bottom: their first bit counts 1
        found.append((bits[0][0], True, [index for _, index in bits[:run]], 0))
    else:
        run = 0
    return found + [
        (array, False, [index], exponent) for exponent, (array, index) in enumerate(bits) if exponent >= run
    ]
