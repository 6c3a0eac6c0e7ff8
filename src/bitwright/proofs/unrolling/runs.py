"""A whole run, symbolically: from every input to its end."""

from __future__ import annotations

from dataclasses import dataclass

from bitwright.program import FIXED_POINT, Algorithm, Word
from bitwright.proofs.unrolling import numbers
from bitwright.proofs.unrolling.graph import FALSE, TRUE, AndGraph, Literal
from bitwright.proofs.unrolling.numbers import Number
from bitwright.proofs.unrolling.steps import Stepper

NODES = 1_000_000  # of a graph; larger ones are not decided
_KEPT = 20_000_000  # bits of all states that are kept


class RunTooLargeError(Exception):
    """A run with a graph that is larger than allowed."""


@dataclass(frozen=True)
class UnrolledRun:
    """All runs of an algorithm in one graph."""

    graph: AndGraph
    inputs: dict[str, Number]
    outputs: dict[str, Number]
    ended: list[Literal]  # they hold where the run has ended within its limit
    states: list[list[Literal]] | None  # all of them, where every run takes the same number of steps


def value(state: list[Literal], word: Word) -> Number:
    """The number that a word has in a state."""
    bits = [state[bit] for bit in word.bits]
    return tuple(bits) if word.signed else numbers.unsigned(bits)


def start_state(algorithm: Algorithm, graph: AndGraph) -> list[Literal]:
    """The state in which a run starts: every bit of an input is an input of the graph."""
    state = [FALSE] * algorithm.program.bits
    for bit in algorithm.start:
        state[bit] = TRUE
    for bit in algorithm.input_bits.tolist():
        state[bit] = graph.input()
    return state


def unroll(algorithm: Algorithm, nodes: int = NODES) -> UnrolledRun:
    """All runs of an algorithm. Raises RunTooLargeError."""
    graph = AndGraph()
    stepper = Stepper(algorithm.program, graph)
    state = start_state(algorithm, graph)
    inputs = {word.name: value(state, word) for word in algorithm.inputs}
    kept = algorithm.output_bits.tolist()
    ended, taken, earlier = FALSE, 0, state
    final = dict.fromkeys(kept, FALSE)  # what the outputs were where the run has ended
    states: list[list[Literal]] | None = []
    while True:
        if states is not None:
            states.append(state)
        circling = algorithm.halt is not None and taken > 0 and state == earlier
        last = circling or taken == algorithm.steps
        now, after = _ends(algorithm, stepper, state, last)
        now = graph.both(now, ended ^ 1)
        if ended != FALSE or len(states or ()) * len(state) > _KEPT:
            states = None
        final = {bit: graph.either(final[bit], graph.both(now, state[bit])) for bit in kept}
        ended = graph.either(ended, now)
        if ended == TRUE or last:
            break
        if taken & taken - 1 == 0:
            earlier = state
        state = stepper.step(state) if after is None else after
        taken += 1
        if len(graph) > nodes:
            raise RunTooLargeError(f"its graph has more than {nodes:,} nodes after {taken:,} steps")
    outputs = {
        word.name: value([final.get(bit, FALSE) for bit in range(algorithm.program.bits)], word)
        for word in algorithm.outputs
    }
    return UnrolledRun(graph, inputs, outputs, [ended], states if now == TRUE else None)


def _ends(
    algorithm: Algorithm, stepper: Stepper, state: list[Literal], last: bool
) -> tuple[Literal, list[Literal] | None]:
    """Whether the run ends in a state, the last that is looked at or not; and the next state, if that was needed."""
    if algorithm.halt is None:
        return (TRUE if last else FALSE), None
    if isinstance(algorithm.halt, int):
        return state[algorithm.halt], None
    assert algorithm.halt == FIXED_POINT
    after = stepper.step(state)
    if after == state:
        return TRUE, after
    if not last:  # a run that has come to rest stays there, so it may end later as well
        return FALSE, after
    differ = stepper.graph.any(stepper.graph.differ(a, b) for a, b in zip(state, after, strict=True))
    return differ ^ 1, after
