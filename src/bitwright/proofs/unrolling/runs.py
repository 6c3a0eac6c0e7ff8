"""Steps and whole runs, symbolically: from every input to its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bitwright.proofs.unrolling.graph import FALSE, TRUE, AndGraph, Literal
from bitwright.proofs.unrolling.numbers import Number
from bitwright.rules import FIXED_POINT, Algorithm, Program, Word


class Stepper:
    """Takes steps of one program in one graph."""

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
        """The next state: a bit is on where a template that matches writes it."""
        both, either = self.graph.both, self.graph.either
        after = [FALSE] * len(state)
        for members, templates in self._blocks:
            values = [state[bit] for bit in members]
            if not any(values) and (not templates or templates[0][0]):  # all off; templates come by configuration
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


NODES = 1_000_000  # of a graph; larger ones are not decided


class RunTooLargeError(Exception):
    """A run with a graph that is larger than allowed."""


@dataclass(frozen=True)
class UnrolledRun:
    """All runs of an algorithm in one graph."""

    graph: AndGraph
    inputs: dict[str, Number]
    outputs: dict[str, Number]
    ended: list[Literal]  # they hold where the run has ended within its limit


def unroll(algorithm: Algorithm, nodes: int = NODES) -> UnrolledRun:
    """All runs of an algorithm. Raises RunTooLargeError."""
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
    final = dict.fromkeys(kept, FALSE)  # what the outputs were where the run has ended
    while True:
        circling = algorithm.halt is not None and taken > 0 and state == earlier
        last = circling or taken == algorithm.steps
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
            raise RunTooLargeError(f"its graph has more than {nodes:,} nodes after {taken:,} steps")
    return UnrolledRun(graph, inputs, _values(graph, algorithm.outputs, final), [ended])


def _values(graph: AndGraph, words: Sequence[Word], bits: Mapping[int, Literal]) -> dict[str, Number]:
    """The numbers that words have with these bits."""
    return {word.name: Number(graph, [bits[bit] for bit in word.bits], word.signed) for word in words}


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
