"""Relations between numbers at two moments: w' = c1 w1 + c2 w2 + d modulo a power of two, guessed and then proved."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from bitwright.proofs.unrolling import numbers
from bitwright.proofs.unrolling.graph import AndGraph, Literal
from bitwright.proofs.unrolling.laws import BitLaw, LawFinder, LinearForm, linear, weight_of
from bitwright.proofs.unrolling.polynomials import Polynomial
from bitwright.proofs.unrolling.solver import Prover

_SAMPLES = 64
_TERMS = 2  # words in a relation
Bits = Sequence[Literal]  # of an unsigned number, lowest first


@dataclass(frozen=True)
class Moment:
    """The states on the way from one moment to another, in one graph, and the numbers at its beginning."""

    graph: AndGraph
    states: Sequence[Sequence[Literal]]
    laws: LawFinder
    numbers: Mapping[str, Bits]


def relation(
    target: Bits, words: Mapping[str, Bits], graph: AndGraph, exponent: int, proves: Callable[[Polynomial], bool]
) -> Polynomial | None:
    """The target as a linear polynomial of words, modulo 2^exponent: the first that fits samples and can be proved."""
    rng, ones = random.Random(2), (1 << _SAMPLES) - 1
    values = graph.evaluate([rng.getrandbits(_SAMPLES) for _ in graph.inputs], ones)

    def sampled(bits: Bits) -> list[int]:
        rows = [values[literal >> 1] ^ (ones if literal & 1 else 0) for literal in bits]
        return [sum((row >> sample & 1) << place for place, row in enumerate(rows)) for sample in range(_SAMPLES)]

    wanted, columns = sampled(target), {name: sampled(bits) for name, bits in words.items()}
    for terms in range(min(_TERMS, len(words)) + 1):
        for chosen in combinations(words, terms):
            rows = [[*(columns[name][sample] for name in chosen), 1] for sample in range(_SAMPLES)]
            found = solve(rows, wanted, exponent)
            if found is None:
                continue
            names: list[tuple[str, ...]] = [*((name,) for name in chosen), ()]
            guess = {name: value for name, value in zip(names, found, strict=True) if value}
            if proves(guess):
                return guess
    return None


def form(polynomial: Polynomial, words: Mapping[str, Bits], exponent: int) -> LinearForm:
    """A linear polynomial of words as a sum of literals."""
    parts = [
        (literal, factor << place)
        for names, factor in polynomial.items()
        if names
        for place, literal in enumerate(words[names[0]])
    ]
    return linear([*parts, (1, polynomial.get((), 0))], exponent)


def by_structure(target: Bits, guess: Polynomial, words: Mapping[str, Bits], exponent: int) -> bool:
    """Whether both sides are the same sum of literals."""
    return linear([(bit, 1 << place) for place, bit in enumerate(target)], exponent) == form(guess, words, exponent)


def by_law(moment: Moment, bits: Sequence[int], guess: Polynomial, exponent: int) -> BitLaw | None:
    """A law of the steps that leads from the guess to these bits of the last state, if there is one."""
    law = moment.laws.law(moment.states, {bit: 1 << place for place, bit in enumerate(bits)}, exponent)
    found = weight_of(moment.states[law.since], law.weights, exponent) == form(guess, moment.numbers, exponent)
    return law if found else None


def by_solver(
    prover: Prover,
    name: str,
    graph: AndGraph,
    target: Bits,
    guess: Polynomial,
    words: Mapping[str, Bits],
    exponent: int,
) -> bool:
    """Whether both sides agree in their lowest bits, by a solver."""
    total = numbers.constant(guess.get((), 0))
    for names, factor in guess.items():
        if names:
            term = numbers.multiply(graph, numbers.unsigned(words[names[0]]), numbers.constant(factor))
            total = numbers.add(graph, total, term)
    goals = numbers.equal_bits(
        graph, numbers.power_remainder(numbers.unsigned(target), exponent), numbers.power_remainder(total, exponent)
    )
    return prover.prove(name, graph, goals).verdict == "proved"


def solve(rows: Sequence[Sequence[int]], wanted: Sequence[int], exponent: int) -> list[int] | None:
    """Numbers x with row . x = wanted modulo 2^exponent for every row, small ones where there is a choice.

    >>> solve([[3, 1], [5, 1]], [7, 11], 8)
    [2, 1]
    """
    modulus = 1 << exponent
    table = [[value % modulus for value in (*row, want)] for row, want in zip(rows, wanted, strict=True)]
    order: list[tuple[int, list[int]]] = []
    columns = set(range(len(table[0]) - 1))
    while columns:
        at = min(((_twos(row[c]), r, c) for r, row in enumerate(table) for c in columns if row[c]), default=None)
        if at is None:
            break
        twos, place, column = at
        pivot = table.pop(place)
        inverse = pow(pivot[column] >> twos, -1, modulus)
        pivot = [value * inverse % modulus for value in pivot]  # now it has 2^twos in this column
        for row in table:
            factor = row[column] >> twos
            row[:] = [(a - factor * b) % modulus for a, b in zip(row, pivot, strict=True)]
        order.append((column, pivot))
        columns.discard(column)
    if any(row[-1] for row in table):
        return None
    x = [0] * (len(rows[0]))
    for column, pivot in reversed(order):
        rest = pivot[-1] - sum(value * x[c] for c, value in enumerate(pivot[:-1]) if c != column)
        step = pivot[column]
        if rest % step:
            return None
        free = modulus // step
        x[column] = (rest // step) % free
        if x[column] > free // 2:
            x[column] -= free
    return x


def _twos(value: int) -> int:
    return (value & -value).bit_length() - 1
