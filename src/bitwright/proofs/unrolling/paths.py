"""Rounds of a loop: from every state in which a bit is on to the next such state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bitwright.program import Algorithm
from bitwright.proofs.unrolling.graph import FALSE, TRUE, AndGraph, Literal
from bitwright.proofs.unrolling.runs import RunTooLargeError, start_state
from bitwright.proofs.unrolling.steps import Stepper

MOST_PATHS = 64


@dataclass(frozen=True)
class RoundPath:
    """One way round: the states from a cut state to the next, with some bits of the first one fixed."""

    graph: AndGraph
    fixed: Mapping[int, int]
    states: Sequence[Sequence[Literal]]

    @property
    def steps(self) -> int:
        return len(self.states) - 1


def entry(algorithm: Algorithm, cut: int) -> RoundPath:
    """From the start of a run to the first state in which the cut bit is on for certain. Raises RunTooLargeError."""
    graph = AndGraph()
    stepper, states = Stepper(algorithm.program, graph), [start_state(algorithm, graph)]
    while states[-1][cut] != TRUE:
        if states[-1][cut] != FALSE or len(states) > (algorithm.steps or 0):
            raise RunTooLargeError("whether a run comes to its cut bit depends on its inputs")
        states.append(stepper.step(states[-1]))
    return RoundPath(graph, {}, states)


def paths(algorithm: Algorithm, cut: int, fixed: Mapping[int, int]) -> list[RoundPath]:
    """All ways from a cut state to the next: bits that decide which one are fixed to either value.

    Bits in `fixed` have these values, all others may be either. Raises RunTooLargeError.
    """
    found: list[RoundPath] = []
    ahead = [dict(fixed)]
    while ahead:
        given = ahead.pop()
        path = _path(algorithm, cut, given)
        if isinstance(path, int):
            ahead += ({**given, path: 1}, {**given, path: 0})
        else:
            found.append(path)
        if len(found) + len(ahead) > MOST_PATHS:
            raise RunTooLargeError(f"a round has more than {MOST_PATHS} paths")
    return found


def _path(algorithm: Algorithm, cut: int, given: Mapping[int, int]) -> RoundPath | int:
    """The path with these bits fixed, or a bit on which it depends when the cut comes."""
    graph = AndGraph()
    stepper = Stepper(algorithm.program, graph)
    bits = range(algorithm.program.bits)
    state = [given[bit] if bit in given else graph.input() for bit in bits]
    bit_of = {state[bit] >> 1: bit for bit in bits if bit not in given}
    states = [state]
    for _ in range(algorithm.steps or 0):
        states.append(stepper.step(states[-1]))
        reached = states[-1][cut]
        if reached == TRUE:
            return RoundPath(graph, given, states)
        if reached != FALSE:
            return bit_of[next(node for node in graph.cone([reached]) if node in bit_of)]
    raise RunTooLargeError("a round takes more steps than the whole run may take")
