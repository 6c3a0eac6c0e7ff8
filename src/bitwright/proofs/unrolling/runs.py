"""Unrolls steps and complete runs symbolically, for all inputs at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bitwright.proofs.unrolling.graph import FALSE, TRUE, AndGraph, Literal
from bitwright.proofs.unrolling.numbers import Number
from bitwright.rules import FIXED_POINT, Algorithm, Program, Word


class Stepper:
    """Makes steps of one program in one graph."""

    def __init__(self, program: Program, graph: AndGraph) -> None:
        self.graph = graph
        starts, members = program.block_start.tolist(), program.block_bits.tolist()
        self._blocks: list[tuple[list[int], list[tuple[int, list[int]]]]] = [
            (members[starts[block] : starts[block + 1]], []) for block in range(program.blocks)
        ]
        pairs = zip(program.template_block.tolist(), program.template_config.tolist(), strict=True)
        for template, (block, config) in enumerate(pairs):
            self._blocks[block][1].append((config, program.writes(template).tolist()))

    def step(self, state: Sequence[Literal]) -> list[Literal]:
        """Returns the next state, in which a bit is on if a matching template writes it."""
        both, either = self.graph.both, self.graph.either
        after = [FALSE] * len(state)
        for members, templates in self._blocks:
            values = [state[bit] for bit in members]
            if not any(values) and (not templates or templates[0][0]):  # all off; templates are sorted by configuration
                continue
            for config, writes in templates:
                matched = 1
                for place, value in enumerate(values):
                    matched = both(matched, value ^ (~config >> place & 1))
                    if matched == FALSE:
                        break
                else:
                    for bit in writes:
                        after[bit] = either(after[bit], matched)
        return after


NODES = 1_000_000  # in a graph; larger graphs are not decided


class RunTooLargeError(Exception):
    """Raised if the graph of all runs exceeds its limit."""


@dataclass(frozen=True)
class UnrolledRun:
    """All runs of an algorithm in one graph."""

    graph: AndGraph
    inputs: dict[str, Number]
    outputs: dict[str, Number]
    ended: list[Literal]  # all true if the run ends within its limit


def unroll(algorithm: Algorithm, nodes: int = NODES) -> UnrolledRun:
    """Returns all runs of an algorithm in one graph; raises RunTooLargeError if it has too many nodes."""
    graph = AndGraph()
    stepper = Stepper(algorithm.program, graph)
    state = [FALSE] * algorithm.program.bits
    for bit in algorithm.start:
        state[bit] = TRUE
    for bit in algorithm.input_bits.tolist():
        state[bit] = graph.input()
    inputs = _values(graph, algorithm.inputs, dict(enumerate(state)))
    kept = algorithm.output_bits.tolist()
    ended, taken, earlier = FALSE, 0, state
    final = dict.fromkeys(kept, FALSE)  # the outputs of runs that have ended
    while True:
        repeats = algorithm.halt is not None and taken > 0 and state == earlier
        last = repeats or taken == algorithm.steps
        now, after = _ends(algorithm, stepper, state, last)
        now = graph.both(now, ended ^ 1)
        final = {bit: graph.either(final[bit], graph.both(now, state[bit])) for bit in kept}
        ended = graph.either(ended, now)
        if ended == TRUE or last:
            break
        if taken & taken - 1 == 0:
            earlier = state
        state = stepper.step(state) if after is None else after
        taken += 1
        if len(graph) > nodes:
            raise RunTooLargeError(
                f"the graph of all runs has more than {nodes:,} nodes after {taken:,} steps; try a smaller size"
            )
    return UnrolledRun(graph, inputs, _values(graph, algorithm.outputs, final), [ended])


def _values(graph: AndGraph, words: Sequence[Word], bits: Mapping[int, Literal]) -> dict[str, Number]:
    """Returns the numbers of words with these bits."""
    return {word.name: Number(graph, [bits[bit] for bit in word.bits], word.signed) for word in words}


def _ends(
    algorithm: Algorithm, stepper: Stepper, state: list[Literal], last: bool
) -> tuple[Literal, list[Literal] | None]:
    """Returns whether the run ends in a state, and the next state if it was computed; `last` is the final state."""
    if algorithm.halt is None:
        return (TRUE if last else FALSE), None
    if isinstance(algorithm.halt, int):
        return state[algorithm.halt], None
    assert algorithm.halt == FIXED_POINT
    after = stepper.step(state)
    if after == state:
        return TRUE, after
    if not last:  # a fixed point can be detected later, since the state no longer changes
        return FALSE, after
    differ = stepper.graph.any(stepper.graph.differ(a, b) for a, b in zip(state, after, strict=True))
    return differ ^ 1, after
