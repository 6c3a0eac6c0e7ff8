"""Inputs and outputs of a chain program as functions of the size: arrays from their first bit on, and single bits."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from bitwright.api.export.rocq.fitting import FITTED, AffineIndex, NotAffineError, affine_in
from bitwright.api.export.rocq.listed import Bit, bit_named
from bitwright.program import Algorithm

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

    def at(self, l: int) -> list[Bit]:
        """Its bits at a size."""
        if self.length is not None:
            return [(self.array, (place,)) for place in range(1, self.length.at(0, l) + 1)]
        return [(self.array, () if self.index is None else (self.index.at(0, l),))]


def parts_of(words: Mapping[int, Sequence[Bit]], arrays: bool = True) -> tuple[Part, ...]:
    """The parts of a word, given by its bits at some sizes; single bits only, unless `arrays`."""
    cut = {l: _cut(bits, arrays) for l, bits in words.items()}
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


def _cut(bits: Sequence[Bit], arrays: bool) -> list[tuple[str, bool, list[tuple[int, ...]], int]]:
    """Array, whether it is a whole array, its indices, and the exponent of the first bit."""
    found: list[tuple[str, bool, list[tuple[int, ...]], int]] = []
    run = 0
    while arrays and run < len(bits) and bits[run] == (bits[0][0], (run + 1,)):
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
        """Those of an algorithm, fitted at some of the sizes given and compared at all of them."""
        known = {l: sized[l] for l in FITTED}
        words: dict[str, dict[str, tuple[Part, ...]]] = {"inputs": {}, "outputs": {}}
        for sort, found in words.items():
            for number, word in enumerate(getattr(algorithm, sort)):
                if word.signed:
                    raise NotAffineError(f"{word.name} is signed")
                found[word.name] = parts_of(
                    {l: [_bit(a, b) for b in getattr(a, sort)[number].bits] for l, a in known.items()}
                )
        inputs = {}
        for name, (part, *others) in words["inputs"].items():
            if others or part.length is None:
                raise NotAffineError(f"the input {name} is no array from its first bit on")
            inputs[name] = part
        start = {l: _start(a) for l, a in known.items()}
        if len({len(bits) for bits in start.values()}) > 1:
            raise NotAffineError("more bits are on at the start of longer words")
        started = parts_of(start, arrays=False) if any(start.values()) else ()
        halts = {l: [_bit(a, a.halt)] for l, a in known.items() if isinstance(a.halt, int)}
        made = cls(inputs, words["outputs"], started, parts_of(halts)[0] if halts else None)
        for l, one in sized.items():
            if not made._are_those_of(one, l):
                raise NotAffineError(f"inputs, outputs or start at size {l} are not those of larger sizes")
            first = {*one.start, *(bit for word in one.inputs for bit in word.bits)}
            if one.halt in first:
                raise NotAffineError(f"the bit that ends a run may be on at the start, at size {l}")
        return made

    def _are_those_of(self, algorithm: Algorithm, l: int) -> bool:
        """Whether they have the bits of an algorithm of size l."""
        inputs = {word.name: [_bit(algorithm, bit) for bit in word.bits] for word in algorithm.inputs}
        outputs = {word.name: [_bit(algorithm, bit) for bit in word.bits] for word in algorithm.outputs}
        halt = [_bit(algorithm, algorithm.halt)] if isinstance(algorithm.halt, int) else []
        return (
            inputs == {name: part.at(l) for name, part in self.inputs.items()}
            and outputs == {name: [bit for part in own for bit in part.at(l)] for name, own in self.outputs.items()}
            and all(
                part.exponent.at(0, l) == len([bit for other in own[:at] for bit in other.at(l)])
                for own in self.outputs.values()
                for at, part in enumerate(own)
            )
            and _start(algorithm) == sorted(bit for part in self.started for bit in part.at(l))
            and halt == ([] if self.halt is None else self.halt.at(l))
        )

    @property
    def variables(self) -> dict[str, str]:
        """Of each input its name in a theorem."""
        return {word: _mark("input", word) for word in self.inputs}

    @property
    def given(self) -> str:
        """The size and the inputs, as a theorem takes them."""
        return f"(l : nat) ({' '.join(self.variables.values())} : Z)" if self.inputs else "(l : nat)"

    @property
    def bounds(self) -> str:
        """That the inputs lie in their ranges."""
        return " ".join(
            f"0 <= {variable} < 2 ^ Z.of_nat ({self.length(word)}) ->" for word, variable in self.variables.items()
        )

    def is_bit(self, output: str) -> bool:
        """Whether an output is a single bit, and so a truth."""
        return [part.length for part in self.outputs[output]] == [None]

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


_KEYWORDS = (
    "_ IF Prop SProp Set Type as at cofix do else end exists exists2 fix for forall fun if in is lazymatch let match mod "
    "multimatch of return struct then using where with"
)
_RESERVED = {*_KEYWORDS.split(), *ascii_uppercase}  # by capital letters tactics call what they know
_MARK = re.compile("⟦(input|output|bits) ([0-9a-f]*)⟧")
_NOT_NAMES = re.compile(r'"[^"]*"|\(\*.*?\*\)', re.DOTALL)  # strings and comments
_NAME = re.compile(r"[A-Za-z_][\w']*")


def output_name(word: str) -> str:
    """The definition of an output."""
    return _mark("output", word)


def bits_name(word: str) -> str:
    """The bits of a word in a proof."""
    return _mark("bits", word)


def _mark(sort: str, name: str) -> str:
    """What stands for a name until the whole file is known, so that nothing else in it has that name."""
    return f"⟦{sort} {name.encode().hex()}⟧"


def names_in(text: str) -> dict[str, str]:
    """For each mark a name that is used for nothing else, if possible that of the rule text."""
    used = {*_RESERVED, *_NAME.findall(_NOT_NAMES.sub(" ", _MARK.sub(" ", text)))}
    found: dict[str, str] = {}
    for mark in sorted(_MARK.finditer(text), key=lambda one: one[1] != "output"):
        if mark[0] in found:
            continue
        name = bytes.fromhex(mark[2]).decode()
        if name in used and mark[1] == "input":
            name += "_in"
        while name in used:
            name += "'" if mark[1] == "bits" else "_"
        used.add(name)
        found[mark[0]] = name
    return found


def with_names(text: str) -> str:
    """The file, with names for its marks."""
    names = names_in(text)
    return _MARK.sub(lambda mark: names[mark[0]], text)


def _start(algorithm: Algorithm) -> list[Bit]:
    return sorted(_bit(algorithm, bit) for bit in algorithm.start)


def _bit(algorithm: Algorithm, number: int) -> Bit:
    return bit_named(algorithm.program.layout.name_of(number))
