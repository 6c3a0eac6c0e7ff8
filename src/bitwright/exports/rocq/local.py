"""Proves `ensure` lines about single bits if a run takes the same few steps at every size.

Every bit of the last state depends on a few bits of the first, so Rocq unfolds the steps and tries all values of those
bits without a certificate. `chain` handles lines about sums, and runs that take longer for longer words.
"""

from __future__ import annotations

from collections.abc import Mapping

from bitwright.exports.rocq.forms import NotAffineError, form_of, natural, text_of
from bitwright.exports.rocq.program import SizedProgram
from bitwright.exports.rocq.templates import render
from bitwright.rules.ensures import EnsureLine
from bitwright.rules.expressions import Combined, Constant, Expression, Named

_BOOLEAN: Mapping[str, str] = {
    "not": "(negb {})",
    "and": "({} && {})",
    "or": "({} || {})",
    "=>": "(implb {} {})",
    "==": "(Bool.eqb {} {})",
    "!=": "(xorb {} {})",
}


def local_text(program: SizedProgram, steps: int, rests: bool) -> str:
    """Returns a file about this many steps; `rests` adds that nothing changes after them; raises NotAffineError."""
    rules = program.families.rules
    if any(item.whole for rule in rules for item in rule.lists[1]):
        raise NotAffineError("a rule writes a whole array")
    tested, written = ({(item.array, item.place is None) for rule in rules for item in rule.lists[at]} for at in (0, 1))
    return render(
        "local",
        **program.pieces,
        claims=[_line(line, program, steps) for line in program.algorithm.claims],
        steps=steps,
        rests=rests,
        arrays=[*sorted(written), *sorted(tested - written)],
        written=sorted(written),
    )


def _line(line: EnsureLine, program: SizedProgram, steps: int) -> str:
    """Formats a line about single bits."""
    if len(line.ranges) > 1:
        raise NotAffineError(f"'{line}' has more than one index")
    words, index = program.words, line.ranges[0].name if line.ranges else ""

    def place(part: Expression, index: str = index) -> str:
        if (found := form_of(part, program.size, index)) is None:
            raise NotAffineError(f"an index in '{line}' is not made of {program.size}, its own index and constants")
        return natural(found)

    def bit(part: Expression) -> str | None:
        if isinstance(part, Constant) and part.value in (0, 1):
            return "true" if part.value else "false"
        if isinstance(part, Named) and part.index is not None:
            if not part.entered and part.text in words.outputs:
                array, *others = words.outputs[part.text]
                if others or not array.whole:
                    raise NotAffineError(f"'{part.text}' is not an array from its first bit on")
                return f'(s (at_ "{array.array}" ({place(part.index)})))'
            if part.text in words.inputs:
                return f"(bit_of {words.variables[part.text]} ({place(part.index)}))"
        return None

    truth, refusal = line.truth, f"'{line}' is not about single bits, but the run takes {steps} steps at every size"
    equation = isinstance(truth, Combined) and truth.sign == "=="
    sides = (truth.left, truth.right) if isinstance(truth, Combined) and equation else (truth, Constant(1))
    claim = " = ".join(text_of(side, bit, _BOOLEAN, refusal) for side in sides)
    if not line.ranges:
        return claim
    first, last = (place(bound, "") for bound in (line.ranges[0].first, line.ranges[0].last))
    return f"forall i, {first} <= i <= {last} -> {claim}"
