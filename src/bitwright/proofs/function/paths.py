"""One way round a loop, as shapes of arrays and phases; and lines that no such way may have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from bitwright.program.text import syntax
from bitwright.proofs.function.affine import outside
from bitwright.proofs.function.shapes import OFF, State
from bitwright.proofs.function.waiting import Wait


@dataclass
class Path:
    """One way round: what the lowest bits of words are, and the states and phases on the way."""

    fixed: Mapping[str, int]
    states: list[State] = field(default_factory=list)
    waits: dict[int, Wait] = field(default_factory=dict)  # by the state in which a phase starts

    def document(self, proofs: list[str]) -> dict[str, Any]:
        """As a certificate has it; arrays that are off are left out."""
        states = [
            {array: [part for part in shape if part] for array, shape in state.items() if shape != OFF}
            for state in self.states
        ]
        phases = {
            str(number): {
                "timer": wait.timer,
                "busy": list(wait.busy),
                "inputs": list(wait.inputs),
                "sums": {array: dict(factors) for array, factors in wait.sums.items()},
                "proof": proofs.index(wait.text),
            }
            for number, wait in self.waits.items()
        }
        return {"fixed": dict(self.fixed), "states": states, "phases": phases}


def check_ranges(item: syntax.Statement) -> None:
    """Refuses what a single index can stretch: `write x[i..l]` reaches further at larger sizes."""
    targets = item.targets if isinstance(item, syntax.WhenClause) else ()
    swept = {one.token.text for one in getattr(item, "clauses", syntax.Clauses()).ranges}
    for target in targets:
        for part in target.parts:
            if part.first is not part.last and any(
                name in swept for end in (part.first, part.last) if end is not None for name in _names(end)
            ):
                outside(target.token, "a range of bits that depends on an index")


def _names(part: syntax.Expression) -> Iterator[str]:
    if isinstance(part, syntax.Name):
        yield part.token.text
    elif isinstance(part, syntax.Operation):
        yield from _names(part.left)
        yield from _names(part.right)
    elif isinstance(part, syntax.Digits):
        yield from _names(part.value)
