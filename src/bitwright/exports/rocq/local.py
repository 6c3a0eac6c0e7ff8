"""From `ensure` lines about single bits to a theorem, where a run takes the same few steps at every size.

Every bit of the last state depends on a few bits of the first one. So Rocq writes the steps out and tries all values of
those bits, and no certificate is needed. Lines about sums, and longer runs of longer words, are left to `chain`.
"""

from __future__ import annotations

from collections.abc import Mapping

from bitwright.exports.rocq.families import Families
from bitwright.exports.rocq.forms import NotAffineError, form_of, natural
from bitwright.exports.rocq.templates import render
from bitwright.exports.rocq.words import Words
from bitwright.proofs.kinds.affine import Affine
from bitwright.rules.ensures import EnsureLine
from bitwright.rules.expressions import Combined, Constant, Expression, Named, Negation

_BOOLEAN: Mapping[str, str] = {
    "and": "({} && {})",
    "or": "({} || {})",
    "=>": "(implb {} {})",
    "==": "(Bool.eqb {} {})",
    "!=": "(xorb {} {})",
}


def local_text(
    name: str,
    about: str,
    families: Families,
    lines: tuple[EnsureLine, ...],
    words: Words,
    size: str,
    steps: int,
    rests: bool,
) -> str:
    """A file about `steps` steps; `rests`: which also says that nothing changes any more."""
    if any(item.whole for rule in families.rules for item in rule.others[0]):
        raise NotAffineError("a rule writes a whole array")
    bits = _BitLines(words, size, steps)
    tested, written = (
        {(item.array, item.place is None) for own in lists for item in own[0]}
        for lists in zip(*((rule.ordered, rule.others) for rule in families.rules), strict=True)
    )
    return render(
        "local",
        name=name,
        about=about,
        families=families,
        words=words,
        claims=[bits.line(line) for line in lines],
        steps=steps,
        rests=rests,
        arrays=[*sorted(written), *sorted(tested - written)],
        written=sorted(written),
    )


class _BitLines:
    """Lines about single bits, as Rocq has them."""

    def __init__(self, words: Words, size: str, steps: int) -> None:
        self.words, self.size, self.steps = words, size, steps

    def line(self, line: EnsureLine) -> str:
        if len(line.ranges) > 1:
            raise NotAffineError(f"'{line}' has more than one index")
        index = line.ranges[0].name if line.ranges else ""
        truth = line.truth
        if isinstance(truth, Combined) and truth.sign == "==":
            claim = f"{self._bool(truth.left, line, index)} = {self._bool(truth.right, line, index)}"
        else:
            claim = f"{self._bool(truth, line, index)} = true"
        if not line.ranges:
            return claim
        first, last = (natural(self._index(bound, line, "")) for bound in (line.ranges[0].first, line.ranges[0].last))
        return f"forall i, {first} <= i <= {last} -> {claim}"

    def _bool(self, part: Expression, line: EnsureLine, index: str) -> str:
        if isinstance(part, Constant) and part.value in (0, 1):
            return "true" if part.value else "false"
        if isinstance(part, Named) and part.index is not None:
            at = natural(self._index(part.index, line, index))
            if not part.entered and part.text in self.words.outputs:
                array, *others = self.words.outputs[part.text]
                if others or not array.whole:
                    raise NotAffineError(f"'{part.text}' is no array from its first bit on")
                return f'(s (at_ "{array.array}" ({at})))'
            if part.text in self.words.inputs:
                return f"(bit_of {self.words.variables[part.text]} ({at}))"
        if isinstance(part, Negation):
            return f"(negb {self._bool(part.body, line, index)})"
        if isinstance(part, Combined) and part.sign in _BOOLEAN:
            left, right = self._bool(part.left, line, index), self._bool(part.right, line, index)
            return _BOOLEAN[part.sign].format(left, right)
        raise NotAffineError(f"'{line}' is not about single bits, and the run takes {self.steps} steps at every size")

    def _index(self, part: Expression, line: EnsureLine, index: str) -> Affine:
        found = form_of(part, self.size, index)
        if found is None:
            raise NotAffineError(f"an index in '{line}' is not made of {self.size}, its own index and constants")
        return found
