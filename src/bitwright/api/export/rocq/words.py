"""Inputs and outputs of a chain program as functions of the size: arrays from their first bit on, and single bits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bitwright.api.export.rocq.fitting import AffineIndex, NotAffineError, affine_in
from bitwright.api.export.rocq.listed import Bit, bit_named
from bitwright.program import Algorithm

ZERO = AffineIndex(0, 0, 0)
_OWN = """
s l u L H E R N T I K Z some_bit B0 B1 B2 B3 B4 chain found tracks flags laws claim same start entries test tried
checked chain_well_formed claim_proper start_shown i large only rest t the_rules test_says
holds off on only up down bits_of val word all_of word_is step run run_by_cells state rounds phase stepped
as at end exists fix for forall fun if in let match mod of return then using where with Prop Set Type
"""  # names that a file for Rocq uses itself


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


@dataclass(frozen=True)
class Words:
    """The inputs, the outputs and the bits that are on at the start."""

    inputs: Mapping[str, Part]
    outputs: Mapping[str, tuple[Part, ...]]
    started: tuple[Part, ...]
    halt: Part | None = None  # the bit that ends a run

    @classmethod
    def of(cls, algorithm: Algorithm, sized: Mapping[int, Algorithm]) -> Words:
        """Those of an algorithm, given at some sizes."""
        words: dict[str, dict[str, tuple[Part, ...]]] = {"inputs": {}, "outputs": {}}
        for sort, found in words.items():
            for number, word in enumerate(getattr(algorithm, sort)):
                if word.signed:
                    raise NotAffineError(f"{word.name} is signed")
                found[word.name] = parts_of(
                    {l: [_bit(a, b) for b in getattr(a, sort)[number].bits] for l, a in sized.items()}
                )
        inputs = {}
        for name, (part, *others) in words["inputs"].items():
            if others or part.length is None:
                raise NotAffineError(f"the input {name} is no array from its first bit on")
            inputs[name] = part
        start = {l: sorted(_bit(a, b) for b in a.start) for l, a in sized.items()}
        started = parts_of(start) if any(start.values()) else ()
        halts = {l: [_bit(a, a.halt)] for l, a in sized.items() if isinstance(a.halt, int)}
        return cls(inputs, words["outputs"], started, parts_of(halts)[0] if halts else None)

    @property
    def variables(self) -> dict[str, str]:
        """Of each input its name in a theorem."""
        return {word: coq_name(f"{word}_in" if word in self.outputs else word) for word in self.inputs}

    def length(self, word: str) -> str:
        length = self.inputs[word].length
        assert length is not None
        return length.text()

    def start(self) -> list[str]:
        """The states that the first one is made of."""
        states = [
            f'Words.word_is "{self.inputs[word].array}" ({self.length(word)}) {variable}'
            for word, variable in self.variables.items()
        ]
        return states + [f"Words.bit_on ({part.bit('')})" for part in self.started]


def coq_name(name: str) -> str:
    """A name as Rocq takes it, other than those that the file uses itself."""
    return f"{name}_" if name in _OWN.split() else name


def _bit(algorithm: Algorithm, number: int) -> Bit:
    return bit_named(algorithm.program.layout.name_of(number))
