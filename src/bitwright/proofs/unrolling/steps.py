"""Symbolic steps: what a program makes of a state whose bits are literals of a graph (Eq. 5-6)."""

from __future__ import annotations

from collections.abc import Sequence

from bitwright.program import Program
from bitwright.proofs.unrolling.graph import FALSE, AndGraph, Literal


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
