"""Turns `ensure` lines and their invariant into a theorem about a program without a loop.

Runs that take longer for longer words are proved by the certificate of a chain (`chain`); runs with the same few steps
at every size need no certificate (`local`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bitwright.exports.rocq.chain import chain_text
from bitwright.exports.rocq.forms import NotAffineError, value_at
from bitwright.exports.rocq.lines import CertifiedChain
from bitwright.exports.rocq.local import local_text
from bitwright.exports.rocq.program import SizedProgram
from bitwright.rules.algorithm import FIXED_POINT


def function_text(program: SizedProgram, certificate: Mapping[str, Any] | None) -> str:
    """Returns the file about a program's function, with marks for names; raises NotAffineError if unsupported."""
    algorithm, rests = program.algorithm, program.algorithm.halt == FIXED_POINT
    counts = {one.steps for one in program.sized.values()}
    steps = counts.pop() if len(counts) == 1 and algorithm.halt is None else None
    if rests and certificate:
        steps = certificate["clock"]["fixed"]
    if steps is not None:
        try:
            return local_text(program, steps, rests)
        except NotAffineError:
            if rests or certificate is None or any(line.ranges for line in algorithm.claims):
                raise  # otherwise the certificate may prove lines about words
    if certificate is None:
        raise NotAffineError("its proof has no certificate")
    if any(power is None for *_, power in certificate["laws"]):
        raise NotAffineError("its proof has a law modulo a power of two, which is not exported yet")
    if rests:
        raise NotAffineError("the run ends when nothing changes, which takes longer for longer words")
    chained = CertifiedChain.of(certificate)
    if algorithm.halt is None and any(one.steps != value_at(chained.steps, l) for l, one in program.sized.items()):
        raise NotAffineError("the number of steps is not the same function of the size at every size")
    return chain_text(program, chained)
