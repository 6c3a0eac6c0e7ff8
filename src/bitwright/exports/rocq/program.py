"""Describes a program at every size: its rules and cells, its inputs and outputs, and their names in Rocq."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from string import ascii_uppercase
from typing import Any

from bitwright.exports.rocq.families import (
    Item,
    Listed,
    ProgramSegments,
    Row,
    bit_named,
    families_of,
    listed,
    row_at_every_size,
)
from bitwright.exports.rocq.forms import FITTED, NotAffineError, natural
from bitwright.proofs.kinds.affine import Affine
from bitwright.rules import Algorithm
from bitwright.rules.pattern import Pattern

Word = tuple[bool, str]  # whether it is an input, and its name
ZERO = Affine()


@dataclass(frozen=True)
class Part:
    """A bit of a word with the weight 2^`exponent`, or all bits of an array up to the index, lowest first."""

    array: str
    index: Affine | None
    whole: bool = False
    exponent: Affine = ZERO

    @property
    def length(self) -> Affine | None:
        """The length of a whole array; None for a single bit."""
        return self.index if self.whole else None

    def text(self, s: str) -> str:
        """Returns the value of the part in a state s as Rocq text."""
        if self.length is not None:
            return f'Words.word {s} "{self.array}" ({natural(self.length)})'
        bit = f"Z.b2z ({self.bit(s)})"
        if self.exponent == ZERO:
            return bit
        if (power := self.exponent.constant) is not None:
            return f"{2 ** int(power)} * {bit}"
        return f"2 ^ Z.of_nat ({natural(self.exponent)}) * {bit}"

    def bit(self, s: str) -> str:
        """Returns the bit in a state s as Rocq text."""
        return (
            f'{s} (flag "{self.array}")' if self.index is None else f'{s} (at_ "{self.array}" ({natural(self.index)}))'
        )


def _parts(items: Iterable[Item]) -> tuple[Part, ...]:
    """Returns the parts of a word, lowest first."""
    found: list[Part] = []
    exponent = ZERO
    for item in items:
        if item.whole and found:
            raise NotAffineError(f"an array must be the lowest part of a word, but other bits are below {item.array}")
        found.append(Part(item.array, item.place, item.whole, exponent))
        exponent = exponent + (item.place if item.whole and item.place is not None else 1)
    return tuple(found)


@dataclass(frozen=True)
class Words:
    """The inputs, the outputs, and the bits that are on at the start."""

    inputs: Mapping[str, Part]
    outputs: Mapping[str, tuple[Part, ...]]
    started: tuple[Part, ...]
    halt: Part | None = None  # the bit that ends a run

    @classmethod
    def of(cls, algorithm: Algorithm, sized: Mapping[int, Algorithm]) -> Words:
        """Fits the words of an algorithm at some of these sizes and compares them at all."""
        for word in (*algorithm.inputs, *algorithm.outputs):
            if word.signed:
                raise NotAffineError(f"{word.name} is signed; only unsigned numbers can be exported")
        rows = {l: _row(one) for l, one in sized.items()}
        known = {l: rows[l] for l in FITTED}
        if len({len(row.lists[0]) for row in known.values()}) > 1:
            raise NotAffineError("the number of bits that are on at the start must not depend on the size")
        segment = row_at_every_size(known)
        started, halt, *words = map(_parts, segment.lists)
        inputs = {}
        for word, (part, *others) in zip(algorithm.inputs, words, strict=False):
            if others or not part.whole:
                raise NotAffineError(f"the input {word.name} must be an array from its first bit on")
            inputs[word.name] = part
        for l, one in sized.items():
            if [rows[l]] != [*segment.at(l)]:
                raise NotAffineError(f"inputs, outputs or start bits at size {l} differ from larger sizes")
            if one.halt in {*one.start, *(bit for word in one.inputs for bit in word.bits)}:
                raise NotAffineError(f"the bit that ends a run must be off at the start, but may be on at size {l}")
        outputs = zip((word.name for word in algorithm.outputs), words[len(inputs) :], strict=True)
        return cls(inputs, dict(outputs), started, halt[0] if halt else None)

    @property
    def variables(self) -> dict[str, str]:
        """The name of each input in a theorem."""
        return {word: _mark("input", word) for word in self.inputs}

    @property
    def given(self) -> str:
        """The binders of a theorem: the size and the inputs."""
        return f"(l : nat) ({' '.join(self.variables.values())} : Z)" if self.inputs else "(l : nat)"

    @property
    def names(self) -> str:
        """The inputs as arguments of a function."""
        return " ".join(self.variables.values())

    @property
    def typed(self) -> str:
        """The inputs, each with its type."""
        return " ".join(f"({variable} : Z)" for variable in self.variables.values())

    @property
    def known(self) -> str:
        """The names of the bounds in a proof."""
        return " ".join(f"B{number}" for number in range(len(self.inputs)))

    @property
    def bounds(self) -> str:
        """The assumptions that the inputs lie in their ranges."""
        return " ".join(
            f"0 <= {variable} < 2 ^ Z.of_nat ({self.length(word)}) ->" for word, variable in self.variables.items()
        )

    def is_bit(self, output: str) -> bool:
        """Whether an output is a single bit, which is a truth value in Rocq."""
        return [part.length for part in self.outputs[output]] == [None]

    def output_text(self, output: str) -> str:
        """Returns the value of an output in a state s."""
        first, *others = self.outputs[output]
        return first.bit("s") if self.is_bit(output) else " + ".join(part.text("s") for part in (first, *others))

    def parts(self, word: Word) -> tuple[Part, ...]:
        """Returns the arrays and bits of a word."""
        return (self.inputs[word[1]],) if word[0] else self.outputs[word[1]]

    def value(self, word: Word) -> str:
        """Returns the number of a word in a state s."""
        entered, name = word
        if entered:
            return self.variables[name]
        return f"Z.b2z ({output_name(name)} l s)" if self.is_bit(name) else f"{output_name(name)} l s"

    def length(self, word: str) -> str:
        length = self.inputs[word].length
        assert length is not None
        return natural(length)

    def start(self) -> list[str]:
        """Returns the facts about the start state."""
        states = [
            f'Words.word_is "{self.inputs[word].array}" ({self.length(word)}) {variable}'
            for word, variable in self.variables.items()
        ]
        return states + [f"Words.bit_on ({part.bit('')})" for part in self.started]


@dataclass(frozen=True)
class SizedProgram:
    """A program at every size: `make` builds it for a value of its parameter `size`; it is also compared at `own`."""

    name: str  # of its folder
    algorithm: Algorithm
    size: str
    make: Callable[[int], Algorithm]
    pattern: Pattern
    own: tuple[int, ...] = ()

    def listed(self, size: int) -> Listed:
        """Returns its rules and cells at a size."""
        return listed(self.make(size).program, self.pattern)

    @cached_property
    def families(self) -> ProgramSegments:
        """Its rules and cells as functions of the size; raises NotAffineError if there are none."""
        return families_of(self.listed, *self.own)

    @cached_property
    def sized(self) -> Mapping[int, Algorithm]:
        """The program at the fitted sizes and at all compared sizes."""
        return {l: self.make(l) for l in sorted({*FITTED, *self.families.compared})}

    @cached_property
    def words(self) -> Words:
        """Its inputs and outputs; raises NotAffineError if they are not functions of the size."""
        return Words.of(self.algorithm, self.sized)

    @property
    def pieces(self) -> dict[str, Any]:
        """Template values common to all files about the program."""
        about = comment(self.algorithm.name)
        return {"name": self.name, "about": about, "families": self.families, "words": self.words}


_KEYWORDS = (
    "_ IF Prop SProp Set Type as at cofix do else end exists exists2 fix for forall fun if in is lazymatch let match "
    "mod multimatch of return struct then using where with"
)
_RESERVED = {*_KEYWORDS.split(), *ascii_uppercase}  # tactics use capital letters for hypotheses
_MARK = re.compile("⟦(input|output) ([0-9a-f]*)⟧")
_NOT_NAMES = re.compile(r'"[^"]*"|\(\*.*?\*\)', re.DOTALL)  # strings and comments
_NAME = re.compile(r"[A-Za-z_][\w']*")


def output_name(word: str) -> str:
    """Returns the name of an output's definition."""
    return _mark("output", word)


def _mark(sort: str, name: str) -> str:
    """Returns a placeholder for a name, which is replaced once the entire file is known, to avoid clashes."""
    return f"⟦{sort} {name.encode().hex()}⟧"


def names_in(text: str) -> dict[str, str]:
    """Returns a unique name for each mark, its name in the rule text if possible."""
    used = {*_RESERVED, *_NAME.findall(_NOT_NAMES.sub(" ", _MARK.sub(" ", text)))}
    found: dict[str, str] = {}
    for mark in sorted(_MARK.finditer(text), key=lambda one: one[1] != "output"):
        if mark[0] in found:
            continue
        name = bytes.fromhex(mark[2]).decode()
        if name in used and mark[1] == "input":
            name += "_in"
        while name in used:
            name += "_"
        used.add(name)
        found[mark[0]] = name
    return found


def with_names(text: str) -> str:
    """Replaces the marks in a file with names."""
    names = names_in(text)
    return _MARK.sub(lambda mark: names[mark[0]], text)


def _row(algorithm: Algorithm) -> Row:
    """Returns the bits at the start, the bit that ends a run, and the bits of each input and output."""
    layout = algorithm.program.layout
    halt = (algorithm.halt,) if isinstance(algorithm.halt, int) else ()
    start, *words = (
        tuple(bit_named(layout.name_of(bit)) for bit in bits)
        for bits in (algorithm.start, halt, *(word.bits for word in (*algorithm.inputs, *algorithm.outputs)))
    )
    return Row((), (tuple(sorted(start)), *words), 2)


def comment(text: str) -> str:
    """Escapes a name, which could otherwise end or extend a comment."""
    return " ".join(text.replace("*", "+").replace('"', "'").split())
