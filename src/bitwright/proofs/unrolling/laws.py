"""Laws: sums of weighted bits that steps conserve, checked block by block in exact integers, without a solver.

A law gives every bit a weight. If each configuration of a block weighs as much as what it writes, and no two blocks
write a bit of the law at once, then a step conserves the weight of the state. The weights follow from those that are
wanted at the end of a run: a bit that is off there for certain may have any weight, and each configuration that can
occur is an equation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from bitwright.program import Program
from bitwright.proofs.unrolling.graph import FALSE, Literal

_LARGEST = 6  # bits of a block that may be either; more make too many configurations
Weights = dict[int, int]  # by bit
Situation = tuple[int, ...]
NEVER = float("inf")
LinearForm = dict[int, int]  # coefficients by node of the graph; node 0 has the constant


@dataclass(frozen=True)
class BitLaw:
    """Weights modulo 2^exponent that every step from `since` on conserves."""

    weights: Weights
    exponent: int
    since: int


def law_document(program: Program, law: BitLaw) -> dict[str, Any]:
    """A law as certificates have it."""
    weights = {program.layout.name_of(bit): weight for bit, weight in sorted(law.weights.items())}
    return {"since": law.since, "exponent": law.exponent, "weights": weights}


def linear(weighted: Mapping[Literal, int] | Sequence[tuple[Literal, int]], exponent: int) -> LinearForm:
    """A weighted sum of literals, modulo 2^exponent."""
    form: LinearForm = {}
    for literal, weight in weighted.items() if isinstance(weighted, Mapping) else weighted:
        node, sign = literal >> 1, -1 if literal & 1 else 1
        if node:
            form[node] = form.get(node, 0) + sign * weight
        if literal & 1:
            form[0] = form.get(0, 0) + weight
    return {node: value % (1 << exponent) for node, value in form.items() if value % (1 << exponent)}


def weight_of(state: Sequence[Literal], weights: Weights, exponent: int) -> LinearForm:
    """What a state weighs."""
    return linear([(state[bit], weight) for bit, weight in weights.items()], exponent)


class LawFinder:
    """Finds laws of one program."""

    def __init__(self, program: Program) -> None:
        self._members = [program.block_members(block).tolist() for block in range(program.blocks)]
        self._writes: list[dict[int, list[int]]] = [{} for _ in self._members]
        self._writers: dict[int, list[tuple[int, int]]] = {}  # by bit: blocks and configurations
        pairs = zip(program.template_block.tolist(), program.template_config.tolist(), strict=True)
        for template, (block, config) in enumerate(pairs):
            self._writes[block][config] = program.writes(template).tolist()
            for bit in self._writes[block][config]:
                self._writers.setdefault(bit, []).append((block, config))

    def law(self, states: Sequence[Sequence[Literal]], wanted: Weights, exponent: int) -> BitLaw:
        """A law that gives the last of these states of a run its wanted weight."""
        known = {bit: wanted.get(bit, 0) for bit, literal in enumerate(states[-1]) if literal != FALSE}
        known = {bit: weight % (1 << exponent) for bit, weight in (known | wanted).items()}
        settled: set[Situation] = set()
        for state in reversed(states[:-1]):
            found = self._derived(state, known, exponent, settled)
            if found is None:
                break
            known = found
        weights = {bit: weight for bit, weight in known.items() if weight % (1 << exponent)}
        return BitLaw(weights, exponent, self.since(states, weights, exponent))

    def since(self, states: Sequence[Sequence[Literal]], weights: Weights, exponent: int) -> int:
        """The first state from which on every step conserves the weight: the proof of a law.

        If two blocks write one bit at once, the weight of one write is lost. That cannot happen if both configurations
        together weigh more than any state of the run; all weights are then positive and conserved as integers.
        """
        contested = [bit for bit in weights if len({block for block, _ in self._writers.get(bit, ())}) > 1]
        clashes: dict[int, int] = {}  # by step: the least weight of two configurations that write one bit
        since, exact = len(states) - 1, min(weights.values(), default=0) >= 0
        balanced: dict[Situation, bool | None] = {}
        for step in range(since - 1, -1, -1):
            situations = [_situation(states[step], block, members) for block, members in enumerate(self._members)]
            for situation in situations:
                if situation not in balanced:
                    balanced[situation] = self._balanced(situation, weights, exponent)
            if any(balanced[situation] is None for situation in situations):
                break
            exact = exact and all(balanced[situation] for situation in situations)
            weight = min((self._clash(bit, situations, weights) for bit in contested), default=NEVER)
            if not exact and (weight != NEVER or any(clash >= 0 for clash in clashes.values())):
                break
            clashes[step], since = int(weight) if weight != NEVER else -1, step
        while True:  # the later a law begins, the lighter its states may be
            heaviest = sum(weights.get(bit, 0) for bit, literal in enumerate(states[since]) if literal != FALSE)
            possible = [step for step, weight in clashes.items() if step >= since and 0 <= weight <= heaviest]
            if not possible:
                return since
            since = max(possible) + 1

    def _balanced(self, situation: Situation, weights: Weights, exponent: int) -> bool | None:
        """Whether a block weighs what it writes: True as integers, False modulo 2^exponent, None not at all."""
        block, exact = situation[0], True
        configurations = _possible(situation)
        if configurations is None:
            return None
        for config in configurations:
            written = sum(weights.get(bit, 0) for bit in self._writes[block].get(config, ()))
            lost = self._weight(block, config, weights) - written
            if lost % (1 << exponent):
                return None
            exact = exact and lost == 0
        return exact

    def _clash(self, bit: int, situations: Sequence[Situation], weights: Weights) -> float:
        """The least that configurations of two blocks weigh which write a bit at once; NEVER if none do."""
        lightest: dict[int, int] = {}  # by block
        for block, config in self._writers[bit]:
            if config in (_possible(situations[block]) or ()):
                weight = self._weight(block, config, weights)
                lightest[block] = min(weight, lightest.get(block, weight))
        return sum(sorted(lightest.values())[:2]) if len(lightest) > 1 else NEVER

    def _weight(self, block: int, config: int, weights: Weights) -> int:
        return sum(weights.get(bit, 0) for place, bit in enumerate(self._members[block]) if config >> place & 1)

    def _derived(
        self, state: Sequence[Literal], known: Weights, exponent: int, settled: set[Situation]
    ) -> Weights | None:
        """More weights, from what can happen in this step; None if they contradict each other."""
        known, modulus = dict(known), 1 << exponent
        equations: list[tuple[Situation, dict[int, int]]] = []
        for block, members in enumerate(self._members):
            situation = _situation(state, block, members)
            if situation in settled:
                continue
            settled.add(situation)
            for config in _possible(situation) or ():
                balance = dict.fromkeys((bit for place, bit in enumerate(members) if config >> place & 1), 1)
                for bit in self._writes[block].get(config, ()):
                    balance[bit] = balance.get(bit, 0) - 1
                equations.append((situation, {bit: times for bit, times in balance.items() if times}))
        again = True
        while again:
            again, left = False, []
            for situation, balance in equations:
                unknown = [bit for bit in balance if bit not in known]
                rest = sum(times * known[bit] for bit, times in balance.items() if bit in known) % modulus
                if len(unknown) > 1:
                    left.append((situation, balance))
                elif unknown:
                    known[unknown[0]] = -balance[unknown[0]] * rest % modulus
                    again = True
                elif rest:
                    return None
            equations = left
        settled.difference_update(situation for situation, _ in equations)
        return known


def _situation(state: Sequence[Literal], block: int, members: Sequence[int]) -> Situation:
    """A block and what is known of its bits: 0, 1, or 2 if they may be either."""
    return (block, *(min(state[bit], 2) for bit in members))


def _possible(situation: Situation) -> list[int] | None:
    """The configurations that a block can have, and perhaps more; None if they are too many."""
    values = [(0, 1) if value == 2 else (value,) for value in situation[1:]]
    if sum(map(len, values)) > len(values) + _LARGEST:
        return None
    return [sum(bit << place for place, bit in enumerate(row)) for row in product(*values)]
