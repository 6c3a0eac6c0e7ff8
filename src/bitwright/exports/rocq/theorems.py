"""From `ensure` lines and the invariant that was found for them to a theorem: `function_text` writes the file.

Longer runs of longer words are proved by the certificate of a chain (`chain`); runs of the same few steps at every size
need no certificate (`local`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bitwright.exports.rocq.chain import chain_text
from bitwright.exports.rocq.claimed import ClaimedLines
from bitwright.exports.rocq.families import Families, listed
from bitwright.exports.rocq.forms import FITTED, NotAffineError, value_at
from bitwright.exports.rocq.linear import Chained
from bitwright.exports.rocq.local import local_text
from bitwright.exports.rocq.templates import comment
from bitwright.exports.rocq.words import Words
from bitwright.rules import Algorithm
from bitwright.rules.algorithm import FIXED_POINT
from bitwright.rules.pattern import Pattern


def function_text(
    name: str,
    algorithm: Algorithm,
    families: Families,
    sized: Mapping[int, Algorithm],
    pattern: Pattern,
    size: str,
    certificate: Mapping[str, Any] | None,
) -> tuple[str, int]:
    """The file, with marks for names, and the size from which on its theorem holds; raises NotAffineError."""
    words = Words.of(algorithm, sized)
    steps = _few_steps(algorithm, sized, certificate)
    if steps is not None:
        rests = algorithm.halt is not None
        about = comment(algorithm.name)
        try:
            return local_text(name, about, families, algorithm.ensures, words, size, steps, rests), families.least
        except NotAffineError:
            if rests or certificate is None or any(line.ranges for line in algorithm.ensures):
                raise  # else the certificate may prove it, which takes lines about words
    if certificate is None:
        raise NotAffineError("its proof has no certificate")
    if algorithm.halt == FIXED_POINT:
        raise NotAffineError("the run ends when nothing changes, after more steps for longer words")
    chained = Chained.of(certificate)
    if algorithm.halt is None and any(a.steps != value_at(chained.steps, l) for l, a in sized.items()):
        raise NotAffineError("the number of steps is not the same function of the size at every size")
    claim = ClaimedLines(chained, algorithm, words, size)
    programs = {l: listed(sized[l].program, pattern) for l in FITTED}
    return chain_text(name, comment(algorithm.name), claim, families, programs), families.least


def _few_steps(
    algorithm: Algorithm, sized: Mapping[int, Algorithm], certificate: Mapping[str, Any] | None
) -> int | None:
    """The number of steps, if it is the same at every size."""
    if algorithm.halt == FIXED_POINT:
        fixed: int | None = certificate["clock"]["fixed"] if certificate else None
        return fixed
    counts = {one.steps for one in sized.values()}
    return counts.pop() if len(counts) == 1 and algorithm.halt is None else None
