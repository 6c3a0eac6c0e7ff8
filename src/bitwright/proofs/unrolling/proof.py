"""What a program computes at its size: proved, refuted by an input, or not decided."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from pathlib import Path
from random import Random
from typing import Any, Literal

import numpy as np

from bitwright.common.bits import from_bits
from bitwright.common.errors import InputError, counted
from bitwright.proofs.claims import ONE_SIZE, Claim
from bitwright.proofs.trials import (
    LATE,
    NONE_ALLOWED,
    Inputs,
    bounds_of,
    random_inputs,
    wrong_input,
    wrong_input_of_all,
)
from bitwright.proofs.unrolling.numbers import Blasted
from bitwright.proofs.unrolling.runs import RunTooLargeError, unroll
from bitwright.proofs.unrolling.solver import CONFLICTS, Lemma, NoSolverError, Prover, UndecidedError
from bitwright.rules import Algorithm
from bitwright.rules.text import parse
from bitwright.runs.progress import Progress, as_progress

_TRIED = 64  # random inputs that are run first, and as many extreme ones
_STEPS = 10_000  # that these take at most, where nothing else is declared
_MOST_BITS, _WORK = 16, 1 << 36  # of inputs that are all tried, and template-steps of their runs: some seconds
FORMAT = "bitwright function at a size 2"
Verdict = Literal["proved", "refuted", "not decided", "not stated"]


@dataclass(frozen=True)
class SizeProof:
    """Whether every run of an algorithm, at its size, does what its `ensure` lines say.

    >>> from dataclasses import replace
    >>> from bitwright import addition
    >>> print(prove_at_size(replace(addition(8), ensures=("sum == p + q",))).sentence.partition(",")[0])
    proved at size 8 (CaDiCaL
    """

    algorithm: Algorithm
    verdict: Verdict
    method: str
    lemmas: tuple[Lemma, ...] = ()  # that a solver proved
    counterexample: dict[str, int] | None = None  # an input whose run was replayed, and is wrong

    def __bool__(self) -> bool:
        return self.verdict == "proved"

    @property
    def size(self) -> str:
        """Its numbers: the 64 of `let l = 64`, or `l=64,k=3` where it has several."""
        sizing = self.algorithm.sizing
        return _named(sizing.numbers) if sizing is not None and sizing.numbers else ONE_SIZE

    @property
    def sentence(self) -> str:
        """The verdict in a line."""
        at = "" if self.size == ONE_SIZE else f" at size {self.size}"
        if self.counterexample is not None:
            given = ", ".join(f"{name} = {value}" for name, value in self.counterexample.items())
            return f"refuted: a run with {given} is wrong{at}" if given else f"refuted: its run is wrong{at}"
        return f"{self.verdict}{at} ({self.method})" if self.method else self.verdict

    def certificate(self) -> dict[str, Any]:
        """What a checker needs besides the rules and the proofs of the lemmas."""
        rules = hashlib.sha256(self.algorithm.text().encode()).hexdigest()
        lemmas = [{"file": f"{lemma.name}.lrat", "cnf": lemma.digest} for lemma in self.lemmas]
        return {"format": FORMAT, "verdict": self.verdict, "rules": rules, "lemmas": lemmas}

    def claim(self) -> Claim:
        """The proof as a link of the chain."""
        return Claim("function", self.verdict, self.size, self.method, self.sentence, self.counterexample)


def prove_at_size(
    algorithm: Algorithm,
    *,
    progress: Progress | bool | None = None,
    conflicts: int = CONFLICTS,
    folder: Path | None = None,
) -> SizeProof:
    """Proves that every run of an algorithm does what its `ensure` lines say, at the size that it has.

    Structure comes first, then CaDiCaL with a limit of conflicts for each lemma, so that the verdict is the same on
    every machine. A folder receives the rules, the certificate, and the formulas (DIMACS) and proofs (LRAT) of all
    lemmas, if everything is proved.
    """
    if conflicts < 1:
        raise InputError(f"the limit of conflicts must be 1 or more, got {conflicts}")
    if not algorithm.ensures:
        return SizeProof(algorithm, "not stated", "")
    inputs = _tried_inputs(algorithm)
    if not inputs:
        return SizeProof(algorithm, "not decided", NONE_ALLOWED)
    if (wrong := _wrong_run(algorithm, inputs)) is not None:
        return SizeProof(algorithm, "refuted", "a run", counterexample=wrong)
    prover = Prover(conflicts, folder, as_progress(progress, f"proving {algorithm.name}"))
    reasons = []
    for method in (_by_rounds, _by_unrolling, _by_trying):
        try:
            found = method(algorithm, prover)
        except (UndecidedError, RunTooLargeError, NoSolverError) as error:
            reasons.append(str(error))
            continue
        if found is not None:
            if folder is not None and found.verdict == "proved":
                (folder / "rules.bw").write_text(algorithm.text())
                (folder / "certificate.json").write_text(json.dumps(found.certificate(), indent=1) + "\n")
            return found
    return SizeProof(algorithm, "not decided", "; ".join(dict.fromkeys(reasons)), tuple(prover.lemmas))


def _named(numbers: Mapping[str, int | str]) -> str:
    named = ",".join(f"{name}={value}" for name, value in numbers.items())
    return named if len(numbers) > 1 else named.partition("=")[2]


def _by_rounds(algorithm: Algorithm, prover: Prover) -> SizeProof | None:
    """Of a loop with invariants at a bit: round by round, its phases by a solver. It has no certificate."""
    from bitwright.proofs.function.rounds import RoundsAtSize
    from bitwright.proofs.function.shapes import NoShapeError

    if prover.folder is not None or not any(line.at is not None for line in algorithm.invariants):
        return None

    def proves(text: str, _: Mapping[str, int]) -> SizeProof:
        return prove_at_size(parse(text), conflicts=prover.conflicts)

    try:
        return SizeProof(algorithm, "proved", RoundsAtSize(algorithm, proves).prove())
    except NoShapeError as error:
        raise UndecidedError(f"no rounds: {error}") from None


def _by_unrolling(algorithm: Algorithm, prover: Prover) -> SizeProof:
    """By all steps of a run in one graph."""
    run = unroll(algorithm)
    goals, given = list(run.ended), list[int]()
    for lines, literals in ((algorithm.ensures, goals), (algorithm.conditions, given)):
        for line in lines:
            literals += Blasted(run.graph, line, run.inputs, run.outputs).goals()
    lemma = prover.prove("outputs", run.graph, goals, given)
    if lemma.verdict == "proved":
        how = f"CaDiCaL, {counted(lemma.conflicts, 'conflict')}" if lemma.clauses else "structure"
        return SizeProof(algorithm, "proved", how, tuple(prover.lemmas))
    if lemma.verdict == "refuted":
        return _refuted(algorithm, prover, [bool(lemma.failing[node]) for node in run.graph.inputs])
    raise UndecidedError(f"CaDiCaL found no proof within {prover.conflicts:,} conflicts")


def _by_trying(algorithm: Algorithm, prover: Prover) -> SizeProof:
    """By running every input, where there are few."""
    bits = len(algorithm.input_bits)
    if bits > _MOST_BITS:
        raise UndecidedError(f"2^{bits} inputs are too many to try all of them")
    limit = min(_STEPS, _WORK // ((1 << bits) * max(1, algorithm.program.templates)))
    if algorithm.steps is not None and algorithm.steps > limit:
        raise UndecidedError(f"all {1 << bits:,} inputs for {algorithm.steps:,} steps are too much to try")
    wrong = wrong_input_of_all(algorithm, limit if algorithm.steps is None else None)
    if wrong is not None and wrong[1] == LATE and algorithm.steps is None:
        raise UndecidedError(f"a run of all inputs takes more than {limit:,} steps")
    if wrong is not None:
        return SizeProof(algorithm, "refuted", "a run", tuple(prover.lemmas), wrong[0])
    return SizeProof(algorithm, "proved", f"all {counted(1 << bits, 'input')} tried", tuple(prover.lemmas))


def _refuted(algorithm: Algorithm, prover: Prover, bits: Sequence[bool]) -> SizeProof:
    """The refutation by these values of the input bits, replayed. Raises UndecidedError if that run is right."""
    state = algorithm.states(np.array([bits], dtype=bool))[0]
    inputs = {word.name: from_bits(state[list(word.bits)], word.signed) for word in algorithm.inputs}
    if wrong_input(algorithm, [inputs]) is not None:
        return SizeProof(algorithm, "refuted", "CaDiCaL", tuple(prover.lemmas), inputs)
    raise UndecidedError(f"CaDiCaL gave an input, {inputs}, whose run is right")


def _tried_inputs(algorithm: Algorithm) -> list[Inputs]:
    """A few extreme and random inputs among those allowed."""
    extremes = [dict.fromkeys((0, min(1, high), low, high)) for low, high in map(bounds_of, algorithm.inputs)]
    names = [word.name for word in algorithm.inputs]
    inputs = [dict(zip(names, values, strict=True)) for values in islice(product(*extremes), _TRIED)]
    inputs += random_inputs(algorithm, _TRIED if names else 0, Random(1))
    return [values for values in inputs if algorithm.allows(values)]


def _wrong_run(algorithm: Algorithm, inputs: Sequence[Inputs]) -> Inputs | None:
    """One of these inputs, if its run is wrong."""
    wrong = wrong_input(algorithm, inputs, _STEPS if algorithm.steps is None else None)
    may_end_later = wrong is not None and wrong[1] == LATE and algorithm.steps is None
    return None if wrong is None or may_end_later else wrong[0]
