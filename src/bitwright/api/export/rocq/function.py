"""From `ensure` lines and the invariant that was found for them to a theorem: `function_text` writes the file.

Everything in it is text that Rocq checks: the chain, its certificate and its laws by computation, the rules of the chain
against those of the program by tactics (`instance`), and the statement against what the checker says by arithmetic
(`claimed`, `theorems`). Runs of the same few steps at every size need no certificate (`local`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bitwright.api.export.rocq.chained import Chained
from bitwright.api.export.rocq.claimed import ClaimedLines
from bitwright.api.export.rocq.fitting import FittedFamilies, NotAffineError
from bitwright.api.export.rocq.instance import InstanceText
from bitwright.api.export.rocq.listed import listed
from bitwright.api.export.rocq.local import LocalText
from bitwright.api.export.rocq.printed import IMPORTS
from bitwright.api.export.rocq.theorems import TheoremText
from bitwright.api.export.rocq.words import Words
from bitwright.program import Algorithm
from bitwright.program.algorithm import FIXED_POINT
from bitwright.program.pattern import Pattern

_HEAD = (
    "(** What {} computes, by a certificate that bitwright found. Nothing is proved by hand. *)\n"
    f"{IMPORTS}From Coq Require Import NArith ZifyBool.\nFrom Bitwright Require Rules Words Table.\n"
    "From Bitwright Require Import Cover Reach Chain ChainProgram Sweeps Clock ChainRules Specification.\n"
    "From {name} Require Net Families.\nImport ListNotations.\n"
    "Local Open Scope string_scope. Local Open Scope list_scope.\n\n"
)


def function_text(
    name: str,
    algorithm: Algorithm,
    families: FittedFamilies,
    sized: Mapping[int, Algorithm],
    pattern: Pattern,
    size: str,
    certificate: Mapping[str, Any] | None,
) -> tuple[str, int]:
    """The file, and the size from which on its theorem holds; raises NotAffineError for what is outside of the form."""
    words = Words.of(algorithm, sized)
    steps = _few_steps(algorithm, sized, certificate)
    if steps is not None:
        rests = algorithm.halt is not None
        local = LocalText(name, algorithm.name, families, algorithm.ensures, words, size, steps, rests)
        try:
            return local.file(), families.least
        except NotAffineError:
            if rests or certificate is None or any(line.ranges for line in algorithm.ensures):
                raise  # else the certificate may prove it, which takes lines about words
    if certificate is None:
        raise NotAffineError("its proof has no certificate")
    if algorithm.halt == FIXED_POINT:
        raise NotAffineError("the run ends when nothing changes, after more steps for longer words")
    claim = ClaimedLines(Chained.of(certificate), algorithm, words, size)
    chain = InstanceText(claim, families, {l: listed(a.program, pattern) for l, a in sized.items()})
    return _HEAD.format(algorithm.name, name=name) + chain.text() + TheoremText(chain).text(), families.least


def _few_steps(
    algorithm: Algorithm, sized: Mapping[int, Algorithm], certificate: Mapping[str, Any] | None
) -> int | None:
    """The number of steps, if it is the same at every size."""
    if algorithm.halt == FIXED_POINT:
        fixed: int | None = certificate["clock"]["fixed"] if certificate else None
        return fixed
    counts = {one.steps for one in sized.values()}
    return counts.pop() if len(counts) == 1 and algorithm.halt is None else None
