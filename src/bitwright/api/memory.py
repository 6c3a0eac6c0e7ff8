"""Words of machine V's memory as users ask for them, by address or label, and as they are shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bitwright.bits import parse_number, shorten
from bitwright.errors import InputError, option, suggestion
from bitwright.machines.subleq import Shape

_IN_A_LINE = 8


@dataclass(frozen=True)
class Words:
    """The words `first` to `last`, both included, and how they were asked for."""

    asked: str
    first: int
    last: int

    def of(self, memory: Sequence[int], shape: Shape, signed: bool) -> list[int]:
        words = memory[self.first : self.last + 1]
        return [shape.signed(word) for word in words] if signed else list(words)

    def lines(self, words: Sequence[int], bare: bool) -> Iterator[str]:
        """A few words a line, behind the address of the first; a single one behind the name it was asked for by."""
        for at in range(0, len(words), _IN_A_LINE):
            shown = " ".join(map(str, words[at : at + _IN_A_LINE]))
            place = self.asked if self.first == self.last else self.first + at
            yield shown if bare else f"{place}: {shown}"


def find_words(text: str, labels: Mapping[str, int], shape: Shape) -> Words:
    """What `FROM:TO`, `ADDRESS` or the name of a label stands for."""
    first, colon, last = text.partition(":")
    begin = find_address(first, labels, "memory")
    end = find_address(last, labels, "memory") if colon else begin
    if end < begin:
        raise InputError(f"{option('memory')} takes FROM:TO with FROM before TO, got '{shorten(text)}'")
    if end >= shape.words:
        raise InputError(f"{option('memory')} takes addresses from 0 to {shape.words - 1:,}, got {shorten(end)}")
    return Words(text, begin, end)


def find_address(text: str, labels: Mapping[str, int], setting: str) -> int:
    """The address that a number or a label stands for."""
    text = text.strip()
    if text in labels:
        return labels[text]
    if text[:1].isdigit():
        return parse_number(text, option(setting))
    known = "a number such as 12 or a label" if labels else "a number such as 12 (labels are known for .sq files)"
    raise InputError(f"{option(setting)} takes {known}, got '{shorten(text)}'{suggestion(text, list(labels))}")
