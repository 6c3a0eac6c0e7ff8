"""The timing of machine V, which follows from its shape before anything is built.

A signal walks down the address tree (D levels) and its answer up the reading tree (D levels and some to wait), so an
answer takes T1 steps. Pad levels make the answer late enough for the checks and the counter to be done.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from bitwright.machines.subleq.interpreter import Shape


def halvings(n: int) -> int:
    """ceil(log2 n)."""
    return (n - 1).bit_length()


Terms = list[list[int]]  # an OR of ANDs of bits, by their numbers from 1


def terms_above(bound: int, width: int) -> Terms:
    """x > bound for a number x of `width` bits: x has some bit more, and all the higher ones that `bound` has."""
    ones = [i for i in range(1, width + 1) if bound >> (i - 1) & 1]
    return [[i, *(h for h in ones if h > i)] for i in range(1, width + 1) if i not in ones]


def check_levels(terms: Terms) -> tuple[int, int]:
    """Levels of AND blocks and of OR nodes that a check takes, at least one together."""
    ands, ors = halvings(max(len(term) for term in terms)), halvings(len(terms))
    return ands, ors if ands or ors else 1


@dataclass(frozen=True)
class Timing:
    """The letters are those of docs/explanation/machines.md."""

    shape: Shape

    @cached_property
    def digits(self) -> tuple[int, ...]:
        """s_d: how many address bits each level of the tree decides, from the top; two, and one first if A is odd."""
        bits = self.shape.address_bits
        return (1,) * (bits % 2) + (2,) * (bits // 2)

    @property
    def depth(self) -> int:
        """D: levels of the address tree."""
        return len(self.digits)

    def below(self, level: int) -> int:
        """rho_d: address bits still undecided at a level."""
        return self.shape.address_bits - sum(self.digits[:level])

    @cached_property
    def counter_terms(self) -> Terms:
        """When the program counter says: no further instruction."""
        if self.shape.dialect.halt == "top":
            return [[self.shape.width]]
        return terms_above(self.shape.words - 3, self.shape.width)

    @cached_property
    def operand_terms(self) -> Terms | None:
        """When an operand is special: beyond the last word, or all ones; None where none is."""
        if self.shape.dialect.strict:
            return terms_above(self.shape.words - 1, self.shape.width)
        return [list(range(1, self.shape.width + 1))] if self.shape.dialect.io else None

    @property
    def counter_check(self) -> int:
        """Dp: steps from the counter's bits to the verdict."""
        return sum(check_levels(self.counter_terms))

    @property
    def operand_check(self) -> int:
        """Lc: the same for an operand; 0 without such a check."""
        return 0 if self.operand_terms is None else sum(check_levels(self.operand_terms))

    @property
    def prefix(self) -> int:
        """L: levels of the subtractor's carry prefix."""
        return max(1, halvings(self.shape.width))

    @cached_property
    def pad(self) -> int:
        """The fewest extra levels with which nothing comes too late."""
        pad = 0
        while not self._in_time(self.depth + self.depth + pad):
            pad += 1
        return pad

    def _in_time(self, answer: int) -> bool:
        dialect, carried = self.shape.dialect, self.counter_check + 1 + self.shape.width
        limits = [2 * answer + 5 + self.prefix >= carried]  # the counter's + 3 has rippled through
        if self.operand_terms is None:
            limits.append(self.counter_check < 2 * answer + 1)
        else:
            limits.append(self.counter_check < answer + 1 + self.operand_check)
        if dialect.strict:
            limits.append(answer + 2 + self.operand_check < 2 * answer + 3 + self.prefix)
        if dialect.io:
            limits += [answer >= self.operand_check + 3, 2 * answer + 4 >= carried]
        return all(limits)

    @property
    def rise(self) -> int:
        """Du: levels of the reading tree."""
        return self.depth + self.pad

    @property
    def answer(self) -> int:
        """T1: steps from a question to the memory to its answer."""
        return self.depth + self.rise

    @property
    def subtract(self) -> int:
        """tau: when the carry enters the subtractor."""
        return 2 * self.answer + 3

    @property
    def last(self) -> int:
        """When the sequencer ends."""
        return self.subtract + self.prefix + self.shape.dialect.saturate

    @property
    def wait_for_input(self) -> int:
        """rq: how long a request for input is held back, until the counter is ready."""
        return max(0, self.counter_check + 1 + self.shape.width - (self.answer + 4 + self.operand_check))

    @property
    def steps(self) -> int:
        """Steps of an instruction, always the same."""
        return 2 * self.answer + 7 + self.prefix

    @property
    def steps_of_input(self) -> int:
        """Steps of an instruction that reads from outside, without the steps that the host lets it wait."""
        return self.answer + 6 + self.operand_check + self.wait_for_input

    @property
    def steps_of_output(self) -> int:
        return 2 * self.answer + 6
